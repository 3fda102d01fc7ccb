"""How operands, results and places of an instruction are written in C++; the opcodes are in `opcodes/`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from .ir import (
    WIDTHS,
    Address,
    Immediate,
    Instruction,
    Negated,
    Operand,
    ParsedFunction,
    PtxError,
    Register,
    Symbol,
    Vector,
)

SPACES = ("generic", "global", "shared", "local", "param")  # src/ptx/types.h: enum space
SPECIAL = {
    **{f"%tid.{axis}": f"l.tid[{k}]" for k, axis in enumerate("xyz")},
    **{f"%ntid.{axis}": f"e.ntid[{k}]" for k, axis in enumerate("xyz")},
    **{f"%ctaid.{axis}": f"e.ctaid[{k}]" for k, axis in enumerate("xyz")},
    **{f"%nctaid.{axis}": f"e.nctaid[{k}]" for k, axis in enumerate("xyz")},
    "%laneid": "(l.index % 32)",
    "%lanemask_eq": "(1u << l.index % 32)",
    "%lanemask_lt": "((1u << l.index % 32) - 1)",
    "%lanemask_le": "((2u << l.index % 32) - 1)",
    "%lanemask_gt": "~((2u << l.index % 32) - 1)",
    "%lanemask_ge": "~((1u << l.index % 32) - 1)",
    "%total_smem_size": "e.shared_size",
    "WARP_SZ": "32u",
}
ROUNDING = {"rn": "RN", "rz": "RZ", "rm": "RM", "rp": "RP", "rna": "RNA"}


def ctype(kind: str) -> str:
    """The C++ type that holds a PTX type."""
    if kind == "pred":
        return "bool"
    if kind in ("f16", "bf16"):
        return "u16"
    if kind in ("f16x2", "bf16x2"):
        return "u32"
    return "u" + kind[1:] if kind.startswith("b") else kind


def identifier(name: str) -> str:
    return "r_" + "".join(each if each.isalnum() else "_" for each in name)


def is_float(c: str) -> bool:
    return c in ("f32", "f64")


@dataclass
class VariableLayout:
    """Where the variables of a kernel are: indices of global ones, offsets of shared ones; what was met on the way."""

    symbols: dict[str, int]
    shared: dict[str, int]
    dynamic_shared: int  # where it begins
    functions: dict[str, ParsedFunction]
    sites: list[tuple[str, str]] = field(default_factory=list)  # opcode and place of what may fail
    approximations: list[tuple[str, str]] = field(default_factory=list)
    races_unseen: str = ""  # why races are not looked for


@dataclass
class WrittenFunction:
    """One function that is being written."""

    layout: VariableLayout
    function: ParsedFunction
    offsets: dict[str, int]  # of parameters of a kernel, and of local variables
    copied: Collection[str] = ()  # registers that are only stored
    ins: Instruction = field(init=False)

    def unknown(self, why: str = "") -> PtxError:
        reason = f" ({why})" if why else ""
        return PtxError(f"{self.ins.opcode}{reason} is not supported ({self.ins.place})")

    def accept(self, *accepted: str) -> None:
        """PtxError for a modifier that is not among these; types and the name are not modifiers."""
        for part in self.ins.parts[1:]:
            if part not in accepted and part not in WIDTHS:
                raise self.unknown(f".{part}")

    def site(self) -> int:
        entry = self.ins.opcode, str(self.ins.place)
        if not self.layout.sites or self.layout.sites[-1] != entry:
            self.layout.sites.append(entry)
        return len(self.layout.sites) - 1

    def approximates(self) -> None:
        self.layout.approximations.append((self.ins.opcode, str(self.ins.place)))

    # ---- operands ----

    def read(self, operand: Operand, kind: str) -> str:
        """The value of an operand as that type."""
        wanted = ctype(kind)
        if isinstance(operand, Negated):
            return f"!{identifier(operand.register.name)}"
        if isinstance(operand, Register):
            return self._converted(identifier(operand.name), ctype(operand.type), wanted)
        if isinstance(operand, Immediate):
            return self._constant(operand, wanted)
        if isinstance(operand, Symbol):
            return f"({wanted})({self.symbol(operand.name)})"
        raise self.unknown(f"an operand {operand}")

    def _converted(self, value: str, have: str, wanted: str) -> str:
        if have == wanted:
            return value
        if is_float(have) or is_float(wanted):
            if "bool" in (have, wanted) or have[1:] != wanted[1:]:
                raise self.unknown(f"{have} as {wanted}")
            return f"bits<{wanted}>({value})"
        return f"({wanted}){value}"

    def _constant(self, constant: Immediate, wanted: str) -> str:
        value, nbytes = constant.value, constant.float_bytes
        if nbytes and not is_float(wanted) and wanted[1:] != str(8 * nbytes):
            raise self.unknown(f"a constant of {nbytes} bytes")
        if is_float(wanted):
            if not nbytes and value:
                raise self.unknown("a whole number as a floating-point one")
            word = f"bits<f{8 * nbytes or wanted[1:]}>((u{8 * nbytes or wanted[1:]}){value:#x}ull)"
            return f"({wanted}){word}"
        if wanted == "bool":
            return "true" if value else "false"
        return f"({wanted}){value & 0xFFFFFFFFFFFFFFFF:#x}ull"

    def symbol(self, name: str) -> str:
        """The value of a special register, or the address of a variable in its space."""
        if name in SPECIAL:
            return SPECIAL[name]
        if name in self.offsets:
            base = "0u" if self.function.is_kernel else "frame_.base"
            return f"({base} + {self.offsets[name]}u)"
        if name in self.layout.shared:
            return f"{self.layout.shared[name]}u"
        if name in self.layout.symbols:
            return f"e.symbols[{self.layout.symbols[name]}]"
        if name == "%dynamic_smem_size":
            return f"(e.shared_size - {self.layout.dynamic_shared}u)"
        what = "register" if name.startswith("%") else "symbol"
        raise self.unknown(f"the {what} {name}")

    def write(self, operand: Operand, kind: str, value: str) -> str:
        """A statement that puts a value of that type into a register."""
        if isinstance(operand, Symbol) and operand.name == "_":
            return f"(void)({value});"
        if not isinstance(operand, Register):
            raise self.unknown(f"a result in {operand}")
        have, wanted, name = ctype(kind), ctype(operand.type), identifier(operand.name)
        if have == wanted:
            return f"{name} = {value};"
        if is_float(have) or is_float(wanted):
            if have[1:] != wanted[1:]:
                raise self.unknown(f"{have} in a register of {wanted}")
            return f"{name} = bits<{wanted}>(({have})({value}));"
        return f"{name} = ({wanted})({have})({value});"

    def address(self, operand: Operand) -> str:
        if not isinstance(operand, Address):
            raise self.unknown(f"an address {operand}")
        base = self.read(operand.base, "u64")
        return f"({base} + (u64){operand.offset}ll)" if operand.offset else base

    def elements(self, operand: Operand) -> tuple[Operand, ...]:
        return operand.elements if isinstance(operand, Vector) else (operand,)

    def rounding(self) -> str:
        return next((ROUNDING[part] for part in self.ins.parts if part in ROUNDING), "RN")


Emitter = Callable[[WrittenFunction, Instruction], str]
