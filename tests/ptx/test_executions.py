"""Small kernels at random, of approximations and open sums: the target of all executions beside that of each one."""

import numpy as np
import pytest
import requiring
from repository import ROOT

from gelu_verify import targets, verify
from gelu_verify.calling import OPTIONS
from gelu_verify.ptx.translate import EXECUTIONS
from gelu_verify.records.parts import Executions
from gelu_verify.records.serialize import from_json, to_json
from gelu_verify.truth.values import judge

PTX = """.version 9.0
.target sm_90
.address_size 64
.visible .entry f(.param .u64 p_x, .param .u64 p_y, .param .u64 p_n)
{{
.reg .pred %p<2>; .reg .b32 %r<5>; .reg .f32 %f<99>; .reg .b64 %rd<8>;
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %r4, %r2, %r3, %r1;
cvt.u64.u32 %rd1, %r4; ld.param.u64 %rd2, [p_n]; setp.ge.u64 %p1, %rd1, %rd2; @%p1 bra DONE;
ld.param.u64 %rd3, [p_x]; ld.param.u64 %rd4, [p_y]; shl.b64 %rd5, %rd1, 2;
add.s64 %rd6, %rd3, %rd5; add.s64 %rd7, %rd4, %rd5; ld.global.f32 %f0, [%rd6];
{body}
st.global.f32 [%rd7], %f{last};
DONE: ret;
}}
"""
UNARY = ("ex2", "rcp", "tanh", "sin", "cos")
EXAMPLE = f"{ROOT / 'examples' / 'cuda' / 'gelu_sigmoid.ptx'}:gelu_sigmoid"


def random_kernel(rng):
    """Begins with what has no NaN, and ends with an open sum."""
    lines = ["mul.rn.f32 %f1, %f0, 0f3E800000;", f"{rng.choice(['tanh', 'sin', 'cos'])}.approx.f32 %f2, %f1;"]
    for k in range(3, int(rng.integers(5, 10))):
        a, b = (f"%f{each}" for each in rng.integers(k - 2, k, 2))
        ftz = ".ftz" if rng.random() < 0.3 else ""
        opcode = str(rng.choice([*UNARY, "mul", "add", "sub", "div.full"]))
        name = f"{opcode}.approx" if opcode in UNARY else opcode
        name += ".f32" if opcode == "tanh" else f"{ftz}.f32"
        lines.append(f"{name} %f{k}, {a};" if opcode in UNARY else f"{name} %f{k}, {a}, {b};")
    lines.append(f"mul.f32 %f90, %f{len(lines)}, %f0; add.f32 %f91, %f90, %f{len(lines) - 1};")
    return PTX.format(body="\n".join(lines), last=91)


def test_each_output_is_that_of_the_worst_execution(tmp_path):
    requiring.program("c++", "g++", "clang++")
    rng = np.random.default_rng(8)
    x = np.concatenate([rng.normal(0, 3, 3000), 10 ** rng.uniform(-44, 38, 300), [0, -0.0, np.inf, -np.inf, np.nan]])
    bits = x.astype(np.float32).view(np.uint32)
    different = 0
    for k in range(4):
        (tmp_path / f"k{k}.ptx").write_text(random_kernel(rng))
        name, options = f"{tmp_path}/k{k}.ptx:f", {"function": "gelu", "dtype": "float32"}
        (whole,), _ = targets.select([name], **options)
        assert set(whole.executions) <= set(EXECUTIONS)
        assert {each.endswith("-fused") for each in whole.executions} == {False, True}
        got = whole.evaluate("float32", bits)
        alone = []
        for execution in whole.executions:
            (one,), _ = targets.select([name], **options, approximations=execution)
            assert one.executions == ()
            alone.append(one.evaluate("float32", bits))
        errors = np.array([np.abs(judge("gelu", "float32", bits, each).error) for each in alone])
        assert (np.array(alone) == got).any(axis=0).all()
        np.testing.assert_array_equal(np.abs(judge("gelu", "float32", bits, got).error), errors.max(axis=0))
        found = whole.execution_errors("float32")
        for name_of, error in zip(whole.executions, errors, strict=True):
            scored = error[np.isfinite(error)]
            assert (found.largest[name_of] or [None])[0] == max(scored, default=None)
        different += found.same < found.outputs
    assert different > 2


@pytest.mark.nightly
def test_a_process_of_its_own_finds_the_same():
    requiring.program("c++", "g++", "clang++")
    there, here = (
        verify(EXAMPLE, "gelu_sigmoid", "float32", "landmarks", isolate=each).record for each in (True, False)
    )
    assert there.executions == here.executions
    assert [each.name for each in here.executions.each] == list(EXECUTIONS[:4])
    assert there.grade == here.grade
    assert there.bits_sha256 == here.bits_sha256
    assert max(each.max_ulp for each in here.executions.each) == pytest.approx(here.max_ulp, rel=1e-9)
    assert from_json(Executions, to_json(here)["executions"]) == here.executions


def test_the_option_takes_each_execution():
    assert OPTIONS["approximations"].choices == EXECUTIONS
