"""What is finished in a study is of kernels with the same outputs, here and in each worker."""

import pytest
from mutants import correct, faulty

from gelu_verify.errors import ResultsError
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.identity import ProbeOutputs, identity
from gelu_verify.study import known
from gelu_verify.study.finished import DATA, Finished, _Called, _Item
from gelu_verify.work.executors import Misfit

KEYS = ["kernels.gelu_cr/float16", "kernels.gelu_erf/float32"]


class Job:
    """Nothing to be done."""

    label = "job"

    def __call__(self):
        return {"value": 1}


def other(monkeypatch, key):
    """Have one kernel give another output for every input."""
    real, dtype = known._outputs, key.partition("/")[2]
    wrong = faulty("gelu", lambda dtype, x, y: y ^ y.dtype.type(1))
    there = ProbeOutputs.of(wrong, make_plan("quick", "gelu", dtype))
    monkeypatch.setattr(known, "_outputs", lambda each: there if each == key else real(each))


@pytest.mark.parametrize("key", KEYS)
def test_another_kernel_is_named_with_its_outputs_and_nothing_of_it_is_used(tmp_path, monkeypatch, key):
    said, before = [], known.outputs_of(KEYS)
    known.keep(tmp_path, KEYS, said.append)
    known.keep(tmp_path, KEYS, said.append)
    assert not said
    other(monkeypatch, key)
    known.keep(tmp_path, KEYS, said.append)
    assert f"is of another implementation and is computed anew: {key} returned " in said[0]
    decide = [Finished(tmp_path, {}, None, each)._decides for each in (before, known.outputs_of(KEYS))]
    assert decide[0] != decide[1]
    known.keep(tmp_path, KEYS, said.append)
    assert len(said) == 1


def test_a_worker_with_another_kernel_is_refused(monkeypatch):
    pytest.importorskip("threadpoolctl")
    called = _Called({**identity(DATA), **known.outputs_of(KEYS)})
    assert called(_Item(0, Job())) == {"value": 1}
    other(monkeypatch, KEYS[0])
    with pytest.raises(Misfit, match=rf"outputs of {KEYS[0]} is sha256:.* there and sha256:.* here"):
        called(_Item(0, Job()))


def test_outputs_of_all_kernels_are_known():
    assert {key.partition("/")[2] for key in known.kernels()} == {"float16", "bfloat16", "float32", "float64"}
    assert "published.burn-gelu_grad/float32" in known.kernels()


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(ResultsError, match="cannot write"):
        known.keep(tmp_path / "missing", KEYS[:1], print)


def test_a_payload_of_nan_is_in_no_digest():
    plan = make_plan("quick", "gelu", "float32")
    payload = faulty("gelu", lambda dtype, x, y: y + ((y > 0x7F800000) & (y < 0x80000000)) * y.dtype.type(3))
    assert ProbeOutputs.of(payload, plan).digest == ProbeOutputs.of(correct("gelu"), plan).digest
