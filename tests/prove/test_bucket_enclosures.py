"""The certificate of src/buckets/enclosure.h: its series near zero, and its tails. Intervals: test_enclosures.py."""

import re
from fractions import Fraction

import flint
import pytest
from compiled_enclosures import NAMES
from flint import arb, arb_series
from prove.source import ROOT
from prove.specifications import SPECIFICATIONS

from gelu_verify.functions import get_function

pytestmark = pytest.mark.prove
BY_NAME = {s.name: s for s in SPECIFICATIONS}
HEADER = (ROOT / "src" / "buckets" / "enclosure.h").read_text().replace("\\\n", "")
TINY = arb(2) ** -12
ROW = r"F\({},\s*([01]), (\w+), (\w+), \S+, \S+,\s*\w+,\s*\S+, (\S+?)\)"


def number(text):
    return float.fromhex(text) if "0x" in text else float(text)


def row(name):
    """Whether it is an activation, c, d and the tail, as exact numbers."""
    activation, quadratic, quartic, tail = re.search(ROW.format(name), HEADER).groups()
    c, d = (re.search(rf"#define {constant} (\S+)", HEADER)[1] for constant in (quadratic, quartic))
    return activation == "1", *(arb(number(text)) for text in (c, d, tail))


def coefficients(name, x, count):
    flint.ctx.cap = count
    return BY_NAME[name].series(arb_series([x, 1]))


@pytest.mark.parametrize("name", NAMES)
def test_what_the_series_leaves_out(name):
    """Less than 2^-45 of c x^2, or of 2 c x; the constants are rounded to nearest, at most five operations follow."""
    with flint.ctx.workprec(200):
        activation, c, d, _ = row(name)
        first, scale = (2, 1) if activation else (1, 2)  # the power of x and the factor of c that come first
        at_zero = coefficients(name, arb(0), 8)
        leading = [arb(0), arb("0.5")] if activation else [arb("0.5")]
        assert all(abs(at_zero[k] - value) < arb(2) ** -150 for k, value in enumerate(leading))
        assert abs(at_zero[first] / scale - c) <= abs(c) * arb(2) ** -53
        assert abs(at_zero[first + 2] / at_zero[first] / scale - d) <= abs(d) * arb(2) ** -52
        assert abs(at_zero[first + 1]) < arb(2) ** -150
        assert abs(at_zero[first + 3]) < arb(2) ** -150
        rest = coefficients(name, (-TINY).union(TINY), 8)[first + 4]  # f^(k)/k! anywhere between
        assert abs(rest) * TINY**4 < arb(2) ** -45 * scale * c
        assert arb(2) ** -45 + 10 * arb(2) ** -53 < arb(2) ** -40


@pytest.mark.parametrize("name", NAMES)
def test_the_tail_is_as_small_as_stated(name):
    """f rises or falls to -0 from there on, so it lies between -2^-170 and 0."""
    with flint.ctx.workprec(200):
        tail = row(name)[3]
        value = coefficients(name, -tail, 1)[0]
        assert -(arb(2) ** -170) < value < 0
    assert all(arb(str(float(Fraction(text)))) > -tail for text in get_function(name).turning_points)
    assert "#define GV_TAIL 0x1p-171" in HEADER
    assert "#define GV_TINY 0x1p-12" in HEADER
