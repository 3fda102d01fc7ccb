"""Which registers hold a value that is read later, where a lane waits: those are kept while it does."""

from __future__ import annotations

from collections.abc import Iterator

from .ir import Address, Instruction, Label, Negated, Operand, ParsedFunction, Register, Symbol, TwoResults, Vector
from .opcodes.together import waits

_NO_RESULT = frozenset(
    "st red bra brx ret exit membar fence call trap brkpt prefetch prefetchu nanosleep nop".split()  # noqa: SIM905
)


def has_result(ins: Instruction) -> bool:
    if ins.parts[0] in ("bar", "barrier"):
        return ins.has("red")
    return ins.parts[0] not in _NO_RESULT


def registers_in(operand: Operand) -> Iterator[str]:
    match operand:
        case Register():
            yield operand.name
        case Negated():
            yield operand.register.name
        case Address():
            yield from registers_in(operand.base)
        case TwoResults():
            yield from registers_in(operand.first)
            yield from registers_in(operand.second)
        case Vector():
            for each in operand.elements:
                yield from registers_in(each)


def results(ins: Instruction) -> list[str]:
    return list(registers_in(ins.operands[0])) if has_result(ins) and ins.operands else []


def operands_read(ins: Instruction) -> list[str]:
    read = ins.operands[1:] if has_result(ins) else ins.operands
    names = [name for operand in read for name in registers_in(operand)]
    return names + (list(registers_in(ins.guard)) if ins.guard else [])


def copied_only(function: ParsedFunction) -> frozenset[str]:
    """Registers whose values are only stored: what is read into them may be padding that nobody has written."""
    used: dict[str, bool] = {}
    for ins in function.body:
        if isinstance(ins, Label):
            continue
        stored = set(registers_in(ins.operands[1])) if ins.parts[0] == "st" else set()
        for name in operands_read(ins):
            used[name] = used.get(name, True) and name in stored and ins.parts[0] == "st"
    return frozenset(name for name, only in used.items() if only)


def live_where_it_waits(function: ParsedFunction) -> tuple[dict[int, set[str]], set[str]]:
    """For each instruction that waits the registers that live after it; and those that live at the start."""
    body = function.body
    numbers = {name: index for index, name in enumerate(function.registers)}
    starts = {each.name: index for index, each in enumerate(body) if isinstance(each, Label)}
    ends = _blocks(body)
    live_in: dict[int, int] = dict.fromkeys(ends, 0)
    waiting: dict[int, int] = {}
    changed = True
    while changed:
        changed = False
        for first in sorted(ends, reverse=True):
            live = 0
            for follower in _followers(function, body, ends[first], starts):
                live |= live_in.get(follower, 0)
            for index in range(ends[first], first - 1, -1):
                ins = body[index]
                if isinstance(ins, Label):
                    continue
                if waits(ins):
                    waiting[index] = live
                if ins.guard is None:  # else it may leave them as they were
                    for name in results(ins):
                        live &= ~(1 << numbers[name])
                for name in operands_read(ins):
                    live |= 1 << numbers[name]
            if live != live_in[first]:
                live_in[first], changed = live, True
    names = list(numbers)

    def set_of(mask: int) -> set[str]:
        return {names[k] for k in range(mask.bit_length()) if mask >> k & 1}

    after = {index: set_of(mask) - _own(body[index]) for index, mask in waiting.items()}
    return after, set_of(live_in.get(0, 0))


def _own(ins: Instruction | Label) -> set[str]:
    """What it gives itself is not kept, but where it is guarded."""
    return set() if isinstance(ins, Label) or ins.guard is not None else set(results(ins))


def _blocks(body: list[Instruction | Label]) -> dict[int, int]:
    """First and last index of each piece of code without a branch."""
    ends, first = {}, 0
    for index, each in enumerate(body):
        if isinstance(each, Label) and index > first:
            ends[first], first = index - 1, index
        if isinstance(each, Instruction) and each.parts[0] in ("bra", "brx", "ret", "exit"):
            ends[first], first = index, index + 1
    if first < len(body):
        ends[first] = len(body) - 1
    return ends


def _followers(
    function: ParsedFunction, body: list[Instruction | Label], last: int, starts: dict[str, int]
) -> list[int]:
    ins = body[last]
    if isinstance(ins, Label) or ins.parts[0] not in ("bra", "brx", "ret", "exit"):
        return [last + 1]
    follows = [last + 1] if ins.guard is not None else []
    if ins.parts[0] in ("bra", "brx"):
        target = ins.operands[-1]
        assert isinstance(target, Symbol)
        names = function.tables[target.name] if ins.parts[0] == "brx" else (target.name,)
        follows += [starts[name] for name in names]
    return follows
