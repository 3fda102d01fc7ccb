"""Annotations of GitHub Actions: lines of the log that the web page shows beside the code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..errors import printable
from .cases import Case, worst_first

MOST = 10  # errors of one step that GitHub shows
REASONS = 5  # of one error, so that it stays a note beside the code


def annotation_lines(title: str, cases: Sequence[Case]) -> Iterator[str]:
    """One line for what failed or was not measured, the worst first; what is beyond MOST is counted in the last."""
    shown = [each for each in worst_first(cases) if each.verdict in ("failed", "not measured")]
    more = len(shown) - MOST + 1 if len(shown) > MOST else 0
    for each in shown[: MOST - 1] if more else shown:
        first = [each.verdict] if each.verdict == "not measured" else []
        properties = {"file": each.place.path, "line": str(each.place.line)} if each.place else {}
        yield _command({**properties, "title": each.key}, [*first, *each.lines(most=REASONS)])
    if more:
        yield _command({"title": title}, [f"{more} more results failed or were not measured: see the step summary"])


def _command(properties: dict[str, str], lines: Sequence[str]) -> str:
    listed = ",".join(f"{name}={_escaped(printable(value), ':,')}" for name, value in properties.items())
    return f"::error {listed}::{_escaped(chr(10).join(map(printable, lines)))}"


def _escaped(text: str, also: str = "") -> str:
    """What ends a line, a property or the message, as the runner decodes it; the percent sign first."""
    for sign in f"%\r\n{also}":
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
