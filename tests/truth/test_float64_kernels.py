"""src/cr/float64.h compiled for each instruction set: correctly rounded, whatever the input, length and place."""

import ctypes
import importlib.util
import math
import platform
import re
import shutil
import subprocess
from fractions import Fraction
from functools import cache

import flint
import numpy as np
import pytest
from arb import ARB, arb_round
from core_bits import core_bits
from emulated import COMPILER, Emulated, call
from marking import nightly
from points import delicate_inputs
from repository import ROOT, SUPPORT

from gelu_verify.formats import FORMATS
from gelu_verify.functions import FUNCTIONS
from gelu_verify.inputs.hard_cases import hard_cases
from gelu_verify.machine import machine
from gelu_verify.truth import _core
from gelu_verify.truth.oracle import judge_exactly
from gelu_verify.truth.values import judge

FMT = FORMATS["float64"]
NAMES = [f"{name}{end}" for name in ("gelu", "gelu_tanh", "gelu_sigmoid", "silu") for end in ("", "_grad")]
# flags and what the machine must have: four lanes with fma, two without, one without and with; all of them by GCC and
# Clang in the nightly run, and two lanes with fma in an emulator
OFTEN = ("v3", "one-lane")  # lanes and fma, and neither
NEON = f"{COMPILER} neon"
BUILDS = {
    "v3": (["-mavx2", "-mfma"], {"avx2", "fma"}),
    "v4": (["-march=x86-64-v4"], {"avx2", "fma", "avx512f", "avx512bw", "avx512vl"}),
    "v2": (["-march=x86-64-v2"], set()),
    "fma-one-lane": (["-mfma"], {"fma"}),
    "one-lane": (["-U__SSE2__"], set()),
    "neon": ([], set()),
}
X86_64 = [build for build in BUILDS if build != "neon"]
VALUE = np.dtype([("hi", "f8"), ("lo", "f8"), ("err", "f8"), ("k", "i4"), ("", "i4")])
pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="these instruction sets are those of x86-64")


@pytest.fixture(
    scope="session",
    params=[
        *(f"gcc {build}" for build in OFTEN),
        *nightly(*(f"gcc {build}" for build in X86_64 if build not in OFTEN), *(f"clang {build}" for build in X86_64)),
        *nightly(NEON),
    ],
)
def library(request, tmp_path_factory):
    compiler, _, build = request.param.partition(" ")
    flags, needs = BUILDS[build]
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    if not set(machine()["isa"]) >= needs:
        pytest.skip(f"this machine has no {build}")
    file = tmp_path_factory.mktemp("kernels") / f"{compiler}-{build}.so"
    strict = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-Wno-unused-function"]
    command = [compiler, "-std=c99", "-O3", "-ffp-contract=off", "-fPIC", "-shared", *flags, *strict]
    sources = [str(SUPPORT / "float64_kernels.c"), str(ROOT / "src/cr/accurate.c")]
    subprocess.run([*command, f"-I{ROOT / 'src'}", *sources, "-o", str(file), "-lm"], check=True)
    return Emulated(file) if compiler == COMPILER else ctypes.CDLL(str(file))


def run(library, name, x, y=None):
    """Result bits, with the oracle's for what the kernel leaves; how many it left."""
    y = np.full(x.size, 7.0) if y is None else y
    undecided = np.zeros(x.size, np.uintp)
    left = call(library, name, x, y, x.size, undecided)
    bits, places = y.view(np.uint64).copy(), undecided[:left]
    bits[places] = [arb_round(FUNCTIONS[name], FMT, int(b)) for b in x.view(np.uint64)[places]]
    return bits, left


def value_of(name, x):
    """What the native core knows at x: fields hi, lo, err, k."""
    values = np.zeros(x.size, VALUE)
    layout = FMT.width, FMT.precision, FMT.emin, FMT.emax
    _core.evaluate(name, layout, x.view(np.uint8), values.view(np.uint8))
    return values


def edges():
    """Around every centre and border of a piece, every power of two, where e^-s changes its row, and the specials."""
    text = (ROOT / "src/cr/tail.h").read_text() + (ROOT / "src/cr/logistic.h").read_text()
    tails = [abs(float(end)) for end in re.findall(r"_(?:TAIL_FROM|TO|ZERO|LOWEST|HIGHEST|LEAST) (\S+)", text)]
    centres = [k / 128 for k in range(1, 1600)] + [2.0**k for k in range(-1074, 1024)] + [9.0, 30.0, 45.0, 40.0, 800.0]
    centres += [*tails, *(k / 16 for k in range(160, 640))]
    centres += [(k + 0.5) * math.log(2) / 32 / slope for k in range(1000) for slope in (1.0, 1.702)]  # of logistic.h
    bits = np.array(centres).view(np.uint64)
    around = np.concatenate([bits + np.uint64(1), bits, bits - np.uint64(1)])
    specials = [0, FMT.infinity, FMT.nan, FMT.infinity + 1, FMT.max_finite]
    both = np.concatenate([around, np.array(specials, np.uint64)])
    return np.concatenate([both, both | np.uint64(FMT.sign_mask)])


@cache
def cases(name):
    """Inputs as doubles and the right bits: delicate ones from Arb, hard cases from data/, others from the one door."""
    delicate = np.array(delicate_inputs(FUNCTIONS[name], FMT, 1000, seed=3), np.uint64)
    wanted = [arb_round(FUNCTIONS[name], FMT, int(bits)) for bits in delicate]
    stored = hard_cases(name, "float64")
    rng = np.random.default_rng(3)
    log_uniform = rng.integers(0, 1 << 64, 20_000, dtype=np.uint64)
    normal = np.concatenate([s * rng.standard_normal(20_000) for s in (2.0, 0.02, 10.0)])
    others = np.concatenate([log_uniform, normal.view(np.uint64), edges()])
    x = np.concatenate([delicate, np.array([case[0] for case in stored], np.uint64), others])
    y = np.concatenate([np.array(wanted + [case[1] for case in stored], np.uint64), core_bits(name, "float64", others)])
    return x.view(np.float64), y


@cache
def close_to_midpoints(name):
    """The 300 of 2^20 normal inputs whose values are closest to the middle of two floats."""
    x = 2 * np.random.default_rng(4).standard_normal(1 << 20)
    value = value_of(name, x)
    half = (
        np.where(value["lo"] * value["hi"] < 0, np.spacing(np.nextafter(value["hi"], 0)), np.spacing(value["hi"])) / 2
    )
    x = x[np.argsort(np.abs(np.abs(value["lo"] / half) - 1))[:300]]
    return x, np.array([arb_round(FUNCTIONS[name], FMT, int(b)) for b in x.view(np.uint64)], np.uint64)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_correctly_rounded(library, name):
    for x, wanted in (cases(name), close_to_midpoints(name)):
        bits, left = run(library, name, x)
        assert x[bits != wanted].tolist() == []
        assert left <= 100  # beside the zero of a derivative; silu(2^-n), all but a tie


@pytest.mark.parametrize("length", [0, 1, 2, 3, 5, 127, 128, 131, 1000])
def test_any_length_in_place_and_nothing_beyond(library, length):
    x, wanted = cases("silu_grad")
    room = np.concatenate([x[-length - 3 : -3] if length else x[:0], [7.0, 7.0]])
    bits, _ = run(library, "silu_grad", room[:length], room[:length])
    assert bits.tolist() == wanted[wanted.size - length - 3 : -3].tolist()
    assert room[length:].tolist() == [7.0, 7.0]


def test_what_is_left_is_named_by_its_place(library):
    zero = next(float(text) for key, text in FUNCTIONS["gelu"].landmarks.items() if key == "minimum")
    x = np.full(1000, 0.25)
    x[[0, 333, 999]] = zero + 1e-13 * np.array([0.0, 1.0, 2.0])
    y, undecided = np.empty_like(x), np.zeros(x.size, np.uintp)
    left = call(library, "gelu_grad", x, y, x.size, undecided)
    assert set(undecided[:left].tolist()) <= {0, 333, 999}
    assert run(library, "gelu_grad", x)[0].tolist() == core_bits("gelu_grad", "float64", x.view(np.uint64)).tolist()


@pytest.mark.parametrize("name", NAMES)
def test_values_of_the_core_keep_their_bound(name):
    rng = np.random.default_rng(5)
    x = np.concatenate([2 * rng.standard_normal(600), rng.uniform(-12, 12, 600), 2.0 ** rng.uniform(-60, 4, 300)])
    flint.ctx.prec = 800
    for point, value in zip(x, value_of(name, x), strict=True):
        exact = ARB[name](flint.arb(float(point))) * flint.arb(2) ** -int(value["k"])
        assert abs(exact - flint.arb(float(value["hi"])) - flint.arb(float(value["lo"]))) < float(value["err"])


@pytest.mark.few(2)
@pytest.mark.parametrize("name", NAMES)
def test_errors_are_known_to_a_billionth_of_an_ulp(name):
    rng = np.random.default_rng(6)
    x = np.concatenate([2 * rng.standard_normal(150), rng.uniform(-12, 12, 150), [-511 / 64, 511 / 64, -16.9, -11.0]])
    wanted = core_bits(name, "float64", x.view(np.uint64))
    got = wanted + rng.integers(-2, 3, x.size).astype(np.uint64)
    judged = judge(name, "float64", x.view(np.uint64), got)
    for i, bits in enumerate(x.view(np.uint64)):
        y, error, faithful = judge_exactly(FUNCTIONS[name], FMT, int(bits), int(got[i]))
        assert (judged.want_bits[i], judged.faithful[i]) == (y, faithful)
        assert abs(judged.error[i] - error) <= 2.0**-30 + 1e-15


@cache
def generator():
    spec = importlib.util.spec_from_file_location("make_float64_tables", ROOT / "tools" / "make_float64_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    flint.ctx.prec = 400
    return module


@pytest.mark.parametrize("name", ["gelu", "gelu_grad"])
def test_rows_are_what_their_script_generates(name):
    variant = generator().VARIANTS[0]
    lines = (ROOT / "src" / "tables" / f"{name}_f64.h").read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if "_pieces[" in line) + 1
    first_rest = next(i for i, line in enumerate(lines) if "_rest[" in line) + 1
    flint.ctx.prec = 400
    for index in (0, 1, 48, 300):
        piece = generator().make_piece(variant, name.endswith("_grad"), index)
        assert lines[first + index] == generator().row_text(piece.row)
        assert lines[first_rest + index] == generator().row_text(piece.rest)


@pytest.mark.nightly
def test_tables_are_what_their_script_generates():
    assert generator().main(["--check"]) == 0


def test_rows_unpack_to_what_was_packed():
    make, radius = generator(), Fraction(1, 128)
    p = [Fraction(n, 3) for n in (5, -1, 2, -7, 1, 11, -13, 17)]
    unpacked, bound = make.unpacked(make.packed(p, Fraction(1, 3**40), radius))
    for got, want, bits in zip(unpacked, p, (70, 70, 52, 52, 52, 36, 22, 14), strict=True):
        assert abs(got - want) <= abs(want) / 2**bits
    assert Fraction(1, 3**40) < bound < Fraction(5, 4 * 3**40)
