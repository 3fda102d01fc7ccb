"""Committed runs: small, dated, beside live ones, and worth nothing once the code that they measured has changed."""

import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from forged import edited, relabelled
from mutants import faulty, target, where
from repository import ROOT
from synthetic_runs import manifest

from gelu_verify import targets
from gelu_verify.buckets.bins import envelope
from gelu_verify.cli import main
from gelu_verify.cli.program import MISSING, OVER_BUDGET, USAGE
from gelu_verify.errors import MissingMeasurement, UsageError
from gelu_verify.gate import budgets as gate
from gelu_verify.gate.verdicts import verdicts
from gelu_verify.gpu import info as devices
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.jobs import find_jobs
from gelu_verify.measure.request import Request
from gelu_verify.measure.sweep import sweep
from gelu_verify.records.result import Origin
from gelu_verify.report import write_report
from gelu_verify.runs import committed
from gelu_verify.runs.store import read_run, write_run

H100 = {"name": "NVIDIA H100 80GB HBM3", "driver": "580.65", "cuda": "13.0", "nvcc": "13.0.48", "clock_sm_mhz": "1980"}
NAMED = "recorded 2026-11-21 on NVIDIA H100 80GB HBM3, CUDA 13.0.48"
KEY = "cuda.gelu_erf/gelu/float32"


@pytest.fixture(scope="module")
def swept():
    """A result with buckets of every kind of row: a kernel of ours, in float32."""
    (job,) = find_jobs(Request(targets=("kernels.gelu_erf",), dtypes=("float32",))).jobs
    return sweep(job.target, make_plan("default", "gelu", "float32", 0))


def stored(path, results, created="2026-11-21T10:00:00Z", **facts):
    """A run in a folder, as of another machine."""
    told = {key: value for key, value in manifest(**facts).items() if key in ("versions", "machine", "git")}
    told |= {"copy_bytes_per_s": 3e12, "device": facts.get("device", H100)}
    where = write_run(results, out=path, command="gelu-verify run", seed=0, plan="default", absent={}, facts=told)
    return edited(where, lambda manifest: manifest.update(created=created))


def on_gpu(measured, version="0123456789ab", **fields):
    """A result of a CUDA kernel, which gives what was measured."""
    return relabelled(measured, target="cuda.gelu_erf", family="cuda", version=version, **fields)


@pytest.fixture
def root(tmp_path, swept):
    """data/runs with a recorded run of a CUDA kernel, whose buckets are those of a real sweep."""
    committed.commit(read_run(stored(tmp_path / "h100", [on_gpu(swept)])), tmp_path / "runs")
    return tmp_path / "runs"


@pytest.fixture
def cuda_here(monkeypatch):
    """A family cuda without a device: the code says which versions it has now."""

    def with_version(version):
        module = type(sys)("gelu_verify.targets.frameworks.cuda")
        module.DEVICE, module.OURS = "cuda", True
        module.versions = lambda: {version} if version else set()

        def discover():
            raise targets.TargetUnavailable("there is no CUDA device")

        module.discover = discover
        monkeypatch.setitem(sys.modules, "gelu_verify.targets.frameworks.cuda", module)
        families = targets._modules
        monkeypatch.setattr(targets, "_modules", lambda: {**families(), "cuda": "gelu_verify.targets.frameworks.cuda"})

    _forget_families()
    yield with_version
    monkeypatch.undo()
    _forget_families()


def _forget_families():
    """What is kept of their modules."""
    targets._discovered.cache_clear()
    targets.is_shipped.cache_clear()


@pytest.fixture
def budgets(tmp_path, swept):
    record = replace(on_gpu(swept).record, origin=Origin("2026-11-21", devices.label(H100)))
    made = gate.make_budgets([record], manifest()["machine"] | {"libm": "x", "architecture": "y"}, "2026-11-21")
    path = tmp_path / "budgets.toml"
    gate.write_budgets(path, made, "gelu-verify budget RUN")
    return path


def invoke(*words):
    done = CliRunner().invoke(main, [str(word) for word in words])
    return done.exit_code, done.output


# ---- what is kept ----


def test_a_recorded_run_is_a_stored_run_that_says_when_and_on_what(root):
    (folder,) = root.iterdir()
    assert folder.name == "cuda-2026-11-21"
    run = read_run(folder)
    assert run.manifest["recorded"] == {"date": "2026-11-21", "device": "NVIDIA H100 80GB HBM3, CUDA 13.0.48"}
    assert run.manifest["device"] == H100
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) < 20_000


@pytest.mark.parametrize("per_binade", [32, 16, 8])
def test_the_curves_of_a_report_lose_nothing(root, swept, per_binade):
    (folder,) = root.iterdir()
    kept, whole = (envelope(table, "float32", per_binade) for table in (read_run(folder).table(0), swept.frame()))
    assert (kept.nonfinite == whole.nonfinite).all()
    assert (np.isnan(kept.max_error) == np.isnan(whole.max_error)).all()
    met = ~np.isnan(whole.max_error)
    assert (kept.max_error[met] >= whole.max_error[met]).all()
    np.testing.assert_allclose(kept.max_error[met], whole.max_error[met], rtol=2.0**-23)


def test_a_second_run_of_a_day_has_a_folder_of_its_own(root, tmp_path, swept):
    again = committed.commit(read_run(stored(tmp_path / "again", [on_gpu(swept)])), root)
    assert again.name == "cuda-2026-11-21-2"
    assert [path.name for path in root.glob(".*")] == []


def test_the_newest_record_of_a_target_counts(root, tmp_path, swept):
    newer = stored(tmp_path / "newer", [on_gpu(swept, "ba9876543210")], created="2026-12-01T00:00:00Z")
    committed.commit(read_run(newer), root)
    (found,) = committed.committed_runs(root)
    assert found.results[0].version == "ba9876543210"
    assert found.results[0].origin.recorded.startswith("recorded 2026-12-01 on NVIDIA H100")


def test_what_was_measured_here_is_not_taken_from_a_record(root):
    assert committed.committed_runs(root, without=["cuda"]) == []
    assert committed.committed_results(["torch"], root) == []


# ---- stale ----


def test_a_result_of_the_same_source_is_fresh(root, cuda_here):
    cuda_here("0123456789ab")
    (found,) = committed.committed_results(["cuda"], root)
    assert (found.origin.recorded, found.origin.stale) == (NAMED, "")


@pytest.mark.parametrize(("version", "why"), [("ba9876543210", "is ba9876543210 now"), ("", "is gone now")])
def test_a_result_of_another_source_is_stale(root, cuda_here, version, why):
    cuda_here(version)
    (found,) = committed.committed_results(["cuda"], root)
    assert why in found.origin.stale


def test_versions_of_our_kernels_are_those_of_their_targets():
    (job,) = find_jobs(Request(targets=("kernels.gelu_erf",), dtypes=("float32",))).jobs
    versions = committed.current_versions(["kernels", "published", "torch"])
    assert job.target.version in versions["kernels"]
    assert set(versions) == {"kernels", "published"}
    assert all(re.fullmatch("[0-9a-f]{12}", version) for version in committed.current_versions(["cuda"])["cuda"])


# ---- the report ----


def test_the_report_names_date_and_device_and_what_is_stale(root, cuda_here, tmp_path, swept):
    cuda_here("ba9876543210")
    live = read_run(stored(tmp_path / "live", [swept], device=None))
    write_report([live, *committed.committed_runs(root, without=["kernels"])], tmp_path / "out")
    markdown, page = ((tmp_path / "out" / name).read_text() for name in ("report.md", "index.html"))
    assert f"[B] {NAMED}" in markdown
    assert "stale: the source was 0123456789ab" in markdown
    assert NAMED in page
    assert ">stale</strong>" in page
    assert "clock_sm_mhz 1980" in re.sub("<[^>]*>", "", page)


def test_the_report_command_adds_what_is_recorded(root, cuda_here, tmp_path, swept):
    cuda_here("0123456789ab")
    live = stored(tmp_path / "live", [swept], device=None)
    assert invoke("report", live, "--recorded", root)[0] == 0
    assert NAMED in (live / "summary.csv").read_text()
    assert invoke("report", live)[0] == 0
    assert NAMED not in (live / "summary.csv").read_text()


# ---- the gate ----


def test_the_gate_holds_a_recorded_run_to_its_budget(root, cuda_here, budgets):
    cuda_here("0123456789ab")
    code, said = invoke("gate", "--budgets", budgets, "--recorded", root, "--require", "cuda")
    assert code == 0, said
    assert f"note  {KEY}: {NAMED}" in said
    assert "1 of 1 within budget" in said


def test_a_stale_record_is_a_missing_measurement(root, cuda_here, budgets):
    cuda_here("ba9876543210")
    code, said = invoke("gate", "--budgets", budgets, "--recorded", root)
    assert code == MISSING
    assert f"MISSING  {KEY}: {NAMED}; stale: the source was 0123456789ab" in said


def test_a_missing_record_is_a_missing_measurement(cuda_here, budgets, tmp_path):
    cuda_here("0123456789ab")
    code, said = invoke("gate", "--budgets", budgets, "--recorded", tmp_path / "none")
    assert (code, f"MISSING  {KEY}" in said) == (MISSING, True)


def test_what_is_required_is_missing_even_without_a_budget(cuda_here, budgets, tmp_path):
    cuda_here("0123456789ab")
    code, said = invoke("gate", "--budgets", budgets, "--recorded", tmp_path / "none", "--require", "cuda")
    assert code == MISSING
    assert "MISSING  cuda: required, but not measured and not recorded" in said
    assert "there is no CUDA device" in said


def test_a_record_over_its_budget_is_over(root, cuda_here, budgets, tmp_path):
    cuda_here("0123456789ab")
    fault = faulty("gelu", where(lambda x: (x > 0.5) & (x < 3), "7"))
    wrong = sweep(fault, make_plan("default", "gelu", "float32", 0))
    worse = stored(tmp_path / "worse", [on_gpu(wrong)], created="2026-12-01T00:00:00Z")
    committed.commit(read_run(worse), root)
    code, said = invoke("gate", "--budgets", budgets, "--recorded", root)
    assert (code, f"OVER  {KEY.replace('/', ' ')}: " in said) == (OVER_BUDGET, True)


def test_a_gpu_row_is_exact_only_on_its_device(root, budgets, swept):
    allowed = gate.read_budgets(budgets)
    assert allowed.rows[KEY].device == devices.label(H100)
    slightly_more = on_gpu(swept, max_ulp=allowed.rows[KEY].max_ulp * 1.01).record
    names = devices.label(H100), "another GPU"
    here, there = (replace(slightly_more, origin=Origin(device=name)) for name in names)
    machine = {"libm": "a", "architecture": "b", "isa": []}
    assert [verdicts([each], machine, allowed)[0].verdict for each in (here, there)] == ["over", "ok"]


def test_a_failure_on_the_gpu_can_be_recorded(tmp_path):
    def crash(dtype, x):
        raise RuntimeError("an illegal memory access")

    broken = relabelled(sweep(target("gelu", crash), make_plan("quick", "gelu", "float32")), family="cuda")
    place = committed.commit(read_run(stored(tmp_path / "h100", [broken])), tmp_path / "runs")
    assert read_run(place).results[0].failure == broken.failure


# ---- the command line, and what the driver tells ----


def test_run_records(tmp_path):
    words = ("run", "kernels.gelu_erf", "--dtype", "float16", "--no-throughput")
    code, said = invoke(*words, "--out", tmp_path / "run", "--record", tmp_path / "runs")
    (folder,) = (tmp_path / "runs").iterdir()
    assert (code, folder.name.startswith("kernels-"), "recorded: " in said) == (0, True, True)


def test_a_device_that_is_not_here_is_a_missing_measurement(cuda_here):
    cuda_here("0123456789ab")
    with pytest.raises(MissingMeasurement, match=r"nothing here runs on cuda .*there is no CUDA device"):
        find_jobs(Request(device="cuda"))
    with pytest.raises(UsageError, match="kernels runs on cpu, not on cuda"):
        find_jobs(Request(targets=("kernels",), device="cuda"))
    assert {job.target.family for job in find_jobs(Request(targets=("numpy",), device="cpu")).jobs} == {"numpy"}


SMI = """#!/bin/sh
echo "$@" > {asked}
echo "NVIDIA H100 80GB HBM3, 580.65, 9.0, 81559, 1980, 2619, 1980, 2619, 700.00, Enabled, Disabled"
"""


def test_the_device_is_what_the_driver_tells(tmp_path, monkeypatch):
    smi = tmp_path / "nvidia-smi"
    smi.write_text(SMI.format(asked=tmp_path / "asked"))
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("NVCC", "")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1")
    found = devices.device()
    assert (found["name"], found["driver"], found["clock_sm_mhz"]) == ("NVIDIA H100 80GB HBM3", "580.65", "1980")
    assert "--id=3" in (tmp_path / "asked").read_text()


def test_no_driver_is_no_device(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert devices.device() is None
    assert devices.label(None) == ""


def test_what_is_committed_can_be_read():
    for path in ROOT.glob("data/runs/*/manifest.json"):
        assert read_run(path.parent).manifest["recorded"]["device"]
    assert USAGE == 2
