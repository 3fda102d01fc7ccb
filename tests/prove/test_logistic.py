"""The certificate of the float64 kernels by exp and quotient, src/cr/logistic.h (docs/proofs.md, section 9)."""

import ctypes
import itertools
import re
import shutil
import subprocess

import numpy as np
import pytest
from flint import arb
from prove.checks import piece_source
from prove.logistic import MOST, REACH, STEP, logistic_loss, powers, wide_loss, wrong_powers
from prove.source import ROOT
from prove.symbols import LOGISTIC, REMAINDER, algorithm
from repository import SUPPORT

from gelu_verify.machine import machine

pytestmark = pytest.mark.prove
HEADER = (ROOT / "src" / "cr" / "logistic.h").read_text()
WITH_FMA, WITHOUT, WIDE = map(float.fromhex, re.findall(r"define GV_LOGISTIC_(?:WIDE_)?LOSS (\S+)", HEADER))
LOSS = {True: WITH_FMA, False: WITHOUT}
BUILDS = {"v3": (["-mavx2", "-mfma"], {"avx2", "fma"}), "v4": (["-march=x86-64-v4"], {"avx512f"}),
          "fma-one-lane": (["-mfma"], {"fma"}), "v2": (["-march=x86-64-v2"], set()),
          "one-lane": (["-U__SSE2__"], set())}  # fmt: skip
SLOPES = {"gelu_tanh": lambda a: 2 * (2 / arb.pi()).sqrt() * (a + arb("0.044715") * a**3),
          "gelu_sigmoid": lambda a: arb("1.702") * a, "silu": lambda a: arb(a)}  # fmt: skip
STEEP = SLOPES | {"gelu_tanh": lambda a: 2 * (2 / arb.pi()).sqrt() * (a + 3 * arb("0.044715") * a**3)}
each = pytest.mark.parametrize("name", SLOPES)


def limit(name, which):
    return float(re.search(rf"define GV_{name.upper()}_{which} (\S+)", HEADER).group(1))


def doubled(pattern):
    """log(2)/32 is twice log(2)/64."""
    text = (ROOT / "src" / "truth" / "tables.h").read_text()
    return [2 * float.fromhex(part) for part in re.search(pattern, text).groups()]


HEAD, TAIL = doubled(r"gv_ln2_64_head = (\S+);")[0], doubled(r"gv_ln2_64_tail = (\S+);")[0]
PAIR = doubled(r"gv_ln2_64 = {(\S+), (\S+)};")
arithmetics = pytest.mark.parametrize("fma", [False, True], ids=["two roundings", "fma"])


@arithmetics
def test_what_is_lost(fma):
    assert logistic_loss(HEAD, TAIL, fma) < arb(LOSS[fma]) * 63 / 64
    assert wide_loss(*PAIR, fma) < arb(WIDE) * 63 / 64


def test_every_power_is_what_it_stands_for():
    assert len(powers()) == 32
    assert wrong_powers() == []


def test_the_first_difference_is_exact():
    """i head has 34 + 16 bits. Where i is not 0, s is a multiple of 2^-59, and the difference is below 2^-6."""
    assert (HEAD * 2**39).is_integer()
    assert HEAD * 2**39 < 2**34
    assert MOST < 2**16
    assert STEP / 2 * (1 - arb(2) ** -30) > arb(2) ** -7
    assert REACH + MOST * arb(TAIL) < arb(2) ** -6


def test_the_first_difference_of_the_wide_one_is_exact():
    """i hi, rounded, is above 2^-6 where i is not 0, so it is a multiple of 2^-58; s of 2^-59; below 2^-6 again."""
    assert arb(PAIR[0]) > arb(2) ** -6
    assert STEP / 2 * (1 - arb(2) ** -30) > arb(2) ** -7
    assert REACH + MOST * STEP * arb(2) ** -50 < arb(2) ** -6


@each
def test_the_clamps(name):
    lowest, highest = (limit(name, which) for which in ("LOWEST", "HIGHEST"))
    assert -MOST + 1 < SLOPES[name](arb(lowest)) / STEP < -32769
    e, steep = (-SLOPES[name](arb(highest))).exp(), STEEP[name](arb(highest))
    assert (1 + steep) * e < arb(2) ** -80  # f(x) and f'(x) are that near to x and 1, and so is what is computed
    assert SLOPES[name](arb(highest)) / STEP < MOST
    assert steep < 2**10  # what its product with a low part may lose


@each
def test_values_to_judge_by(name):
    """From `least` up they are above 2^-600 (judge.h), and from `zero` down they round to -0."""
    least, zero = (arb(limit(name, which)) for which in ("LEAST", "ZERO"))
    for x, compared in ((least, lambda f: f > arb(2) ** -600), (zero, lambda f: f < arb(2) ** -1076)):
        e = SLOPES[name](x).exp()
        assert compared(-x * e / (1 + e))
        assert compared(-e * (1 + e + STEEP[name](x)) / (1 + e) ** 2)
        assert STEEP[name](x) < -8  # -f and -f' fall beyond


@each
def test_two_sums_of_three_operations(name):
    """w (1 - q) < 1: by parts of x > 0."""
    ends = [limit(name, "HIGHEST") * k / 4096 for k in range(4097)]
    for low, high in itertools.pairwise(ends):
        x = arb(low).union(arb(high))
        assert STEEP[name](x) / (1 + SLOPES[name](x).exp()) < 0.99


@arithmetics
def test_every_algorithm_is_the_one_that_was_counted(fma):
    source, counted = piece_source(fma), LOGISTIC | {"gv_lanes_remainder": REMAINDER[fma]}
    assert {name: algorithm(source, name) for name in counted} == counted


@pytest.fixture(scope="module", params=BUILDS)
def library(request, tmp_path_factory):
    flags, needs = BUILDS[request.param]
    if not set(machine()["isa"]) >= needs:
        pytest.skip(f"this machine has no {request.param}")
    file = tmp_path_factory.mktemp("logistic") / "logistic.so"
    command = ["gcc", "-std=c99", "-O3", "-ffp-contract=off", "-fPIC", "-shared", *flags, f"-I{ROOT / 'src'}"]
    subprocess.run([*command, SUPPORT / "float64_logistic.c", "-o", file, "-lm"], check=True)
    return ctypes.CDLL(str(file)), "fma" in needs or request.param == "v4"


@each
def test_what_is_proved_is_what_is_compiled(library, name):
    """The bounds hold, and something comes near them."""
    library, fma = library
    rng = np.random.default_rng(10)
    low, high = limit(name, "LOWEST") * (0.99 if fma else 0.97), limit(name, "HIGHEST")
    x = np.concatenate([rng.uniform(low, high, 2000), rng.uniform(-5, 5, 1992), [low, high, 0.0, -0.0] * 2])
    out = np.zeros((4, x.size))
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (x, out)]
    getattr(library, name)(*pointers, ctypes.c_size_t(x.size))
    worst = [arb(0), arb(0)]
    for point, *pairs in zip(x.tolist(), *out.tolist(), strict=True):
        exact = (-SLOPES[name](arb(point))).exp()
        for k in range(2):
            worst[k] = max(worst[k], abs(arb(pairs[2 * k]) + arb(pairs[2 * k + 1]) - exact) / exact)
    assert LOSS[fma] / 8 < worst[0] < LOSS[fma]
    assert WIDE / 8 < worst[1] < WIDE


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("cr/exp_lanes.h", "0x1.a01a01a01a01ap-13", "0x1.a01a01a01a01ap-12"),
        ("tables/exp_f64.h", "0x1.a64a931d185eep-55", "0x1.a64a931d185eep-54"),
    ],
)
def test_a_fault_is_seen(file, right, wrong, tmp_path):
    planted(tmp_path, file, right, wrong)
    assert wrong_powers(tmp_path) != [] or not logistic_loss(HEAD, TAIL, True, tmp_path) < arb(LOSS[True]) * 63 / 64


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("truth/tables.h", "{0x1.1111111111111p-7,", "{0x1.1111111111211p-7,"),
        ("truth/tables.h", "{0x1.5555555555555p-5, 0x1.5555555555555p-59}", "{0x1.5555555555555p-5, 0x1p-59}"),
    ],
)
def test_a_fault_of_the_wide_one_is_seen(file, right, wrong, tmp_path):
    planted(tmp_path, file, right, wrong)
    assert not wide_loss(*PAIR, True, tmp_path) < arb(WIDE) * 63 / 64


def planted(copy, file, right, wrong):
    shutil.copytree(ROOT / "src", copy / "src")
    path = copy / "src" / file
    text = path.read_text()
    assert right in text
    path.write_text(text.replace(right, wrong))
