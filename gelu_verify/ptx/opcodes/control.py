"""Branches, calls, ends."""

from __future__ import annotations

from ..emit import Emitter, WrittenFunction, identifier
from ..ir import Instruction, Operand, Symbol, Vector
from .memory import array

PRINT, ASSERT = "vprintf", "__assertfail"


def label(name: str) -> str:
    return "L" + identifier(name)


def bra(c: WrittenFunction, ins: Instruction) -> str:
    c.accept("uni")
    target = ins.operands[0]
    assert isinstance(target, Symbol)
    return f"goto {label(target.name)};"


def brx(c: WrittenFunction, ins: Instruction) -> str:
    c.accept("idx", "uni")
    index, table = ins.operands
    assert isinstance(table, Symbol)
    names = c.function.tables.get(table.name)
    if names is None:
        raise c.unknown(f"no table {table.name}")
    cases = " ".join(f"case {k}: goto {label(name)};" for k, name in enumerate(names))
    return f"switch ({c.read(index, 'u32')}) {{ {cases} default: fail(e, l, OUT_OF_BOUNDS, {c.site()}); }}"


def leave(c: WrittenFunction, ins: Instruction) -> str:
    if c.function.is_kernel:
        return "l.state = ENDED; return;"
    if ins.parts[0] == "exit":
        raise c.unknown("within a function that is called")
    return "return;"


def trap(c: WrittenFunction, ins: Instruction) -> str:
    return f"fail(e, l, TRAPPED, {c.site()});"


def _arrays(operand: Operand) -> list[str]:
    assert isinstance(operand, Vector)
    return [array(each.name) for each in operand.elements if isinstance(each, Symbol)]


def call(c: WrittenFunction, ins: Instruction) -> str:
    """call (results), function, (arguments): all are arrays of C++."""
    c.accept("uni")
    operands = list(ins.operands)
    results = _arrays(operands.pop(0)) if isinstance(operands[0], Vector) else []
    name = operands.pop(0)
    arguments = _arrays(operands[0]) if operands else []
    if not isinstance(name, Symbol):
        raise c.unknown("a call by address")
    if name.name == PRINT:
        return _print(c, results, arguments)
    if name.name == ASSERT:
        return _assert(c, arguments)
    callee = c.layout.functions.get(name.name)
    if callee is None or callee.text is None:
        raise c.unknown(f"the function {name.name}")
    return f"f_{identifier(name.name)}({', '.join(['e', 'l', *results, *arguments])});"


def _print(c: WrittenFunction, results: list[str], arguments: list[str]) -> str:
    words = "u64 f_, a_; memcpy(&f_, {}, 8); memcpy(&a_, {}, 8);".format(*arguments)
    written = f"memcpy({results[0]}, &n_, 4);" if results else ""
    return f"{{ {words} s32 n_ = print(e, l, f_, a_, {c.site()}); (void)n_; {written} }}"


def _assert(c: WrittenFunction, arguments: list[str]) -> str:
    text = f"u64 m_; memcpy(&m_, {arguments[0]}, 8);"
    told = f'snprintf(e.found->text, sizeof e.found->text, "%s", text_at(e, l, m_, {c.site()}).c_str());'
    return f"{{ {text} {told} fail(e, l, ASSERTED, {c.site()}); }}"


def nothing(c: WrittenFunction, ins: Instruction) -> str:
    return ";"


EMITTERS: dict[str, Emitter] = {
    "bra": bra,
    "brx": brx,
    **dict.fromkeys(("ret", "exit"), leave),
    **dict.fromkeys(("trap", "brkpt"), trap),
    "call": call,
    **dict.fromkeys(("nanosleep", "nop"), nothing),
}
