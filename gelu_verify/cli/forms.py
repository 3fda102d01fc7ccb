"""What was found, in the form that was asked for: printed, or written to a file."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import check_apart
from .program import say

if TYPE_CHECKING:
    from ..show.document import Document
    from ..show.terminal import Line


def takes_form(*others: str, text: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds --format, and --json, as the argument `form`; `text`: what its help says."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def called(*args: Any, form: str, as_json: bool, **options: Any) -> Any:
            check_apart("--json", "--format")
            return function(*args, form="json" if as_json else form, **options)

        as_json = click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
        choice = click.Choice(["text", "markdown", *others, "json", "html", "latex"])
        return click.option("--format", "form", type=choice, default="text", show_default=True, help=text)(
            as_json(called)
        )

    return add


def show(
    found: Any,
    form: str,
    out: Path | None = None,
    *,
    document: Callable[[Any], Document],
    lines: Callable[[int], Iterable[Line]] | None = None,
    left_out: str = "",
    **others: Callable[[Any], str],
) -> None:
    """
    Parameters
    ----------
    form : "text", "json", "markdown", "html", "latex", or one of `others`, which makes the text
    lines : what is printed, of its width; default: the document, and its headline last
    left_out : what Markdown says where there was too much
    """
    if form == "text":
        from ..show.terminal import document_lines, in_ascii, write

        width = shutil.get_terminal_size().columns
        shown = list(lines(width) if lines else document_lines(document(found), width))
        if out is None:
            write(shown, sys.stdout)
            return
        text = in_ascii(shown)
    elif form == "json":
        from ..records.serialize import to_json

        text = json.dumps(to_json(found), indent=1, allow_nan=False) + "\n"
    elif form == "markdown":
        from ..show.markdown import LEFT_OUT, markdown

        text = markdown(document(found), left_out=left_out or LEFT_OUT)
    elif form == "html":
        from ..show.html import page

        text = page(document(found))
    elif form == "latex":
        from ..show.latex import latex

        text = latex(document(found))
    else:
        text = others[form](found)
    if out is None:
        click.echo(text, nl=False)
        return
    from ..report.files import write_file

    write_file(out, text)
    say(f"written: {out}", err=True)
