"""The alerts of deploy/prometheus-rules.yml, evaluated by promtool: each fires when it should, none in normal use."""

import re
import subprocess
import time
from urllib.request import urlopen

import pytest
import requiring
from repository import ROOT

pytest.importorskip("uvicorn", reason="needs the extra serve")
from mixed_requests import send
from prometheus_client.parser import text_string_to_metric_families
from serving import serving

pytestmark = pytest.mark.service
RULES = ROOT / "deploy" / "prometheus-rules.yml"
MINUTES = 60
LABELS = {"job": "gelu-verify", "instance": "here"}
REQUESTS = "gelu_verify_requests_total"
LOOK_UP = "/v1/reference/{function}/{dtype}/{x}"
FAULTS = {
    "GeluVerifyDown": {("up", ()): "0x60"},
    "GeluVerifyNotReady": {("gelu_verify_ready", ()): "0x60"},
    "GeluVerifyErrors": {(REQUESTS, (("status", "500"),)): "0+1x60"},
    "GeluVerifyRefuses": {(REQUESTS, (("status", "429"),)): "0+10x60", (REQUESTS, (("status", "200"),)): "0+90x60"},
    "GeluVerifySlow": {("gelu_verify_request_seconds_bucket", (("route", LOOK_UP), ("le", le))): f"0+{count}x60"
                       for le, count in (("0.5", 90), ("1.0", 100), ("+Inf", 100))},
    "GeluVerifySpoolFull": {("gelu_verify_spooled_bytes", ()): "1000000000x60"},
    "GeluVerifyMemory": {("process_resident_memory_bytes", ()): "400000000x60"},
}  # fmt: skip
"""Series in which each alert fires."""


def fired(tmp_path, series, expected):
    """Whether, after an hour of these series, exactly these alerts fire, by `promtool test rules`."""
    yaml = requiring.module("yaml")
    lines = []
    for (name, labels), values in series.items():
        every = ", ".join(f'{key}="{value}"' for key, value in {**LABELS, **dict(labels)}.items())
        lines.append({"series": f"{name}{{{every}}}", "values": values})
    tests = [
        {"eval_time": f"{MINUTES}m", "alertname": alert, "exp_alerts": [{}] if alert in expected else []}
        for alert in FAULTS
    ]
    file = tmp_path / "test.yml"
    file.write_text(yaml.safe_dump({
        "rule_files": [str(RULES)], "evaluation_interval": "1m",
        "tests": [{"interval": "1m", "input_series": lines, "alert_rule_test": tests}],
    }))  # fmt: skip
    done = subprocess.run([requiring.program("promtool"), "test", "rules", file], capture_output=True, text=True,
                          check=False)  # fmt: skip
    names = set(re.findall(r"alertname: *(\w+)", done.stdout + done.stderr))
    return done.returncode == 0, names, done.stdout + done.stderr


def test_the_rules_are_well_formed():
    yaml = requiring.module("yaml")
    done = subprocess.run([requiring.program("promtool"), "check", "rules", RULES], capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (group,) = yaml.safe_load(RULES.read_text())["groups"]
    assert {rule["alert"] for rule in group["rules"]} == set(FAULTS)
    assert set(re.findall("GeluVerify\\w+", (ROOT / "docs" / "deploy.md").read_text())) == set(FAULTS)


@pytest.mark.parametrize("alert", FAULTS)
def test_an_alert_fires_for_its_fault_alone(tmp_path, alert):
    """promtool is told that none fires, and says which does."""
    silent, names, said = fired(tmp_path, FAULTS[alert], ())
    assert not silent
    assert names == {alert}, said


def test_none_fires_in_normal_use(tmp_path):
    """Each scrape stands for a minute."""
    scrapes = []
    with serving("--answers", "none", "--spool", tmp_path, "--store", tmp_path / "store") as server:
        for _ in range(MINUTES):
            send(server, 40)
            with urlopen(f"{server.url}/metrics", timeout=30) as answer:
                families = text_string_to_metric_families(answer.read().decode())
            found = {(each.name, tuple(sorted(each.labels.items()))): each.value
                     for family in families for each in family.samples}  # fmt: skip
            scrapes.append(found | {("up", ()): 1})
            time.sleep(0.01)
        server.stop()
    metrics = set(re.findall(r"\b(?:gelu_verify|process)_\w+|\bup\b", RULES.read_text()))
    series = {key: " ".join(str(each.get(key, "_")) for each in scrapes) for key in scrapes[-1] if key[0] in metrics}
    assert {name for name, _ in series} == metrics, "every alert is about something that the server says"
    silent, _, said = fired(tmp_path, series, ())
    assert silent, said
