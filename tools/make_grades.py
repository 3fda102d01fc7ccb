"""Write the tables of docs/grades.md, from the definitions: python tools/make_grades.py"""

from __future__ import annotations

from pathlib import Path

from gelu_verify.checks import own_checks
from gelu_verify.records.grades import GRADES

PAGE = Path(__file__).parents[1] / "docs" / "grades.md"
BEGIN, END = "<!-- {}: written by `python tools/make_grades.py` -->\n", "<!-- /{} -->\n"


def tables() -> dict[str, str]:
    """The table of the grades, and that of the severities of checks."""
    grades = ["| grade | word in JSON and CSV | when |", "|---|---|---|"]
    grades += [f"| {each.title} | `{name}` | {each.text} |" for name, each in GRADES.items()]
    severities: dict[str, list[str]] = {"defect": [], "loss": [], "convention": [], "depends": []}
    for check in own_checks().values():
        severities["depends" if callable(check.severity) else check.severity].append(f"`{check.name}`")
    checks = ["| severity | checks |", "|---|---|"]
    checks += [f"| {name} | {', '.join(found)} |" for name, found in severities.items()]
    return {"grades": "\n".join(grades) + "\n", "severities": "\n".join(checks) + "\n"}


def page() -> str:
    """docs/grades.md with the tables of today."""
    text = PAGE.read_text(encoding="utf-8")
    for name, table in tables().items():
        before, _, rest = text.partition(BEGIN.format(name))
        text = before + BEGIN.format(name) + table + END.format(name) + rest.partition(END.format(name))[2]
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
