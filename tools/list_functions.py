"""Write the table of all functions in docs/functions.md, from their files: python tools/list_functions.py"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gelu_verify.functions import FUNCTIONS, OWNER, Function

PAGE = Path(__file__).parents[1] / "docs" / "functions.md"
BEGIN, END = "<!-- functions: written by `python tools/list_functions.py` -->\n", "<!-- /functions -->\n"


def table() -> str:
    lines = ["| function | f(x) | parameters | where it is no usual number | derivative |", "|---|---|---|---|---|"]
    gradients = {each.gradient_of for each in FUNCTIONS.values()}
    for each in FUNCTIONS.values():
        if each.owner == OWNER and each.gradient_of is None:
            parameters = ", ".join(f"`{p.name}`: {p.meaning}" for p in each.parameters)
            gradient = f"`{each.name}_grad`" if each.name in gradients else ""
            cells = f"`{each.name}`", each.formula, parameters, "; ".join(_stated(each)), gradient
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _stated(function: Function) -> Iterator[str]:
    low, high = function.domain
    if function.domain != ("-inf", "inf"):
        yield f"NaN outside of {low} to {high}"
    if function.has_pole_at_zero:
        yield f"{function.at_zero} at 0"
    for x, limit in function.at.items():
        yield f"{limit if isinstance(limit, str) else 'irrational'} at {x}"


def page() -> str:
    """docs/functions.md with the table of today."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
