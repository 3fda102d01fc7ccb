"""tools/list_decisions.py: docs/decisions.md lists every decision, and each is one dated paragraph."""

import re
import runpy

from repository import ROOT

SCRIPT = runpy.run_path(str(ROOT / "tools" / "list_decisions.py"))
ENTRIES = [
    (path.name, title, text)
    for path in sorted((ROOT / "docs" / "decisions").glob("*.md"))
    for title, text in SCRIPT["entries"](path.read_text(encoding="utf-8"))
]


def test_the_index_lists_every_decision_and_no_other():
    page = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    assert page == SCRIPT["index"](), "run: python tools/list_decisions.py"
    assert page.count("\n- [") == len(ENTRIES) > 250


def test_a_decision_is_one_dated_paragraph():
    dated = re.compile(r"20\d\d-\d\d-\d\d\. \S")
    found = [f"{page}: {title}" for page, title, text in ENTRIES if not dated.match(text) or "\n\n" in text]
    assert not found, "\n".join(found)


def test_no_two_decisions_have_one_title():
    assert len({title for _, title, _ in ENTRIES}) == len(ENTRIES)


def test_anchors_are_those_of_github():
    assert SCRIPT["anchor"]("y counts as `2^(emax+1)`, or 82 % of it") == "y-counts-as-2emax1-or-82--of-it"
