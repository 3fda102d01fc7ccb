"""Prove all facts and write data/facts.json and docs/facts.md: python tools/make_facts.py"""

from __future__ import annotations

import json
from pathlib import Path

from gelu_verify.facts.base import document
from gelu_verify.facts.proofs import proved_facts
from gelu_verify.facts.text import page

ROOT = Path(__file__).parents[1]

if __name__ == "__main__":
    facts = proved_facts()
    (ROOT / "data" / "facts.json").write_text(json.dumps(document(facts), indent=1) + "\n", encoding="utf-8")
    (ROOT / "docs" / "facts.md").write_text(page(facts), encoding="utf-8")
