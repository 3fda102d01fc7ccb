"""A proof that cannot fail proves nothing: one bit of one constant, and planted faults, must be found."""

import random
import re
import shutil

import pytest
from prove import checks
from prove.core import certify, core_source
from prove.enclosures import MOST, certify_enclosure, enclosure_source, near_limits
from prove.source import ROOT
from prove.specifications import SPECIFICATIONS
from prove.stored import without_measured

pytestmark = pytest.mark.prove
LONG = re.compile(r"0x[01]\.[0-9a-f]{6,}p[+-]?\d+")
BY_NAME = {s.name: s for s in SPECIFICATIONS}


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src")
    return tmp_path


def one_bit_off(literal: str, rng: random.Random) -> str:
    """A literal with one of its 52 stored bits flipped."""
    head, exponent = literal.split("p")
    lead, digits = head.split(".")
    digits = digits.ljust(13, "0")
    flipped = int(digits, 16) ^ 1 << rng.randrange(52)
    return f"{lead}.{flipped:013x}p{exponent}"


def flip_somewhere(path, rng):
    text = path.read_text()
    at = rng.choice(list(LONG.finditer(without_measured(text))))
    path.write_text(text[: at.start()] + one_bit_off(at.group(), rng) + text[at.end() :])
    return at.group()


@pytest.mark.parametrize("seed", range(20))
def test_one_bit_of_a_table(copy, seed):
    flipped = flip_somewhere(copy / "src" / "truth" / "tables.h", random.Random(seed))
    assert checks.tables(copy), flipped


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("script", "headers"),
    [
        ("make_enclosure_tables.py", "enclosure/tables.h"),
        ("make_float64_tables.py", "tables/*_f64.h"),
    ],
)
def test_one_bit_of_another_table(copy, script, headers, seed):
    """Polynomials are what their generator gives; whether those are good enough is for the bounds."""
    rng = random.Random(seed)
    shutil.copytree(ROOT / "tools", copy / "tools")
    flipped = flip_somewhere(rng.choice(sorted((copy / "src").glob(headers))), rng)
    assert not checks.generator_agrees(script, copy), flipped


@pytest.mark.parametrize(
    "header", sorted(str(p.relative_to(ROOT)) for folder in ("truth", "math", "enclosure")
                     for p in (ROOT / "src" / folder).glob("*.h")
                     if p.name != "tables.h" and LONG.search(without_measured(p.read_text())))
)  # fmt: skip
def test_one_bit_of_a_literal(copy, header):
    rng = random.Random(header)
    original = (copy / header).read_text()
    for _ in range(5):
        flipped = flip_somewhere(copy / header, rng)
        assert checks.literals(copy), flipped
        (copy / header).write_text(original)


FAULTS = [
    ("truth/exp.h", "gv_dd_add_d(e, 2.0)", "gv_dd_add_d(e, 2.0000000000000004)", "tanh"),
    ("truth/exp.h", "GV_EXP_DOUBLES 7", "GV_EXP_DOUBLES 2", "exp"),
    ("truth/gauss.h", "GV_HEAD_DOUBLES 14", "GV_HEAD_DOUBLES 2", "normcdf"),
    ("truth/gauss.h", "gv_two_prod(x, x), -0.5)", "gv_two_prod(x, x), -0.25)", "gelu"),
    ("truth/gauss.h", "- GV_MILLS_PIECES;", "- GV_MILLS_PIECES + 1;", "erfc"),
    ("truth/logistic.h", "t.hi > 200.0", "t.hi > 100.0", "silu"),
    ("truth/logistic.h", "gv_dd_mul(steep, s.rest), -1.0)", "gv_dd_mul(steep, s.rest), 1.0)", "silu_grad"),
    ("truth/logistic.h", "weight = 2.0 *", "weight = 0x1p-9 *", "gelu_sigmoid_grad"),
    ("math/silu.h", "0.25 * x * x", "0.25000000000000006 * x * x", "silu"),
    ("math/gelu.h", "if (a < 0x1p-40) return gv_next_to(0.5 * x", "if (a < 0x1p-20) return gv_next_to(0.5 * x", "gelu"),
    ("math/gelu.h", "if (x > 20.0) return gv_beside(x, -1.0)", "if (x > 20.0) return gv_beside(x, 1.0)", "gelu"),
    ("math/gelu_tanh.h", "gv_dd_scale(cubic, 2.0)", "gv_dd_scale(cubic, 4.0)", "gelu_tanh_grad"),
    ("math/tanh.h", "a < 0x1p-26", "a < 0x1p-22", "tanh"),
    ("math/elu.h", "return gv_exact(x)", "return gv_exact(2.0 * x)", "elu"),
    ("math/elu.h", "return gv_exact(1.0)", "return gv_exact(2.0)", "elu_grad"),
    ("truth/log1p.h", "GV_ATANH_DOUBLES 15", "GV_ATANH_DOUBLES 9", "softplus"),
    ("truth/log1p.h", "gv_dd_scale(s, 2.0)", "gv_dd_scale(s, 4.0)", "softplus"),
    ("math/mish.h", "/* 8/25 */ * x * x", "/* 8/25 */ * 1.0000000000000142 * x * x", "mish"),
    ("math/mish.h", "a < 0x1p-200) return gv_three", "a < 0x1p-198) return gv_three", "mish"),
    ("math/mish.h", "2.0 * over.hi * (slope.hi + d.hi)", "0x1p-9 * over.hi * (slope.hi + d.hi)", "mish_grad"),
]


@pytest.mark.parametrize(("header", "right", "wrong", "name"), FAULTS)
def test_a_planted_fault(copy, header, right, wrong, name):
    path = copy / "src" / header
    text = path.read_text()
    assert right in text
    path.write_text(text.replace(right, wrong, 1))
    with pytest.raises(AssertionError, match=rf"unproved at|{name}"):
        certify(BY_NAME[name], core_source(False, copy), quick=False)


ENCLOSURE_FAULTS = [
    ("tables.h", "0x1.ffffffffe74f1p-2", "0x1.ffffffffa74f1p-2", "silu", "enclosure"),
    ("tables.h", "-0x1.f3a05ccfd4c6fp-8", "-0x1.f3a05ccfd5c6fp-8", "gelu", "near"),
    ("tables.h", "0x1.fd751a1fba8dfp-4", "0x1.fd751b1fba8dfp-4", "gelu_grad", "enclosure"),
    ("gelu.h", "GV_TAIL_ERROR 0x1p-44", "GV_TAIL_ERROR 0x1p-47", "gelu", "enclosure"),
    ("logistic.h", "GV_NEAR_LOGISTIC_ERROR 0x1.2p-34", "GV_NEAR_LOGISTIC_ERROR 0x1p-34", "silu", "near"),
    ("gelu.h", "GV_NEAR_GELU_ERROR 0x1p-44", "GV_NEAR_GELU_ERROR 0x1p-47", "gelu", "near"),
    ("gelu.h", "a * a * -0.5", "a * a * -0.25", "gelu", "enclosure"),
    ("logistic.h", "(2.5 * GV_LOGISTIC_ERROR)", "(0.25 * GV_LOGISTIC_ERROR)", "silu_grad", "enclosure"),
    ("logistic.h", "GV_NEAR_STEEP_ERROR 0x1.8p-34", "GV_NEAR_STEEP_ERROR 0x1.8p-36", "gelu_tanh_grad", "near"),
    ("logistic.h", "3.0 * GV_CUBIC", "2.0 * GV_CUBIC", "gelu_tanh_grad", "near"),
]


@pytest.mark.parametrize(("header", "right", "wrong", "name", "stage"), ENCLOSURE_FAULTS)
def test_a_fault_in_an_enclosure(copy, header, right, wrong, name, stage):
    path = copy / "src" / "enclosure" / header
    text = path.read_text()
    assert right in text
    path.write_text(text.replace(right, wrong, 1))
    source = enclosure_source(False, copy)
    most = near_limits(source)[name] if stage == "near" else MOST
    with pytest.raises(AssertionError, match=rf"unproved at|{name}"):
        certify_enclosure(BY_NAME[name], source, stage, most, copy)


@pytest.mark.parametrize(
    ("header", "right", "wrong", "function"),
    [
        ("truth/dd.h", "fma(a.lo, b.hi, a.lo * b.lo)", "a.lo * b.hi", "gv_dd_mul"),
        ("truth/dd.h", "(a.hi - r.hi) + (a.lo - r.lo)", "a.hi - r.hi", "gv_dd_div"),
        ("truth/exp.h", "0x1.71547652b82fep+6", "0x1.71547652b82ffp+6", "gv_exp_steps"),
        ("truth/value.h", "GV_REL 0x1p-88", "GV_REL 0x1p-89", "gv_times"),
        ("truth/value.h", "fabs(s.lo) * 0x1p-51", "fabs(s.lo) * 0x1p-52", "gv_sum_weighted"),
    ],
)
def test_another_algorithm(copy, header, right, wrong, function):
    path = copy / "src" / header
    text = path.read_text()
    assert right in text
    path.write_text(text.replace(right, wrong, 1))
    assert function in checks.algorithms(copy)


def test_another_sum_of_a_piece(copy):
    path = copy / "src" / "cr" / "float64.h"
    path.write_text(path.read_text().replace("low + (s.lo + v.lo)", "low + v.lo", 1))
    assert "gv_piece_sum" in checks.piece_algorithms(copy)
