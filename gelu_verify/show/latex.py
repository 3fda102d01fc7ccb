"""A document as LaTeX, in ASCII: what a paper takes in by `\\input`, for pdflatex with booktabs and longtable."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ..errors import printable
from .document import (
    Block,
    Definitions,
    Details,
    Document,
    Figures,
    Heading,
    Inline,
    Items,
    Listing,
    Marked,
    Section,
    Text,
    TextTable,
    is_empty,
    plain,
    spans,
)

NEEDS = r"needs \usepackage{booktabs,longtable}"
ON_A_PAGE = 45  # rows; a longer table is no float
_SMALL = r"\footnotesize\setlength{\tabcolsep}{3pt}"
_HEADINGS = ("section", "subsection", "subsubsection", "paragraph")
_SIGNS = {
    "\\": r"\textbackslash{}", **{sign: f"\\{sign}" for sign in "&%$#_{}"}, "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    '"': r"\char34{}",  # \textquotedbl is not in OT1
}  # fmt: skip
_SYMBOLS = {
    "\N{BLACK CIRCLE}": r"$\bullet$", "\N{WHITE CIRCLE}": r"$\circ$", "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{GREATER-THAN OR EQUAL TO}": r"$\ge$", "\N{LESS-THAN OR EQUAL TO}": r"$\le$", "\N{MINUS SIGN}": "$-$",
    "\N{INFINITY}": r"$\infty$", "\N{RIGHTWARDS ARROW}": r"$\to$", "\N{EN DASH}": "--",
}  # fmt: skip
_RELATIONS = {">=": r"\ge", "<=": r"\le", "=": "=", "": ""}
_NUMBER = re.compile(r"(>=|<=|=|) ?(-?\d+(?:\.\d+)?|inf)(?:e\+?(-?)0*(\d+))?", re.ASCII)
_POWER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e\+?(-?)0*(\d+)\b")
_NEGATIVE = re.compile(r"(?<![\w.)\]}-])-(?=\d|inf\b)")


def latex(document: Document) -> str:
    """The whole document."""
    headline = Text(document.headline, "bold")
    return f"% gelu-verify: {' '.join(document.title.split())}; {NEEDS}\n\n" + of_blocks([headline, *document.blocks])


def of_blocks(blocks: Sequence[Block], level: int = 0) -> str:
    """Blocks; a section begins with a heading of that level."""
    return "\n".join(_WRITERS[type(block)](block, level) for block in blocks if not is_empty(block))


def escaped(line: str) -> str:
    """Text that LaTeX prints as it is; what is not ASCII is shown by its code."""
    text = printable(line).encode("ascii", "backslashreplace").decode()
    return "".join(_SIGNS.get(sign, sign) for sign in text).replace("--", "-{}-")


def _set(line: str) -> str:
    """Text with its signs and numbers as they are printed."""
    text = "".join(_SYMBOLS.get(part) or escaped(part) for part in re.split(f"([{''.join(_SYMBOLS)}])", line))
    text = text.replace(r"\textgreater{}=", r"$\ge$").replace(r"\textless{}=", r"$\le$")
    return _POWER.sub(r"$\1 \\cdot 10^{\2\3}$", _NEGATIVE.sub("$-$", text))


def inline(text: Inline) -> str:
    """A text on one line; what could be an argument of the command before it is none."""
    line = "".join(map(_span, spans(text)))
    return f"{{}}{line}" if line[:1] in ("[", "*") else line


def _span(span: Marked) -> str:
    line = re.sub(r"\s+", " ", span.text)
    if span.mark == "code":
        return rf"\texttt{{{escaped(line)}}}"
    return rf"\textbf{{{_set(line)}}}" if span.mark in ("bold", "bad") else _set(line)


def _number(cell: Inline) -> str:
    """A cell of a column of numbers: in mathematics, where it is one."""
    if not (found := _NUMBER.fullmatch(plain(cell))):
        return inline(cell)
    relation, digits, sign, power = found.groups("")
    size = r"\infty" if digits == "inf" else digits + (rf" \cdot 10^{{{sign}{power}}}" if power else "")
    return f"${_RELATIONS[relation]} {size}$".replace("$ ", "$")


def _table(block: TextTable, level: int) -> str:
    columns, rows = block.shown()
    sides = "".join("r" if each.is_number else r"p{.3\linewidth}" if each.is_long else "l" for each in columns)
    head = [r"\toprule", _row(_titles(columns)), r"\midrule"]
    write = [_number if each.is_number else inline for each in columns]
    body = [_row([to(cell) for to, cell in zip(write, row, strict=True)]) for row in rows]
    caption = [rf"\caption{{{inline(block.title)}}}"] if block.title else []
    if len(rows) <= ON_A_PAGE:
        lines = [r"\begin{table}", rf"\centering{_SMALL}", *caption, rf"\begin{{tabular}}{{{sides}}}", *head, *body]
        return "\n".join((*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""))
    lines = [rf"\begingroup{_SMALL}", rf"\begin{{longtable}}{{{sides}}}", *(rf"{each} \\" for each in caption), *head]
    return "\n".join((*lines, r"\endhead", r"\bottomrule", r"\endfoot", *body, r"\end{longtable}", r"\endgroup", ""))


def _titles(columns: Sequence[Heading]) -> list[str]:
    """One for each column, but for those without: they are below the title before them."""
    starts = [at for at, each in enumerate(columns) if at == 0 or plain(each.title)]
    widths = [end - at for at, end in zip(starts, [*starts[1:], len(columns)], strict=True)]
    titles = (inline(columns[at].title) for at in starts)
    return [t if n == 1 else rf"\multicolumn{{{n}}}{{c}}{{{t}}}" for t, n in zip(titles, widths, strict=True)]


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _paragraph(block: Text, level: int) -> str:
    text = inline(block.text)
    if block.mark in ("lead", "note"):
        return rf"\par{{\footnotesize {text}\par}}" + "\n"
    return (rf"\textbf{{{text}}}" if block.mark == "bold" else text) + "\\par\n"


def _items(name: str, items: Sequence[str]) -> str:
    return "\n".join((rf"\begin{{{name}}}", *(rf"\item{each}" for each in items), rf"\end{{{name}}}", ""))


def _list(block: Items, level: int) -> str:
    return _items("itemize", [f" {inline(each)}" for each in block.texts])


def _facts(block: Definitions, level: int) -> str:
    return _items("description", [f"[{{{inline(name)}}}] {inline(text)}" for name, text in block.pairs])


def _code(block: Listing, level: int) -> str:
    lines = "".join(rf"\noindent {escaped(line)}\par" + "\n" for line in block.text.splitlines())
    return rf"{{\footnotesize\ttfamily\raggedright {lines}}}" + "\n"


def _section(block: Section | Details, level: int) -> str:
    heading = rf"\{_HEADINGS[min(level, 3)]}*{{{inline(block.title)}}}"
    return f"{heading}\n{of_blocks(block.blocks, level + 1)}"


def _figures(block: Figures, level: int) -> str:
    """LaTeX has no SVG."""
    return ""


_WRITERS: dict[type, Callable[..., str]] = {
    Text: _paragraph, Items: _list, Definitions: _facts, TextTable: _table, Section: _section, Details: _section,
    Listing: _code, Figures: _figures,
}  # fmt: skip
