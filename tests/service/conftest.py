"""One application in this process and one real server, shared by the tests that do not change them."""

import pytest


@pytest.fixture(scope="session")
def client():
    """A client of an application without a store."""
    testclient = pytest.importorskip("starlette.testclient", reason="needs the extra serve")
    from gelu_verify.service.app import create_app

    with testclient.TestClient(create_app(), raise_server_exceptions=False) as found:
        yield found


@pytest.fixture(scope="session")
def server():
    """`gelu-verify serve` in a process of its own."""
    pytest.importorskip("uvicorn", reason="needs the extra serve")
    from serving import serving

    with serving("--limit", "connections_per_s=10000") as found:  # tests open more than one client may
        yield found
        assert found.process.poll() is None
