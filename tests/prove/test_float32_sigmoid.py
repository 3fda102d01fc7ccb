"""The certificate of silu, gelu_sigmoid and the tails of gelu in float32 (docs/proofs.md, section 11)."""

import re
import shutil
from functools import partial

import pytest
from flint import arb
from prove import checks, sigmoid32, tail32
from prove.float32 import LAYOUTS
from prove.sigmoid32 import STEP, VALUES, r_is_exact, read_rate, read_steps, slope_loss, value_loss
from prove.source import ROOT
from prove.symbols import Symbol
from prove.tail32 import FACTORS, failing_rows, row_loss, used_rows

pytestmark = pytest.mark.prove
rates = pytest.mark.parametrize("name", VALUES)
tails = pytest.mark.parametrize("name", FACTORS)
layouts = pytest.mark.parametrize("layout", LAYOUTS)


@rates
def test_bounds(name):
    loss = sigmoid32.defined("LOSS")
    assert value_loss(name) < loss
    assert slope_loss(name) < loss


@rates
def test_the_first_difference_is_exact(name):
    rate = read_rate(name)
    assert r_is_exact(rate, arb(rate.most))


def test_the_first_difference_is_exact_in_a_tail():
    """s >= 8 is a multiple of 2^-20, step of the last bit of step: r below 2^24 of that."""
    rate, most = read_rate("silu"), arb(tail32.defined("MOST"))
    assert tail32.defined("EDGE") == -4
    assert sigmoid32.reach(rate, most * most / 2).r <= arb(2) ** 4
    assert r_is_exact(rate, most * most / 2)


def test_steps_are_powers_of_two():
    for j, (t, rest) in enumerate(read_steps()):
        assert abs((STEP * (j % 8)).exp() / t - 1 - rest) < arb(2) ** -48


@tails
def test_nothing_underflows_in_a_tail(name):
    """The smallest result is a normal number; e^-s and its low part are, 2^64 times."""
    most = arb(tail32.defined("MOST"))
    e = (-most * most / 2).exp()
    assert e * tail32.factor(name)(most, 0)[0] > arb(2) ** -126
    assert e * 2**64 * arb(2) ** -48 > arb(2) ** -126


@layouts
@tails
def test_every_piece_of_a_tail_keeps_its_bound(name, layout):
    assert failing_rows(name, layout) == []


@layouts
@tails
def test_bounds_of_a_tail(name, layout):
    for row in used_rows(name, layout):
        assert row_loss(name, layout, row) < tail32.defined("LOSS")


def call(name, *arguments):
    return f"gv_floats_{name}({', '.join(arguments)})"


def every(number):
    return call("all", number)


def pair(*parts):
    return "{" + ", ".join(parts) + "}"


ONE = every("1.0")
madd, msub, less, add, sub, mul = (partial(call, name) for name in ("madd", "msub", "less", "add", "sub", "mul"))


def exp_pair():
    c = "gv_float_exp_curve(r, gv_floats_mul(r, r))"
    r2, t = mul("r", "r"), call("scaled", call("of_eight", "gv_float_exp2", "steps"), "steps")
    p = madd(c, r2, "r")
    p_low = madd(c, r2, sub("r", p))
    hi = madd(t, p, t)
    return pair(hi, madd(hi, "rest", madd(t, p_low, madd(t, p, sub(t, hi)))))


def exp_of(shift, x):
    """The steps, and r and rest before the rate is multiplied in."""
    steps = call("madd_all", x, "s.steps_per_unit", shift)
    minus_n = sub(every(shift), steps)
    rest = madd(minus_n, every("s.step_low"), call("of_eight", "gv_float_exp2_rest", steps))
    return steps, msub(minus_n, every("s.step"), x), rest


def exp_call():
    steps, r, rest = exp_of("12582912.0", "x")
    product = mul(r, every("s.rate"))
    rest = add(madd(r, every("s.rate_low"), rest), msub(r, every("s.rate"), product))
    return f"gv_float_exp_reduced({steps}, {product}, {rest})"


def bounds(scale, hi, lo, loss):
    return pair(hi, madd(scale, every(loss), lo), less(scale, every(loss), lo))


def one_plus():
    more, smaller = call("larger", ONE, "e.hi"), call("smaller", ONE, "e.hi")
    hi = add(more, smaller)
    return pair(hi, add(add(sub(more, hi), smaller), "e.lo"))


def quotient(of, hi, q):
    return mul(less(hi, "d.lo", less(hi, "d.hi", of)), q)


def value_bounds():
    q = call("over", ONE, "d.hi")
    hi = mul("x", q)
    return bounds(hi, hi, quotient("x", hi, q), LOSS)


def slope_bounds():
    p = sub(ONE, "q.hi")
    p_low = sub(sub(sub(ONE, p), "q.hi"), "q.lo")
    steep = f"((s.rate == 1.0) ? x : {mul('x', every('s.rate'))})"
    more = mul(steep, p)
    steep_low = madd("x", every("s.rate_low"), msub("x", every("s.rate"), steep))
    more_low = madd(steep_low, p, madd(steep, p_low, msub(steep, p, more)))
    total = add(ONE, more)
    part = sub(total, ONE)
    total_low = add(add(sub(ONE, sub(total, part)), sub(more, part)), more_low)
    hi = mul("q.hi", total)
    lo = madd("q.lo", total, madd("q.hi", total_low, msub("q.hi", total, hi)))
    return bounds(add(call("magnitude", hi), "q.hi"), hi, lo, LOSS)


LOSS = (1.65625 * 2.0**-33).hex()


def test_the_exponential_is_the_algorithm_that_was_proved():
    symbols = {name: Symbol(name) for name in ("steps", "r", "rest", "x", "d", "s", "q", "e")}
    algorithms = {
        "gv_float_exp_reduced": (["steps", "r", "rest"], exp_pair()),
        "gv_float_exp": (["s", "x"], exp_call()),  # with a rate that is not 1
        "gv_float_one_plus": (["e"], one_plus()),
        "gv_float_inverse": (["d"], pair(call("over", ONE, "d.hi"), quotient(ONE, *2 * [call("over", ONE, "d.hi")]))),
        "gv_float_sigmoid_value": (["x", "d"], value_bounds()),
        "gv_float_sigmoid_slope": (["s", "x", "q"], slope_bounds()),
    }
    assert float.fromhex(LOSS) == sigmoid32.defined("LOSS")
    for function, (arguments, expected) in algorithms.items():
        assert sigmoid32.algorithm(function, *(symbols[name] for name in arguments)) == expected, function


def test_the_tail_is_the_algorithm_that_was_proved():
    f, at, a = (Symbol(name) for name in ("f", "at", "a"))
    half = mul("a", every((0.5).hex()))
    steps, r, rest = exp_of("12583424.0", mul("a", half))
    expected = f"gv_float_exp_reduced({steps}, {r}, {sub(rest, msub('a', half, mul('a', half)))})"
    got = tail32.algorithm("gv_float_tail_exp", a)
    assert got == re.sub(r"\bs\.(\w+)", r"gv_silu_rate[\1]", expected)
    head, m = "gv_floats_column(f, 1, at)", f"gv_float_slope(f, at, {sub('a', 'gv_floats_column(f, 0, at)')})"
    h = sub("a", "gv_floats_column(f, 0, at)")
    hi = madd(f"{m}.hi", h, head)
    lo = add(madd(f"{m}.hi", h, sub(head, hi)), "gv_floats_column(f, 2, at)")
    assert tail32.algorithm("gv_float_tail_factor", f, at, a) == pair(hi, madd(f"{m}.lo", h, lo))
    e, v = "gv_float_tail_exp(a)", "gv_float_tail_factor(f, at, a)"
    hi = mul(f"{e}.hi", f"{v}.hi")
    lo = madd(f"{e}.lo", f"{v}.hi", madd(f"{e}.hi", f"{v}.lo", msub(f"{e}.hi", f"{v}.hi", hi)))
    assert tail32.algorithm("gv_float_tail_sum", f, at, a) == bounds(hi, hi, lo, tail32.defined("LOSS").hex())


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("cr/float_sigmoid.h", "0x1.555556p-5f", "0x1.54p-5f"),
        ("cr/float_sigmoid.h", "SIGMOID_LOSS 0x1.a8p-33f", "SIGMOID_LOSS 0x1.7p-33f"),
        ("tables/exp_f32.h", "0x1.125002p-25f", "0x1.135002p-25f"),
    ],
)
def test_a_fault_is_seen(file, right, wrong, tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src")
    path = tmp_path / "src" / file
    assert right in path.read_text()
    path.write_text(path.read_text().replace(right, wrong))
    assert not value_loss("silu", tmp_path) < sigmoid32.defined("LOSS", tmp_path)


def test_one_bit_of_the_table_of_exp(tmp_path):
    for folder in ("src", "tools"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    path = tmp_path / "src" / "tables" / "exp_f32.h"
    path.write_text(path.read_text().replace("0x1.62e43p-4f", "0x1.62e432p-4f"))
    assert not checks.generator_agrees("make_float32_tables.py", tmp_path, "exp_f32.h")
