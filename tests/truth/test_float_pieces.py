"""Stage 1 of the float32 kernels: what it decides is right, and vectors give what one lane of portable C gives."""

import ctypes
import platform
import shutil
import subprocess

import numpy as np
import pytest
from core_bits import core_bits
from emulated import COMPILER, Emulated, call
from repository import ROOT, SUPPORT

from gelu_verify.truth._correctly_rounded import BEST_LEVEL

pytestmark = pytest.mark.nightly
TABLES = {"registers": 1, "rows": 2}
VECTORS = {  # lanes, tables, the level of x86-64 that this machine must have, compiler and flags
    "AVX-512": (16, "registers", 4, ["cc", "-march=x86-64-v4"]),
    "AVX2": (8, "rows", 3, ["cc", "-march=x86-64-v3"]),
    "NEON": (4, "rows", 0, [COMPILER]),
}
STAGES = [
    *(("pieces", f) for f in ["gelu", "gelu_grad", "gelu_tanh", "gelu_tanh_grad", "gelu_sigmoid_grad", "silu_grad"]),
    *(("gaussian", f) for f in ["gelu", "gelu_grad"]),
    *(("sigmoid", f) for f in ["gelu_sigmoid", "gelu_sigmoid_grad", "silu", "silu_grad"]),
]
stages = pytest.mark.parametrize(("by", "function"), STAGES)


def compiled(folder, tables, lanes, compiler=("cc",)):
    path = folder / f"{tables}-{lanes}.so"
    macros = [f"-DGV_FLOAT_LANES={lanes}", f"-DGV_FLOAT_TABLES={TABLES[tables]}"]
    command = [*compiler, "-std=c99", "-O2", "-ffp-contract=off", "-shared", "-fPIC", *macros, f"-I{ROOT / 'src'}"]
    subprocess.run([*command, str(SUPPORT / "float_pieces.c"), "-o", str(path), "-lm"], check=True)
    return Emulated(path) if COMPILER in compiler else ctypes.CDLL(str(path))


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return {tables: compiled(tmp_path_factory.mktemp("model"), tables, 1) for tables in TABLES}


@pytest.fixture(scope="module", params=VECTORS)
def vectors(request, tmp_path_factory):
    """Tables, and the library."""
    lanes, tables, level, compiler = VECTORS[request.param]
    if level and (platform.machine() != "x86_64" or level > BEST_LEVEL):
        pytest.skip(f"this machine has no {request.param}")
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    return tables, compiled(tmp_path_factory.mktemp("vectors"), tables, lanes, compiler)


def first_stage(library, by, function, x):
    """Result bits, and which are decided."""
    y, decided = np.empty_like(x), np.empty(len(x), np.uint8)
    call(library, f"by_{by}_{function}", x, y, decided, len(x))
    return y.view(np.uint32), decided.astype(bool)


def inputs():
    """Any bits, NaN and infinities among them; what a network computes with; both sides of every border of a piece."""
    rng = np.random.default_rng(11)
    anywhere = rng.integers(0, 1 << 32, 1 << 17, dtype=np.uint32)
    usual = rng.normal(0, 3, 1 << 17).astype(np.float32).view(np.uint32)
    borders = (np.arange(1, 512, dtype=np.float32) / np.float32(128)).view(np.uint32)
    near = (borders[:, None] + np.arange(-8, 8, dtype=np.int64)).astype(np.uint32).ravel()
    special = np.array([0, 1, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x7F800001, 0x7FFFFFFF, 0x00800000], np.uint32)
    bits = np.concatenate([anywhere, usual, near, near | 1 << 31, special, special | 1 << 31])
    return np.resize(bits, -(-len(bits) // 64) * 64).view(np.float32)


@stages
@pytest.mark.parametrize("tables", TABLES)
def test_what_is_decided_is_right(models, tables, by, function):
    x = inputs()
    y, decided = first_stage(models[tables], by, function, x)
    assert not decided[np.isnan(x)].any()
    assert decided[np.abs(x) < 4].mean() > 0.5  # near 0, beside many subnormal inputs that are left
    assert np.array_equal(y[decided], core_bits(function, "float32", x[decided].view(np.uint32)))


@stages
def test_the_lanes_agree_with_their_model(models, vectors, by, function):
    tables, many = vectors
    x = inputs()
    (y, decided), (want, expected) = (first_stage(library, by, function, x) for library in (many, models[tables]))
    assert np.array_equal(decided, expected)
    assert np.array_equal(y[decided], want[decided])
