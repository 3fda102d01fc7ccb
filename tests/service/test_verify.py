"""Verification by upload: verdicts, jobs, tokens, reports, published runs."""

import csv
import io
import time

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")
from starlette.testclient import TestClient

from gelu_verify.measure.verification import verify as verify_here
from gelu_verify.records.serialize import to_json
from gelu_verify.service.app import create_app
from gelu_verify.service.judging import inputs
from gelu_verify.service.settings import Limits, Settings
from gelu_verify.truth.values import reference_bits

RAW = {"Content-Type": "application/octet-stream"}
TOKEN = "correct horse battery"
AUTH = {**RAW, "Authorization": f"Bearer {TOKEN}"}
WHERE = "/v1/verify?function=gelu&dtype=float16&plan=default"


@pytest.fixture(scope="module")
def right():
    x, _ = inputs("default", "gelu", "float16", 0)
    return reference_bits("gelu", "float16", x)


@pytest.fixture
def client(tmp_path):
    with TestClient(
        create_app(Settings(store=tmp_path / "store", token=TOKEN)), raise_server_exceptions=False
    ) as found:
        yield found


@pytest.fixture
def plain():
    with TestClient(create_app(), raise_server_exceptions=False) as found:
        yield found


def test_right_results_pass(plain, right):
    done = plain.post(WHERE, content=right.tobytes(), headers=RAW).json()
    assert (done["state"], done["verdict"], done["stored"]) == ("done", "pass", False)
    assert done["result"]["correctly_rounded"] == 1
    assert done["progress"] == {"done": 65536, "total": 65536}


def test_one_wrong_result_of_65536_is_found_and_named(plain, right):
    wrong = right.copy()
    x, _ = inputs("default", "gelu", "float16", 0)
    place = int(np.flatnonzero(x == 0x3C00)[0])
    wrong[place] ^= 0x0100
    done = plain.post(f"{WHERE}&name=mine-2", content=wrong.tobytes(), headers=RAW).json()
    assert done["verdict"] == "fail"
    assert done["result"]["witness"]["x_bits"] == "0x3c00"
    assert done["result"]["target"] == "upload.mine-2"
    assert "/v1/verify?" in done["result"]["repeat"]


def test_the_verdict_is_the_one_that_a_local_run_gives(plain):
    """The same callable here and uploaded: the same record, but for what an upload cannot say."""

    def cubic(x):
        return (x * np.float32(0.5) * (1 + np.tanh(np.float32(0.8) * x))).astype(np.float32)

    x, _ = inputs("quick", "gelu", "float32", 0)
    with np.errstate(all="ignore"):
        y = cubic(x.view(np.float32))
        here = to_json(verify_here(cubic, "gelu", "float32", "quick").record)
    where = "/v1/verify?function=gelu&dtype=float32&plan=quick"
    there = plain.post(where, content=y.tobytes(), headers=RAW).json()["result"]
    for key in (
        "max_ulp",
        "witness",
        "mean_ulp",
        "nonfinite",
        "regions",
        "variant",
        "n",
        "bound",
        "max_rank",
    ):
        assert there[key] == here[key], key
    unasked = [name for name, verdict in there["checks"].items() if verdict != here["checks"][name]]
    assert (
        {"lane", "repeatable"}
        <= set(unasked)
        <= {"lane", "repeatable", "constants", "plateau", "precision", "rounding"}
    )
    assert all(there["checks"][name] == "not applicable" for name in unasked)


def test_a_report_comes_with_it_and_runs_only_its_own_script(plain, right):
    done = plain.post(WHERE, content=right.tobytes(), headers=RAW).json()
    page = plain.get(done["links"]["report"])
    assert page.status_code == 200
    assert "upload.mine" in page.text
    policy = page.headers["content-security-policy"]
    assert "script-src 'sha256-" in policy
    assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]


@pytest.mark.parametrize(
    ("query", "body", "headers", "status"),
    [
        ("function=gelu&dtype=float16", bytes(10), RAW, 409),
        ("function=gelu&dtype=float16", b"", RAW, 409),
        ("function=gelu&dtype=float16", bytes(131072), {"Content-Type": "text/csv"}, 415),
        ("function=gleu&dtype=float16", b"", RAW, 404),
        ("function=gelu&dtype=float8_e5m2", b"", RAW, 404),
        ("function=gelu&dtype=float16&plan=no", b"", RAW, 404),
        ("function=gelu&dtype=float32&plan=exhaustive", b"", RAW, 404),
        ("function=gelu&dtype=float16&name=../../x", b"", RAW, 422),
        ("function=gelu&dtype=float16&seed=x", b"", RAW, 422),
        ("dtype=float16", b"", RAW, 422),
        ("function=gelu&dtype=float16&inputs_sha256=" + "0" * 64, bytes(131072), RAW, 409),
        ("function=gelu&dtype=float16", bytes(131072), {**RAW, "Authorization": "Bearer wrong"}, 401),
        ("function=gelu&dtype=float16", bytes(131072), {**RAW, "Authorization": "Basic x"}, 401),
        ("function=gelu&dtype=float16", bytes(131072), {**RAW, "Authorization": "Bearer é".encode()}, 401),
    ],
)
def test_what_cannot_be_judged_is_told_why(client, query, body, headers, status):
    done = client.post(f"/v1/verify?{query}", content=body, headers=headers)
    assert done.status_code == status, done.text
    assert done.headers["content-type"] == "application/problem+json"


def test_a_long_job_is_answered_with_202_and_progress(plain, right):
    done = plain.post(WHERE, content=right.tobytes(), headers={**RAW, "Prefer": "respond-async"})
    assert done.status_code in (200, 202)
    assert done.headers["location"] == f"/v1/jobs/{done.json()['id']}"
    for _ in range(400):
        job = plain.get(done.headers["location"]).json()
        if job["state"] == "done":
            break
        assert job["state"] == "running"
        assert 0 <= job["progress"]["done"] <= job["progress"]["total"] == 65536
        time.sleep(0.02)
    assert job["verdict"] == "pass"


def test_a_job_at_work_says_so(plain, right, monkeypatch):
    monkeypatch.setattr("gelu_verify.measure.sweep.sweep", lambda *_, **__: time.sleep(0.4))
    done = plain.post(WHERE, content=right.tobytes(), headers={**RAW, "Prefer": "respond-async"})
    assert (done.status_code, done.json()["state"], done.json()["verdict"]) == (202, "running", None)
    assert plain.get(f"{done.headers['location']}/report.html").status_code == 409
    assert plain.get("/v1/jobs/AAAAAAAAAAAAAAAA").status_code == 404


def test_jobs_are_forgotten(right):
    with TestClient(create_app(Settings(limits=Limits(jobs_kept=2)))) as client:
        jobs = [client.post(WHERE, content=right.tobytes(), headers=RAW).json()["id"] for _ in range(4)]
        assert [client.get(f"/v1/jobs/{job}").status_code for job in jobs] == [404, 404, 200, 200]
    with TestClient(create_app(Settings(limits=Limits(job_kept_s=-1.0)))) as client:
        job = client.post(WHERE, content=right.tobytes(), headers=RAW).json()["id"]
        assert client.get(f"/v1/jobs/{job}").status_code == 404


def test_without_a_token_nothing_is_kept(client, right, tmp_path):
    done = client.post(WHERE, content=right.tobytes(), headers=RAW).json()
    assert done["stored"] is False
    assert client.get("/v1/runs").json() == {"runs": []}
    assert not any((tmp_path / "store/runs").iterdir())


def test_with_the_token_it_is_published(client, right):
    done = client.post(WHERE, content=right.tobytes(), headers=AUTH).json()
    assert done["stored"] is True
    run = client.get("/v1/runs").json()["runs"][0]
    assert run["links"]["self"] == done["links"]["run"]
    manifest = client.get(done["links"]["run"]).json()
    assert manifest["results"][0]["target"] == "upload.mine"
    assert client.get(done["links"]["report"]).text.startswith("<!doctype html>")
    cell = client.get("/v1/matrix").json()["results"][0]
    assert (cell["target"], cell["verdict"], cell["run"]) == ("upload.mine", "pass", run["id"])
    for path in ("/v1/runs.csv", "/v1/matrix.csv", f"{done['links']['run']}/summary.csv"):
        rows = list(csv.DictReader(io.StringIO(client.get(path).text)))
        assert len(rows) == 1, path
    for table in ("summary", "tail", "special", "regions", "throughput", "findings"):
        assert isinstance(client.get(f"{done['links']['run']}/{table}.json").json(), list)
    side = client.get("/v1/compare.html", params={"run": [run["id"], run["id"]]})
    assert side.status_code == 200


@pytest.mark.parametrize(
    "path", ["/v1/runs/none", "/v1/runs/..", "/v1/runs/%2e%2e%2findex.sqlite", "/v1/runs/index.sqlite/report.html",
             "/v1/runs/none/summary.csv", "/v1/compare.html?run=../..", "/v1/jobs/../../etc", "/assets/..%2fapp.py"]
)  # fmt: skip
def test_names_are_never_paths(client, path):
    done = client.get(path)
    assert (done.status_code, done.headers["content-type"]) == (404, "application/problem+json")


def test_a_store_that_fails_is_a_clear_answer_and_leaves_nothing(client, right, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gelu_verify.runs.store._write", full)
    done = client.post(WHERE, content=right.tobytes(), headers=AUTH)
    assert done.status_code == 507
    assert str(tmp_path) not in done.text
    assert client.get("/v1/runs").json() == {"runs": []}
    assert not any((tmp_path / "store/runs").iterdir())
    assert client.post(WHERE, content=right.tobytes(), headers=RAW).status_code == 200


def test_a_token_without_a_store_is_told_so(right):
    with TestClient(create_app(Settings(token=TOKEN))) as client:
        assert client.post(WHERE, content=right.tobytes(), headers=AUTH).status_code == 409


def test_implementations_answer_beside_the_right_one(plain):
    found = plain.get("/v1/answers/gelu/float32/-6.5?family=kernels").json()
    assert found["x_bits"] == "0xc0d00000"
    erf = next(row for row in found["answers"] if row["target"] == "kernels.gelu_erf")
    assert erf["y"] == "-0"
    assert erf["error_ulp"] > 9e6
    assert plain.get("/v1/answers/gelu/float8_e5m2/1").status_code == 404
