"""Integers, predicates, bits; comparisons and selections of every type but the 16-bit formats."""

from __future__ import annotations

from ..emit import Emitter, WrittenFunction, ctype
from ..ir import Instruction, TwoResults

_C = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_UNSIGNED = {"lo": "<", "ls": "<=", "hi": ">", "hs": ">="}


def _type(ins: Instruction) -> str:
    return ins.parts[-1]


def _unsigned(kind: str) -> str:
    return "u" + kind[1:]


def add(c: WrittenFunction, ins: Instruction) -> str:
    """With .cc the carry (of sub the borrow) is kept; addc and subc use it."""
    c.accept("cc", "sat")
    kind, name, u = _type(ins), ins.parts[0], _unsigned(_type(ins))
    a, b = (c.read(operand, u) for operand in ins.operands[1:3])
    sign = "-" if name.startswith("sub") else "+"
    if ins.has("sat"):
        if kind != "s32" or ins.has("cc"):
            raise c.unknown(".sat")
        return c.write(ins.operands[0], kind, f"limited<s32>((__int128)(s32){a} {sign} (s32){b})")
    carry = " + (u64)cc_" if name == "addc" else " - (u64)cc_" if name == "subc" else ""
    if not ins.has("cc"):
        return c.write(ins.operands[0], u, f"({u})((u64){a} {sign} (u64){b}{carry})")
    width = int(kind[1:])
    wide = f"unsigned __int128 w_ = (unsigned __int128){a} {sign} (unsigned __int128){b}{carry.replace('u64', 'u32')};"
    return f"{{ {wide} cc_ = (u32)(w_ >> {width}) & 1; {c.write(ins.operands[0], u, f'({u})w_')} }}"


def mul(c: WrittenFunction, ins: Instruction) -> str:
    c.accept("lo", "hi", "wide", "sat", "cc")
    name, kind = ins.parts[0], _type(ins)
    a, b = (c.read(operand, kind) for operand in ins.operands[1:3])
    width = int(kind[1:])
    result = f"{kind[0]}{2 * width}" if ins.has("wide") else kind
    exact = "__int128" if kind[0] == "s" else "unsigned __int128"
    product = f"({exact}){a} * ({exact}){b}"
    if ins.has("hi"):
        product = f"(({product}) >> {width})"
    if name == "mul":
        return c.write(ins.operands[0], result, f"({ctype(result)})({product})")
    third, u = c.read(ins.operands[3], result), _unsigned(result)
    if ins.has("sat"):
        if not (ins.has("hi") and kind == "s32"):
            raise c.unknown(".sat")
        return c.write(ins.operands[0], kind, f"limited<s32>((__int128)({product}) + (__int128){third})")
    carry = " + (u64)cc_" if name == "madc" else ""
    if ins.has("cc"):
        wide = f"unsigned __int128 w_ = (unsigned __int128)({u})({product}) + (unsigned __int128)({u}){third}{carry};"
        return f"{{ {wide} cc_ = (u32)(w_ >> {u[1:]}) & 1; {c.write(ins.operands[0], u, f'({u})w_')} }}"
    return c.write(ins.operands[0], u, f"({u})(({u})({product}) + ({u}){third}{carry})")


def mul24(c: WrittenFunction, ins: Instruction) -> str:
    c.accept("lo", "hi", "sat")
    kind = _type(ins)
    if ins.has("sat"):
        raise c.unknown(".sat")
    low = [f"(s64)((s32)({c.read(o, 'u32')} << 8) >> 8)" if kind == "s32" else f"(u64)({c.read(o, 'u32')} & 0xffffff)"
           for o in ins.operands[1:3]]  # fmt: skip
    product = f"({low[0]} * {low[1]})" if ins.has("lo") else f"({low[0]} * {low[1]} >> 16)"
    third = f" + {c.read(ins.operands[3], 'u32')}" if ins.parts[0] == "mad24" else ""
    return c.write(ins.operands[0], "u32", f"(u32)((u32){product}{third})")


def div(c: WrittenFunction, ins: Instruction) -> str:
    c.accept()
    kind = _type(ins)
    a, b = (c.read(operand, kind) for operand in ins.operands[1:3])
    function = "quotient" if ins.parts[0] == "div" else "remainder_of"
    return c.write(ins.operands[0], kind, f"{function}<{kind}>({a}, {b})")


def extreme(c: WrittenFunction, ins: Instruction) -> str:
    c.accept("relu")
    kind = _type(ins)
    if ins.has("relu") or kind.endswith("x2"):
        raise c.unknown()
    a, b = (c.read(operand, kind) for operand in ins.operands[1:3])
    sign = "<" if ins.parts[0] == "min" else ">"
    return c.write(ins.operands[0], kind, f"{a} {sign} {b} ? {a} : {b}")


def unary(c: WrittenFunction, ins: Instruction) -> str:
    c.accept()
    name, kind = ins.parts[0], _type(ins)
    u, a = _unsigned(kind), c.read(ins.operands[1], _unsigned(kind) if kind != "pred" else kind)
    expressions = {
        "neg": f"({u})(0 - (u64){a})",
        "abs": f"({kind}){a} < 0 ? ({u})(0 - (u64){a}) : {a}",
        "popc": f"(u32)__builtin_popcountll((u64){a})",
        "clz": f"leading_zeros<{u}>({a})",
        "brev": f"reversed<{u}>({a})",
        "not": f"!{a}" if kind == "pred" else f"({u})~{a}",
        "cnot": f"({u})({a} == 0)",
    }
    result = "u32" if name in ("popc", "clz") else kind if kind == "pred" else u
    return c.write(ins.operands[0], result, expressions[name])


def bitwise(c: WrittenFunction, ins: Instruction) -> str:
    c.accept()
    kind = _type(ins)
    a, b = (c.read(operand, kind) for operand in ins.operands[1:3])
    return c.write(ins.operands[0], kind, f"({ctype(kind)})({a} {_C[ins.parts[0]]} {b})")


def shift(c: WrittenFunction, ins: Instruction) -> str:
    """By more than the width: as by the width."""
    c.accept()
    kind, left = _type(ins), ins.parts[0] == "shl"
    width, a, n = int(kind[1:]), c.read(ins.operands[1], kind), c.read(ins.operands[2], "u32")
    if not left and kind[0] == "s":
        return c.write(ins.operands[0], kind, f"({kind})({a} >> ({n} > {width - 1}u ? {width - 1}u : {n}))")
    shifted = f"({ctype(kind)})({a} {'<<' if left else '>>'} {n})"
    return c.write(ins.operands[0], kind, f"{n} > {width - 1}u ? ({ctype(kind)})0 : {shifted}")


def shf(c: WrittenFunction, ins: Instruction) -> str:
    c.accept("l", "r", "wrap", "clamp")
    low, high, by = (c.read(operand, "u32") for operand in ins.operands[1:4])
    flags = f"{str(ins.has('l')).lower()}, {str(ins.has('wrap')).lower()}"
    return c.write(ins.operands[0], "b32", f"funnel({low}, {high}, {by}, {flags})")


def prmt(c: WrittenFunction, ins: Instruction) -> str:
    c.accept()
    return c.write(ins.operands[0], "b32", f"permuted({', '.join(c.read(o, 'u32') for o in ins.operands[1:4])})")


def lop3(c: WrittenFunction, ins: Instruction) -> str:
    c.accept()
    return c.write(ins.operands[0], "b32", f"lookup3({', '.join(c.read(o, 'u32') for o in ins.operands[1:5])})")


def bfe(c: WrittenFunction, ins: Instruction) -> str:
    c.accept()
    kind = _type(ins)
    u, signed = _unsigned(kind), str(kind[0] == "s").lower()
    a, (at, length) = c.read(ins.operands[1], u), (c.read(operand, "u32") for operand in ins.operands[2:4])
    return c.write(ins.operands[0], u, f"extracted<{u}>({a}, {at}, {length}, {signed})")


def bfi(c: WrittenFunction, ins: Instruction) -> str:
    c.accept()
    u = _unsigned(_type(ins))
    a, b = (c.read(operand, u) for operand in ins.operands[1:3])
    at, length = (c.read(operand, "u32") for operand in ins.operands[3:5])
    return c.write(ins.operands[0], u, f"inserted<{u}>({a}, {b}, {at}, {length})")


def bfind(c: WrittenFunction, ins: Instruction) -> str:
    c.accept("shiftamt")
    kind = _type(ins)
    flags = f"{str(kind[0] == 's').lower()}, {str(ins.has('shiftamt')).lower()}"
    return c.write(
        ins.operands[0], "u32", f"highest_bit<{_unsigned(kind)}>({c.read(ins.operands[1], _unsigned(kind))}, {flags})"
    )


def sad(c: WrittenFunction, ins: Instruction) -> str:
    c.accept()
    kind = _type(ins)
    u, (a, b) = _unsigned(kind), (c.read(operand, kind) for operand in ins.operands[1:3])
    third = c.read(ins.operands[3], u)
    return c.write(ins.operands[0], u, f"({u})({third} + (({a} < {b}) ? ({u}){b} - ({u}){a} : ({u}){a} - ({u}){b}))")


def dp4a(c: WrittenFunction, ins: Instruction) -> str:
    c.accept()
    a, b, third = (c.read(operand, "u32") for operand in ins.operands[1:4])
    signs = ", ".join(str(part[0] == "s").lower() for part in ins.parts[1:3])
    return c.write(ins.operands[0], "u32", f"dot4({a}, {b}, {third}, {signs})")


# ---- comparisons ---------------------------------------------------------------------------------


def comparison(c: WrittenFunction, how: str, kind: str, a: str, b: str) -> str:
    """The C++ of one comparison; of floating-point numbers those that end in u are true for a NaN."""
    if kind in ("f32", "f64"):
        unordered = f"{a} != {a} || {b} != {b}"
        if how in ("nan", "num"):
            return f"({unordered})" if how == "nan" else f"!({unordered})"
        if how == "ne":
            return f"({a} < {b} || {a} > {b})"
        if how in _COMPARE:
            return f"({a} {_COMPARE[how]} {b})"
        if how[-1] == "u" and how[:-1] in _COMPARE:
            return f"({unordered} || {a} {_COMPARE[how[:-1]]} {b})"
    elif how in _COMPARE or how in _UNSIGNED:
        return f"({a} {(_COMPARE | _UNSIGNED)[how]} {b})"
    raise c.unknown(f".{how}")


def combined(c: WrittenFunction, ins: Instruction, found: str) -> tuple[str, str]:
    """A comparison and its opposite, each with the predicate that .and, .or or .xor combine it with."""
    word = next((part for part in ins.parts if part in ("and", "or", "xor")), None)
    if word is None or len(ins.operands) < 4:
        return found, f"!{found}"
    other = c.read(ins.operands[3], "pred")
    return tuple(f"({each} {_C[word]} {other})" for each in (f"(bool){found}", f"(bool)!{found}"))  # type: ignore[return-value]


_HOW = (*_COMPARE, *_UNSIGNED, *(f"{name}u" for name in _COMPARE), "num", "nan")


def _compared(c: WrittenFunction, ins: Instruction) -> tuple[str, str, str]:
    """Declarations of what is compared; the comparison, and its opposite."""
    c.accept(*_HOW, "and", "or", "xor", "ftz")
    kind = _type(ins)
    a, b = (c.read(operand, kind) for operand in ins.operands[1:3])
    if ins.has("ftz"):
        a, b = f"ftz({a})", f"ftz({b})"
    found, opposite = combined(c, ins, comparison(c, ins.parts[1], kind, "a_", "b_"))
    return f"{ctype(kind)} a_ = {a}, b_ = {b};", found, opposite


def setp(c: WrittenFunction, ins: Instruction) -> str:
    declared, found, opposite = _compared(c, ins)
    result = ins.operands[0]
    first, second = (result.first, result.second) if isinstance(result, TwoResults) else (result, None)
    written = f"bool p_ = {found}; {c.write(first, 'pred', 'p_')}"
    if second is not None:
        written = f"bool p_ = {found}, q_ = {opposite}; {c.write(first, 'pred', 'p_')} {c.write(second, 'pred', 'q_')}"
    return f"{{ {declared} {written} }}"


def set_(c: WrittenFunction, ins: Instruction) -> str:
    declared, found, _ = _compared(c, ins)
    to = ins.parts[-2]
    true = "1.0f" if to == "f32" else f"({ctype(to)})~0u"
    return f"{{ {declared} {c.write(ins.operands[0], to, f'{found} ? {true} : ({ctype(to)})0')} }}"


def selp(c: WrittenFunction, ins: Instruction) -> str:
    c.accept()
    kind = _type(ins)
    a, b = (c.read(operand, kind) for operand in ins.operands[1:3])
    return c.write(ins.operands[0], kind, f"{c.read(ins.operands[3], 'pred')} ? {a} : {b}")


def slct(c: WrittenFunction, ins: Instruction) -> str:
    c.accept("ftz")
    kind, by = ins.parts[-2:]
    a, b = (c.read(operand, kind) for operand in ins.operands[1:3])
    third = c.read(ins.operands[3], by)
    if ins.has("ftz"):
        third = f"ftz({third})"
    return c.write(ins.operands[0], kind, f"{third} >= 0 ? {a} : {b}")


def isspacep(c: WrittenFunction, ins: Instruction) -> str:
    window = {"shared": 1, "shared__cta": 1, "local": 2, "param": 3}.get(ins.parts[1])
    address = c.read(ins.operands[1], "u64")
    if window is None and ins.parts[1] not in ("global", "const"):
        raise c.unknown()
    test = f"({address} >> 48) == {window}" if window else f"({address} >> 48) > 3"
    return c.write(ins.operands[0], "pred", test)


EMITTERS: dict[str, Emitter] = {
    **dict.fromkeys(("add", "sub", "addc", "subc"), add),
    **dict.fromkeys(("mul", "mad", "madc"), mul),
    **dict.fromkeys(("mul24", "mad24"), mul24),
    **dict.fromkeys(("div", "rem"), div),
    **dict.fromkeys(("min", "max"), extreme),
    **dict.fromkeys(("neg", "abs", "popc", "clz", "brev", "not", "cnot"), unary),
    **dict.fromkeys(("and", "or", "xor"), bitwise),
    **dict.fromkeys(("shl", "shr"), shift),
    "shf": shf,
    "prmt": prmt,
    "lop3": lop3,
    "bfe": bfe,
    "bfi": bfi,
    "bfind": bfind,
    "sad": sad,
    "dp4a": dp4a,
    "setp": setp,
    "set": set_,
    "selp": selp,
    "slct": slct,
    "isspacep": isspacep,
}
