"""schemathesis over every operation of the OpenAPI document: no 500, and the schema is kept."""

import json
import os
import subprocess
from urllib.request import Request, urlopen

import numpy as np
import pytest
import requiring
from repository import TESTS

pytest.importorskip("uvicorn", reason="needs the extra serve")
from serving import TOKEN, serving

from gelu_verify.service.store import Store
from gelu_verify.verification import verify

FACTS = {"versions": {}, "machine": {}, "git": None, "copy_bytes_per_s": None}
KEPT, DELETED = "a run, and a job, that are asked for", "and those that are deleted"


def uploaded(server):
    """The name of a job that was not stored."""
    headers = {"Content-Type": "application/octet-stream", "Prefer": "wait=20"}
    path = "/v1/verify?function=gelu&dtype=float16&plan=landmarks"
    with urlopen(Request(server.url + path, bytes(2 * 2551), headers)) as response:
        return json.load(response)["id"]


def configuration(runs, jobs):
    """What exists, so that operations answer with more than 404."""
    names = {"path.run": runs[KEPT], "query.run": runs[KEPT], "path.job": jobs[KEPT], "path.library": "torch"}
    lines = ['hooks = "schema_files"', "[parameters]", *(f'"{name}" = "{value}"' for name, value in names.items())]
    for path, name in (("/v1/runs/{run}", runs[DELETED]), ("/v1/jobs/{job}", jobs[DELETED])):
        parameter = path.partition("{")[2].rstrip("}")
        lines += [
            "[[operations]]",
            f'include-name = "DELETE {path}"',
            f'parameters = {{ "path.{parameter}" = "{name}" }}',
        ]
    return "\n".join(lines)


@pytest.mark.service
def test_the_service_keeps_its_schema(tmp_path):
    result = verify(lambda x: np.maximum(x, 0), "relu", "float16", "landmarks")
    store = Store(tmp_path / "store")
    runs = {which: store.add(result, command="test", facts=FACTS) for which in (KEPT, DELETED)}
    file = tmp_path / "schemathesis.toml"
    with serving("--answers", "kernels,published,scipy", "--store", tmp_path / "store") as server:
        file.write_text(configuration(runs, {which: uploaded(server) for which in (KEPT, DELETED)}))
        options = ["-n", "30", "--request-timeout", "30", "--header", f"Authorization: Bearer {TOKEN}"]
        command = [requiring.program("schemathesis"), "--config-file", file, "run", f"{server.url}/v1/openapi.json"]
        env = {**os.environ, "PYTHONPATH": str(TESTS / "support")}
        done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=1200, check=False,
                              env=env, cwd=tmp_path)  # fmt: skip
        server.stop()
    assert done.returncode == 0, done.stdout[-8000:]
