"""Every opcode against exact arithmetic: fractions rounded once, and Python's integers."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
import requiring
from ptx_programs import (
    FORMATS,
    INF,
    NAN,
    Case,
    added,
    bits_of,
    divided,
    is_negative,
    multiplied,
    number,
    results,
    square_root,
    value_of,
)

FLOATS = ("f32", "f64")
HALVES = ("f16", "bf16")
MODES = ("rn", "rz", "rm", "rp")
WIDTHS = {f"{sign}{width}": width for sign in "us" for width in (16, 32, 64)}


@pytest.fixture(scope="module", autouse=True)
def compiler():
    requiring.program("c++", "g++", "clang++")


def floats_of(kind, n, every, rng):
    """Edges, pairs of them (all, or each one in few), and random patterns: three lists."""
    fmt = FORMATS[kind]
    one = bits_of(number(1), kind)
    edges = [0, 1, 2, (1 << fmt.precision - 1) - 1, 1 << fmt.precision - 1, one, one + 1, one - 1, fmt.infinity - 1]
    edges += [fmt.infinity, fmt.nan, bits_of(number(3) / 2, kind)]
    edges += [each | fmt.sign for each in edges]
    pairs = list(itertools.product(edges, edges))[:: 1 if every else 7]
    columns = [[a for a, _ in pairs], [b for _, b in pairs], [edges[k % len(edges)] for k in range(len(pairs))]]
    for column in columns:
        column += (
            [int(each) for each in rng.integers(0, 1 << fmt.width, n, dtype=np.uint64)]
            if fmt.width < 64
            else [int(each) for each in rng.integers(0, 2**64 - 1, n, dtype=np.uint64, endpoint=True)]
        )
    near = rng.integers(one - (8 << fmt.precision - 1), one + (8 << fmt.precision - 1), (3, n), dtype=np.int64)
    return [column + [int(each) for each in row] for column, row in zip(columns, near, strict=True)]


def integers_of(width, n, rng):
    """As many as there are of the others."""
    edges = [0, 1, 2, 3, 31, 32, 33, 63, (1 << width - 1) - 1, 1 << width - 1, (1 << width) - 1, (1 << width) - 2]
    pairs = (
        list(itertools.product(edges, edges))[:n] if n > 150 else list(itertools.product(edges, edges))[:: 144 // n + 1]
    )
    columns = [[a for a, _ in pairs], [b for _, b in pairs], [edges[k * 5 % len(edges)] for k in range(len(pairs))]]
    rest = n - len(pairs)
    return [
        [each & ((1 << width) - 1) for each in column + [int(v) for v in rng.integers(0, 2**63, rest, dtype=np.uint64)]]
        for column in columns
    ]


# ---- floating point ------------------------------------------------------------------------------


def op(name, kind, mode, *bits):
    values = [value_of(each, kind) for each in bits]
    if name == "sub":
        values[1] = value_of(bits[1] ^ FORMATS[kind].sign, kind)
    exact = {
        "add": lambda: added(values[0], values[1], mode),
        "sub": lambda: added(values[0], values[1], mode),
        "mul": lambda: multiplied(values[0], values[1]),
        "div": lambda: divided(values[0], values[1]),
        "fma": lambda: added(multiplied(values[0], values[1]), values[2], mode),
        "sqrt": lambda: square_root(values[0]),
        "rcp": lambda: divided(number(1), values[0]),
    }[name]()
    return bits_of(exact, kind, mode)


def flushed(bits, kind):
    fmt = FORMATS[kind]
    return bits if bits & fmt.infinity else bits & fmt.sign


def saturated(bits, kind):
    value = value_of(bits, kind)
    if value == NAN or is_negative(value) or not number(value) if value != INF else False:
        return 0
    return bits_of(number(1), kind) if value == INF or number(value) >= 1 else bits


def least(kind, a, b, sign, nans=False):
    x, y = value_of(a, kind), value_of(b, kind)
    if NAN in (x, y):
        return FORMATS[kind].nan if nans or x == y else (b if x == NAN else a)
    rank = [ordinal(each, kind) for each in (a, b)]
    return (a if rank[0] < rank[1] else b) if sign < 0 else (a if rank[0] > rank[1] else b)


def ordinal(bits, kind):
    sign = FORMATS[kind].sign
    return bits if bits < sign else sign - bits - 1


def float_cases() -> Iterator[Case]:
    for kind in FLOATS:
        for mode in MODES:
            for name, count in (("add", 2), ("sub", 2), ("mul", 2), ("div", 2), ("fma", 3), ("sqrt", 1), ("rcp", 1)):
                operands = ", ".join("{" + each + "}" for each in "abc"[:count])
                yield Case(
                    f"{name}.{mode}.{kind} {{d}}, {operands}",
                    (kind,) * count,
                    kind,
                    lambda *bits, name=name, kind=kind, mode=mode: op(name, kind, mode, *bits),
                )
        for name, sign in (("min", -1), ("max", 1)):
            yield Case(
                f"{name}.{kind} {{d}}, {{a}}, {{b}}",
                (kind, kind),
                kind,
                lambda a, b, kind=kind, sign=sign: least(kind, a, b, sign),
            )
        sign = FORMATS[kind].sign
        yield Case(f"neg.{kind} {{d}}, {{a}}", (kind,), kind, lambda a, sign=sign: a ^ sign)
        yield Case(f"abs.{kind} {{d}}, {{a}}", (kind,), kind, lambda a, sign=sign: a & (sign - 1))
        yield Case(
            f"copysign.{kind} {{d}}, {{a}}, {{b}}",
            (kind, kind),
            kind,
            lambda a, b, sign=sign: (b & (sign - 1)) | (a & sign),
        )
        yield from comparisons(kind)
    yield Case("min.NaN.f32 {d}, {a}, {b}", ("f32", "f32"), "f32", lambda a, b: least("f32", a, b, -1, True))
    for name in ("add", "mul", "fma"):
        count = 3 if name == "fma" else 2
        operands = ", ".join("{" + each + "}" for each in "abc"[:count])
        yield Case(
            f"{name}.rn.ftz.f32 {{d}}, {operands}",
            ("f32",) * count,
            "f32",
            lambda *bits, name=name: flushed(op(name, "f32", "rn", *(flushed(b, "f32") for b in bits)), "f32"),
        )
        yield Case(
            f"{name}.rn.sat.f32 {{d}}, {operands}",
            ("f32",) * count,
            "f32",
            lambda *bits, name=name: saturated(op(name, "f32", "rn", *bits), "f32"),
        )


COMPARE = {
    "eq": (0,),
    "ne": (-1, 1),
    "lt": (-1,),
    "le": (-1, 0),
    "gt": (1,),
    "ge": (0, 1),
    "num": (-1, 0, 1),
    "nan": (),
}


def compared(kind, a, b):
    """-1, 0, 1; None where one of them is NaN."""
    x, y = value_of(a, kind), value_of(b, kind)
    if NAN in (x, y):
        return None
    x, y = ({INF: 10**400, "-inf": -(10**400), "-0": 0}.get(each, each) for each in (x, y))
    return (x > y) - (x < y)


def comparisons(kind):
    for how, true in COMPARE.items():
        for unordered in (False, True):
            if how in ("num", "nan") and unordered:
                continue
            name = how + ("u" if unordered else "")
            when_nan = unordered or how == "nan"
            yield Case(
                f"setp.{name}.{kind} {{d}}, {{a}}, {{b}}",
                (kind, kind),
                "pred",
                lambda a, b, kind=kind, true=true, when_nan=when_nan: int(
                    when_nan if (c := compared(kind, a, b)) is None else c in true
                ),
            )


def half_cases():
    for kind in HALVES:
        for name, count in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3)):
            operands = ", ".join("{" + each + "}" for each in "abc"[:count])
            yield Case(
                f"{name}.rn.{kind} {{d}}, {operands}",
                (kind,) * count,
                kind,
                lambda *bits, name=name, kind=kind: op(name, kind, "rn", *bits),
            )
        yield Case(
            f"fma.rn.relu.{kind} {{d}}, {{a}}, {{b}}, {{c}}",
            (kind,) * 3,
            kind,
            lambda *bits, kind=kind: relu(op("fma", kind, "rn", *bits), kind),
        )
        for name, sign in (("min", -1), ("max", 1)):
            yield Case(
                f"{name}.NaN.{kind} {{d}}, {{a}}, {{b}}",
                (kind, kind),
                kind,
                lambda a, b, kind=kind, sign=sign: least(kind, a, b, sign, True),
            )
        yield from comparisons(kind)


def relu(bits, kind):
    return bits if value_of(bits, kind) == NAN else 0 if bits & FORMATS[kind].sign else bits


# ---- conversions ---------------------------------------------------------------------------------


def to_integer(bits, kind, to, mode):
    width, value = int(to[1:]), value_of(bits, kind)
    low, high = (0, (1 << width) - 1) if to[0] == "u" else (-(1 << width - 1), (1 << width - 1) - 1)
    if value == NAN:
        return 1 << width - 1 if kind == "f64" or width == 64 else 0
    if value in (INF, "-inf"):
        found = high if value == INF else low
    else:
        exact = number(value)
        floor = exact.numerator // exact.denominator
        rest = exact - floor
        half = rest > 1 / number(2) or (rest == 1 / number(2) and floor % 2)
        up = {"rn": half, "rz": exact < 0 and rest > 0, "rm": False, "rp": rest > 0}[mode]
        found = min(max(floor + bool(up), low), high)
    return found & ((1 << width) - 1)


def signed(value, kind):
    width = int(kind[1:])
    return value - (1 << width) if kind[0] == "s" and value >> width - 1 else value


def conversion_cases():
    kinds = (*FLOATS, *HALVES)
    for kind, to, mode in itertools.product(kinds, WIDTHS, MODES):
        if (mode in ("rn", "rz") or kind == "f32") and int(to[1:]) >= 32:
            yield Case(
                f"cvt.{mode}i.{to}.{kind} {{d}}, {{a}}",
                (kind,),
                to,
                lambda a, kind=kind, to=to, mode=mode: to_integer(a, kind, to, mode),
            )
    for kind, to, mode in itertools.product(WIDTHS, kinds, MODES):
        if (mode == "rn" or kind[1:] == "64") and int(kind[1:]) >= 32 and (to in FLOATS or mode == "rn"):
            yield Case(
                f"cvt.{mode}.{to}.{kind} {{d}}, {{a}}",
                (kind,),
                to,
                lambda a, kind=kind, to=to, mode=mode: bits_of(number(1) * signed(a, kind), to, mode),
            )
    for kind, to in (("f64", "f32"), ("f32", "f16"), ("f32", "bf16"), ("f64", "f16")):
        for mode in MODES if to == "f32" else ("rn", "rz"):
            yield Case(
                f"cvt.{mode}.{to}.{kind} {{d}}, {{a}}",
                (kind,),
                to,
                lambda a, kind=kind, to=to, mode=mode: bits_of(value_of(a, kind), to, mode),
            )
    for kind, to in (("f32", "f64"), ("f16", "f32"), ("bf16", "f32"), ("f16", "f64")):
        yield Case(
            f"cvt.{to}.{kind} {{d}}, {{a}}", (kind,), to, lambda a, kind=kind, to=to: bits_of(value_of(a, kind), to)
        )
    for to in WIDTHS:
        for kind in WIDTHS:
            yield Case(
                f"cvt.{to}.{kind} {{d}}, {{a}}",
                (kind,),
                to,
                lambda a, kind=kind, to=to: signed(a, kind) & ((1 << int(to[1:])) - 1),
            )
            yield Case(
                f"cvt.sat.{to}.{kind} {{d}}, {{a}}",
                (kind,),
                to,
                lambda a, kind=kind, to=to: clamped(signed(a, kind), to) & ((1 << int(to[1:])) - 1),
            )


def clamped(value, to):
    width = int(to[1:])
    low, high = (0, (1 << width) - 1) if to[0] == "u" else (-(1 << width - 1), (1 << width - 1) - 1)
    return min(max(value, low), high)


# ---- integers ------------------------------------------------------------------------------------


def integer_cases():
    for kind, width in WIDTHS.items():
        mask = (1 << width) - 1
        for name, compute in INTEGER.items():
            yield Case(
                f"{name}.{kind} {{d}}, {{a}}, {{b}}",
                (kind, kind),
                kind,
                lambda a, b, kind=kind, mask=mask, compute=compute: compute(signed(a, kind), signed(b, kind)) & mask,
            )
        yield Case(
            f"mul.hi.{kind} {{d}}, {{a}}, {{b}}",
            (kind, kind),
            kind,
            lambda a, b, kind=kind, mask=mask, width=width: (signed(a, kind) * signed(b, kind) >> width) & mask,
        )
        yield Case(
            f"mad.lo.{kind} {{d}}, {{a}}, {{b}}, {{c}}",
            (kind,) * 3,
            kind,
            lambda a, b, c, mask=mask: (a * b + c) & mask,
        )
        yield Case(
            f"shr.{kind} {{d}}, {{a}}, {{b}}",
            (kind, "u32"),
            kind,
            lambda a, b, kind=kind, mask=mask, width=width: (signed(a, kind) >> min(b, width)) & mask,
        )
        yield Case(
            f"shl.b{width} {{d}}, {{a}}, {{b}}",
            (kind, "u32"),
            kind,
            lambda a, b, mask=mask, width=width: (a << min(b, width)) & mask,
        )
        for how, true in COMPARE.items():
            if how not in ("num", "nan"):
                yield Case(
                    f"setp.{how}.{kind} {{d}}, {{a}}, {{b}}",
                    (kind, kind),
                    "pred",
                    lambda a, b, kind=kind, true=true: int(order(signed(a, kind), signed(b, kind)) in true),
                )
        if width < 64:
            wide = f"{kind[0]}{2 * width}"
            yield Case(
                f"mul.wide.{kind} {{d}}, {{a}}, {{b}}",
                (kind, kind),
                wide,
                lambda a, b, kind=kind, width=width: signed(a, kind) * signed(b, kind) & ((1 << 2 * width) - 1),
            )
        if width > 16:
            yield from wide_cases(kind, width)


def order(a, b):
    return (a > b) - (a < b)


INTEGER = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul.lo": lambda a, b: a * b, "min": min, "max": max}


def truncated(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def wide_cases(kind, width):
    mask = (1 << width) - 1
    yield Case(
        f"div.{kind} {{d}}, {{a}}, {{b}}",
        (kind, kind),
        kind,
        lambda a, b: None if not b else truncated(signed(a, kind), signed(b, kind)) & mask,
    )
    yield Case(
        f"rem.{kind} {{d}}, {{a}}, {{b}}",
        (kind, kind),
        kind,
        lambda a, b: (
            None if not b else (signed(a, kind) - signed(b, kind) * truncated(signed(a, kind), signed(b, kind))) & mask
        ),
    )
    yield Case(
        f"bfe.{kind} {{d}}, {{a}}, {{b}}, {{c}}",
        (kind, "u32", "u32"),
        kind,
        lambda a, b, c: field(a, b & 255, c & 255, width, kind[0] == "s"),
    )
    yield Case(
        f"bfind.{kind} {{d}}, {{a}}",
        (kind,),
        "u32",
        lambda a: (max(signed(a, kind), ~signed(a, kind)).bit_length() - 1) & 0xFFFFFFFF,
    )
    if kind[0] == "u":
        yield Case(f"popc.b{width} {{d}}, {{a}}", (kind,), "u32", lambda a: a.bit_count())
        yield Case(f"clz.b{width} {{d}}, {{a}}", (kind,), "u32", lambda a: width - a.bit_length())
        yield Case(f"brev.b{width} {{d}}, {{a}}", (kind,), kind, lambda a: int(f"{a:0{width}b}"[::-1], 2))
        yield Case(f"not.b{width} {{d}}, {{a}}", (kind,), kind, lambda a: a ^ mask)
        for name, compute in (("and", int.__and__), ("or", int.__or__), ("xor", int.__xor__)):
            yield Case(f"{name}.b{width} {{d}}, {{a}}, {{b}}", (kind, kind), kind, compute)
        yield Case(
            f"bfi.b{width} {{d}}, {{a}}, {{b}}, {{c}}, 7",
            (kind, kind, "u32"),
            kind,
            lambda a, b, c: inserted(a, b, c & 255, 7, width),
        )
    else:
        yield Case(f"abs.{kind} {{d}}, {{a}}", (kind,), kind, lambda a: abs(signed(a, kind)) & mask)
        yield Case(f"neg.{kind} {{d}}, {{a}}", (kind,), kind, lambda a: -a & mask)


def field(a, position, length, width, is_signed):
    """PTX ISA, bfe: each bit of the result in turn."""
    last = min(position + length - 1, width - 1)
    sign = a >> last & 1 if is_signed and length else 0
    taken = [(a >> position + k & 1) if k < length and position + k < width else sign for k in range(width)]
    return sum(bit << k for k, bit in enumerate(taken))


def inserted(a, b, position, length, width):
    for k in range(length):
        if position + k < width:
            b = b & ~(1 << position + k) | (a >> k & 1) << position + k
    return b


def bit_cases():
    u = ("u32",) * 3
    yield Case(
        "shf.l.wrap.b32 {d}, {a}, {b}, {c}", u, "u32", lambda a, b, c: ((b << 32 | a) << (c & 31)) >> 32 & 0xFFFFFFFF
    )
    yield Case("shf.r.wrap.b32 {d}, {a}, {b}, {c}", u, "u32", lambda a, b, c: (b << 32 | a) >> (c & 31) & 0xFFFFFFFF)
    yield Case("shf.r.clamp.b32 {d}, {a}, {b}, {c}", u, "u32", lambda a, b, c: (b << 32 | a) >> min(c, 32) & 0xFFFFFFFF)
    yield Case(
        "shf.l.clamp.b32 {d}, {a}, {b}, {c}", u, "u32", lambda a, b, c: ((b << 32 | a) << min(c, 32)) >> 32 & 0xFFFFFFFF
    )
    yield Case("prmt.b32 {d}, {a}, {b}, {c}", u, "u32", permuted)
    for table in (0xE8, 0x96, 0x1B):
        yield Case(
            f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {table:#x}",
            u,
            "u32",
            lambda a, b, c, table=table: sum(
                (table >> ((a >> k & 1) * 4 + (b >> k & 1) * 2 + (c >> k & 1)) & 1) << k for k in range(32)
            ),
        )
    yield Case(
        "dp4a.s32.u32 {d}, {a}, {b}, {c}",
        ("u32",) * 3,
        "u32",
        lambda a, b, c: (c + sum(signed(a >> 8 * k & 255, "s8") * (b >> 8 * k & 255) for k in range(4))) & 0xFFFFFFFF,
    )
    yield Case(
        "sad.s32 {d}, {a}, {b}, {c}",
        ("s32",) * 3,
        "u32",
        lambda a, b, c: (c + abs(signed(a, "s32") - signed(b, "s32"))) & 0xFFFFFFFF,
    )
    yield Case("selp.b32 {d}, {a}, {b}, %past", ("u32", "u32"), "u32", lambda a, b: b)
    yield Case(
        "slct.u32.s32 {d}, {a}, {b}, {c}",
        ("u32", "u32", "s32"),
        "u32",
        lambda a, b, c: a if signed(c, "s32") >= 0 else b,
    )
    yield Case(
        "add.sat.s32 {d}, {a}, {b}",
        ("s32", "s32"),
        "s32",
        lambda a, b: clamped(signed(a, "s32") + signed(b, "s32"), "s32") & 0xFFFFFFFF,
    )
    yield Case(
        "{{ .reg .u32 l; add.cc.u32 l, {a}, {b}; addc.u32 {d}, {c}, 0; }}",
        u,
        "u32",
        lambda a, b, c: (c + (a + b >> 32)) & 0xFFFFFFFF,
    )
    yield Case(
        "{{ .reg .u32 l; sub.cc.u32 l, {a}, {b}; subc.u32 {d}, {c}, 0; }}",
        u,
        "u32",
        lambda a, b, c: (c - (a < b)) & 0xFFFFFFFF,
    )
    yield Case("mul24.lo.s32 {d}, {a}, {b}", ("s32", "s32"), "u32", lambda a, b: low24(a) * low24(b) & 0xFFFFFFFF)


def low24(value):
    value &= 0xFFFFFF
    return value - (1 << 24) if value >> 23 else value


def permuted(a, b, c):
    result = 0
    for k in range(4):
        nibble = c >> 4 * k & 15
        byte = (b << 32 | a) >> 8 * (nibble & 7) & 255
        result |= ((255 if byte & 128 else 0) if nibble & 8 else byte) << 8 * k
    return result


# ---- the tests -----------------------------------------------------------------------------------


def disagreements(cases, n, every):
    """Cases and inputs whose result is not the wanted one."""
    rng = np.random.default_rng(20261122)
    values = {kind: floats_of(kind, n, every, rng) for kind in FORMATS}
    length = len(values["f32"][0])
    values |= {kind: integers_of(width, length, rng) for kind, width in WIDTHS.items()}
    got = results(cases, values)
    wrong = []
    for case, row in zip(cases, got.tolist(), strict=True):
        columns = zip(*(values[kind][index] for index, kind in enumerate(case.kinds)), strict=True)
        for operands, found in zip(columns, row, strict=True):
            want = case.want(*operands)
            nan = case.result == "f64" and want == FORMATS["f64"].nan and value_of(found, "f64") == NAN
            if want is not None and found != want and not nan:
                wrong.append((case.text, [hex(each) for each in operands], hex(found), hex(want)))
    return wrong


def of_kinds(*families):
    return [case for family in families for case in family()]


OFTEN = [
    *of_kinds(float_cases, half_cases, bit_cases),
    *[case for case in of_kinds(integer_cases) if "32" in case.text],
]
SELDOM = [*of_kinds(conversion_cases), *[case for case in of_kinds(integer_cases) if "32" not in case.text]]


@pytest.mark.parametrize(
    ("cases", "n", "every"),
    [
        pytest.param(OFTEN, 9, False, id="often"),
        pytest.param([*OFTEN, *SELDOM], 400, True, id="all", marks=pytest.mark.nightly),
    ],
)
def test_opcodes_are_exact(cases, n, every):
    assert disagreements(cases, n, every)[:5] == []
