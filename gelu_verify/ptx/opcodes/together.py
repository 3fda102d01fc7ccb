"""What lanes do together: barriers, shuffles, votes, matches, reductions. A lane returns there and goes on later."""

from __future__ import annotations

from ..emit import Emitter, WrittenFunction
from ..ir import Instruction, TwoResults

_SHUFFLE = {"up": "SHFL_UP", "down": "SHFL_DOWN", "bfly": "SHFL_BFLY", "idx": "SHFL_IDX"}
_REDUX = {"add": "REDUX_ADD", "min": "REDUX_MIN", "max": "REDUX_MAX", "and": "REDUX_AND", "or": "REDUX_OR",
          "xor": "REDUX_XOR"}  # fmt: skip
WAIT = "/*wait*/"  # where the function returns, and goes on
NAMES = ("bar", "barrier", "shfl", "vote", "match", "redux")


def waits(ins: Instruction) -> bool:
    return ins.parts[0] in NAMES


def _of_warp(c: WrittenFunction, op: str, mask: str, a: str, b: str = "0", third: str = "0") -> str:
    return f"wait_for_warp(e, l, {op}, {mask}, (u64){a}, (u64){b}, (u64){third}, {c.site()}); {WAIT}"


def _results(c: WrittenFunction, ins: Instruction, kind: str, value: str) -> str:
    to = ins.operands[0]
    if isinstance(to, TwoResults):
        return f"{c.write(to.first, kind, value)} {c.write(to.second, 'pred', 'l.out_flag')}"
    return c.write(to, kind, value)


def shfl(c: WrittenFunction, ins: Instruction) -> str:
    c.accept("sync", *_SHUFFLE)
    how = next((_SHUFFLE[part] for part in ins.parts if part in _SHUFFLE), None)
    if not ins.has("sync") or how is None:
        raise c.unknown()
    a, b, third, mask = (c.read(operand, "u32") for operand in ins.operands[1:5])
    return f"{_of_warp(c, how, mask, a, b, third)} {_results(c, ins, 'b32', '(u32)l.out')}"


def vote(c: WrittenFunction, ins: Instruction) -> str:
    c.accept("sync", "all", "any", "uni", "ballot")
    if not ins.has("sync"):
        raise c.unknown()
    value, mask = c.read(ins.operands[1], "pred"), c.read(ins.operands[2], "u32")
    waited = _of_warp(c, f"VOTE_{ins.parts[2].upper()}", mask, f"({value})")
    if ins.parts[2] == "ballot":
        return f"{waited} {c.write(ins.operands[0], 'b32', '(u32)l.out')}"
    return f"{waited} {c.write(ins.operands[0], 'pred', 'l.out_flag')}"


def match(c: WrittenFunction, ins: Instruction) -> str:
    c.accept("sync", "any", "all")
    kind = f"u{ins.parts[-1][1:]}"
    value, mask = c.read(ins.operands[1], kind), c.read(ins.operands[2], "u32")
    waited = _of_warp(c, f"MATCH_{'ALL' if ins.has('all') else 'ANY'}", mask, value)
    return f"{waited} {_results(c, ins, 'b32', '(u32)l.out')}"


def redux(c: WrittenFunction, ins: Instruction) -> str:
    c.accept("sync", *_REDUX)
    name, kind = next(part for part in ins.parts if part in _REDUX), ins.parts[-1]
    if kind[0] == "f":
        raise c.unknown()
    op = _REDUX[name].replace("MIN", "UMIN").replace("MAX", "UMAX") if kind[0] == "u" else _REDUX[name]
    value, mask = c.read(ins.operands[1], "u32"), c.read(ins.operands[2], "u32")
    return f"{_of_warp(c, op, mask, value)} {c.write(ins.operands[0], 'b32', '(u32)l.out')}"


def bar(c: WrittenFunction, ins: Instruction) -> str:
    """bar.sync, barrier.sync, and their reductions; bar.warp.sync."""
    c.accept("cta", "sync", "aligned", "red", "popc", "and", "or", "warp")
    if ins.has("warp"):
        return _of_warp(c, "WARP_SYNC", c.read(ins.operands[0], "u32"), "0")
    aligned = str(ins.parts[0] == "bar" or ins.has("aligned")).lower()
    if ins.has("red"):
        return _reduction(c, ins, aligned)
    if not ins.has("sync"):
        raise c.unknown()
    return _barrier(c, "BARRIER_SYNC", [c.read(operand, "u32") for operand in ins.operands], "false", aligned)


def _barrier(c: WrittenFunction, op: str, numbers: list[str], value: str, aligned: str) -> str:
    barrier, threads = numbers[0], numbers[1] if len(numbers) > 1 else "0u"
    if len(numbers) > 1:
        c.layout.races_unseen = "a barrier that not all lanes wait at"
    return f"wait_at_barrier(e, l, {op}, {barrier}, {threads}, {value}, {aligned}, {c.site()}); {WAIT}"


def _reduction(c: WrittenFunction, ins: Instruction, aligned: str) -> str:
    op = next((part for part in ("popc", "and", "or") if ins.has(part)), "")
    numbers = [c.read(operand, "u32") for operand in ins.operands[1:-1]]
    waited = _barrier(c, f"BARRIER_{op.upper()}", numbers, c.read(ins.operands[-1], "pred"), aligned)
    if op == "popc":
        return f"{waited} {c.write(ins.operands[0], 'u32', '(u32)l.out')}"
    return f"{waited} {c.write(ins.operands[0], 'pred', 'l.out_flag')}"


EMITTERS: dict[str, Emitter] = {"shfl": shfl, "vote": vote, "match": match, "redux": redux, **dict.fromkeys(
    ("bar", "barrier"), bar)}  # fmt: skip
