"""The certificate of the float64 tails (docs/proofs.md, section 9)."""

import ctypes
import re
import shutil
import subprocess

import flint
import numpy as np
import pytest
from flint import arb
from prove.source import ROOT
from prove.specifications import SPECIFICATIONS
from prove.tail import FACTORS, LEAST_S, MOST_S, REST, exp_loss, failing_tail_pieces, tail_table
from repository import SUPPORT

from gelu_verify.machine import machine

pytestmark = pytest.mark.prove
BY_NAME = {s.name: s for s in SPECIFICATIONS}
HEADER = (ROOT / "src" / "cr" / "tail.h").read_text()
LOSS = float.fromhex(re.search(r"define GV_TAIL_LOSS (\S+)", HEADER).group(1))
BUILDS = {"v2": (["-march=x86-64-v2"], set()), "v3": (["-mavx2", "-mfma"], {"avx2", "fma"}),
          "v4": (["-march=x86-64-v4"], {"avx512f"}), "one-lane": (["-U__SSE2__"], set())}  # fmt: skip
every = pytest.mark.parametrize("name", FACTORS)


def limit(name, which):
    return float(re.search(rf"define GV_{name.upper()}_TAIL_{which} (\S+)", HEADER).group(1))


def tail_of(name, a):
    """t(a) or |t'(a)|."""
    with flint.ctx.workprec(400):
        return -BY_NAME[name].value(arb(-a))


def constant(name):
    text = (ROOT / "src" / "truth" / "tables.h").read_text()
    return float.fromhex(re.search(rf"{name} = (\S+);", text).group(1))


@pytest.mark.parametrize("fma", [False, True], ids=["two roundings", "fma"])
def test_what_is_lost(fma):
    lost = exp_loss(fma, constant("gv_ln2_64_head"), constant("gv_ln2_64_tail"))
    assert lost + REST < arb(LOSS) * 7 / 8


def test_the_first_difference_is_exact():
    """m head has 51 bits; it and s >= 4 are multiples of 2^-50, their difference is below 2^-6."""
    head = constant("gv_ln2_64_head")
    assert (head * 2**40).is_integer()
    assert head * 2**40 < 2**34
    assert MOST_S * 64 / np.log(2) + 1 < 2**17


@every
def test_the_range(name):
    start, to, zero = (limit(name, which) for which in ("FROM", "TO", "ZERO"))
    assert arb(LEAST_S) < arb(start) ** 2 / 2
    assert arb(to) ** 2 / 2 < MOST_S
    assert tail_of(name, to) > arb(2) ** -920
    assert tail_of(name, zero) < arb(2) ** -1076
    table, first = tail_table(name)
    assert float(2 * table.radius) * first <= start
    assert to <= float(2 * table.radius) * (first + len(table.rows) - 1)


@every
def test_every_piece_of_a_tail_keeps_its_bound(name):
    assert failing_tail_pieces(name) == []


@pytest.fixture(scope="module", params=BUILDS)
def library(request, tmp_path_factory):
    flags, needs = BUILDS[request.param]
    if not set(machine()["isa"]) >= needs:
        pytest.skip(f"this machine has no {request.param}")
    file = tmp_path_factory.mktemp("tails") / "tails.so"
    command = ["gcc", "-std=c99", "-O3", "-ffp-contract=off", "-fPIC", "-shared", *flags, f"-I{ROOT / 'src'}"]
    subprocess.run([*command, SUPPORT / "float64_tails.c", "-o", file, "-lm"], check=True)
    return ctypes.CDLL(str(file))


@every
def test_what_is_proved_is_what_is_compiled(library, name):
    """The bound holds, and something comes near it."""
    rng = np.random.default_rng(9)
    start, to = limit(name, "FROM"), limit(name, "TO")
    a = np.concatenate([rng.uniform(start, to, 1500), rng.uniform(start, start + 8, 2500), [start, to] * 4])
    out = np.zeros((4, a.size))
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (a, out)]
    getattr(library, name)(*pointers, ctypes.c_size_t(a.size))
    worst = arb(0)
    for x, hi, lo, loss, scale in zip(a.tolist(), *out.tolist(), strict=True):
        exact = tail_of(name, x) / arb(scale)
        off = abs(arb(hi) + arb(lo) - exact) / exact
        assert off < loss
        worst = max(worst, off / loss)
    assert worst > arb(2) ** -4


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("1/5040", "0x1.a01a01a01a01ap-12"),
        ("GV_TAIL_LOSS 0x1p-64", "GV_TAIL_LOSS 0x1p-66"),
    ],
)
def test_a_fault_is_seen(right, wrong, tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src")
    loss_is_wrong = right.startswith("GV")
    path = tmp_path / "src" / "cr" / ("tail.h" if loss_is_wrong else "exp_lanes.h")
    text = path.read_text()
    assert right in text
    if loss_is_wrong:
        loss = float.fromhex(wrong.split()[1])
    else:
        path.write_text(text.replace("0x1.a01a01a01a01ap-13", wrong))
        loss = LOSS
    lost = exp_loss(True, constant("gv_ln2_64_head"), constant("gv_ln2_64_tail"), tmp_path)
    assert not lost + REST < arb(loss) * 7 / 8
