"""The certificate of silu, gelu_sigmoid and wide inputs of gelu in float32 (docs/proofs.md, section 11)."""

import re
import shutil
from functools import partial

import pytest
from flint import arb
from prove import checks, gaussian32, sigmoid32
from prove.float32 import LAYOUTS
from prove.gaussian32 import FACTORS, defined, failing_rows
from prove.sigmoid32 import VALUES, r_is_exact, read_rate, read_steps, slope_loss, value_loss
from prove.source import ROOT
from prove.symbols import Symbol

pytestmark = pytest.mark.prove
rates = pytest.mark.parametrize("name", VALUES)
factors = pytest.mark.parametrize("name", FACTORS)
layouts = pytest.mark.parametrize("layout", LAYOUTS)


@layouts
@rates
def test_bounds(name, layout):
    loss = sigmoid32.loss_of(layout)
    assert value_loss(name, layout) < loss
    assert slope_loss(name, layout) < loss


@layouts
@rates
def test_what_underflows_is_less_than_the_least_loss(name, layout):
    rate = read_rate(name, layout)
    assert sigmoid32.UNDERFLOWS * (1 + rate.value * rate.most) < sigmoid32.least_loss() / 2


@layouts
@rates
def test_beyond_most_the_exponential_is_infinite(name, layout):
    """Clamped x have n = +-128 k: 127 + n div k is the exponent of an infinity, or the sign and that exponent."""
    rate = read_rate(name, layout)
    n = arb(rate.most) * rate.value / rate.exact_step
    assert abs(n - 128 * sigmoid32.STEPS[layout]) < arb(0.01)
    assert sigmoid32.reach(rate, arb(rate.most)).n < n + 0.51


@layouts
@rates
def test_the_first_difference_is_exact(name, layout):
    rate = read_rate(name, layout)
    assert r_is_exact(rate, arb(rate.most))


@layouts
def test_the_first_difference_is_exact_in_the_gaussian(layout):
    """s is a float, like the x of silu."""
    most = max(arb(row.high) for row in gaussian32.rows_of("gelu", layout))
    assert r_is_exact(read_rate("silu", layout), most * most / 2)
    assert gaussian32.shift(layout) == 1.5 * 2**23 + 56 * sigmoid32.STEPS[layout]


@layouts
def test_steps_are_powers_of_two(layout):
    step = arb.const_log2() / sigmoid32.STEPS[layout]
    for j, (t, rest) in enumerate(read_steps(layout)):
        assert abs((step * j).exp() / t - 1 - rest) < arb(2) ** -48


def test_what_underflows_in_the_gaussian_is_less_than_its_least_loss():
    """In v, which e multiplies, in e, which v multiplies, or in the product."""
    most = max(2.0**56, gaussian32.SCALE * 14.5)
    assert 32 * arb(2) ** -150 * most < arb(defined("LEAST")) / 4


def test_subnormal_results_are_not_decided():
    """Two numbers that are further apart than floats are there are not rounded to one: nor is a zero."""
    spacing = arb(2) ** -126 * defined("SCALE") * sigmoid32.U  # of the floats that are compared
    assert 2 * defined("LEAST") * (1 - 2 * sigmoid32.U) > spacing


@layouts
@factors
def test_every_piece_of_a_factor_keeps_its_bound(name, layout):
    assert failing_rows(name, layout) == []


def call(name, *arguments):
    return f"gv_floats_{name}({', '.join(arguments)})"


def every(number):
    return call("all", number)


def pair(*parts):
    return "{" + ", ".join(parts) + "}"


ONE = every("1.0")
madd, msub, less, add, sub, mul = (partial(call, name) for name in ("madd", "msub", "less", "add", "sub", "mul"))


def exp_pair():
    c = "gv_float_exp_curve(of.r, gv_floats_mul(of.r, of.r))"
    r2 = mul("of.r", "of.r")
    p = madd(c, r2, "of.r")
    p_low = madd(c, r2, sub("of.r", p))
    hi = madd("of.t", p, "of.t")
    return pair(hi, madd(hi, add("of.rest", p_low), madd("of.t", p, sub("of.t", hi))))


def reduced(shift, x, s="s"):
    """The steps as a power, and r and rest before the rate is multiplied in."""
    steps = call("madd_all", x, f"{s}.steps_per_unit", shift)
    minus_n = sub(every(shift), steps)
    rest = madd(minus_n, every(f"{s}.step_low"), call("of_steps", "gv_float_exp2_rest", steps))
    power = call("scaled", call("of_steps", "gv_float_exp2", steps), steps)
    return power, msub(minus_n, every(f"{s}.step"), x), rest


def reduce_call():
    t, r, rest = reduced("12582912.0", "x")
    product = mul(r, every("s.rate"))
    rest = add(madd(r, every("s.rate_low"), rest), msub(r, every("s.rate"), product))
    return pair(t, product, rest)


def within(hi, lo, loss):
    return f"gv_float_within({hi}, {lo}, {loss})"


def one_plus():
    more, smaller = call("larger", ONE, "e.hi"), call("smaller", ONE, "e.hi")
    hi = add(more, smaller)
    return pair(pair(hi, add(add(sub(more, hi), smaller), "e.lo")), call("over", ONE, hi))


def quotient_low(of, y):
    return f"gv_float_quotient_low({of}, by, {y})"


def loss(scale, layout):
    return madd(scale, every(float(sigmoid32.loss_of(layout)).hex()), every(float(sigmoid32.least_loss()).hex()))


def value_bounds(layout):
    y = mul("x", "by.q")
    return within(y, quotient_low("x", y), loss(call("magnitude", y), layout))


def slope_bounds(layout):
    q_low = quotient_low(ONE, "by.q")
    p = sub(ONE, "by.q")
    p_low = sub(sub(sub(ONE, p), "by.q"), q_low)
    steep = f"((s.rate == 1.0) ? x : {mul('x', every('s.rate'))})"
    more = mul(steep, p)
    steep_low = madd("x", every("s.rate_low"), msub("x", every("s.rate"), steep))
    more_low = madd(steep_low, p, madd(steep, p_low, msub(steep, p, more)))
    total = add(ONE, more)
    part = sub(total, ONE)
    total_low = add(add(sub(ONE, sub(total, part)), sub(more, part)), more_low)
    y = mul("by.q", total)
    lo = madd(q_low, total, madd("by.q", total_low, msub("by.q", total, y)))
    return within(y, lo, loss(add(call("magnitude", y), "by.q"), layout))


@layouts
def test_the_exponential_is_the_algorithm_that_was_proved(layout):
    symbols = {name: Symbol(name) for name in ("of", "x", "by", "s", "e", "y", "hi", "lo", "loss")}
    algorithms = {
        "gv_float_exp": (["of"], exp_pair()),
        "gv_float_reduce": (["s", "x"], reduce_call()),  # with a rate that is not 1
        "gv_float_one_plus": (["e"], one_plus()),
        "gv_float_quotient_low": (["x", "by", "y"], mul(less("y", "by.d.lo", less("y", "by.d.hi", "x")), "by.q")),
        "gv_float_sigmoid_value": (["x", "by"], value_bounds(layout)),
        "gv_float_sigmoid_slope": (["s", "x", "by"], slope_bounds(layout)),
        "gv_float_within": (["hi", "lo", "loss"], pair("hi", add("lo", "loss"), sub("lo", "loss"))),
    }
    for function, (arguments, expected) in algorithms.items():
        got = sigmoid32.algorithm(function, *(symbols[name] for name in arguments), layout=layout)
        assert got == expected, function


@layouts
def test_the_gaussian_is_the_algorithm_that_was_proved(layout):
    f, at, a, e, v, p, leading, bound = (Symbol(name) for name in ("f", "at", "a", "e", "v", "p", "leading", "bound"))
    half = mul("a", every((0.5).hex()))
    s = mul("a", half)
    t, r, rest = reduced(str(gaussian32.shift(layout)), s)
    expected = pair(t, r, sub(rest, msub("a", half, s)))
    got = gaussian32.algorithm("gv_float_gaussian_reduce", a, layout=layout)
    assert got == re.sub(r"\bs\.(\w+)", r"gv_silu_rate[\1]", expected)
    head, m = "gv_floats_column(f, 1, at)", f"gv_float_slope(f, at, {sub('a', 'gv_floats_column(f, 0, at)')})"
    h = sub("a", "gv_floats_column(f, 0, at)")
    hi = madd(f"{m}.hi", h, head)
    lo = add(madd(f"{m}.hi", h, sub(head, hi)), "gv_floats_column(f, 2, at)")
    got = gaussian32.algorithm("gv_float_gaussian_factor", f, at, a, layout=layout)
    assert got == pair(hi, madd(f"{m}.lo", h, lo))
    hi = mul("e.hi", "v.hi")
    lo = madd("e.lo", "v.hi", madd("e.hi", "v.lo", msub("e.hi", "v.hi", hi)))
    assert gaussian32.algorithm("gv_float_gaussian_product", e, v, layout=layout) == pair(hi, lo)
    hi = sub("leading", "p.hi")
    lo = sub(sub(sub("leading", hi), "p.hi"), "p.lo")
    least = float(defined("LEAST")).hex()
    values = madd(f"(0 ? e : {call('magnitude', hi)})", "bound", every(least))
    slopes = madd(
        f"(1 ? e : {call('magnitude', hi)})", "bound", call("madd_all", "leading", float(2.0**-46).hex(), least)
    )
    for derivative, lost in enumerate((values, slopes)):
        got = gaussian32.algorithm("gv_float_gaussian_rest", derivative, leading, p, e, bound, layout=layout)
        assert got == within(hi, lo, lost)


@factors
@layouts
def test_one_bit_of_a_factor_is_seen(name, layout, tmp_path):
    """Of the second coefficient of a piece near 1, in the last place but seven."""
    shutil.copytree(ROOT / "src", tmp_path / "src")
    path = tmp_path / "src" / "tables" / f"{name}_gaussian_f32.h"
    row = next(row for row in gaussian32.rows_of(name, layout) if row.high > 1)
    number = row.terms[0] * gaussian32.SCALE
    written = re.search(rf"{re.escape(number.hex().split('p')[0].rstrip('0'))}p[+-]\d+f", path.read_text()).group()
    other = float.fromhex(written[:-1]) * (1 + 2.0**-16)
    path.write_text(path.read_text().replace(written, other.hex() + "f"))
    assert failing_rows(name, layout, tmp_path)


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("cr/float_sigmoid.h", "0x1.55576ap-5f", "0x1.54p-5f"),
        ("cr/float_sigmoid.h", "SIGMOID_LOSS 0x1.28p-34f", "SIGMOID_LOSS 0x1.1p-34f"),
        ("tables/exp_f32.h", "0x1.125002p-25f", "0x1.135002p-25f"),
    ],
)
def test_a_fault_is_seen(file, right, wrong, tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src")
    path = tmp_path / "src" / file
    assert right in path.read_text()
    path.write_text(path.read_text().replace(right, wrong))
    assert not value_loss("silu", "registers", tmp_path) < sigmoid32.loss_of("registers", tmp_path)


def test_one_bit_of_the_table_of_exp(tmp_path):
    for folder in ("src", "tools"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    path = tmp_path / "src" / "tables" / "exp_f32.h"
    path.write_text(path.read_text().replace("0x1.62e43p-5f", "0x1.62e432p-5f"))
    assert not checks.generator_agrees("make_float32_tables.py", tmp_path, "exp_f32.h")
