"""Pages of the documentation site that are made from the code; `tox -e docs` builds all, and fails on a bad link."""

import posixpath
import re

import pytest
from repository import tool

from gelu_verify.checks import own_checks
from gelu_verify.functions import FUNCTIONS

site = tool("site/pages")


@pytest.fixture(scope="module")
def texts():
    return site.texts()


@pytest.mark.parametrize("name", own_checks())
def test_a_check_says_what_it_means_why_and_how_to_fix_it(name):
    check = own_checks()[name]
    page = site.check_page(check)
    assert len(check.remedy) > 40
    assert check.remedy.endswith(".")
    headings = re.findall(r"^## (.+)", page, re.MULTILINE)
    assert headings == ["What it means", "Why it is checked", "How to fix it", "What a failure means"]


@pytest.mark.nightly
def test_a_function_has_formula_derivative_limits_facts_and_hard_cases(texts):
    page = texts["functions/gelu.md"]
    for part in ("x Phi(x) = x/2 erfc(-x/sqrt(2))", "`Phi(x) + x phi(x)`", "| at -inf | -0 |", "**gelu.minimum**"):
        assert part in page
    assert re.search(r"^\| `0x[0-9a-f]{8}` \|", page, re.MULTILINE)
    assert all(f"functions/{name}.md" in texts and f"functions/{name}.svg" in texts for name in FUNCTIONS)


def test_the_menu_names_all_pages_and_no_other(texts):
    named = [path for entries in site.SECTIONS.values() for entry in entries for path in entry.values()]
    assert sorted(named) == sorted(path for path in texts if path.endswith(".md"))


def test_links_of_made_pages_lead_to_pages(texts):
    documents = {path.relative_to(site.DOCS).as_posix() for path in site.DOCS.rglob("*.md")}
    for path, text in texts.items():
        for link in re.findall(r"\]\(([^)#]+)\)", text) if path.endswith(".md") else ():
            assert posixpath.normpath(posixpath.join(posixpath.dirname(path), link)) in documents | set(texts), path
