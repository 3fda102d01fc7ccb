"""Write docs/decisions.md, the index of the entries in docs/decisions/: python tools/list_decisions.py"""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
INTRODUCTION = """\
<!-- Written by `python tools/list_decisions.py`; do not edit. -->
# Decisions

Why things are as they are. Each entry has its date, the reason and, where there is one, the number that was measured; a
decision that is taken back is removed. `docs/decisions/` has a page for each topic; here are the titles of all entries.
"""


def entries(page: str) -> list[tuple[str, str]]:
    """(title, text) of each entry: a heading of the second level, and what stands below it."""
    _, *parts = re.split(r"^## ", page, flags=re.MULTILINE)
    return [(title, text.strip()) for title, _, text in (part.partition("\n") for part in parts)]


def anchor(title: str) -> str:
    """The anchor that GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def index() -> str:
    """docs/decisions.md, of today's pages."""
    lines = [INTRODUCTION]
    for path in sorted((DOCS / "decisions").glob("*.md")):
        page = path.read_text(encoding="utf-8")
        topic = page.partition("\n")[0].removeprefix("# Decisions: ")
        lines.append(f"## {topic[0].upper()}{topic[1:]}\n")
        lines += [f"- [{title}](decisions/{path.name}#{anchor(title)})" for title, _ in entries(page)]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    (DOCS / "decisions.md").write_text(index(), encoding="utf-8")
