"""Documents: every renderer knows every block, nothing breaks out of its text, and Markdown keeps to its limit."""

import inspect
import pkgutil
import re
import typing
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gelu_verify import show
from gelu_verify.show import document, html, latex, markdown, terminal
from gelu_verify.show.chart import Axis, Chart, Curve
from gelu_verify.show.document import (
    Definitions,
    Details,
    Document,
    Figures,
    Heading,
    Items,
    Listing,
    Marked,
    Section,
    Text,
    TextTable,
)

CHART = Chart(title="ups", x=Axis((0, 1)), y=Axis((0, 1)), curves=[Curve(points=[(0, 0), (1, 1)])])
HOSTILE = "</td><script>|`*_\x1b[31m\n## x"
BLOCKS = {
    Text: lambda text: Text(text),
    Items: lambda text: Items([text, (Marked(text, "bold"), text)]),
    Definitions: lambda text: Definitions([("name", text)]),
    TextTable: lambda text: TextTable(("a", Heading("b", is_number=True)), [(text, Marked(text, "bad"))], text),
    Figures: lambda text: Figures([CHART]),
    Listing: lambda text: Listing(text),
    Details: lambda text: Details("more", [Text(text)]),
    Section: lambda text: Section(text, [Text(text), Section("inner", [Items([text])])], id="here"),
}
RENDERERS = {
    "latex": latex.latex,
    "html": html.page,
    "markdown": markdown.markdown,
    "terminal": lambda shown: terminal.in_ascii(list(terminal.lines_of(shown.blocks, 80))),
}


def test_every_renderer_is_tested_here():
    """A module of show/ that renders has a function of a document."""
    modules = [import_module(f"gelu_verify.show.{each.name}") for each in pkgutil.iter_modules(show.__path__)]
    takes = {
        module.__name__.rpartition(".")[2]
        for module in modules
        for function in vars(module).values()
        if inspect.isfunction(function) and function.__module__ == module.__name__
        if [*inspect.get_annotations(function).values()][:1] == ["Document"]
    }
    assert takes == RENDERERS.keys() | {"terminal"}


def shown(*blocks):
    return Document(title="a test", headline="It is shown.", blocks=blocks)


def test_every_kind_of_block_is_tested_here():
    assert set(BLOCKS) == set(typing.get_args(document.Block))


@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize("kind", BLOCKS, ids=lambda kind: kind.__name__)
def test_every_renderer_shows_every_block(renderer, kind):
    text = RENDERERS[renderer](shown(BLOCKS[kind]("what it says")))
    assert "what it says" in text or kind is Figures
    assert (kind is Figures and renderer == "html") == ("<path" in text)


@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize("kind", BLOCKS, ids=lambda kind: kind.__name__)
def test_texts_stay_texts(renderer, kind):
    text = RENDERERS[renderer](shown(BLOCKS[kind](HOSTILE)))
    assert "\x1b" not in text
    if renderer == "html" or (renderer == "markdown" and kind is not Listing):
        assert "<script>" not in text
    if renderer == "markdown" and kind is not Listing:
        assert not any(line.startswith("## x") for line in text.splitlines())


@pytest.mark.parametrize("renderer", RENDERERS)
def test_nothing_is_shown_of_what_is_empty(renderer):
    empty = [
        Items([]),
        Definitions([]),
        TextTable(("a",), []),
        Listing(""),
        Details("more", [Items([])]),
        Section("title", [Text("")]),
    ]
    assert RENDERERS[renderer](shown(*empty)) == RENDERERS[renderer](shown())


def test_columns_that_are_empty_are_left_out_where_that_is_said():
    columns, rows = TextTable(
        ("a", Heading("b", is_optional=True), "c"), [("1", "", ""), ("2", Marked(""), "")]
    ).shown()
    assert [each.title for each in columns] == ["a", "c"]
    assert rows == [["1", ""], ["2", ""]]


@given(sizes=st.lists(st.integers(1, 400), max_size=12), limit=st.integers(150, 3000))
def test_markdown_is_never_longer_than_its_limit(sizes, limit):
    blocks = [Section(f"s{place}", [Text("x" * size)]) for place, size in enumerate(sizes)]
    whole, cut = markdown.markdown(shown(*blocks)), markdown.markdown(shown(*blocks), limit)
    assert len(cut.encode()) <= limit
    left_out = sum(f"## s{place}\n" not in cut for place in range(len(sizes)))
    assert cut == whole if not left_out else f"_{left_out} parts were left out" in cut


def test_a_block_says_in_its_docstring_what_it_is():
    assert all(inspect.getdoc(kind) for kind in typing.get_args(document.Block))


# ---- LaTeX ---------------------------------------------------------------------------------------


@given(text=st.text(max_size=40))
@pytest.mark.parametrize("kind", BLOCKS, ids=lambda kind: kind.__name__)
def test_latex_is_ascii_and_nothing_in_a_text_is_a_command(kind, text):
    written, own = (latex.latex(shown(BLOCKS[kind](each))) for each in (text, "x"))
    assert written.isascii()
    bare = re.sub(r"\\[&%$#_{}\\]", "", written)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert not set('#~^"') & set(re.sub(r"10\^\{-?\d+\}\$", "", bare))
    assert bare.count("%") == 1
    commands = set(re.findall(r"\\([a-z]+)", own))
    commands |= {"textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar", "char"}
    commands |= {"ge", "le", "bullet", "circ", "times", "infty", "to", "cdot"}
    assert set(re.findall(r"\\([a-z]+)", bare)) <= commands


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a_b & 5 %", r"a\_b \& 5 \%"),
        ("\\input{x}", r"\textbackslash{}input\{x\}"),
        ("x >= -1.67e-07", r"x $\ge$ $-$$1.67 \cdot 10^{-7}$"),
        ("\N{BLACK CIRCLE} accurate", r"$\bullet$ accurate"),
        ("\N{GREEK SMALL LETTER EPSILON}", r"\textbackslash{}u03b5"),
        ("--max-ulp 0x1e5", "-{}-max-ulp 0x1e5"),
        ("[0, 1)", "{}[0, 1)"),
        (Marked("f_32 >= x", "code"), r"\texttt{f\_32 \textgreater{}= x}"),
    ],
)
def test_signs_of_latex(text, written):
    assert latex.inline(text) == written


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (">= 1.67e+07", r"$\ge 1.67 \cdot 10^{7}$"),
        ("= 0.5", "$= 0.5$"),
        (">= inf", r"$\ge \infty$"),
        ("12", "$12$"),
        ("\N{EN DASH}", "--"),
        ("1,024", "1,024"),
        ("\N{ARABIC-INDIC DIGIT TWO}", r"\textbackslash{}u0662"),
    ],
)
def test_a_number_of_a_table_is_set_as_one(number, written):
    table = TextTable((Heading("n", is_number=True),), [(number,)])
    assert f"\n{written} \\\\\n" in latex.of_blocks([table])


def test_a_column_without_a_title_is_below_the_one_before_it():
    table = TextTable(("a", Heading("b", is_number=True), "", "c"), [("1", "2", "3", "4")], "a caption")
    written = latex.of_blocks([table])
    assert r"a & \multicolumn{2}{c}{b} & c \\" in written
    assert r"\caption{a caption}" in written
    assert r"\begin{tabular}{lrll}" in written
    assert "longtable" in latex.of_blocks([TextTable(("a",), [("x",)] * (latex.ON_A_PAGE + 1))])
