"""schemathesis over every operation of the OpenAPI document: no 500, and the schema is kept."""

import subprocess

import pytest
import requiring

pytest.importorskip("uvicorn", reason="needs the extra serve")
from serving import serving


@pytest.mark.service
def test_the_service_keeps_its_schema():
    with serving("--answers", "kernels,published,scipy") as server:
        command = [
            requiring.program("schemathesis"),
            "run",
            f"{server.url}/v1/openapi.json",
            "-n",
            "30",
            "--request-timeout",
            "30",
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
        server.stop()
    assert done.returncode == 0, done.stdout[-8000:]
