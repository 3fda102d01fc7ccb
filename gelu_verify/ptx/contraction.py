"""Products and sums that the assembler may contract: PTX leaves that open where neither has a rounding in its name."""

from __future__ import annotations

from collections.abc import Iterator

from .emit import ROUNDING
from .ir import Function, Instruction, Register

_FLOATS = frozenset({"f32", "f64", "f16", "f16x2", "bf16", "bf16x2"})


def _is_open(ins: Instruction, *names: str) -> bool:
    return ins.parts[0] in names and ins.parts[-1] in _FLOATS and not ins.has(*ROUNDING)


def contractible(function: Function) -> Iterator[tuple[str, str]]:
    """Each sum of a product, as opcodes, and its place; a product that is negated or moved is one, too."""
    products: dict[str, Instruction] = {}
    for ins in function.body:
        if not isinstance(ins, Instruction) or not ins.operands:
            continue
        given = [
            products[each.name] for each in ins.operands[1:] if isinstance(each, Register) and each.name in products
        ]
        to = ins.operands[0]
        if isinstance(to, Register):
            if _is_open(ins, "mul"):
                products[to.name] = ins
            elif given and ins.parts[0] in ("neg", "mov"):
                products[to.name] = given[0]
        if given and _is_open(ins, "add", "sub"):
            yield f"{given[0].opcode} and {ins.opcode}", str(ins.place)
