"""The formula whose results are nearest to a target's: what `attribute` finds first, without the ladder of errors."""

from __future__ import annotations

import numpy as np

from ..errors import TargetFailure, UsageError
from ..inputs.plans import make_plan
from ..targets import Target
from .ladder import stored_text
from .search import Choice, informative_sample, rounded_correctly, searched

PLAN = "quick"
ROUNDED = 0.99  # of the informative results: from there on they are said to be correctly rounded


def nearest_formula(target: Target, function: str, dtype: str, seed: int = 0) -> str | None:
    """In a sentence; None where no formula of the function is known, or the target fails.

    Takes about a second: every known formula, working precision and building block is tried on a sample.
    """
    try:
        x_bits = np.concatenate([chunk.x_bits() for chunk in make_plan(PLAN, function, dtype, seed).chunks])
        sample = informative_sample(function, dtype, x_bits, target.evaluate(dtype, x_bits))
        model, alike = searched(target, sample)
    except (UsageError, TargetFailure):
        return None
    choice = Choice(model, "found", sample.agreement(model.bits(dtype, sample.x)), rounded_correctly(function, sample))
    return _sentence(choice, dtype, alike)


def _sentence(choice: Choice, dtype: str, alike: tuple[str, ...]) -> str:
    model = choice.model
    if choice.rounded >= max(choice.agreement, ROUNDED):
        return f"correctly rounded results, {_percent(choice.rounded)} of those that tell formulas apart"
    how = "every operation rounded" if model.working == dtype else "rounded once at the end"
    formula = f"{model.form.text} ({model.form.name}), computed in {model.working}, {how}"
    details = [stored_text(*pair) for pair in model.stored.items()] + [each.title for each in model.blocks.values()]
    formula += f", with {', '.join(details)}" if details else ""
    formula += f" (or {', '.join(alike)})" if alike else ""
    equal = f"equal bits at {_percent(choice.agreement)} of the results that tell formulas apart"
    return f"{formula}: {equal}" if choice.explains else f"none that is known; nearest: {formula}: {equal}"


def _percent(share: float) -> str:
    return f"{int(share * 10_000) / 100:g} %"
