"""Write the table of measured approximations in docs/gpu.md: python tools/list_approximations.py"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE, MEASURED = ROOT / "docs" / "gpu.md", ROOT / "data" / "approximations" / "h100.json"
BEGIN, END = "<!-- approximations: written by `python tools/list_approximations.py` -->\n", "<!-- /approximations -->\n"
ABSOLUTE = ("lg2", "sin", "cos")  # bounded so: an error in ulp near a zero says nothing


def table() -> str:
    lines = [
        "| instruction | inputs | not nearest | farthest below, above (ulp) | beyond the bound | falls, not rises |",
        "|---|---:|---:|---|---:|---:|",
    ]
    for opcode, found in json.loads(MEASURED.read_text(encoding="utf-8")).items():
        if isinstance(found, dict):
            lines.append("| " + " | ".join(_cells(opcode, found)) + " |")
    return "\n".join(lines) + "\n"


def _cells(opcode: str, found: dict[str, Any]) -> tuple[str, ...]:
    name = opcode.partition(".")[0]
    scored = sum(found["distances"].values()) + found["farther"]
    share = 1 - found["distances"]["0"] / scored
    errors = [found.get(f"{end}_error", {"ulp": 0})["ulp"] for end in ("lowest", "highest")]
    is_ordered = name not in ("sin", "cos", "div")
    against = sum(map(min, zip(found["rises"], found["falls"], strict=True)))
    return (
        f"`{opcode}`",
        f"{found['n']:,}",
        f"{100 * share:.2f} %",
        "absolute bound"
        if name in ABSOLUTE
        else " and ".join(f"{error:+.3f}" if error else "none" for error in errors),
        f"{found['outside']:,}",
        f"{against:,}" if is_ordered else "",
    )


def page() -> str:
    """docs/gpu.md with the table of what is committed."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
