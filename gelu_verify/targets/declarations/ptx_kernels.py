"""What a kernel of PTX is declared as: with no names and no const, what it does with a parameter says what it is."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from ...errors import UsageError
from ...formats import DTYPES, get_format
from ...ptx.ir import Address, Immediate, Instruction, Operand, ParsedFunction, Register, Symbol, Vector
from ..kinds.base import Asked
from ..names import claimed_by
from .parameters import CUDA_TYPES, VECTORS, CParameter, Declared
from .prototype import said_parameters

_NARROW = {"bf16": "bfloat16", "bf16x2": "bfloat16", "f16": "float16", "f16x2": "float16"}
_WIDE = {"f32": "float32", "f64": "float64"}
_BYTES = {name: get_format(dtype).width // 8 for dtype, name in CUDA_TYPES.items()}
_VECTOR_OF = {(of, lanes): name for name, (of, lanes, needs) in VECTORS.items() if not needs}
_MANGLED = {"13__nv_bfloat16": "bfloat16", "6__half": "float16"}  # in a C++ name
_SCALING, _SUMMAND = ("mul", "shl", "cvt"), 3  # what makes an offset of a number, and what of mad is added to one


def dtype_of(name: str, symbol: str, kernel: ParsedFunction, asked: Asked) -> str:
    """That of its input in `--call`, of the user, or of what it reads and writes, of which its name may be one;
    UsageError where it has no such values."""
    typed = {name: CParameter(typed, name).dtype for typed, name in said_parameters(asked.call or "")}
    if given := typed.get("x"):
        return given
    sides = _accessed(kernel)
    inputs, outputs = ({dtype for each in of.values() for dtype in _possible(kernel, each)} for of in sides)
    accesses = [[each for accesses in of.values() for each in accesses] for of in sides]
    if any(side and all(each.bits == 8 for each in side) for side in accesses):
        raise UsageError(f"{name} reads or writes only bytes, which are no values of a dtype")
    both = list(chain(*accesses))
    is_certain = all(each.type in _WIDE or each.bits <= 16 for each in both)
    if is_certain and inputs and outputs and not inputs & outputs:
        raise UsageError(f"{name}: its input and its output are of different types, which cannot be tested")
    used = [dtypes for dtypes, side in zip((inputs, outputs), sides, strict=True) if side]
    found, claimed = set.intersection({*DTYPES}, *used), claimed_by(symbol)[1]
    said = asked.dtype or (claimed if claimed in found or not found else None)
    bits, types = max((each.bits for each in both), default=64), {each.type for each in both if each.bits > 8}
    known = {_WIDE[each] for each in types} if types <= _WIDE.keys() else set[str]()
    if said and (bits < get_format(said).width or said not in (known or {said})):
        what = f"are of {' and '.join(sorted(known))}" if known else f"have at most {bits} bits"
        raise UsageError(f"{name}: its values {what}, and {said} was said (--dtype, or the name)")
    if said is None and len(found) != 1:
        either = f" ({' or '.join(sorted(found))})" if found else ""
        raise UsageError(f"nothing says which dtype {name} computes in: give --dtype{either}")
    return said or found.pop()


def _possible(kernel: ParsedFunction, accesses: Collection[Access]) -> set[str]:
    """The dtypes that the values behind a pointer may have, by the types that the kernel computes with; none where they
    are whole numbers, as it seems."""
    types, widths = {each.type for each in accesses}, {each.bits for each in accesses}
    if types <= _WIDE.keys():
        return {_WIDE[each] for each in types}
    instructions, moved = list(_instructions(kernel)), _moved(kernel)
    parts = {part for each in instructions for part in each.parts}
    narrow = {dtype for part, dtype in _NARROW.items() if part in parts}
    narrow |= {dtype for text, dtype in _MANGLED.items() if text in kernel.name}
    is_shifted = _shifts_what_it_loads(instructions)
    narrow |= {"bfloat16"} if is_shifted else set()
    if 8 in widths:
        return set()
    if 16 in widths:
        return narrow or {*_NARROW.values()}
    if narrow and (is_shifted or any(_has_pairs(each, moved) for each in instructions)):
        return narrow
    wide = {_WIDE[each] for each in parts & _WIDE.keys()}
    # nvcc's u32 is a float only where bits are moved; two of them may be a double
    if widths == {32}:
        is_moved = "b32" in types or re.search(r"mov\.b32\s+(?:%f\d+,\s*%r|%r\d+,\s*%f)", kernel.text or "")
        wide &= {"float32"} if is_moved else set()
        wide |= {"float64"} if "f64" in parts and all(each.lanes > 1 for each in accesses) else set()
    return narrow | wide


def _shifts_what_it_loads(instructions: Iterable[Instruction]) -> bool:
    """Whether it moves the lower half of a word that it loads to the upper one, where a bfloat16 is a float32."""
    loaded = set[str]()
    for each in instructions:
        if each.parts[0] in ("ld", "ldu") and not each.has("param"):
            loaded |= set(_registers(each.operands[0]))
        elif each.parts[0] == "shl" and each.parts[-1] == "b32":
            word, by = each.operands[1:]
            if isinstance(by, Immediate) and by.value == 16 and not loaded.isdisjoint(_registers(word)):
                return True
    return False


def _has_pairs(each: Instruction, moved: Collection[str]) -> bool:
    """Whether it takes a word that is loaded or stored for two values of 16 bits, or makes it of them."""
    is_of_two = not {"f16x2", "bf16x2"}.isdisjoint(each.parts)
    is_of_two |= each.parts[0] == "mov" and any(isinstance(operand, Vector) for operand in each.operands)
    of_two = each.operands[:1] if each.parts[0] == "cvt" else each.operands
    return is_of_two and any(register in moved for operand in of_two for register in _registers(operand))


def _computes_with(kernel: ParsedFunction, moved: set[str]) -> bool:
    """Whether it computes what is loaded or stored as numbers of 32 or 64 bits with a fraction: what is only moved as
    such may be several of 16 bits."""
    for each in _instructions(kernel):
        operands = each.operands
        if each.parts[0] == "cvt":  # to the last type but one, from the last
            operands = tuple(o for part, o in zip(each.parts[-2:], operands, strict=False) if part in _WIDE)
        elif each.parts[0] in ("ld", "ldu", "st", "mov", "selp") or _WIDE.keys().isdisjoint(each.parts):
            continue
        if not moved.isdisjoint(register for operand in operands for register in _registers(operand)):
            return True
    return False


def _moved(kernel: ParsedFunction) -> set[str]:
    """The registers of what is loaded and stored, also where these are copies."""
    moved = set[str]()
    for each in _instructions(kernel):
        if each.parts[0] in ("ld", "ldu", "st") and not each.has("param"):
            moved |= {register for operand in each.operands for register in _registers(operand)}
    for each in _instructions(kernel):
        operands = [[*_registers(operand)] for operand in each.operands if isinstance(operand, Register)]
        if each.parts[0] in ("mov", "selp") and len(operands) > 1:
            together = {register for registers in operands for register in registers}
            moved |= together if not moved.isdisjoint(together) else set()
    return moved


def declared_by(kernel: ParsedFunction, dtype: str) -> Declared:
    """What its parameters are by what it does with them: pointers that are read or written, whole numbers."""
    read, written = _accessed(kernel)
    text, own = kernel.text or "", CUDA_TYPES[dtype]
    numbers = dict(_floats(kernel, own))
    lanes = _lanes(_BYTES[own], chain(*read.values(), *written.values()))
    element = _vector(kernel.name) or _VECTOR_OF.get((own, lanes), own)
    shape = (0, lanes) if lanes and element == own else ()  # of values that no type is made of
    parameters, names = [], []
    for i, each in enumerate(kernel.parameters):
        is_used = re.search(rf"\b{re.escape(each.name)}\b", text) is not None
        pointed = i in {*read, *written} and each.nbytes == 8
        whole = (
            "void *" if each.is_pointer else {2: "short", 4: "int", 8: "long"}.get(each.nbytes, f"char[{each.nbytes}]")
        )
        value = numbers.get(each.name) or whole
        typed = f"{'const ' * (i not in written)}{element} *" if pointed else value
        parameters.append(CParameter(typed, f"param_{i}", shape=shape if pointed else ()))
        names.append((each.name, f"param_{i}", is_used and value in ("short", "int", "long") and not pointed))
    counts = [own for _, own, may_count in names if may_count]
    renamed = {each: "n" for each in counts if len(counts) == 1}
    for theirs, own, _ in names:
        text = re.sub(rf"\b{re.escape(theirs)}\b", renamed.get(own, own), text)
    named = tuple(replace(each, name=renamed.get(each.name, each.name)) for each in parameters)
    return Declared(kernel.name, "void", named, space="global", body=text, callee=kernel.name, launch=_launch(kernel))


def _lanes(size: int, accesses: Iterable[Access]) -> int:
    """How many values, of so many bytes, each access has: the next ones for each thread, whole; 0 for one."""
    found = {(each.lanes * each.bits // 8, each.step) for each in accesses if each.bits > 8}
    nbytes, step = found.pop() if len(found) == 1 else (0, 0)
    return step // size if nbytes == step > size else 0


def _vector(name: str) -> str:
    """The vector that its arrays are of, by a C++ name that says so of all of them: `_Z4geluPK6float4PS_i`,
    `_ZN2ns4geluEPK6float4PS0_i`."""
    head = re.match(r"_ZN?", name)
    given = name[head.end() :] if head else ""
    while part := re.match(r"\d+", given):
        given = given[part.end() + int(part[0]) :]
    given = given.removeprefix("E") if head and head[0] == "_ZN" else given
    found = [each for each in VECTORS if f"{len(each)}{each}" in given]
    is_said = found and not given.startswith("I") and not re.search("PK?[a-z]", given)  # I: of a template
    return found[0] if is_said else ""


class Access(NamedTuple):
    """Of memory: the type of a value in PTX, how many there are, and by what the number of a thread is multiplied for
    the address; 0 where that is not seen."""

    type: str
    lanes: int
    step: int

    @property
    def bits(self) -> int:
        """Of one value."""
        found = re.search(r"\d+", self.type)
        return int(found[0]) if found else 0


def has_vectors(kernel: ParsedFunction) -> bool:
    """Whether it loads or stores several words at once."""
    return any(each.lanes > 1 for of in _accessed(kernel) for accesses in of.values() for each in accesses)


def reads_what_it_writes(kernel: ParsedFunction) -> bool:
    """Whether it reads memory through a pointer through which it writes, too."""
    read, written = _accessed(kernel)
    return not read.keys().isdisjoint(written)


def _accessed(kernel: ParsedFunction) -> tuple[dict[int, set[Access]], dict[int, set[Access]]]:
    """The parameters through which it reads memory, and those through which it writes it; what, and how."""
    of: defaultdict[str, set[int]] = defaultdict(set)
    steps = dict[str, int]()
    places = {each.name: i for i, each in enumerate(kernel.parameters)}
    is_computed_with = _computes_with(kernel, _moved(kernel))
    read, written = defaultdict[int, set[Access]](set), defaultdict[int, set[Access]](set)
    for _ in range(2):  # a loop may use above what it makes below
        for each in _instructions(kernel):
            address = next((o for o in each.operands if isinstance(o, Address)), None)
            registers = list(_registers(address.base)) if address else []
            lanes = next((int(part[1]) for part in each.parts if part in ("v2", "v4", "v8")), 1)
            typed = each.parts[-1] if is_computed_with else each.parts[-1].replace("f", "b")
            access = Access(typed, lanes, max((steps.get(register, 0) for register in registers), default=0))
            through = {i for register in registers for i in of[register]}
            if address and each.has("param") and isinstance(address.base, Symbol) and address.base.name in places:
                for register in _registers(each.operands[0]):
                    of[register] |= {places[address.base.name]}
            elif address and each.parts[0] in ("st", "red", "atom"):
                for i in through:
                    written[i].add(access)
            elif address and each.parts[0] in ("ld", "ldu"):
                for i in through:
                    read[i].add(access)
            elif each.operands and not address:
                given = each.operands[_SUMMAND if each.parts[0] == "mad" else 1 :]
                taken = [register for operand in given for register in _registers(operand)]
                step = _step(each) or max((steps.get(register, 0) for register in taken), default=0)
                for register in _registers(each.operands[0]):
                    steps[register] = step
                    if each.parts[0] not in _SCALING:
                        of[register] |= {i for other in taken for i in of[other]}
    return read, written


def _step(each: Instruction) -> int:
    """By what constant it multiplies; 0 for any other instruction."""
    by = each.operands[2] if len(each.operands) > 2 else None
    if not isinstance(by, Immediate) or not isinstance(by.value, int) or each.parts[0] not in ("mul", "shl", "mad"):
        return 0
    return 1 << by.value if each.parts[0] == "shl" and by.value < 8 else by.value


def _floats(kernel: ParsedFunction, own: str) -> Iterator[tuple[str, str]]:
    """The parameters that are numbers with a fraction, by their types or by how they are read, and C's type of each."""
    for each in kernel.parameters:
        if each.type in _WIDE:
            yield each.name, CUDA_TYPES[_WIDE[each.type]]
        elif each.nbytes == 2 and each.type not in ("u16", "s16"):
            yield each.name, own if _BYTES[own] == 2 else "__half"
    for instruction in _instructions(kernel):
        place = instruction.operands[-1] if instruction.has("param") else None
        if isinstance(place, Address) and isinstance(place.base, Symbol) and instruction.parts[-1] in _WIDE:
            yield place.base.name, CUDA_TYPES[_WIDE[instruction.parts[-1]]]


def _launch(kernel: ParsedFunction) -> str:
    """Grid and block: Triton's kernels multiply the number of a block by its values, nvcc's by its threads."""
    threads = kernel.most_threads or 256
    blocks = set[str]()
    per_block = set[int]()
    for each in _instructions(kernel):
        names = {register for operand in each.operands[1:] for register in _registers(operand)}
        constants = [operand.value for operand in each.operands[1:] if isinstance(operand, Immediate)]
        if each.parts[0] == "mov" and any(isinstance(o, Symbol) and o.name == "%ctaid.x" for o in each.operands):
            blocks |= set(_registers(each.operands[0]))
        elif names & blocks and constants and each.parts[0] in ("shl", "mul", "mad"):
            per_block.add(1 << constants[0] if each.parts[0] == "shl" else constants[0])
    values = per_block.pop() if len(per_block) == 1 else threads
    return f"(n + {values - 1}) / {values}, {threads}"


def _instructions(kernel: ParsedFunction) -> Iterator[Instruction]:
    return (each for each in kernel.body if isinstance(each, Instruction))


def _registers(operand: Operand) -> Iterator[str]:
    if isinstance(operand, Register):
        yield operand.name
    elif isinstance(operand, Vector):
        for each in operand.elements:
            yield from _registers(each)
