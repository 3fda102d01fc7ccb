"""A document as one HTML page: no network, no script, light or dark as the reader's system is."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from .. import __version__
from ..errors import printable
from .document import Document, Inline, Marked, is_empty, plain, spans
from .drawing import STYLE, svg

HERE = Path(__file__).parent


@cache
def environment(*folders: Path) -> jinja2.Environment:
    """Templates of these folders and of this one; every text is escaped, an unknown name is an error."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, HERE]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) or not isinstance(value, str) else printable(value),
    )
    made.filters.update(breakable=breakable, inline=inline, plain=plain, svg=svg)
    made.tests["shown"] = lambda block: not is_empty(block)
    return made


def page(document: Document) -> str:
    """The page as one string."""
    return (
        environment()
        .get_template("page.html")
        .render(version=__version__, document=document, style=read("page.css") + read("document.css") + Markup(STYLE))
    )


def inline(text: Inline) -> Markup:
    """A text with what is marked in it."""
    return Markup("").join(map(_span, spans(text)))


def _span(span: Marked) -> Markup:
    write = breakable if span.mark == "breakable" else _escaped
    text = Markup("<br>").join(map(write, span.text.split("\n")))
    if span.link:
        text = Markup('<a href="#{}">{}</a>').format(span.link, text)
    if span.mark == "code":
        return Markup("<code>{}</code>").format(text)
    return Markup('<span class="{}">{}</span>').format(span.mark, text) if span.mark else text


def _escaped(line: str) -> Markup:
    return escape(printable(line))


def breakable(name: str) -> Markup:
    """A name that may be broken after its dots and underscores."""
    return Markup(str(escape(printable(name))).replace(".", ".<wbr>").replace("_", "_<wbr>"))


def read(name: str) -> Markup:
    """A file of this folder as it is."""
    return Markup((HERE / name).read_text(encoding="utf-8"))
