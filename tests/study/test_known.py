"""What is finished in a study is of kernels with the same outputs, here and in each worker."""

from dataclasses import dataclass

import pytest
from mutants import correct, faulty

from gelu_verify.errors import ResultsError
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.identity import ProbeOutputs, identity
from gelu_verify.study import known
from gelu_verify.study.finished import DATA, Finished, _Called, _Item, finished_in
from gelu_verify.work.executors import Misfit, on_threads
from gelu_verify.work.observer import SILENT

KEYS = ["kernels.gelu_cr/float16", "kernels.gelu_erf/float32"]


@dataclass(frozen=True)
class Job:
    """Nothing to be done."""

    label: str = "job"
    task: str = "wine"

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
    monkeypatch.setattr(known, "kernels", lambda: KEYS)
    monkeypatch.setattr("gelu_verify.study.finished.use_one_thread", lambda: None)  # threadpoolctl comes with [study]
    said, before = [], known.outputs_of(KEYS)
    for value in (1, 2):
        with on_threads(1) as pool, finished_in(tmp_path, {}, said.append) as journal:
            monkeypatch.setattr(Job, "__call__", lambda job, value=value: {"value": value})
            finished = Finished(journal, lambda pool=pool: pool, before, {"wine": ""})
            assert finished.all_of([Job()], SILENT) == [{"value": 1}], "what is finished is not computed again"
    assert not said
    other(monkeypatch, key)
    for _ in range(2):
        with finished_in(tmp_path, {}, said.append) as journal:
            assert not any(found.startswith("job") for found in journal.keys)
        assert f"is not continued: {key} returned " in said.pop()
        assert not said


def test_a_worker_with_another_kernel_is_refused(monkeypatch):
    pytest.importorskip("threadpoolctl")
    called = _Called({**identity(DATA), **known.outputs_of(KEYS)})
    assert called(_Item("job", Job()))["result"] == {"value": 1}
    other(monkeypatch, KEYS[0])
    with pytest.raises(Misfit, match=rf"outputs of {KEYS[0]} is sha256:.* there and sha256:.* here"):
        called(_Item("job", Job()))


def test_outputs_of_all_kernels_are_known():
    assert {key.partition("/")[2] for key in known.kernels()} == {"float16", "bfloat16", "float32", "float64"}
    assert "published.burn-gelu_grad/float32" in known.kernels()


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(ResultsError, match=f"cannot write {tmp_path / 'file'}"),
        finished_in(tmp_path / "file" / "finished", {}, print),
    ):
        pass


def test_a_payload_of_nan_is_in_no_digest():
    plan = make_plan("quick", "gelu", "float32")
    payload = faulty("gelu", lambda dtype, x, y: y + ((y > 0x7F800000) & (y < 0x80000000)) * y.dtype.type(3))
    assert ProbeOutputs.of(payload, plan).digest == ProbeOutputs.of(correct("gelu"), plan).digest
