"""Products and sums that the assembler may contract: PTX leaves that open where neither has a rounding in its name."""

from __future__ import annotations

from collections.abc import Iterator

from .emit import ROUNDING
from .ir import Instruction, ParsedFunction
from .liveness import operands_read, results

_FLOATS = frozenset({"f32", "f64", "f16", "f16x2", "bf16", "bf16x2"})


def _is_open(ins: Instruction, *names: str) -> bool:
    return ins.parts[0] in names and ins.parts[-1] in _FLOATS and not ins.has(*ROUNDING)


def contractible(function: ParsedFunction) -> Iterator[tuple[str, str]]:
    """Each sum of a product, as opcodes, and its place; a product that is negated, moved or packed is one, too."""
    products: dict[str, Instruction] = {}
    code = [each for each in function.body if isinstance(each, Instruction)]
    for ins in (*code, *code):  # again, for products that a loop brings back to its start
        given = [products[name] for name in operands_read(ins) if name in products]
        if _is_open(ins, "mul"):
            products |= dict.fromkeys(results(ins), ins)
        elif given and ins.parts[0] in ("neg", "mov"):
            products |= dict.fromkeys(results(ins), given[0])
        if given and _is_open(ins, "add", "sub"):
            yield f"{given[0].opcode} and {ins.opcode}", str(ins.place)
