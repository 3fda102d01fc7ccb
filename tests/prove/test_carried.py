"""The errors that src/carried/carried.h counts with (docs/proofs.md, section 10)."""

import math
import random
import re
import shutil
from functools import cache

import numpy as np
import pytest
from prove.carried import ATAN_ORDER, CLAIMS, carried_source, certify_carried
from prove.checks import tables
from prove.exact import Exact
from prove.interpreter import Interpreter, Struct
from prove.source import ROOT
from prove.test_faults import flip_somewhere

from gelu_verify.truth.carried import VALUE, Carried

pytestmark = pytest.mark.prove
HEADER = ROOT / "src" / "carried" / "carried.h"
COUNTED = [  # what carried.h says, for which the pieces and bounds of CLAIMS are; spaces and line ends do not count
    "#define GV_RELATIVE 0x1p-94 ",
    "if (a.k < -54) return gv_add_values(gv_of_double(1.0), gv_expm1_small(a));",
    "if (!(fabs(t.s.hi) <= 800.0) || !(t.err < 0x1p-10)) return gv_no_number(); gv_scaled_dd e = gv_exp(t.s); "
    "double relative = 0x1p-102 + fabs(t.s.hi) * 0x1p-103 + ",
    "if (kind == GV_KNOWN && a.k < -54) return gv_expm1_small(a); if (kind == GV_HUGE || a.k > 8) ",
    "a.k > 1 << 20 || a.k < -(1 << 20)) return gv_no_number();",
    "a.k == -1 && a.hi >= 1.5 ? gv_log_near(0.5 * a.hi) : "
    "a.k == 0 && a.hi < 1.5 ? gv_log_near(a.hi) : gv_log(a.hi, a.k);",
    "if (kind == GV_KNOWN && a.k < -54) return gv_log1p_small(a);",
    "if (!(t.s.hi < 1.0)) ",
    "!gv_has_sign(v) || v.k >= 0) return gv_no_number(); t = gv_argument_of(v); gv_dd y = gv_log1p(t.s);",
    "if (!(t.s.hi <= 1.0)) return gv_no_number(); gv_dd y = gv_atan_near(t.s);",
]  # fmt: skip


@cache
def source():
    return carried_source()


@cache
def exact():
    return Interpreter(source(), Exact())


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.name} from {claim.pieces[0]}")
def test_every_error_holds_for_every_argument(claim):
    pieces, share = certify_carried(claim, source())
    print(f"{claim.name}: {pieces} pieces, {share:.3f} of the bound")
    assert 0 < share < 1


@pytest.mark.parametrize("counted", COUNTED)
def test_the_header_counts_with_them(counted):
    assert re.sub(r"\s+", " ", HEADER.read_text()).count(counted) == 1


def test_the_log_of_1_is_0():
    """The one double for which a relative error says nothing."""
    y = exact().call("gv_log_near", 1.0)
    assert y.fields == {"hi": 0.0, "lo": 0.0}


def test_the_series_of_atan_has_the_terms_that_its_remainder_follows():
    assert len(exact().plain("gv_atan_coefficient")) == ATAN_ORDER


# ---- what is proved is what is compiled -----------------------------------------------------------


def numbers(name, count=150):
    """Exact numbers and others, of sizes at which branches change."""
    rng = random.Random(name)
    for _ in range(count):
        hi = rng.choice((1.0, 1.5, 1 + rng.random(), 2 - 2.0**-52))
        lo = rng.choice((0.0, rng.uniform(0, 1) * 2.0**-53))
        err = rng.choice((0.0, 2.0 ** -rng.uniform(50, 140)))
        k = rng.choice((rng.randint(-70, 12), rng.choice((-55, -54, -2, -1, 0, 1, 8, 9, 10))))
        sign = 1.0 if name in ("log", "sqrt") else rng.choice((-1.0, 1.0))
        yield sign * hi, sign * lo, err, k


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "atan", "tanh", "sqrt_value", "erf", "erfc"])
def test_the_interpreter_gives_the_bits_of_the_compiled_code(name):
    exact().arithmetic.intrinsics["sqrt"] = math.sqrt
    drawn = list(numbers(name))
    records = np.array([(*number, 0) for number in drawn], VALUE)
    got = Carried(records.view(np.uint8)).apply(name.removesuffix("_value")).values.view(VALUE).tolist()
    function = name if name.endswith("_value") else f"{name}_of"
    for number, (*want, _) in zip(drawn, got, strict=True):
        a = Struct("gv_value", dict(zip(("hi", "lo", "err", "k"), number, strict=True)))
        assert list(exact().call(f"gv_{function}", a).fields.values()) == want, number


# ---- what would fail ------------------------------------------------------------------------------


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src")
    return tmp_path


@pytest.mark.parametrize("seed", range(10))
def test_one_bit_of_the_table_of_atan(copy, seed):
    flipped = flip_somewhere(copy / "src" / "carried" / "atan_table.h", random.Random(seed))
    assert tables(copy), flipped


FAULTS = [
    ("gv_atan_near", "carried/carried.h", "rint(s.hi * 32.0)", "rint(s.hi * 16.0)"),
    ("gv_atan_near", "carried/carried.h", "gv_dd_add_d(gv_dd_mul_d(s, c), 1.0)", "gv_dd_add_d(gv_dd_mul_d(s, c), 2.0)"),
    ("gv_atan_near", "carried/carried.h", "double c = (double)j / 32.0", "double c = (double)j / 64.0"),
    ("gv_atan_near", "carried/atan_table.h", "#define GV_ATAN_DEGREE 8", "#define GV_ATAN_DEGREE 7"),
    ("gv_atan_near", "carried/carried.h", "gv_dd y = gv_dd_mul(p, r);", "gv_dd y = gv_dd_from(p.hi * r.hi);"),
    ("gv_expm1", "truth/exp.h", "#define GV_EXP_DOUBLES 7", "#define GV_EXP_DOUBLES 5"),
    ("gv_log_near", "truth/log.h", "#define GV_LOG_DOUBLES 7", "#define GV_LOG_DOUBLES 5"),
    ("gv_log1p", "truth/log1p.h", "#define GV_ATANH_DOUBLES 15", "#define GV_ATANH_DOUBLES 11"),
]


@pytest.mark.parametrize(("name", "header", "right", "wrong"), FAULTS)
def test_a_fault_is_found(copy, name, header, right, wrong):
    path = copy / "src" / header
    text = path.read_text()
    assert text.count(right) == 1
    path.write_text(text.replace(right, wrong))
    claim = next(claim for claim in CLAIMS if claim.name == name)
    with pytest.raises(AssertionError):
        certify_carried(claim, carried_source(copy))
