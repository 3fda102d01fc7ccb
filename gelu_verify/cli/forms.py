"""What was found, in the form that was asked for: printed, or written to a file."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .program import say

if TYPE_CHECKING:
    from ..show.document import Document
    from ..show.terminal import Line


def show(
    found: Any,
    form: str,
    out: Path | None,
    *,
    lines: Callable[[int], Iterable[Line]],
    document: Callable[[Any], Document],
    left_out: str = "",
    **others: Callable[[Any], str],
) -> None:
    """
    Parameters
    ----------
    form : "text", "json", "markdown", "html", or one of `others`, which makes the text
    lines : what is printed, of its width
    left_out : what Markdown says where there was too much
    """
    if form == "text":
        from ..show.terminal import in_ascii, write

        shown = list(lines(shutil.get_terminal_size().columns))
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
    else:
        text = others[form](found)
    if out is None:
        click.echo(text, nl=False)
        return
    from ..report.files import write_file

    write_file(out, text)
    say(f"written: {out}", err=True)
