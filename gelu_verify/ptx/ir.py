"""A module of PTX as data: variables, functions, instructions and their operands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

WIDTHS = {
    "pred": 1,
    **{f"{kind}{width}": width // 8 for kind in "bus" for width in (8, 16, 32, 64)},
    **{"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "f16x2": 4, "bf16x2": 4},
}


class PtxError(Exception):
    """PTX that cannot be executed here; the message names the instruction and its line."""


@dataclass(frozen=True)
class Register:
    """A register; its name is the only one of the function, its type that of its declaration ("f32", "b64", "pred")."""

    name: str
    type: str


@dataclass(frozen=True)
class Immediate:
    """A constant: an integer, or the bits of a floating-point number of so many bytes."""

    value: int
    float_bytes: int = 0


@dataclass(frozen=True)
class Symbol:
    """A variable, a parameter, a function or a special register (%tid.x), as it is written."""

    name: str


@dataclass(frozen=True)
class Address:
    base: Register | Symbol | Immediate
    offset: int


@dataclass(frozen=True)
class Vector:
    elements: tuple[Operand, ...]


@dataclass(frozen=True)
class TwoResults:
    """p|q: two results."""

    first: Operand
    second: Operand


@dataclass(frozen=True)
class Negated:
    """!p"""

    register: Register


Operand = Register | Immediate | Symbol | Address | Vector | TwoResults | Negated


@dataclass(frozen=True)
class SourceLine:
    """Line of the source, and of what it was inlined into, the innermost first; empty without -lineinfo."""

    lines: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        if not self.lines:
            return "a line that is not known (compile with -lineinfo)"
        inner, outer = self.lines[0], self.lines[-1]
        text = f"{inner[0]}:{inner[1]}"
        return text if outer == inner else f"{text}, inlined at {outer[0]}:{outer[1]}"


@dataclass(frozen=True)
class Instruction:
    """`parts` are those of the opcode ("ld", "global", "f32"); `guard` is the predicate that it depends on."""

    parts: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Register | Negated | None
    place: SourceLine

    @property
    def opcode(self) -> str:
        return ".".join(self.parts)

    def has(self, *parts: str) -> bool:
        return any(part in self.parts for part in parts)


@dataclass(frozen=True)
class Label:
    name: str


@dataclass(frozen=True)
class Variable:
    """`space`: global, const, shared, local or param. `initial` is a list of integers, of `width` bytes each, and of
    variables with an offset, whose addresses are put there."""

    name: str
    space: str
    align: int
    width: int
    count: int
    initial: tuple[int | tuple[str, int], ...] = ()
    external: bool = False
    type: str = ""  # of one value, such as f32
    is_pointer: bool = False  # of a parameter: said to be one

    @property
    def nbytes(self) -> int:
        return self.width * self.count


@dataclass
class ParsedFunction:
    """`text` is what is between its braces, None where it is declared only; `body` reads it when it is asked for, and
    with it what the function declares."""

    name: str
    is_kernel: bool
    returns: list[Variable]
    parameters: list[Variable]
    text: str | None
    reader: Callable[[ParsedFunction], list[Instruction | Label]] = field(repr=False)
    registers: dict[str, Register] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)  # local, shared, and parameters of calls
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of labels, for brx.idx
    most_threads: int = 0  # .maxntid

    @cached_property
    def body(self) -> list[Instruction | Label]:
        return [] if self.text is None else self.reader(self)


@dataclass
class PtxModule:
    target: str  # "sm_90"
    version: str  # of the ISA
    variables: dict[str, Variable]
    functions: dict[str, ParsedFunction]
