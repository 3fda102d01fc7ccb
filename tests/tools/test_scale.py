"""The simulation of a scheduler's load, and the examples for Slurm and Kubernetes, whose configuration is checked."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest
from repository import ROOT
from requiring import module

CLUSTER = ROOT / "examples" / "cluster"


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


simulation = loaded(ROOT / "tools" / "simulate_scheduler.py")


def test_a_scheduler_is_no_limit_until_it_is_always_busy():
    """Cores are busy but for the last items; with more cores than it can serve, it gives a task each task_s."""
    busy, scheduler = simulation.simulated(20, 1.0, 0.001, rounds=100)
    assert 0.97 < busy <= 1
    assert scheduler == pytest.approx(busy * 20 * 0.001, rel=0.05)
    busy, scheduler = simulation.simulated(50, 1.0, 0.1, rounds=20)
    assert scheduler > 0.95
    assert busy == pytest.approx(1 / (50 * 0.1), rel=0.05)


def test_longer_items_keep_more_cores_busy():
    measured = {"dask_task_s": 0.05, "part_bytes": 1000}
    rows = [line.split("|") for line in simulation.lines(measured, cores=(100,), seconds=(1.0, 10.0))][2:]
    assert [row[2].strip() for row in rows] == ["1 s", "10 s"]
    assert float(rows[0][3].split()[0]) < 30 < 80 < float(rows[1][3].split()[0])


@pytest.mark.nightly
def test_the_page_has_the_table_that_follows_from_what_was_measured():
    measured = json.loads((ROOT / "docs" / "scale.json").read_text())
    assert "\n".join(simulation.lines(measured)) in (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")


@pytest.mark.nightly
def test_the_example_for_slurm_makes_a_job():
    module("dask_jobqueue")
    options = {"dashboard_address": "127.0.0.1:0", "port": 0}
    with loaded(CLUSTER / "slurm.py").cluster(scheduler_options=options) as cluster:
        script = cluster.job_script()
    for line in ("#SBATCH -p cpu", "#SBATCH --cpus-per-task=32", "#SBATCH -t 04:00:00", "#SBATCH --constraint=avx512"):
        assert line in script
    assert "export MALLOC_TOP_PAD_=67108864 MALLOC_MMAP_THRESHOLD_=67108864" in script
    assert "--nworkers 32 --nanny" in script
    assert "--lifetime 230m --lifetime-stagger 5m" in script


@pytest.mark.nightly
def test_the_example_for_kubernetes_is_what_the_operator_takes():
    yaml = module("yaml")
    operator = module("dask_kubernetes.operator")
    ours = yaml.safe_load((CLUSTER / "kubernetes.yaml").read_text())
    theirs = operator.make_cluster_spec(ours["metadata"]["name"], image="x", n_workers=1)
    assert ours.keys() <= theirs.keys()
    assert (ours["apiVersion"], ours["kind"]) == (theirs["apiVersion"], theirs["kind"])
    assert ours["spec"]["scheduler"]["service"] == theirs["spec"]["scheduler"]["service"]
    for role in ("scheduler", "worker"):
        (one,), (other,) = (each["spec"][role]["spec"]["containers"] for each in (ours, theirs))
        assert one.keys() <= other.keys()
        assert one["args"][0] == other["args"][0]
    assert ours["spec"]["scheduler"]["spec"]["containers"][0]["ports"] == [
        {"name": "tcp-comm", "containerPort": 8786, "protocol": "TCP"},
        {"name": "http-dashboard", "containerPort": 8787, "protocol": "TCP"},
    ]


@pytest.mark.nightly
def test_the_example_of_an_array_of_jobs_makes_parts_that_join(tmp_path):
    words = ["kernels.gelu_as7126", "--dtype", "bfloat16", "--length", "8192", "--no-own"]
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    for job in range(4):
        environment = {**os.environ, "PATH": path, "SLURM_ARRAY_TASK_ID": str(job), "CHUNKS": "2"}
        subprocess.run(["bash", CLUSTER / "slurm_array.sh", *words], env=environment, cwd=tmp_path, check=True)
    merged = ["gelu-verify", "merge", *(f"parts/{job}" for job in range(4)), "--out", "run"]
    subprocess.run(merged, env={**os.environ, "PATH": path}, cwd=tmp_path, check=True)
    assert (tmp_path / "run" / "manifest.json").exists()
