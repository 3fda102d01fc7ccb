"""Products and sums that PTX leaves open, executed both ways: in two roundings, and in one."""

from fractions import Fraction

import numpy as np
import pytest
import requiring
from ptx_programs import FORMATS, HEAD, Case, bits_of, results, value_of

from gelu_verify.ptx.parse import parse
from gelu_verify.ptx.translate import EXECUTIONS, translate

# statements that end in a sum of p = a*b or -(a*b), the exact sum, and whether it may be one fma
SUMS = {
    "add": ("mul.{k} p, {a}, {b}; add.{k} {d}, p, {c};", lambda p, c: p + c, True),
    "add to": ("mul.{k} p, {a}, {b}; add.{k} {d}, {c}, p;", lambda p, c: c + p, True),
    "sub": ("mul.{k} p, {a}, {b}; sub.{k} {d}, p, {c};", lambda p, c: p - c, True),
    "sub from": ("mul.{k} p, {a}, {b}; sub.{k} {d}, {c}, p;", lambda p, c: c - p, True),
    "neg": ("mul.{k} p, {a}, {b}; neg.{k} q, p; add.{k} {d}, q, {c};", lambda p, c: c - p, True),
    "moved": ("mul.{k} p, {a}, {b}; mov.{w} q, p; mov.{w} p, {c}; add.{k} {d}, q, p;", lambda p, c: p + c, True),
    "itself": ("mov.{w} p, {a}; mul.{k} p, p, {b}; mov.{w} {a}, {c}; add.{k} {d}, p, {a};", lambda p, c: p + c, True),
    "loop": (
        "mov.pred z, 0; mov.{w} q, {c}; bra S{n}; L{n}: add.{k} {d}, p, q; mov.pred z, 1; bra E{n}; "
        "S{n}: mul.{k} p, {a}, {b}; bra L{n}; E{n}:",
        lambda p, c: p + c,
        True,
    ),
    "guarded": (
        "setp.eq.u32 z, 0, 0; @z mul.{k} p, {a}, {b}; @z add.{k} {d}, p, {c}; @!z mov.{w} {d}, {a};",
        lambda p, c: p + c,
        True,
    ),
    "named product": ("mul.rn.{k} p, {a}, {b}; add.{k} {d}, p, {c};", lambda p, c: p + c, False),
    "named sum": ("mul.{k} p, {a}, {b}; add.rn.{k} {d}, p, {c};", lambda p, c: p + c, False),
    "no product any more": (
        "mul.{k} p, {a}, {b}; mov.{w} q, p; add.rn.{k} p, q, zero; add.{k} {d}, p, {c};",
        lambda p, c: p + c,
        False,
    ),
}
REGISTERS = {"f32": "f32", "f64": "f64", "f16": "b16", "bf16": "b16"}


ZEROS = {"f32": "0f00000000", "f64": "0d0000000000000000", "f16": "0", "bf16": "0"}


def text(statements, kind, n):
    word = REGISTERS[kind]
    declared = f".reg .{word} p, q, zero; .reg .pred z; mov.{word} zero, {ZEROS[kind]}; "
    return declared + statements.replace("{k}", kind).replace("{w}", word).replace("{n}", str(n))


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", list(REGISTERS))
def test_a_sum_of_a_product_has_two_roundings_or_one(kind):
    """A product that is rounded beside one that is not: at random, and never both ways where PTX names a rounding."""
    requiring.program("c++", "g++", "clang++")
    rng, n = np.random.default_rng(3), 400
    exact = rng.integers(1, 1 << FORMATS[kind].precision, (3, n)) * rng.choice([-1, 1], (3, n))
    scale = Fraction(1, 1 << FORMATS[kind].precision)
    a, b, c = ([int(each) * scale for each in row] for row in exact)
    values = {kind: [[bits_of(each, kind) for each in row] for row in (a, b, c)]}
    cases = [Case(text(s, kind, k), (kind,) * 3, kind, int) for k, (s, _, _) in enumerate(SUMS.values())]
    apart, fused = (results(cases, values, execution) for execution in ("nearest", "nearest-fused"))
    for k, (name, (_, total, is_open)) in enumerate(SUMS.items()):
        rounded = [value_of(bits_of(x * y, kind), kind) for x, y in zip(a, b, strict=True)]
        twice = [bits_of(total(p, z), kind) for p, z in zip(rounded, c, strict=True)]
        once = [bits_of(total(x * y, z), kind) for x, y, z in zip(a, b, c, strict=True)]
        assert twice != once
        np.testing.assert_array_equal(apart[k], np.array(twice, np.uint64), name)
        np.testing.assert_array_equal(fused[k], np.array(once if is_open else twice, np.uint64), name)


def test_halves_of_pairs_are_fused_each_on_its_own():
    requiring.program("c++", "g++", "clang++")
    rng, n = np.random.default_rng(4), 300
    a, b, c = ([int(each) for each in row] for row in rng.integers(0x3800, 0x3FFF, (3, n)))
    low, high = rng.integers(0x3800, 0x3FFF, (2, n))
    values = {
        "f16x2": [
            [x | int(y) << 16 for x, y in zip(row, other, strict=True)]
            for row, other in ((a, low), (b, high), (c, low))
        ],
    }
    registers = ".reg .b32 p, q; .reg .b16 h, i, s, t; "
    cases = [
        Case(registers + "mul.f16x2 p, {a}, {b}; mov.b32 {{h, i}}, p; mov.b32 {{s, t}}, {c}; add.f16 h, h, s; "
             "mov.b32 q, {{h, i}}; mov.b32 {d}, q;", ("f16x2",) * 3, "f16x2", int),
        Case(registers + "mul.f16x2 p, {a}, {b}; mov.b32 {{h, i}}, p; mov.b32 q, {{i, h}}; add.f16x2 {d}, q, {c};",
             ("f16x2",) * 3, "f16x2", int),
    ]  # fmt: skip
    fused = results(cases, values, "nearest-fused")

    def fma(x, y, z):
        exact = value_of(x, "f16") * value_of(y, "f16") + value_of(z, "f16")
        return bits_of(exact, "f16")

    def product(x, y):
        return bits_of(value_of(x, "f16") * value_of(y, "f16"), "f16")

    for k in range(n):
        x, y, z = (values["f16x2"][row][k] for row in range(3))
        (xl, yl, zl), (xh, yh, zh) = ([each >> shift & 0xFFFF for each in (x, y, z)] for shift in (0, 16))
        assert fused[0][k] == fma(xl, yl, zl) | product(xh, yh) << 16
        assert fused[1][k] == fma(xh, yh, zl) | fma(xl, yl, zh) << 16


@pytest.mark.parametrize(
    ("statements", "executions"),
    [
        ("add.rn.f32 %d, %a, %a;", ()),
        ("mul.f32 %p, %a, %a; add.f32 %d, %p, %a;", ("nearest", "nearest-fused")),
        ("mul.sat.f32 %p, %a, %a; add.f32 %d, %p, %a;", ()),
        ("mov.b64 {%r, %s}, %x; mov.b64 %y, {%r, %s}; add.f64 %x, %y, %y;", ()),
        ("ex2.approx.f32 %d, %a;", EXECUTIONS[:4]),
        ("ex2.approx.f32 %p, %a; mul.f32 %p, %p, %a; sub.f32 %d, %p, %a;", EXECUTIONS),
    ],
)
def test_the_executions_of_a_kernel_are_those_that_may_differ(statements, executions):
    text = HEAD + (
        ".visible .entry k()\n{ .reg .f32 %a, %p, %d; .reg .f64 %x, %y; .reg .b32 %r, %s; "
        "mov.f32 %a, 0f3F800000; mul.f64 %x, 0d3FF0000000000000, 0d3FF0000000000000; " + statements + " ret; }"
    )
    assert translate(parse(text), "k").executions == executions
