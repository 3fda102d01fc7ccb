"""Outputs by which an implementation is known: NaN payloads apart, from call to call, and in another process."""

from contextlib import ExitStack

import numpy as np
import pytest
from mutants import correct, target

from gelu_verify import targets
from gelu_verify.errors import TargetFailure
from gelu_verify.formats import DTYPES, get_format, is_nan
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.elsewhere import RemoteSweep
from gelu_verify.measure.identity import FEW, MANY, ProbeOutputs, another, only_by_version
from gelu_verify.measure.jobs import one_job
from gelu_verify.measure.request import Request
from gelu_verify.search.answers import RemoteBatches
from gelu_verify.truth.values import reference_bits
from gelu_verify.work.executors import Misfit


def of(answer, dtype="float32", count=FEW):
    return ProbeOutputs.of(target("gelu", answer), make_plan("quick", "gelu", dtype), count)


def right(dtype, x):
    return np.array(reference_bits("gelu", dtype, x))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [FEW, MANY])
def test_inputs_are_of_every_region_and_the_same_each_time(dtype, count):
    outputs = of(right, dtype, count)
    assert len(outputs.x) == min(count, make_plan("quick", "gelu", dtype).size) >= min(count, 4000)
    assert np.array_equal(outputs.x, of(right, dtype, count).x)
    assert is_nan(get_format(dtype), outputs.x).any()
    assert np.array_equal(outputs.outputs, [right(dtype, outputs.x)] * 2)


def test_inputs_of_ranges_and_lengths_are_those_that_were_asked_for():
    fmt, lengths = get_format("float32"), set()

    def answer(dtype, x):
        lengths.add(len(x))
        return right(dtype, x)

    plan = make_plan("default", "gelu", "float32", ranges=[(fmt.parse("1"), fmt.parse("1.001"))], length=24)
    outputs = ProbeOutputs.of(target("gelu", answer), plan)
    assert lengths == {24}
    assert len(outputs.x) == FEW
    assert fmt.parse("1") <= outputs.x.min() < outputs.x.max() <= fmt.parse("1.001")


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_payload_of_nan_says_nothing_and_one_other_output_does(dtype):
    rng, fmt = np.random.default_rng(0), get_format(dtype)

    def payloads(dtype, x, at=-1):
        y = right(dtype, x)
        nan = is_nan(fmt, y)
        y[nan] += rng.integers(0, 3, np.count_nonzero(nan), y.dtype)
        if at >= 0:
            y[at] ^= y.dtype.type(1)
        return y

    there = of(payloads, dtype)
    finite = np.flatnonzero(~is_nan(fmt, there.outputs[0]))
    assert there.steady.all()
    assert not another("a", there, there.again(target("gelu", payloads)))
    assert not only_by_version("a", there, there.again(target("gelu", payloads)))
    for at in rng.choice(finite, 8):
        here = there.again(target("gelu", lambda dtype, x, at=at: payloads(dtype, x, at)))
        assert another("a", there, here).startswith("a returned ")


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 1.0])
@pytest.mark.parametrize("outcomes", [2, 1000])
def test_what_varies_from_call_to_call_is_no_other_implementation(share, outcomes):
    """Also where it has few outcomes, which then are often the same by chance; what does not vary still tells."""
    rng = np.random.default_rng(1)

    def varying(dtype, x, other=False):
        y = right(dtype, x)
        y[: int(share * len(y))] += rng.integers(0, outcomes, int(share * len(y)), np.uint32)
        if other:
            y[len(y) // 2 :] ^= 1
        return y

    for _ in range(20):
        there = of(varying)
        assert not another("a", there, there.again(target("gelu", varying)))
        here = there.again(target("gelu", lambda dtype, x: varying(dtype, x, other=True)))
        assert bool(another("a", there, here)) is (share < 0.5)
    assert bool(only_by_version("a", there, there)) is (share > 0.1)


def test_failures_are_compared_by_their_kind():
    def fails(dtype, x):
        raise TargetFailure("no", "shape")

    there = of(fails)
    assert not another("a", there, of(fails))
    assert "it fails (shape)" in only_by_version("a", there, of(fails))
    assert another("a", there, of(right)) == "a fails (shape) there and does not fail here"


def test_outputs_cross_processes_unchanged():
    for outputs in (of(right), of(lambda dtype, x: x[:3])):
        again = ProbeOutputs.unpacked(outputs.packed())
        assert np.array_equal(again.x, outputs.x)
        assert np.array_equal(again.outputs, outputs.outputs)
        assert (again.dtype, again.length, again.failure) == (outputs.dtype, outputs.length, outputs.failure)


# ---- workers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("remote", [RemoteSweep, RemoteBatches])
def test_a_worker_with_another_file_or_other_outputs_is_refused_by_name(tmp_path, monkeypatch, remote):
    """What a worker does with a request, here, with other files than those of the client."""
    monkeypatch.chdir(tmp_path)
    text = "import os, numpy as np\nfrom planted_worker_helper import k\n" \
           "def gelu(x: np.ndarray): return x * k * float(os.environ.get('PLANTED', '1'))\n"  # fmt: skip
    (tmp_path / "main.py").write_text(text)
    (tmp_path / "planted_worker_helper.py").write_text("k = 1\n")
    request = Request(targets=("main.py:gelu",), functions=("gelu",), dtypes=("float32",), isolate=False)
    job = one_job(request, targets.select)
    work = remote.of(job, request, ProbeOutputs.of(job.target, job.plan, MANY))
    assert work.load(ExitStack())
    monkeypatch.setenv("PLANTED", "2")
    with pytest.raises(Misfit, match=r"^main.py:gelu returned .* there and returns .* here .*\(processor: "):
        work.load(ExitStack())
    (tmp_path / "planted_worker_helper.py").write_text("k = 3\n")
    reason = "planted_worker_helper.py, which main.py:gelu reads, is sha256:.* there and sha256:.* here"
    with pytest.raises(Misfit, match=reason):
        work.load(ExitStack())


def test_right_answers_are_known_again():
    there = ProbeOutputs.of(correct("gelu"), make_plan("quick", "gelu", "bfloat16"))
    assert not another("a", there, there.again(correct("gelu")))
    assert another("a", there, there.again(correct("gelu", "silu")))
