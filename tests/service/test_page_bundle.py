"""The page in one document, and one value as a page without JavaScript."""

import re
import subprocess
from email.message import Message

import pytest
import requiring

pytest.importorskip("fastapi", reason="needs the extra serve")

from gelu_verify.service import page_bundle


def test_one_request_has_everything(client):
    page = client.get("/")
    assert re.findall(r'(?:src|rel="stylesheet" href)="([^"]*)"', page.text) == []
    assert '"gelu_tanh"' in page.text
    policy = page.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert policy.count("'sha256-") == 2
    assert page.headers["content-encoding"] in ("br", "gzip", "zstd")
    assert page.headers["etag"].startswith("W/")
    assert client.get("/", headers={"If-None-Match": page.headers["etag"]}).status_code == 304


def test_the_bundle_has_every_module_once_and_is_javascript(tmp_path):
    text = page_bundle.bundle("app")
    modules = sorted(name.removesuffix(".js") for name in page_bundle.assets() if name.endswith(".js"))
    assert sorted(re.findall(r"^const \$(\w+) = ", text, re.MULTILINE)) == modules
    assert not re.search(r"^(import [*{]|export )", text, re.MULTILINE)
    assert "</script" not in text
    (tmp_path / "bundle.mjs").write_text(text)
    subprocess.run([requiring.program("node"), "--check", tmp_path / "bundle.mjs"], check=True)


def test_links_are_those_of_the_package_unless_others_are_given(monkeypatch):
    facts = Message()
    facts["Project-URL"] = "Source, https://example.org/source"
    facts["Project-URL"] = "Documentation, https://example.org/a, b"
    monkeypatch.setattr(page_bundle, "metadata", lambda name: facts)
    both = page_bundle.linked("<!-- links -->", None, None)
    assert both == (' <a href="https://example.org/a, b">Documentation</a>'
                    ' <a href="https://example.org/source">Source</a>')  # fmt: skip
    assert page_bundle.linked("<!-- links -->", "/docs", None).startswith(' <a href="/docs">Documentation</a>')
    del facts["Project-URL"]
    assert page_bundle.linked("<!-- links -->", None, None) == ""


def test_a_value_without_javascript(client):
    page = client.get("/lookup?x=0.1&function=gelu&dtype=float16")
    assert page.status_code == 200
    title = "gelu(0.0999755859375) = 0.053968635450133542313"
    assert f'<meta property="og:title" content="{title}">' in page.text
    assert 'content="Correctly rounded in float16: 0x1.bap-5 = 0x2ae8"' in page.text
    assert "<script" not in page.text
    assert page.text.count('<th scope="row">') == 6
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    for path in re.findall(r'href="(lookup\?[^"]*)"', page.text):
        assert client.get("/" + path.replace("&amp;", "&")).status_code == 200


@pytest.mark.parametrize(
    ("query", "words"),
    [("x=six", "accepted: decimal"), ("function=gleu", "did you mean"), ("x=%3Cscript%3E", "&lt;script&gt;")],
)
def test_what_is_wrong_is_said_on_the_page(client, query, words):
    page = client.get(f"/lookup?{query}")
    assert (page.status_code, words in page.text) == (404, True)
    assert "<script" not in page.text


def test_a_value_can_be_embedded_by_others_and_the_rest_cannot(client):
    assert "frame-ancestors *" in client.get("/embed?x=1").headers["content-security-policy"]
    for path in ("/", "/lookup", "/v1/functions"):
        assert "frame-ancestors 'none'" in client.get(path).headers["content-security-policy"]


# ---- caches, compression, parts, other sites -----------------------------------------------------


def test_tables_come_in_parts_and_compressed(client):
    path = "/v1/tables/gelu/float16.csv"
    plain = client.get(path, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    for encoding in ("br", "zstd", "gzip"):
        packed = client.get(path, headers={"Accept-Encoding": encoding})
        assert (packed.headers["content-encoding"], packed.headers["etag"]) == (encoding, "W/" + plain.headers["etag"])
        assert int(packed.headers.get("content-length", 0)) < len(plain.content)
    asked = {"Accept-Encoding": "identity", "Range": "bytes=10-19"}
    part = client.get(path, headers=asked)
    assert (part.status_code, part.content) == (206, plain.content[10:20])
    assert part.headers["content-range"] == f"bytes 10-19/{len(plain.content)}"
    assert client.get(path, headers={**asked, "If-Range": plain.headers["etag"]}).status_code == 206
    assert client.get(path, headers={**asked, "If-Range": '"other"'}).status_code == 200


@pytest.mark.parametrize("ranges", ["bytes=abc", "bytes=5-2", "items=0-1", "bytes=", "bytes=0-1,x", "bytes=--1"])
def test_a_range_that_is_none_is_ignored(client, ranges):
    path = "/v1/tables/gelu/float16.csv"
    plain = client.get(path, headers={"Accept-Encoding": "identity"})
    done = client.get(path, headers={"Accept-Encoding": "identity", "Range": ranges})
    assert (done.status_code, done.content) == (200, plain.content)


def test_a_range_beyond_the_end_is_a_problem(client):
    path = "/v1/tables/gelu/float16.csv"
    size = len(client.get(path, headers={"Accept-Encoding": "identity"}).content)
    for ranges in (f"bytes={size}-", "bytes=-0", f"bytes={size + 5}-{size + 9}, -0"):
        done = client.get(path, headers={"Accept-Encoding": "identity", "Range": ranges})
        assert (done.status_code, done.headers["content-type"]) == (416, "application/problem+json")
        assert done.headers["content-range"] == f"bytes */{size}"
        assert done.json()["type"] == "urn:gelu-verify:problem:range"


def test_other_sites_may_read_data_and_nothing_else(client):
    asks = {"Origin": "https://other.example", "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type"}  # fmt: skip
    for path in ("/v1/reference/gelu/float32", "/v1/files/gelu/float32"):
        answer = client.options(path, headers=asks)
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "*")
    assert client.get("/v1/functions").headers["access-control-allow-origin"] == "*"
    for path in ("/metrics", "/v1/answers", "/readyz", "/", "/v1/jobs/x"):
        assert "access-control-allow-origin" not in client.get(path, headers=asks).headers
        assert "access-control-allow-origin" not in client.options(path, headers=asks).headers
