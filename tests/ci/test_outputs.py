"""What CI systems read: valid for their validators whatever a result says, complete, and never an exit code lost."""

import json
import os
import re
import stat
from pathlib import Path
from urllib.parse import unquote

import pytest
import requiring
from hypothesis import given, settings
from hypothesis import strategies as st
from repository import TESTS

from gelu_verify.ci.cases import VERDICTS, Case, Value, worst_first
from gelu_verify.ci.github import MOST, REASONS, annotation_lines
from gelu_verify.ci.junit import junit
from gelu_verify.ci.outputs import CiOutputs
from gelu_verify.ci.places import FilePlace
from gelu_verify.ci.sarif import sarif
from gelu_verify.ci.summary import LIMIT, summary
from gelu_verify.errors import printable

SCHEMAS = TESTS / "data" / "schemas"
TITLE = "gelu-verify gate"
WITNESS = tuple(
    Value.of(name, "float16", bits) for name, bits in (("x", "0xc406"), ("got", "0x879f"), ("want", "0x8790"))
)
FAILED = Case(
    "k.c:gelu_f16/gelu/float16", "failed", ("15.2155 ULP =, budget 12", "check monotone fails: at -3"), ("seen",),
    WITNESS, "accurate_range", "within 4 ULP for x >= -1.3.", "gelu-verify run k.c:gelu_f16",
    FilePlace("my code/k.c", 7),
)  # fmt: skip
MISSING = Case("cuda.gelu/gelu/float32", "not measured", ("no GPU here",))
PASSED = Case("kernels.gelu_cr/gelu/float32", "passed", (), ("better: 0.5 ULP, budget 0.6",), grade="faithful")
ALL = [PASSED, MISSING, Case("torch", "skipped", ("not installed",)), FAILED]
NASTY = "\x00\x1b[31m\ud800\ufffe]]>&<\"'|`%0A,:\r\n::error::x\u2028\U0001f600"


def texts():
    return st.text(max_size=40) | st.just(NASTY)


@st.composite
def cases(draw):
    lists = st.lists(texts(), max_size=3).map(tuple)
    place = st.none() | st.builds(FilePlace, texts().filter(bool), st.integers(1, 9999))
    grades = st.sampled_from([None, "broken", "faithful"])
    values = st.sampled_from([(), WITNESS])
    one = st.builds(Case, texts(), st.sampled_from(VERDICTS), lists, lists, values, grades, texts(), texts(), place)
    return draw(st.lists(one, max_size=4))


@pytest.fixture(scope="module")
def of_junit():
    """Raises where a document is not what Jenkins accepts; returns its root."""
    etree = requiring.module("lxml.etree")
    schema = etree.XMLSchema(etree.parse(SCHEMAS / "junit-10.xsd"))

    def parsed(text):
        root = etree.fromstring(text)
        schema.assertValid(root)
        return root

    return parsed


@pytest.fixture(scope="module")
def of_sarif():
    schema = json.loads((SCHEMAS / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    validator = requiring.module("jsonschema").Draft4Validator(schema)

    def parsed(text):
        log = json.loads(text)
        validator.validate(log)
        return log

    return parsed


@settings(max_examples=15)
@given(found=cases())
def test_junit_is_valid_and_counts_what_it_has(of_junit, found):
    root = of_junit(junit(TITLE, found))
    (suite,) = root
    assert len(suite) == len(found) == int(root.get("tests"))
    for verdict, element, count in (("failed", "failure", "failures"), ("not measured", "error", "errors")):
        number = sum(each.verdict == verdict for each in found)
        assert len(suite.findall(f"*/{element}")) == number == int(suite.get(count))
    for case, each in zip(suite, found, strict=True):
        assert case.get("name") == printable(each.key)


def test_junit_has_the_reasons_the_witness_and_the_command(of_junit):
    suite = of_junit(junit(TITLE, ALL))[0]
    (failure,) = suite.findall("*/failure")
    assert failure.get("message") == "15.2155 ULP =, budget 12 (and 1 more)"
    lines = failure.text.splitlines()
    for part in (*FAILED.reasons, "x      0xc406  -0x1.018p+2  (-4.023)", "repeat gelu-verify run k.c:gelu_f16"):
        assert part in lines
    assert "source my code/k.c:7" in lines
    assert [each.get("message") for each in suite.findall("*/error")] == ["no GPU here"]
    assert [each.get("message") for each in suite.findall("*/skipped")] == ["not installed"]
    assert "better" in suite[0].find("system-out").text


def test_the_validators_refuse_what_is_wrong(of_junit, of_sarif):
    with pytest.raises(Exception, match="tests"):
        of_junit(junit(TITLE, ALL).replace(b'tests="4"', b""))
    with pytest.raises(Exception, match="version"):
        of_sarif(sarif(TITLE, ALL, 1).replace(b'"version": "2.1.0"', b'"version": "2.2.0"'))


@settings(max_examples=15)
@given(found=cases())
def test_sarif_is_valid_and_has_what_did_not_pass(of_sarif, found):
    (run,) = of_sarif(sarif(TITLE, found, 1))["runs"]
    kept = [each for each in worst_first(found) if each.verdict in ("failed", "not measured")]
    assert [each["properties"].get("key", "") for each in run["results"]] == [printable(each.key) for each in kept]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[each["ruleIndex"]] == each["ruleId"] for each in run["results"])


def test_sarif_points_at_the_code_and_names_the_result(of_sarif):
    (run,) = of_sarif(sarif(TITLE, ALL, 1))["runs"]
    failed, missing = run["results"]
    place = failed["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("my%20code/k.c", 7)
    assert failed["properties"]["got_hex_float"] == "-0x1.e7cp-14"
    assert (failed["ruleId"], missing["ruleId"]) == ("accuracy", "not-measured")
    assert run["invocations"][0]["exitCode"] == 1
    other = json.loads(sarif(TITLE, [Case(FAILED.key, "failed", ("99 ULP",))], 1))["runs"][0]["results"][0]
    assert other["partialFingerprints"] == failed["partialFingerprints"]


def decoded(line):
    """As the runner reads a command: properties and message."""
    name, listed, message = re.fullmatch(r"::(\w+) ([^\r\n]*?)::([^\r\n]*)", line).groups()
    assert name == "error"
    return dict(part.split("=", 1) for part in unquoted(listed).split("\0")), unquote(message, errors="strict")


def unquoted(listed):
    return unquote(listed.replace(",", "\0"), errors="strict")


@settings(max_examples=15)
@given(found=cases())
def test_annotations_are_one_line_each_and_read_back(found):
    lines = [*annotation_lines(TITLE, found)]
    shown = [each for each in worst_first(found) if each.verdict in ("failed", "not measured")]
    for line, each in zip(lines, shown, strict=True):
        assert len(line.splitlines()) == 1
        properties, message = decoded(line)
        assert properties["title"] == printable(each.key)
        assert properties.get("file") == (printable(each.place.path) if each.place else None)
        for reason in each.reasons[:REASONS]:
            assert printable(reason) in message.split("\n")


def test_long_lists_of_reasons_are_cut_beside_the_code_and_folded_in_the_summary():
    found = [Case("k.c:f/gelu/float32", "failed", tuple(f"{n} ULP" for n in range(30)))]
    (line,) = annotation_lines(TITLE, found)
    assert "0 ULP%0A1 ULP%0A" in line
    assert line.endswith("and 25 more reasons")
    text = summary(TITLE, found)
    assert text.index("- 0 ULP") < text.index("<details><summary>22 more") < text.index("- 29 ULP")


def test_github_shows_ten_errors_and_the_last_one_counts_the_rest():
    found = [Case(f"{n}/gelu/float32", "failed", (f"{n} ULP",), grade="faithful") for n in range(25)]
    lines = [*annotation_lines(TITLE, [*found, Case("worst", "failed", ("NaN",), grade="broken")])]
    assert len(lines) == MOST
    assert decoded(lines[0])[0]["title"] == "worst"
    assert "17 more" in lines[-1]


@settings(max_examples=30)
@given(found=cases(), limit=st.integers(0, 4000))
def test_a_summary_is_never_longer_than_its_limit(found, limit):
    text = summary(TITLE, found, limit)
    assert len(text.encode()) <= limit
    if text not in ("", summary(TITLE, found)):
        assert text.endswith("The log has every result._\n")
    assert text or limit < 300


def test_a_summary_has_grades_changes_and_witnesses():
    text = summary(TITLE, ALL)
    assert text.startswith("## gelu-verify gate: 1 failed, 1 not measured, 1 skipped, 1 passed\n")
    for part in ("accurate on a range", "better: 0.5 ULP", "| got | 0x879f | -0x1.e7cp-14 | -0.0001163 |", "no GPU"):
        assert part in text
    assert text.index("k.c:gelu") < text.index("cuda.gelu") < text.index("kernels.gelu")


def test_the_command_in_a_summary_is_code_and_not_a_part_of_the_list_above_it():
    command = "gelu-verify run 'k*.c:f' --call 'f(x) * 2 * 1'"
    text = summary(TITLE, [Case("k.c:f/gelu/float32", "failed", ("it crashed",), repeat=command)])
    assert f"- it crashed\n\n```\n{command}\n```\n" in text


def test_ten_thousand_failures_fit_into_a_summary():
    found = [Case(f"{n}/gelu/float32", "failed", ("x" * 200,)) for n in range(10_000)]
    text = summary(TITLE, found)
    assert 0.99 * LIMIT < len(text.encode()) <= LIMIT
    assert "are left out: GitHub accepts 1 MiB" in text


# ---- files ---------------------------------------------------------------------------------------


def said(outputs, found=ALL, code=1):
    lines = []
    return outputs.write(found, code, lines.append), lines


def test_files_are_written_into_new_folders_and_replaced_whole(tmp_path):
    outputs = CiOutputs(TITLE, tmp_path / "a" / "j.xml", tmp_path / "b" / "s.sarif")
    assert said(outputs) == ([], [])
    assert outputs.junit.read_bytes() == junit(TITLE, ALL)
    assert said(outputs, [PASSED], 0) == ([], [])
    assert outputs.junit.read_bytes() == junit(TITLE, [PASSED])
    assert outputs.sarif.read_bytes() == sarif(TITLE, [PASSED], 0)
    assert {each.name for each in tmp_path.rglob("*.*")} == {"j.xml", "s.sarif"}


def test_what_cannot_be_written_is_said_and_the_rest_is_written(tmp_path):
    (tmp_path / "file").write_text("")
    outputs = CiOutputs(TITLE, tmp_path / "file" / "j.xml", tmp_path / "s.sarif")
    outputs.remove_earlier()
    (problem,), _ = said(outputs)
    assert problem.startswith(f"cannot write {outputs.junit}: ")
    assert outputs.sarif.exists()


def test_devices_and_links_stay_what_they_are(tmp_path):
    (tmp_path / "real.xml").write_text("<testsuites/>")
    (tmp_path / "link.xml").symlink_to("real.xml")
    os.mkfifo(tmp_path / "pipe")
    for path in (Path(os.devnull), tmp_path / "link.xml"):
        outputs = CiOutputs(TITLE, path)
        outputs.remove_earlier()
        assert said(outputs) == ([], [])
    CiOutputs(TITLE, tmp_path / "pipe").remove_earlier()
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)
    assert (tmp_path / "link.xml").is_symlink()
    assert (tmp_path / "real.xml").read_bytes() == junit(TITLE, ALL)


def test_a_summary_is_added_to_what_the_step_has_said(tmp_path, monkeypatch):
    place = tmp_path / "summary.md"
    place.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(place))
    assert said(CiOutputs(TITLE)) == ([], [])
    assert place.read_text() == "before\n"
    problems, lines = said(CiOutputs(TITLE, github=True))
    assert (problems, len(lines)) == ([], 2)
    assert place.read_text() == "before\n" + summary(TITLE, ALL)
    place.write_bytes(b"x" * (LIMIT - 400))
    said(CiOutputs(TITLE, github=True))
    assert LIMIT - 400 < place.stat().st_size <= LIMIT
