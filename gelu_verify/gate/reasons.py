"""Reasons that are still to be written, of checks that failed before there was a gate; linters call it a baseline."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..errors import UsageError
from .project import Project, project_in

TODO = "TODO"  # how a reason begins that nobody has written yet


def with_reasons_to_write(project: Project, checks: Iterable[str], date: str) -> tuple[Project, str]:
    """The project with a dated reason to fill in for each check, and the text of its file that says so.

    Raises
    ------
    UsageError : the reasons of the file are not in a table of their own
    """
    file, table = project.file, f"{project.table}accept"
    lines = "".join(f'{check} = "{TODO} {date}: fails since before the gate; say why"\n' for check in checks)
    text = file.read_text(encoding="utf-8-sig").rstrip() + "\n"
    header = re.search(rf"^\[{re.escape(table)}\].*\n", text, re.MULTILINE)
    text = text[: header.end()] + lines + text[header.end() :] if header else f"{text}\n[{table}]\n{lines}"
    try:
        return project_in(file, text), text
    except UsageError:
        raise UsageError(f"{file} has no table [{table}] that can be added to; write there: {lines!r}") from None


def to_write(project: Project) -> list[str]:
    """The checks whose reasons are still to be written."""
    reasons = {(check, reason) for entry in project.entries for check, reason in entry.accept.items()}
    return sorted({check for check, reason in reasons if reason.startswith(TODO)})
