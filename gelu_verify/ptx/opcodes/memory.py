"""Loads, stores and atomic operations; every one is checked (src/ptx/memory.h)."""

from __future__ import annotations

from ..emit import SPACES, Emitter, WrittenFunction, ctype
from ..ir import WIDTHS, Address, Instruction, Operand, Register, Symbol

_ORDER = ("weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio")
_SCOPE = ("cta", "cluster", "gpu", "sys")
_CACHE = ("ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "unified",
          *(f"L{n}__{how}" for n in (1, 2) for how in ("evict_normal", "evict_unchanged", "evict_first", "evict_last",
                                                       "no_allocate", "64B", "128B", "256B")))  # fmt: skip
_SPACE = {"global": "global", "const": "global", "shared": "shared", "shared__cta": "shared", "local": "local",
          "param": "param", "param__entry": "param", "param__func": "param"}  # fmt: skip
_STRONG = ("volatile", "relaxed", "acquire", "release", "acq_rel", "mmio")


def _space(ins: Instruction) -> str:
    return next((_SPACE[part] for part in ins.parts[1:] if part in _SPACE), "generic")


def _accept(c: WrittenFunction, *more: str) -> None:
    c.accept(*_ORDER, *_SCOPE, *_CACHE, *_SPACE, *more)


def _count(ins: Instruction) -> int:
    return next((int(part[1]) for part in ins.parts if part in ("v2", "v4", "v8")), 1)


def _is_fixed(c: WrittenFunction, address: Operand) -> bool:
    """Whether it is a parameter of a function or of a call, which is an array of C++."""
    return isinstance(address, Address) and isinstance(address.base, Symbol) and address.base.name in _arrays(c)


def _arrays(c: WrittenFunction) -> set[str]:
    inner = {variable.name for variable in c.function.variables if variable.space == "param"}
    if c.function.is_kernel:
        return inner
    return inner | {variable.name for variable in (*c.function.returns, *c.function.parameters)}


def array(name: str) -> str:
    return "p_" + "".join(each if each.isalnum() else "_" for each in name)


def _fixed(address: Operand) -> str:
    assert isinstance(address, Address)
    assert isinstance(address.base, Symbol)
    return f"{array(address.base.name)} + {address.offset}"


def _is_copied(c: WrittenFunction, elements: tuple[Operand, ...]) -> bool:
    return all(isinstance(each, Register) and each.name in c.copied for each in elements)


def ld(c: WrittenFunction, ins: Instruction) -> str:
    _accept(c, "v2", "v4", "v8")
    kind, count, space = ins.parts[-1], _count(ins), _space(ins)
    elements, t = c.elements(ins.operands[0]), ctype(kind)
    if len(elements) != count or kind == "pred":
        raise c.unknown()
    nbytes = WIDTHS[kind] * count
    if space == "param" and _is_fixed(c, ins.operands[1]):
        code = f"memcpy(t_, {_fixed(ins.operands[1])}, {nbytes});"
    elif space == "param" and not c.function.is_kernel:
        raise c.unknown("a parameter by a computed address")
    else:
        how = "LOAD_COPIED" if space in ("local", "generic") and _is_copied(c, elements) else "LOAD"
        strong = str(ins.has(*_STRONG)).lower()
        where = f"{space.upper()}, {c.address(ins.operands[1])}"
        code = f"load<{nbytes}>(e, l, {where}, t_, {c.site()}, {strong}, {how});"
    if nbytes > 16:
        raise c.unknown("more than 16 bytes")
    written = " ".join(c.write(each, kind, f"t_[{k}]") for k, each in enumerate(elements))
    return f"{{ {t} t_[{count}]; {code} {written} }}"


def st(c: WrittenFunction, ins: Instruction) -> str:
    _accept(c, "v2", "v4", "v8")
    kind, count, space = ins.parts[-1], _count(ins), _space(ins)
    elements, t = c.elements(ins.operands[1]), ctype(kind)
    nbytes = WIDTHS[kind] * count
    if len(elements) != count or kind == "pred" or nbytes > 16:
        raise c.unknown()
    values = ", ".join(c.read(each, kind) for each in elements)
    if space == "param":
        if not _is_fixed(c, ins.operands[0]):
            raise c.unknown("a parameter by a computed address")
        code = f"memcpy({_fixed(ins.operands[0])}, t_, {nbytes});"
    else:
        strong = str(ins.has(*_STRONG)).lower()
        code = f"store<{nbytes}>(e, l, {space.upper()}, {c.address(ins.operands[0])}, t_, {c.site()}, {strong});"
    return f"{{ {t} t_[{count}] = {{{values}}}; {code} }}"


_CHANGES = {
    "and": "(T)(v & x_)",
    "or": "(T)(v | x_)",
    "xor": "(T)(v ^ x_)",
    "exch": "x_",
    "cas": "v == x_ ? y_ : v",
    "min": "v < x_ ? v : x_",
    "max": "v > x_ ? v : x_",
    "inc": "v >= x_ ? (T)0 : (T)(v + 1)",
    "dec": "v == 0 || v > x_ ? x_ : (T)(v - 1)",
}


def _change(c: WrittenFunction, ins: Instruction, what: str, kind: str, where: str) -> str:
    """The new value of the old one, v, and the operands."""
    if what != "add":
        if kind[0] in "fp" or kind.startswith("bf"):
            raise c.unknown()
        return _CHANGES[what]
    if kind == "f32":  # PTX ISA, atom: in global memory subnormals are flushed, in shared memory they are not
        added = "canonical(v + x_)"
        flushed = "ftz(canonical(ftz(v) + ftz(x_)))"
        return f"({where}) >> 48 == SHARED_WINDOW ? {added} : {flushed}" if _space(ins) == "generic" else (
            added if _space(ins) == "shared" else flushed)  # fmt: skip
    if kind == "f64":
        return "v + x_"
    if kind in ("f16", "bf16"):
        return f"half_add<{kind}_format>(v, x_)"
    if kind in ("f16x2", "bf16x2"):
        return f"each_half(v, x_, [](u16 p, u16 q) {{ return half_add<{kind[:-2]}_format>(p, q); }})"
    return "(T)((u64)v + (u64)x_)"


def atom(c: WrittenFunction, ins: Instruction) -> str:
    _accept(c, "add", "noftz", *_CHANGES)
    what, kind, returns = (
        next(p for p in ins.parts if p in _CHANGES or p == "add"),
        ins.parts[-1],
        ins.parts[0] == "atom",
    )
    if ins.has("v2", "v4", "v8"):
        raise c.unknown()
    t, given = ctype(kind), ins.operands[2:] if returns else ins.operands[1:]
    address = c.address(ins.operands[1 if returns else 0])
    values = "".join(f" {t} {name} = {c.read(each, kind)};" for name, each in zip(("x_", "y_"), given, strict=False))
    space = _space(ins)
    change = f"[&](T v) -> T {{ return {_change(c, ins, what, kind, 'a_')}; }}"
    call = f"atomic<T>(e, l, {space.upper()}, a_, {c.site()}, {change})"
    written = c.write(ins.operands[0], kind, call) if returns else f"{call};"
    return f"{{ typedef {t} T; u64 a_ = {address};{values} {written} }}"


def nothing(c: WrittenFunction, ins: Instruction) -> str:
    """Orders or prefetches memory: lanes run one after the other, and nothing is cached."""
    return ";"


EMITTERS: dict[str, Emitter] = {
    **dict.fromkeys(("ld", "ldu"), ld),
    "st": st,
    **dict.fromkeys(("atom", "red"), atom),
    **dict.fromkeys(("membar", "fence", "prefetch", "prefetchu"), nothing),
}
assert set(SPACES) >= set(_SPACE.values())
