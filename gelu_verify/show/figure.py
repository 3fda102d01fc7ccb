"""A chart as a file for a paper, SVG or PDF: on white, and each element with its colours as attributes.

What places a figure in a paper (Inkscape, LaTeX) knows no variables of a style sheet.
"""

from __future__ import annotations

import io
import re
from functools import cache
from importlib.resources import files
from typing import Any

from ..errors import MissingMeasurement
from .chart import Chart
from .drawing import STYLE, svg

FAMILY = "Helvetica, Arial, sans-serif"
_EMBEDDED = "Vera"  # the font of a PDF, which reportlab ships
_DIGIT, _RAISED = 4.5, 3.5  # width of a digit of an exponent, and how much higher it stands
_EXPONENTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_POWER = re.compile(r'(<text[^>]* x=")([\d.]+)(" y=")([\d.]+)("[^>]*>)(\d+)([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)</text>')

Declarations = dict[str, str]


def figure_svg(chart: Chart, note: str = "") -> str:
    """The chart with its title, as the text of an SVG file; `note` is a comment in it."""
    drawn = re.sub(r"<style>.*?</style>\n", "", svg(chart, alone=True, note=note), flags=re.DOTALL)
    drawn = re.sub(r"<(/?)a\b", r"<\1g", drawn)  # a link leads nowhere from there
    painted = re.sub(r'<(\w+)((?: [\w-]+="[^"]*")*)', lambda found: f"<{found[1]}{_painted(found[1], found[2])}", drawn)
    return painted.replace(" \N{RIGHTWARDS ARROW}</text>", "</text>")


def figure_pdf(chart: Chart) -> bytes:
    """The same as a PDF of one page that has its fonts; the same bytes each time."""
    try:
        from reportlab.graphics import renderPDF
        from reportlab.pdfgen.canvas import Canvas
        from svglib.svglib import register_font, svg2rlg
    except ModuleNotFoundError as error:
        raise MissingMeasurement(f"{error.name} is not installed: pip install 'gelu-verify[pdf]'") from None
    register_font(_EMBEDDED, str(files("reportlab") / "fonts" / "Vera.ttf"))
    text = _POWER.sub(_raised, figure_svg(chart).replace(FAMILY, _EMBEDDED))
    drawing: Any = svg2rlg(io.BytesIO(text.encode()))
    out = io.BytesIO()
    canvas = Canvas(out, (drawing.width, drawing.height), initialFontName=_EMBEDDED, invariant=True)
    set_font = canvas.setFont
    canvas.setFont = lambda _, size: set_font(_EMBEDDED, size)  # a drawing begins in Helvetica, which is not embedded
    canvas.setTitle(chart.title)
    renderPDF.draw(drawing, canvas, 0, 0)
    canvas.save()
    return out.getvalue()


def _raised(found: re.Match[str]) -> str:
    """A power that ends at x, with digits that the font has."""
    start, x, middle, y, end, base, exponent = found.groups()
    small = end.replace('font-size="10px"', 'font-size="7px"')
    before = f"{start}{float(x) - _DIGIT * len(exponent):g}{middle}{y}{end}{base}</text>"
    return f"{before}{start}{x}{middle}{float(y) - _RAISED:g}{small}{exponent.translate(_EXPONENTS)}</text>"


@cache
def _rules() -> tuple[tuple[frozenset[str], Declarations], ...]:
    """What an element must have (its tag, classes) to get which declarations of STYLE; the more, the later."""
    light = re.sub(r"@media[^{]*\{.*?\} \}", "", STYLE, flags=re.DOTALL)
    found = [
        (frozenset(re.findall(r"[\w-]+", selector)) - {"chart"}, _declarations(body))
        for selectors, body in re.findall(r"([^{}]+)\{([^}]*)\}", light)
        for selector in selectors.split(",")
    ]
    return tuple(sorted(found, key=lambda rule: len(rule[0])))


def _declarations(body: str) -> Declarations:
    return dict(re.findall(r"([\w-]+): ([^;]+);", body))


def _painted(tag: str, attributes: str) -> str:
    """The attributes of an element, with what the style says of its classes in their place."""
    kept = dict(re.findall(r' (?!href|data-|aria-|role)([\w-]+)="([^"]*)"', attributes))
    has = {tag, *kept.pop("class", "").split()}
    found: Declarations = {"--k": "var(--c0)"}  # of what a page colours by itself
    for names, declarations in _rules():
        found |= declarations if names <= has else {}
    found |= {"--ground": "#fff"}
    if "font" in found:
        found = {"font-family": FAMILY, "font-size": found.pop("font").split()[0]} | found
    if share := found.pop("opacity", ""):
        found |= {"fill-opacity": share, "stroke-opacity": share}
    plain = {name: _value(value, found) for name, value in found.items() if name[:2] != "--"}
    return "".join(f' {name}="{value}"' for name, value in (kept | plain).items())


def _value(value: str, found: Declarations) -> str:
    while variable := re.fullmatch(r"var\((--\w+)\)", value):
        value = found[variable[1]]
    return value
