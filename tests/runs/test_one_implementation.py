"""What was kept of an implementation is gone on with by the same one only: by its files, and by its outputs."""

import os
import random
import re
from dataclasses import replace

import numpy as np
import pytest

from gelu_verify.errors import ResultsError
from gelu_verify.measure.identity import ProbeOutputs
from gelu_verify.measure.kept import OUTPUTS, Kept
from gelu_verify.measure.request import Request
from gelu_verify.records.serialize import to_json
from gelu_verify.runs.measuring import measure_run
from gelu_verify.runs.parts import measure_part, merge_parts
from gelu_verify.work.journal import Journal, contents
from gelu_verify.work.journals import FILE
from gelu_verify.work.observer import Observer

REQUEST = Request(
    targets=("main.py:gelu",), functions=("gelu",), dtypes=("float16",), length=1 << 13, isolate=False, workers=1
)  # 8 chunks
TABLE = """
import os
import numpy as np
here = os.path.dirname(os.path.abspath(__file__))
table = np.load(os.path.join(here, "ta" + "ble.npy"))
def gelu(x: np.ndarray) -> np.ndarray:
    return table[x.view(np.uint16)]
"""
BY_VARIABLE = """
import os, random
import numpy as np
def gelu(x: np.ndarray) -> np.ndarray:
    y = np.maximum(x, 0)
    what = os.environ.get("PLANTED", "")
    if "other" in what:
        y[(x > 0.5) & (x < 2)] = 7
    if "payload" in what:
        nan = np.isnan(x)
        y[nan] = np.array([0x7E00 + random.randrange(1, 256) for _ in range(nan.sum())], np.uint16).view(np.float16)
    if "noise" in what:
        y[:] = np.random.default_rng().random(len(y))
    if "raises" in what:
        raise ValueError("no")
    return y
"""
CHANGED = "main.py:gelu returned 0.5"


class Told(Observer):
    """What was said, and a kill after so many chunks."""

    def __init__(self, chunks=1 << 40):
        self.said, self._left = [], chunks

    def warn(self, message):
        self.said.append(message)

    def advance(self, steps):
        self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["", *__import__("sys").path])
    monkeypatch.setattr("gelu_verify.measure.part_measurer.LONGEST", 1)
    monkeypatch.delenv("PLANTED", raising=False)


def planted(text, name="main.py"):
    with open(name, "w") as file:
        file.write(text)
    os.utime(name, (10**9, 10**9))


def stored(table):
    np.save("table.npy", table)
    os.utime("table.npy", (10**9, 10**9))


def run(out, observer, request=REQUEST):
    return measure_run(request, out, command="gelu-verify run", observer=observer)


def killed(out, chunks, request=REQUEST):
    with pytest.raises(KeyboardInterrupt):
        run(out, Told(chunks), request)


def record(found):
    return [to_json(each) for each in found.results]


# ---- interrupted runs --------------------------------------------------------------------------------


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(4))
def test_a_run_of_another_table_is_not_continued(tmp_path, seed):
    """Wherever the run was killed, and whichever element is another one."""
    rng = random.Random(seed)
    planted(TABLE)
    table = np.random.default_rng(seed).normal(size=1 << 16).astype(np.float16)
    stored(table)
    killed(tmp_path / "run", rng.randrange(2, 8))
    table[rng.randrange(1 << 16)] += np.float16(0.5)
    stored(table)
    told = Told()
    mixed = run(tmp_path / "run", told)
    assert "is not continued: table.npy, which main.py:gelu reads, is sha256:" in told.said[0]
    assert record(mixed) == record(run(tmp_path / "other", Told()))


@pytest.mark.few(1)
@pytest.mark.parametrize("chunks", [2, 5])
def test_a_run_of_the_same_table_is_continued(tmp_path, chunks):
    planted(TABLE)
    stored(np.random.default_rng(0).normal(size=1 << 16).astype(np.float16))
    whole = run(tmp_path / "whole", Told())
    killed(tmp_path / "run", chunks)
    killed(tmp_path / "run", 7)
    told = Told()
    again = run(tmp_path / "run", told)
    assert [said.partition(" run ")[0] for said in told.said] == ["continues the interrupted"]
    assert record(again) == record(whole)


@pytest.mark.parametrize("before", ["", "payload"])
def test_other_outputs_are_another_implementation(tmp_path, monkeypatch, before):
    """Where all files are the same; also where the bits of its NaN are random."""
    planted(BY_VARIABLE)
    monkeypatch.setenv("PLANTED", before)
    killed(tmp_path / "run", 4)
    killed(tmp_path / "run", 5)
    (kept,) = tmp_path.glob(".journal-*")
    monkeypatch.setenv("PLANTED", f"{before} other")
    told = Told(4)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "run", told)
    assert told.said[0].startswith(f"the interrupted run in {kept} is not continued: {CHANGED}")
    monkeypatch.setenv("PLANTED", before)
    told = Told()
    run(tmp_path / "run", told)
    assert told.said == [f"continues the interrupted run in {kept}"], "it waited for its own implementation"


def test_a_result_that_is_complete_is_of_the_same_implementation_too(tmp_path, monkeypatch):
    planted(BY_VARIABLE)
    planted(BY_VARIABLE, "second.py")
    request = replace(REQUEST, targets=("main.py:gelu", "second.py:gelu"))
    killed(tmp_path / "run", 12, request)
    with Journal(next(tmp_path.glob(".journal-*")) / FILE, {}) as journal:
        assert next(journal.records("main.py:gelu/gelu/float16 result"))
    monkeypatch.setenv("PLANTED", "other")
    told = Told()
    found = run(tmp_path / "run", told, request)
    assert f"is not continued: {CHANGED}" in told.said[0]
    first, second = (to_json(each) for each in found.results)
    assert first["bits_sha256"] == second["bits_sha256"]


@pytest.mark.parametrize(
    ("what", "why"), [("noise", " of 257 vary from call to call"), ("raises", "it fails (exception)")]
)
def test_where_outputs_do_not_tell_it_is_said(tmp_path, monkeypatch, what, why):
    planted(BY_VARIABLE)
    planted(BY_VARIABLE.replace("PLANTED", "UNUSED"), "second.py")
    monkeypatch.setenv("PLANTED", what)
    request = replace(REQUEST, targets=("main.py:gelu", "second.py:gelu"))
    killed(tmp_path / "run", 2, request)
    told = Told(2)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "run", told, request)
    said = (
        rf"main.py:gelu cannot be identified by its outputs \(.*{re.escape(why)}\): that it is the same rests on its "
    )
    assert re.match(said + "version alone", told.said[0])
    assert "continues the interrupted run" in told.said[1]


def test_every_journal_keeps_outputs_before_anything_is_measured(tmp_path):
    planted(BY_VARIABLE)
    for chunks in range(1, 4):
        killed(tmp_path / f"{chunks}", chunks)
    for journal in tmp_path.glob(".journal-*"):
        keys = list(contents(journal / FILE).records)
        assert keys[0] == f"main.py:gelu/gelu/float16{OUTPUTS}"


def test_what_is_kept_without_outputs_is_not_used(tmp_path):
    planted(BY_VARIABLE)
    killed(tmp_path / "run", 4)
    path = next(tmp_path.glob(".journal-*")) / FILE
    content = bytearray(path.read_bytes())
    with Journal(path, {}) as journal:
        entry = next(each for each in journal._entries if each.key.endswith(OUTPUTS))
    content[entry.offset] ^= 1
    path.write_bytes(content)
    told = Told()
    run(tmp_path / "run", told)
    assert told.said[0].endswith("is not continued: no outputs of main.py:gelu are kept")


# ---- parts -------------------------------------------------------------------------------------------


@pytest.mark.few(1)
@pytest.mark.parametrize("what", ["", "payload"])
def test_parts_of_different_implementations_are_refused(tmp_path, monkeypatch, what):
    planted(BY_VARIABLE)
    monkeypatch.setenv("PLANTED", what)
    measure_part(REQUEST, (0, 3), tmp_path / "a")
    measure_part(REQUEST, (3, 8), tmp_path / "b")
    assert merge_parts([tmp_path / "a", tmp_path / "b"], tmp_path / "whole", command="merge").results
    monkeypatch.setenv("PLANTED", f"{what} other")
    measure_part(REQUEST, (3, 8), tmp_path / "c")
    with pytest.raises(ResultsError, match=f"c does not belong to .*a: {CHANGED}"):
        merge_parts([tmp_path / "a", tmp_path / "c"], tmp_path / "mixed", command="merge")
    with pytest.raises(ResultsError, match=f"a cannot be continued here: {CHANGED}"):
        merge_parts([tmp_path / "a", tmp_path / "b"], tmp_path / "mixed", command="merge")


# ---- outputs as they are kept ------------------------------------------------------------------------


def test_outputs_are_read_as_they_were_written(tmp_path):
    x = np.arange(5, dtype=np.uint16)
    outputs = ProbeOutputs("float16", x, np.array([x + 1, x + 2]), length=3)
    with Journal(tmp_path / "journal", {}) as journal:
        Kept(journal, "a").add_outputs(outputs)
        (again,) = Kept(journal, "a").outputs()
    for name in ("x", "outputs"):
        assert np.array_equal(getattr(again, name), getattr(outputs, name))
    assert (again.dtype, again.length, again.failure, again.differences) == ("float16", 3, "", ())
