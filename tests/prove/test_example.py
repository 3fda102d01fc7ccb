"""The worked example of docs/proofs.md runs, and its bounds are bounds."""

import re
from fractions import Fraction

import flint
import pytest
from prove.source import ROOT
from prove.stored import dyadic

pytestmark = pytest.mark.prove


def test_worked_example():
    text = (ROOT / "docs" / "proofs.md").read_text()
    example = text[text.index("## A new certificate") : text.index("## What would fail")]
    code = "\n".join(line[4:] for line in example.splitlines() if line.startswith("    "))
    code = code.replace("over(parts", "truncation = over(parts").replace(
        "Interpreter(source", "loss = Interpreter(source"
    )
    scope = {"c": [1.0, 1.0, 0.5, 1 / 6, 1 / 24]}
    exec(re.sub(r"\s+#.*", "", code), scope)
    worst = max(abs(float(flint.arb(x).exp()) - (1 + x + x**2 / 2 + x**3 / 6 + x**4 / 24)) for x in (-0.4, 0.4))
    assert worst <= float(scope["truncation"]) < 2 * worst + 1e-3
    for x in (0.25, 0.3, 0.41, 0.5):
        exact = (Fraction(x) / 2 + 1) * Fraction(x) + 1
        assert abs(Fraction((x * 0.5 + 1.0) * x + 1.0) - exact) <= dyadic(scope["loss"])
