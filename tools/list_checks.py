"""Write the table of all checks in docs/checks.md, from their modules: python tools/list_checks.py"""

from __future__ import annotations

import sys
from pathlib import Path

from gelu_verify.checks import own_checks

PAGE = Path(__file__).parents[1] / "docs" / "checks.md"
BEGIN, END = "<!-- checks: written by `python tools/list_checks.py` -->\n", "<!-- /checks -->\n"


def table() -> str:
    """A row for each check: its name, what is true where it passes, and what goes wrong in the world."""
    lines = ["| check | what it asks | what goes wrong in the world |", "|---|---|---|"]
    for check in own_checks().values():
        text = " ".join((sys.modules[check.run.__module__].__doc__ or "").partition("\n\n")[0].split())
        lines.append(f"| `{check.name}` | {_cell(text)} | {_cell(check.reason)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def page() -> str:
    """docs/checks.md with the table of today."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
