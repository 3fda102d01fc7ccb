"""docs/guide.md and its figures are what tools/make_guide.py writes, and no number in them was typed."""

import re
from xml.etree import ElementTree

import pytest
from repository import tool

guide = tool("make_guide")
from guide import fixed_point  # noqa: E402 - make_guide finds it
from guide.text import TEMPLATE  # noqa: E402

TYPED = {  # numbers of definitions and names, which no measurement gives
    "0", "1", "2", "0.5", "1.702", "4", "8", "16",
    "1606.08415", "7.1.26", "8-bit", "16-bit", "Q4.12", "k/16", "k/4096", "1/4096",
}  # fmt: skip
DTYPES = re.compile(r"\bb?float(16|32|64)\b|-f32\b|\bAVX2\b|\b16 bits\b|\b8 bits\b")


@pytest.fixture(scope="module")
def written():
    return guide.files()


def test_page_and_figures_are_current(written):
    stale = [path.name for path, text in written.items() if path.read_text(encoding="utf-8") != text]
    assert not stale, f"{stale}: run python tools/make_guide.py"
    assert {path for path in written if path.suffix == ".svg"} == set(guide.FIGURES.glob("*.svg"))


def numbers(text):
    """Numbers outside of placeholders, links, indented commands and names of dtypes."""
    text = re.sub(r"\{[{%].*?[%}]\}|\]\([^)]*\)|^ {4}.*$", " ", text, flags=re.MULTILINE)
    return re.findall(r"(?:\b[kQ1]/?)?\d[\d.,]*\d(?:-bit)?|\b\d(?:-bit)?", DTYPES.sub(" ", text))


def test_no_number_of_the_text_was_typed():
    assert set(numbers(TEMPLATE.read_text(encoding="utf-8"))) <= TYPED


def test_a_typed_number_is_found():
    assert numbers("at most 0.17 of float32, {{ fact('0.3') }}, 12,345 and 7 ULP") == ["0.17", "12,345", "7"]


def test_every_figure_is_shown_once_and_is_svg(written):
    page = written[guide.PAGE]
    for path, text in written.items():
        if path.suffix == ".svg":
            assert page.count(f"](guide/{path.name})") == 1
            assert ElementTree.fromstring(text).get("viewBox")
            assert "nan" not in text


@pytest.mark.parametrize("method", fixed_point.METHODS)
def test_tables(method):
    """One with an entry for every input errs by rounding alone; half the entries are no better."""
    every = len(fixed_point.inputs()) // (2 if method.startswith("d") else 1)
    assert fixed_point.largest(method, every) <= 0.5 + 2.0**-5  # of the 4 more bits
    assert fixed_point.largest(method, 64) < fixed_point.largest(method, 32)
