"""Products and sums that the assembler may contract: PTX leaves that open where neither has a rounding in its name.

A kernel is executed both ways. Beside each register that may hold such a product stand its factors, and whether it
holds one now; a sum of it is an fma of these where the launch says so (`e.fuses`): of two products the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .emit import ROUNDING, WrittenFunction, ctype, identifier
from .ir import WIDTHS, Instruction, Operand, ParsedFunction, Register, Vector
from .liveness import operands_read, results
from .opcodes import emitter_of

_FLOATS = frozenset({"f32", "f64", "f16", "f16x2", "bf16", "bf16x2"})
_WORDS = {"f16": "b16", "bf16": "b16", "f16x2": "b32", "bf16x2": "b32"}  # as which they are moved
_FACTORS, _NEGATED = ("_factor1", "_factor2"), "_negated"


class Products:
    """Those of a function, in the registers that may hold one."""

    def __init__(self, function: ParsedFunction) -> None:
        self._function = function
        made: dict[str, Instruction] = {}  # by register, what made the product
        code = [each for each in function.body if isinstance(each, Instruction)]
        for ins in (*code, *code):  # again, for products that a loop brings back to its start
            given = [made[name] for name in operands_read(ins) if name in made]
            if _is_product(ins):
                made |= dict.fromkeys(results(ins), ins)
            elif given and _passes_on(ins):
                made |= dict.fromkeys(results(ins), given[0])
        self._made = made if any(_of(made, each) for each in code if _is_open(each, "add", "sub")) else {}

    def sums(self) -> Iterator[tuple[str, str]]:
        """Each sum of a product, as opcodes, and its place; a product that is negated, moved or packed is one, too."""
        for ins in self._function.body:
            if isinstance(ins, Instruction) and _is_open(ins, "add", "sub"):
                for product in _of(self._made, ins)[:1]:
                    yield f"{self._made[product.name].opcode} and {ins.opcode}", str(ins.place)

    def declarations(self) -> Iterator[str]:
        for name in self._made:
            kind = ctype(self._function.registers[name].type)
            yield f"{kind} {', '.join(identifier(name + each) for each in (*_FACTORS, _NEGATED))};"
            yield f"bool {_is_held(name)} = false;"

    def followed(self, c: WrittenFunction, ins: Instruction, code: str) -> str:
        """The code of an instruction, or of an fma in its place, and what it does to products."""
        if not self._made:
            return code
        changed = [name for name in results(ins) if name in self._made]
        if changed and _is_product(ins):
            return f"{' '.join(self._kept(c, ins, changed[0]))} {code}"
        if changed and _passes_on(ins):
            return f"{code} {' '.join(self._passed_on(c, ins, changed))}"
        if _is_open(ins, "add", "sub"):
            for product in reversed(_of(self._made, ins)):
                code = f"if (e.fuses && {_is_held(product.name)}) {{ {_fused(c, ins, product)} }} else {{ {code} }}"
        return " ".join([code, *(f"{_is_held(name)} = false;" for name in changed)])

    def _kept(self, c: WrittenFunction, ins: Instruction, name: str) -> Iterator[str]:
        """The factors, before the product is in the place of one."""
        for suffix, factor in zip(_FACTORS, ins.operands[1:], strict=True):
            yield _emitted(c, _moved(ins, _beside(ins.operands[0], suffix), factor))
        yield f"{_is_held(name)} = true;"

    def _passed_on(self, c: WrittenFunction, ins: Instruction, changed: list[str]) -> Iterator[str]:
        """To registers that hold the same products, or their opposites."""
        given = operands_read(replace(ins, guard=None))
        if not given or not set(given) <= set(self._made):
            yield from (f"{_is_held(name)} = false;" for name in changed)
            return
        first, second = (tuple(_beside(each, suffix) for each in ins.operands) for suffix in _FACTORS)
        yield _emitted(c, replace(ins, operands=first))
        yield _emitted(c, _moved(ins, *second))
        yield from (f"{_is_held(name)} = {' && '.join(map(_is_held, given))};" for name in changed)


def _is_open(ins: Instruction, *names: str) -> bool:
    return ins.parts[0] in names and ins.parts[-1] in _FLOATS and not ins.has(*ROUNDING)


def _is_product(ins: Instruction) -> bool:
    return _is_open(ins, "mul") and not ins.has("sat")


def _passes_on(ins: Instruction) -> bool:
    """Whether its results are products where its operands are: halves of a double are not."""
    vectors = [each for each in ins.operands if isinstance(each, Vector)]
    return ins.parts[0] in ("neg", "mov") and all(WIDTHS[ins.parts[-1]] == 2 * len(each.elements) for each in vectors)


def _of(made: dict[str, Instruction], ins: Instruction) -> list[Register]:
    """The operands that may be products."""
    return [each for each in ins.operands[1:] if isinstance(each, Register) and each.name in made]


def _is_held(name: str) -> str:
    return identifier(f"{name}_is_product")


def _beside(operand: Operand, suffix: str) -> Operand:
    """The registers beside those of an operand."""
    if isinstance(operand, Vector):
        return Vector(tuple(_beside(each, suffix) for each in operand.elements))
    return replace(operand, name=operand.name + suffix) if isinstance(operand, Register) else operand


def _moved(ins: Instruction, to: Operand, value: Operand) -> Instruction:
    return replace(ins, parts=("mov", _WORDS.get(ins.parts[-1], ins.parts[-1])), operands=(to, value))


def _emitted(c: WrittenFunction, ins: Instruction) -> str:
    emitter = emitter_of(ins.parts)
    assert emitter is not None
    before, c.ins = c.ins, ins
    code = emitter(c, ins)
    c.ins = before
    return code


def _fused(c: WrittenFunction, ins: Instruction, product: Register) -> str:
    """The sum as one fma: of a difference, with a factor or the other operand negated."""
    factor, other_factor = (_beside(product, suffix) for suffix in _FACTORS)
    negated, code = _beside(product, _NEGATED), ""
    to, one, two = ins.operands
    summand = two if one == product else one
    if ins.parts[0] == "sub":
        code = _emitted(
            c, replace(ins, parts=("neg", ins.parts[-1]), operands=(negated, two if one == product else factor))
        )
        factor, summand = (factor, negated) if one == product else (negated, summand)
    parts = ("fma", "rn", *ins.parts[1:])
    return f"{code} {_emitted(c, replace(ins, parts=parts, operands=(to, factor, other_factor, summand)))}"
