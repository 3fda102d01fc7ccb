"""What users write for a target gives the target's outputs, as an expression and as a program without ours."""

import json
import subprocess
import sys

import numpy as np
import pytest
from families import HEAVY, ON_REQUEST, found

from gelu_verify import targets
from gelu_verify.formats import get_format
from gelu_verify.targets.expressions import is_plain, value_text

EVERYWHERE = ("jax", "kernels", "numpy", "onnxruntime", "scipy")
FAMILIES = (*EVERYWHERE, *HEAVY, *ON_REQUEST)
ASKED = ("-2.5", "0.75", "-inf")
RUN = """
import contextlib, io, json, sys
printed = []
for program in json.load(sys.stdin):
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        exec(program, {})
    printed.append(stream.getvalue())
json.dump(printed, sys.stdout)
"""


def run(texts):
    """What each program prints, one after the other in one process."""
    child = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", "-c", RUN],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stderr[-2000:]
    return json.loads(child.stdout)


def programs(here, family, dtypes, every):
    """[(target, dtype, bits, text)] of all that have one; with `every` input, or one after the other in turn."""
    for k, target in enumerate(here.values()):
        for dtype in sorted(set(target.dtypes) & set(dtypes)):
            for text in ASKED if every else [ASKED[k % len(ASKED)]]:
                bits = get_format(dtype).parse(text)
                if program := targets.program_of(family, target.expression, dtype, bits):
                    yield target, dtype, bits, program


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("family", "dtypes"),
    [
        pytest.param(
            family,
            dtypes,
            marks=[
                *([pytest.mark.frameworks] if family not in EVERYWHERE else []),
                *([pytest.mark.nightly] if dtypes != ("float32",) else []),
            ],
        )
        for family in FAMILIES
        for dtypes in (("float32",), ("float16", "bfloat16", "float32", "float64"))
    ],
)
def test_a_program_of_the_library_alone_prints_what_the_target_returns(family, dtypes):
    cases = list(programs(found(family), family, dtypes, every=dtypes != ("float32",)))
    if not cases:
        assert family in ("torch_compiled", "scipy", "keras", "litert"), f"{family}: no program"
        pytest.skip("none in these dtypes")
    texts = [program for *_, program in cases]
    for (target, dtype, bits, program), printed in zip(cases, run(texts), strict=True):
        fmt = get_format(dtype)
        (got,) = target.evaluate(dtype, np.array([bits], fmt.uint))
        assert float(printed) == pytest.approx(float(value_of(fmt, int(got))), rel=0, abs=0, nan_ok=True), program


INPUTS = ("0.1", "-0", "nan", "-inf", "0x1p-1074", "0x1p-149", "-0x1p-24", "0x1.fffffep127", "-0x1.fp1023")
OF_ARRAYS = [each for each in FAMILIES if each not in ("kernels", "litert", "onnxruntime", "openvino")]


@pytest.mark.nightly
@pytest.mark.parametrize(
    "family", [pytest.param(each, marks=() if each in EVERYWHERE else pytest.mark.frameworks) for each in OF_ARRAYS]
)
def test_a_program_has_the_very_input_also_where_there_are_many(family):
    """Its sign, as a zero too, and subnormal numbers; a call of many prints each value once."""
    dtypes = sorted({dtype for target in found(family).values() for dtype in target.dtypes})
    bits = [(dtype, get_format(dtype).parse(text)) for dtype in dtypes for text in INPUTS]
    texts = [targets.program_of(family, "x", dtype, each, n) for dtype, each in bits for n in (1, 20)]
    for (dtype, each), *printed in zip(bits, *[iter(run(texts))] * 2, strict=True):
        want = f"{value_of(get_format(dtype), each)!r}\n"
        assert printed == [want, want], dtype


def value_of(fmt, bits):
    return eval(value_text(fmt, bits))


@pytest.mark.parametrize("family", [f for f in FAMILIES if f in EVERYWHERE])
def test_every_path_of_a_library_but_these_has_an_expression(family):
    """Graphs of several nodes have none, nor have kernels that only tests call."""
    without = {name for name, target in found(family).items() if not target.expression}
    if family == "onnxruntime":
        assert all(any(word in name for word in ("-erf", "-fused", "-body", "-sigmoid")) for name in without)
    elif family == "kernels":
        assert not any(name.endswith("_cr") for name in without)
    else:
        assert not without


@pytest.mark.parametrize(
    ("expression", "is_one"),
    [
        ("torch.nn.functional.gelu(x)", True),
        ('torch.nn.functional.gelu(x, approximate="tanh")', True),
        ('transformers.activations.ACT2FN["gelu"](x)', True),
        ("x.gelu()", True),
        ("com.microsoft.QuickGelu(x, alpha=1.702)", True),
        ("x * torch.sigmoid(1.702 * x)", False),
        ("torch.nn.functional.gelu(x.float()).to(x.dtype)", False),
        ("torch.nn.functional.gelu(x.repeat_interleave(2)[::2])", False),
        ("jax.jit(lambda x: jax.nn.gelu(x))(x)", False),
        ("scipy.special.expit(1.702 * x)", False),
        ("", False),
        ("y = f(x)", False),
        ("f(x)\0", False),
        ("(" * 5000 + "x" + ")" * 5000, False),
        ("x" + " + x" * 3000, False),
    ],
)
def test_one_call_of_the_library_is_told_from_what_somebody_writes(expression, is_one):
    assert is_plain(expression) == is_one


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_a_program_writes_each_input_exactly(dtype):
    fmt = get_format(dtype)
    rng = np.random.default_rng(4)
    drawn = [int(bits) for bits in rng.integers(0, 1 << fmt.width, 200, np.uint64, endpoint=False)]
    for bits in (*drawn, 0, fmt.sign_mask, 1, fmt.infinity, fmt.infinity | fmt.sign_mask, fmt.max_finite):
        value = value_of(fmt, bits)
        assert (value != value) == fmt.is_nan(bits)
        assert fmt.is_nan(bits) or fmt.parse(repr(value)) == bits
