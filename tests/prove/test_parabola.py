"""The certificate of src/buckets/parabola.h: values of consecutive inputs by a parabola through three of them."""

import ctypes
import itertools
import os
import random
import re
import subprocess
import sysconfig
from fractions import Fraction

import flint
import numpy as np
import pytest
from compiled_enclosures import NAMES
from flint import arb, arb_series
from prove.source import ROOT
from prove.specifications import SPECIFICATIONS

from gelu_verify.truth import _core

pytestmark = pytest.mark.prove
BY_NAME = {s.name: s for s in SPECIFICATIONS}
HEADER = (ROOT / "src" / "buckets" / "parabola.h").read_text()


def stated(name):
    return float(re.search(rf"#define {name} (\S+)", HEADER)[1])


LOW, HIGH, THIRD = (stated(f"GV_{name}") for name in ("PARABOLA_FROM", "PARABOLA_TO", "THIRD"))


@pytest.mark.parametrize("name", NAMES)
def test_the_third_derivative_is_as_small_as_stated(name):
    parts = 1300
    edges = [arb(LOW) + arb(HIGH - LOW) * k / parts for k in range(parts + 1)]
    with flint.ctx.workprec(80):
        flint.ctx.cap = 4
        for low, high in itertools.pairwise(edges):
            x = low.union(high)
            third = 6 * BY_NAME[name].series(arb_series([x, 1]))[3]
            assert abs(x * x * third) < THIRD


def test_what_interpolation_loses():
    """Lagrange's basis is below 1.5 in sum, and the remainder below f''' w^3/96, at every input of a block."""
    nodes = (0, 128, 255)
    for i in range(256):
        away = [i - node for node in nodes]
        basis = [
            Fraction(away[(k + 1) % 3] * away[(k + 2) % 3])
            / ((nodes[k] - nodes[(k + 1) % 3]) * (nodes[k] - nodes[(k + 2) % 3]))
            for k in range(3)
        ]
        assert sum(map(abs, basis)) <= Fraction(3, 2)
        assert Fraction(abs(away[0] * away[1] * away[2]), 6) <= Fraction(255**3, 96)


@pytest.fixture(scope="module")
def by_parabola(tmp_path_factory):
    """`run(name, x_bits, hi, lo, err, n)` as compiled."""
    folder = tmp_path_factory.mktemp("parabola")
    source, library = folder / "parabola.c", folder / "parabola.so"
    source.write_text("""#include "buckets/reducer.h"
int run(const char *name, const uint32_t *x_bits, double *hi, double *lo, double *err, size_t n);
int run(const char *name, const uint32_t *x_bits, double *hi, double *lo, double *err, size_t n) {
    return gv_enclose_by_parabola(gv_find_enclosed(name), x_bits, hi, lo, err, n);
}
""")
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()
    flags = ["-std=c99", "-O2", "-w", "-ffp-contract=off", "-shared", "-fPIC", f"-I{ROOT / 'src'}"]
    core = map(str, (ROOT / "src" / "truth").glob("*.c"))
    subprocess.run([*compiler, *flags, str(source), *core, "-o", str(library), "-lm"], check=True)
    return ctypes.CDLL(str(library)).run


@pytest.mark.parametrize("name", NAMES)
def test_values_are_within_their_bound(name, by_parabola):
    rng, pointer, used = random.Random(name), ctypes.POINTER(ctypes.c_double), 0.0
    for _ in range(300):
        start = np.float32(rng.choice([rng.uniform(LOW, HIGH), rng.choice([-1, 1]) * 2.0 ** rng.uniform(-12, 1)]))
        bits = (start.view(np.uint32) & ~np.uint32(255)) + np.arange(rng.randrange(100), 256, dtype=np.uint32)
        n, (hi, lo, err) = len(bits), np.empty((3, len(bits)))
        arrays = (array.ctypes.data_as(pointer) for array in (hi, lo, err))
        if not by_parabola(name.encode(), ctypes.c_void_p(bits.ctypes.data), *arrays, ctypes.c_size_t(n)):
            continue
        for i in rng.sample(range(n), 12):
            exact, rest, _, k = _core.value(name, float(bits.view(np.float32)[i]))
            off = abs(hi[i] - exact * 2.0**k) + abs(rest * 2.0**k)
            assert off < err[i]
            used = max(used, off / err[i])
    assert used > 0.01  # the bound is one, not a wish
