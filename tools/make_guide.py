"""Write docs/guide.md and its figures, docs/guide/*.svg: python tools/make_guide.py [--measure | --check]

The text is tools/guide/template.md. Every number in it is a placeholder, filled from data/facts.json (proved), from the
committed runs behind docs/matrix.md, from docs/guide/measured.json, or from correctly rounded values computed on the
way. --measure first measures docs/guide/measured.json anew; --check ends with 1 where something is not current.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from guide.figures import figures
from guide.measure import ROOT, measure
from guide.text import page

PAGE = ROOT / "docs" / "guide.md"
FIGURES = ROOT / "docs" / "guide"


def files() -> dict[Path, str]:
    """What is written, by path."""
    return {PAGE: page(), **{FIGURES / f"{name}.svg": text for name, text in figures().items()}}


def main(arguments: list[str]) -> int:
    if "--measure" in arguments:
        measure()
    written = files()
    if "--check" in arguments:
        return int(any(not path.exists() or path.read_text(encoding="utf-8") != text for path, text in written.items()))
    for path in set(FIGURES.glob("*.svg")) - set(written):
        path.unlink()
    for path, text in written.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
