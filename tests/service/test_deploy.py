"""docs/deploy.md is true: its nginx configuration loads, and it names every metric."""

import re
import shutil
import subprocess

import pytest
from repository import ROOT

pytest.importorskip("prometheus_client", reason="needs the extra serve")

from gelu_verify.service.telemetry import Metrics

TEXT = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")


@pytest.mark.skipif(not (shutil.which("nginx") and shutil.which("openssl")), reason="needs nginx and openssl")
def test_nginx_accepts_the_configuration(tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-subj", "/CN=test", "-keyout", key, "-out", certificate]  # fmt: skip
    subprocess.run(made, check=True, capture_output=True)
    (site,) = re.findall(r"```nginx\n(.*?)```", TEXT, re.DOTALL)
    site = re.sub(r"(ssl_certificate) .*;", rf"\1 {certificate};", site)
    site = re.sub(r"(ssl_certificate_key) .*;", rf"\1 {key};", site)
    site = re.sub(r"(proxy_cache_path) \S+", rf"\1 {tmp_path}/cache", site)
    main = tmp_path / "nginx.conf"
    main.write_text(f"pid {tmp_path}/pid;\nerror_log {tmp_path}/log;\nevents {{}}\nhttp {{\n{site}}}\n")
    done = subprocess.run(["nginx", "-t", "-c", main], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_metric_is_described():
    named = set(re.findall(r"^\| `(gelu_verify_\w+)` \| ([^|]*)\|", TEXT, re.MULTILINE))
    found = {(line.split()[2], line.split()[3]) for line in Metrics().text().decode().splitlines() if "# TYPE" in line}
    totals = {name for name, kind in found if name.startswith("gelu_verify") and not name.endswith("_created")}
    assert {name for name, _ in named} == totals
