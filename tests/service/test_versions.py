"""Releases of libraries over HTTP, and the same as static files."""

import csv
import io
import json
from xml.etree import ElementTree

import pytest
from repository import ROOT
from synthetic_history import write_history

pytest.importorskip("fastapi", reason="needs the extra serve")
from starlette.testclient import TestClient

from gelu_verify.report.versions_files import versions_files
from gelu_verify.service import site
from gelu_verify.service.app import create_app
from gelu_verify.service.caching import FRESH
from gelu_verify.service.reports import policy
from gelu_verify.service.run_repository import RunRepository
from gelu_verify.service.settings import Settings

TYPES = {"html": "text/html", "json": "application/json", "csv": "text/csv", "atom": "application/atom+xml"}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return write_history(tmp_path_factory.mktemp("versions"))


@pytest.fixture(scope="module")
def files(root):
    return dict(versions_files(root))


@pytest.fixture(scope="module")
def client(root):
    with TestClient(create_app(Settings(versions=root)), raise_server_exceptions=False) as found:
        yield found


def test_every_file_of_a_static_copy_has_its_url(client, files):
    for name, content in files.items():
        done = client.get(f"/v1/versions/{name}")
        assert (done.status_code, done.content) == (200, content)
        assert done.headers["content-type"].partition(";")[0] == TYPES[name.rpartition(".")[2]]
        assert done.headers["cache-control"] == FRESH
        again = client.get(f"/v1/versions/{name}", headers={"If-None-Match": done.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(("path", "name"), [("", "libraries.json"), ("/torch", "torch.json")])
def test_json_has_a_url_without_an_ending(client, files, path, name):
    done = client.get(f"/v1/versions{path}")
    assert done.content == files[name]
    assert done.headers["access-control-allow-origin"] == "*"


def test_a_page_may_run_its_own_script_and_nothing_else(client, files):
    for name in ("torch.html", "libraries.html"):
        done = client.get(f"/v1/versions/{name}")
        assert done.headers["content-security-policy"] == policy(files[name].decode())
        assert "unsafe-inline'; script" not in done.headers["content-security-policy"]


def test_csv_is_saved_under_a_name(client):
    done = client.get("/v1/versions/torch.csv")
    assert done.headers["content-disposition"] == 'inline; filename="torch.csv"'
    assert {row["library"] for row in csv.DictReader(io.StringIO(done.text))} == {"torch"}


@pytest.mark.parametrize(
    "path",
    ["jax", "jax.json", "jax.csv", "jax.html", "libraries", "index", "outputs", "torch/outputs", "..%2f..%2fmatrix",
     "%2e%2e", "torch%00", "TORCH", "a" * 5000],
)  # fmt: skip
def test_another_name_is_not_found(client, path):
    done = client.get(f"/v1/versions/{path}")
    assert done.status_code == 404
    assert done.headers["content-type"] == "application/problem+json"
    assert done.json()["type"] == "urn:gelu-verify:problem:not-found"
    assert len(done.content) < 500


def test_an_error_names_what_was_measured(client):
    assert client.get("/v1/versions/jax").json()["detail"] == (
        "no releases of 'jax' were measured (measured: numpy, torch)"
    )


def test_an_unknown_parameter_is_refused(client):
    assert client.get("/v1/versions/torch?format=csv").status_code == 400


def test_a_damaged_file_is_an_error_without_its_path(tmp_path):
    write_history(tmp_path)
    (tmp_path / "torch" / "2.0.0.json").write_text("{")
    with TestClient(create_app(Settings(versions=tmp_path)), raise_server_exceptions=False) as client:
        done = client.get("/v1/versions/torch")
        assert done.status_code == 507
        assert str(tmp_path) not in done.text
        assert client.get("/v1/versions/numpy").status_code == 200


def test_openapi_has_the_schemas_of_both(client):
    document = client.get("/v1/openapi.json").json()
    paths, schemas = document["paths"], document["components"]["schemas"]
    for path, kind in (("/v1/versions", "Libraries"), ("/v1/versions/{library}", "Timeline")):
        answer = paths[path]["get"]["responses"]["200"]["content"]["application/json"]
        assert answer["schema"]["$ref"] == f"#/components/schemas/{kind}"
        assert schemas[kind]["properties"]
    assert "application/atom+xml" in paths["/v1/versions/changes.atom"]["get"]["responses"]["200"]["content"]


def test_answers_follow_the_committed_schemas(client):
    jsonschema = pytest.importorskip("jsonschema")
    for path, name in (("", "libraries"), ("/torch", "versions")):
        schema = json.loads((ROOT / "data" / "schema" / f"{name}.json").read_text(encoding="utf-8"))
        jsonschema.validate(client.get(f"/v1/versions{path}").json(), schema)


def test_a_static_copy_has_the_files_of_the_package(monkeypatch, root):
    monkeypatch.setattr("gelu_verify.versions.store.default_root", lambda: root)
    written = dict(site._files(["relu"], RunRepository(None, None), None, None))
    names = {name.removeprefix("v1/versions/") for name in written if name.startswith("v1/versions/")}
    assert names == {*dict(versions_files(root))}


def test_nothing_was_measured(tmp_path):
    with TestClient(create_app(Settings(versions=tmp_path)), raise_server_exceptions=False) as client:
        assert client.get("/v1/versions").json() == {"libraries": [], "changes": []}
        assert client.get("/v1/versions/torch").json()["detail"].endswith("(measured: none)")
        assert ElementTree.fromstring(client.get("/v1/versions/changes.atom").content).tag.endswith("feed")
