"""What every page is made with: the template environment, inlined assets, files that are never half written."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup

from ..atomic_files import replace_file
from ..errors import ResultsError
from ..show import html
from . import text

HERE = Path(__file__).parent


@cache
def environment() -> jinja2.Environment:
    """Templates of this folder, and those of any page."""
    made = html.environment(HERE)
    made.globals.update(
        ulp=text.ulp_text, share=text.share_text, number=text.number_text, count=text.count_text, rate=text.rate_text,
        short=text.short_value, full=text.value_text,
    )  # fmt: skip
    return made


def inline(name: str) -> Markup:
    """A file of this folder as it is."""
    return Markup((HERE / name).read_text(encoding="utf-8"))


def replace_files(files: Mapping[str, str | bytes], out: Path) -> list[Path]:
    """Write the files into `out`; each is replaced at once, never half written."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():  # file names may be no text
            whole = content.encode(errors="backslashreplace") if isinstance(content, str) else content
            replace_file(out / name, whole)
        return [out / name for name in files]
    except OSError as error:
        file = f"{Path(error.filename).name}: " if error.filename else ""
        raise ResultsError(f"cannot write the report to {out}: {file}{error.strerror or error}") from error


def write_file(path: Path, text: str) -> None:
    """Write one file; it is replaced at once, never half written."""
    try:
        replace_file(path, text.encode(errors="backslashreplace"))
    except OSError as error:
        raise ResultsError(f"cannot write {path}: {error.strerror or error}") from error
