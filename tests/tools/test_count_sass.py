"""tools/count_sass.py: what it reads, and what the kernels may use, so that as many blocks fit as planned."""

import importlib.util
import sys

import pytest
import requiring
from repository import ROOT

from gelu_verify.paths import resource

PATH = ROOT / "tools" / "count_sass.py"
SPEC = importlib.util.spec_from_file_location("count_sass", PATH)
count_sass = importlib.util.module_from_spec(SPEC)

LISTING = """
        /*0000*/                   S2R R0, SR_TID.X ;
.L_x_1:
        /*0010*/              @!P0 BRA `(.L_x_3) ;
        /*0020*/                   LDG.E.128 R4, [R2] ;
        /*0030*/                   DFMA R8, R8, R6, R4 ;
{body}
        /*0040*/               @P1 BRA `(.L_x_2) ;
        /*0050*/                   ATOMS.ADD R3, [R1], R2 ;
.L_x_2:
        /*0060*/                   STG.E.128 [R2], R4 ;
.L_x_3:
        /*0070*/                   BAR.SYNC 0x0 ;
        /*0080*/              @!P2 BRA `(.L_x_5) ;
.L_x_4:
        /*0090*/                   LDG.E R1, [R1] ;
        /*00a0*/                   STG.E [R1], R1 ;
        /*00b0*/               @P3 BRA `(.L_x_4) ;
        /*00c0*/                   BAR.SYNC 0x0 ;
.L_x_5:
        /*00d0*/              @!P0 BRA `(.L_x_1) ;
        /*00e0*/                   EXIT ;
"""


@pytest.fixture(scope="module", autouse=True)
def loaded():
    sys.modules[SPEC.name] = count_sass  # dataclasses look there
    SPEC.loader.exec_module(count_sass)
    yield
    del sys.modules[SPEC.name]


def test_the_common_way_is_that_of_what_is_decided_at_once():
    body = "\n".join(["        /*0038*/                   DADD R8, R8, R6 ;"] * 40)
    way = [each.name for each in count_sass.common_way(count_sass.listing(LISTING.format(body=body)))]
    assert way == ["BRA", "LDG", "DFMA", *["DADD"] * 40, "BRA", "STG", "BAR", "BRA", "BRA"]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("source", "registers", "spilled"),
    [("float16_cr.cu", 32, 0), ("float32_cr.cu", 64, 0), ("float64_cr.cu", 64, 64), ("verify.cu", 128, 3000)],
)
def test_kernels_fit(source, registers, spilled, tmp_path):
    """65536 registers of a multiprocessor: 2 blocks of 1024 threads, 4 of 256, 2 of 256 in the judge, which keeps in
    local memory what few answers need."""
    requiring.nvcc()
    used = count_sass.compiled(resource(f"src/cuda/{source}"), "sm_90", tmp_path / "cubin")
    assert len(used) >= 4
    for name, each in used.items():
        if name != "gv_prepare":
            assert each.registers <= registers, name
            assert each.stores + each.loads <= spilled, name
