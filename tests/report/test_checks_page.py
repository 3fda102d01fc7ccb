"""docs/checks.md against the code: every row names a check, a field or tests that exist, and its planted fault."""

import re
import runpy

import pytest
from repository import ROOT

from gelu_verify.checks import CHECKS
from gelu_verify.measure.tolerances import TOLERANCES
from gelu_verify.records.result import Record
from gelu_verify.records.serialize import keys_of

PAGE = (ROOT / "docs" / "checks.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if re.match(r"\| \d+ \|", line)]
NAME = re.compile(r"`(\w+)`")


def names_of_tests():
    return {
        name for path in (ROOT / "tests").rglob("test_*.py") for name in re.findall(r"def (test_\w+)", path.read_text())
    }


def test_there_are_twenty_five_rows():
    assert [int(row[0]) for row in ROWS] == list(range(1, 26))
    assert {len(row) for row in ROWS} == {6}
    assert all(re.search(r"\w+#\d+|eltwise\.cpp", row[4]) for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_a_row_names_exists(row):
    for part in re.split(r", (?=checks? |fields? )", row[2]):
        kind, names = part.partition(" ")[0].rstrip("s"), set(NAME.findall(part))
        if kind == "check":
            assert names
            assert names <= set(CHECKS)
        elif kind == "field":
            assert names
            assert names <= {*(each.key for each in keys_of(Record)), "machine"}
        else:
            assert part == "tests"
    assert set(NAME.findall(row[5])) <= names_of_tests()
    assert NAME.findall(row[5])


def test_the_page_has_the_table_of_all_checks():
    script = runpy.run_path(str(ROOT / "tools" / "list_checks.py"))
    assert script["page"]() == PAGE, "run: python tools/list_checks.py"


def test_the_tolerances_are_those_of_the_code():
    table = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|$", PAGE, re.MULTILINE))
    assert table == {rule.name: rule.source for rule in TOLERANCES}
