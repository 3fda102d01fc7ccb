"""What deploy/ and docs/deploy.md say is true: real proxies load the configuration and stand attacks, units and
manifests are valid, every metric, limit and option is described."""

import contextlib
import json
import re
import shutil
import socket
import ssl
import subprocess
from dataclasses import fields
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest
import requiring
from repository import ROOT

pytest.importorskip("prometheus_client", reason="needs the extra serve")

from proxies import DEPLOY, caddy, free_port, nginx, nginx_files, running
from serving import read_to_end, serving

from gelu_verify.cli.serve import serve
from gelu_verify.service.settings import ServiceLimits
from gelu_verify.service.telemetry import Metrics

TEXT = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
LOOK_UP = "/v1/reference/gelu/float32/0.5"


def test_every_metric_is_described():
    named = set(re.findall(r"^\| `(gelu_verify_\w+)` \| ([^|]*)\|", TEXT, re.MULTILINE))
    lines = Metrics().text(ready=True).decode().splitlines()
    found = {(line.split()[2], line.split()[3]) for line in lines if "# TYPE" in line}
    totals = {name for name, kind in found if name.startswith("gelu_verify") and not name.endswith("_created")}
    assert {name for name, _ in named} == totals


def test_every_limit_and_every_option_is_described():
    limits = {field.name: field.default for field in fields(ServiceLimits)}
    assert {name: value for name, value in limits.items() if f"`{name}`" not in TEXT} == {}
    options = {option for parameter in serve.params for option in parameter.opts}
    assert {option for option in options if option not in TEXT} == set()


def test_the_image_is_not_root_and_has_a_health_check():
    text = (DEPLOY / "Dockerfile").read_text()
    assert re.findall(r"^FROM (\S+)", text, re.MULTILINE) == ["python:3.13-slim"] * 2
    user, entry = text.index("USER 10001"), text.index("ENTRYPOINT")
    assert text.index("HEALTHCHECK") > user
    assert entry > user


@pytest.mark.service
def test_nginx_accepts_the_configuration(tmp_path):
    main = nginx_files(tmp_path, 8000, 8443, 8080)
    done = subprocess.run([requiring.program("nginx"), "-t", "-c", main], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


UNTRUSTED = ssl.create_default_context()
UNTRUSTED.check_hostname, UNTRUSTED.verify_mode = False, ssl.CERT_NONE


def over_tls(port, source="127.0.0.1"):
    return UNTRUSTED.wrap_socket(socket.create_connection(("127.0.0.1", port), 30, (source, 0)))


def ask(url, **options):
    """Status, headers and body."""
    try:
        with urlopen(Request(url, **options), timeout=60, context=UNTRUSTED) as answer:
            return answer.status, answer.headers, answer.read()
    except HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


def behave(url):
    """What both proxies must do."""
    status, headers, body = ask(url + LOOK_UP)
    assert (status, b'"x_bits":"0x3f000000"' in body) == (200, True), body
    assert headers["x-request-id"]
    assert [ask(url + path)[0] for path in ("/metrics", "/readyz", "/healthz")] == [404] * 3
    raw = {"Content-Type": "application/octet-stream"}
    batch = ask(f"{url}/v1/reference/gelu/float32", data=bytes(1 << 20), headers=raw)
    assert (batch[0], batch[2]) == (200, bytes(1 << 20))
    largest = ask(f"{url}/v1/reference/gelu/float32", data=bytes(64 << 20), headers=raw)
    assert (largest[0], len(largest[2])) == (200, 64 << 20), "what gelu-verify accepts, the proxy does too"
    with contextlib.suppress(URLError):  # the proxy may close before everything is sent
        assert problem(ask(f"{url}/v1/reference/gelu/float32", data=bytes(65 << 20), headers=raw)) == 413
    assert problem(ask(url + "/metrics")) == 404
    assert ask(url + LOOK_UP)[1]["strict-transport-security"]
    table = ask(f"{url}/v1/tables/gelu/float16")
    immutable = url + next(each["url"] for each in json.loads(table[2])["files"] if each["format"] == "csv")
    whole = ask(immutable)
    assert "immutable" in whole[1]["cache-control"]
    for _ in range(2):  # also of what the proxy has cached by now
        part = ask(immutable, headers={"Range": "bytes=100-199"})
        assert (part[0], part[2]) == (206, whole[2][100:200])
        assert part[1]["content-range"] == f"bytes 100-199/{len(whole[2])}"
        again = ask(immutable, headers={"If-None-Match": whole[1]["etag"]})
        assert (again[0], again[2]) == (304, b"")
    ids = [ask(immutable)[1].get_all("x-request-id") for _ in range(3)]
    assert len({only for (only,) in ids}) == 3, "one id a response, and never that of another"
    assert "text" in ask(url + "/robots.txt")[1]["content-type"]


def problem(answer):
    """The status of an error that the proxy itself made."""
    assert answer[1]["content-type"] == "application/problem+json", answer
    assert json.loads(answer[2])["status"] == answer[0]
    return answer[0]


@pytest.mark.service
def test_nginx_serves_caches_and_stands_attacks(tmp_path):
    with serving("--trusted-proxies", "127.0.0.1", "--allowed-hosts", "127.0.0.1", "--answers", "none") as server:
        with nginx(tmp_path, server.port) as port:
            url = f"https://127.0.0.1:{port}"
            behave(url)
            found = [ask(f"{url}{LOOK_UP}?digits=30")[1]["x-cache"] for _ in range(2)]
            assert found == ["MISS", "HIT"]
            with socket.create_connection(("::1", int((tmp_path / "plain").read_text())), 10) as plain:
                plain.sendall(b"GET /v1/functions?a=b HTTP/1.1\r\nHost: gelu.example.org\r\nConnection: close\r\n\r\n")
                answer = read_to_end(plain)
            assert answer.startswith(b"HTTP/1.1 308 ")
            assert b"Location: https://gelu.example.org/v1/functions?a=b\r\n" in answer
            assert ask(f"https://[::1]:{port}{LOOK_UP}", headers={"Host": "127.0.0.1"})[0] == 200
            with contextlib.ExitStack() as crowd:
                idle = [crowd.enter_context(over_tls(port)) for _ in range(60)]
                slow = crowd.enter_context(over_tls(port))
                slow.sendall(b"GET / HTTP/1.1\r\nHost: 127")
                statuses = [ask(url + f"/v1/reference/gelu/float32/{i}")[0] for i in range(3)]
                assert statuses == [200] * 3
                with over_tls(port) as trailing, contextlib.suppress(OSError):
                    head = b"POST /v1/reference/gelu/float32 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                    kind = b"Content-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                    trailing.sendall(head + kind + b"4\r\n0000\r\n0\r\n" + b"X: aaaaaaaaaaaa\r\n" * 200_000 + b"\r\n")
                    read_to_end(trailing)
                assert ask(url + LOOK_UP)[0] == 200
                assert len(idle) == 60
            uploads = [ask(f"{url}/v1/verify?function=gelu&dtype=float16", data=b"x")[0] for _ in range(20)]
            assert 429 in uploads, "uploads of one client are limited"
            with over_tls(port, "127.0.0.9") as other:
                other.sendall(b"GET /v1/functions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                read_to_end(other)
        clients = {json.loads(line).get("client") for line in server.stop().splitlines()}
    assert {"127.0.0.1", "127.0.0.9"} <= clients, "the log has the addresses of clients, not of the proxy"


@pytest.mark.service
def test_caddy_serves(tmp_path):
    with serving("--trusted-proxies", "127.0.0.1", "--answers", "none") as server, caddy(tmp_path, server.port) as port:
        behave(f"http://127.0.0.1:{port}")


@pytest.mark.service
def test_the_units_are_valid(tmp_path):
    for name in ("gelu-verify.service", "gelu-verify.socket"):
        text = (DEPLOY / name).read_text().replace("/opt/gelu-verify/bin/gelu-verify", "/bin/true")
        (tmp_path / name).write_text(text)
    command = [requiring.program("systemd-analyze"), "verify", *tmp_path.iterdir()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.service
def test_the_unit_may_do_little():
    command = [requiring.program("systemd-analyze"), "security", "--offline=true", "--threshold=20"]
    done = subprocess.run([*command, DEPLOY / "gelu-verify.service"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]  # 20: an exposure of 2.0 of 10


@pytest.mark.service
def test_the_manifest_has_the_schema_of_kubernetes():
    validate = requiring.module("kubernetes_validate")
    yaml = requiring.module("yaml")
    documents = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
    assert [each["kind"] for each in documents] == ["Deployment", "Service"]
    for each in documents:
        validate.validate(each, "1.31", strict=True)


@pytest.mark.service
def test_the_compose_file_and_the_image():
    """Built and asked where a builder is at hand; else the compose file is read."""
    yaml = requiring.module("yaml")
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert services["gelu-verify"]["read_only"] is True
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "info"], capture_output=True, check=False).returncode:
        pytest.skip("needs a builder of images")
    subprocess.run([docker, "build", "-q", "-f", DEPLOY / "Dockerfile", "-t", "gelu-verify-test", ROOT], check=True)
    port = free_port()
    command = [
        docker,
        "run",
        "--rm",
        "--read-only",
        "--tmpfs",
        "/tmp",
        "-p",
        f"127.0.0.1:{port}:8000",
        "gelu-verify-test",
    ]
    with running(command, port):
        assert ask(f"http://127.0.0.1:{port}{LOOK_UP}")[0] == 200
