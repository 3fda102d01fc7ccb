"""A network trained once, in float64 with exact gelu, and served with every kernel in every dtype: what moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..fenv import in_default_environment
from ..formats import DTYPES
from ..targets import Target
from .arithmetic import RoundedArithmetic
from .network import Layer, outputs
from .tasks import CONTEXT, TEXT, Task, contexts
from .training import Start, train
from .units import UNITS, targets

EXACT = "kernels.gelu_cr"
SERVED = ("gelu", "gelu_tanh", "gelu_sigmoid")  # what a network trained with gelu is served with
TEXTS, LENGTH = 40, 120  # continuations of the text, and their characters


@dataclass(frozen=True)
class Trained64:
    """The network of a task: the standard deviation of its outputs, and the least, the 1 % and the median margin
    between its two largest outputs (NaN where nothing is decided); how many examples; the share of wrong decisions."""

    task: str
    examples: int
    output_std: float
    margin_least: float
    margin_percent: float
    margin_median: float
    error: float


@dataclass(frozen=True)
class Served:
    """A kernel in a dtype: how far outputs are from the exact network in float64 (`rms`, `largest`), and from the same
    dtype with the correctly rounded gelu (`kernel_rms`, `kernel_largest`); in how many examples the decision is another
    one (`changed`, `kernel_changed`); in how many outputs are not finite; how many of TEXTS continuations are another
    text, and after how many characters (median)."""

    task: str
    target: str
    function: str
    dtype: str
    rms: float
    largest: float
    kernel_rms: float
    kernel_largest: float
    changed: int
    kernel_changed: int
    nonfinite: int
    texts_changed: int
    kernel_texts_changed: int
    first_change: float


@in_default_environment
def serve(task: Task, start: Start, seed: int, dtypes: Sequence[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Train the network of a task, and serve it with all kernels: the fields of a Trained64, and of each Served."""
    trained = train([task], UNITS["gelu"], "float64", seed, [start])
    layers = [{name: p[0] for name, p in layer.items()} for layer in trained.layers]
    with np.errstate(all="ignore"):
        exact = _Answers.of(task, layers, EXACT, "float64")
        rows = []
        for dtype in (each for each in DTYPES if each in dtypes):
            rounded = _Answers.of(task, layers, EXACT, dtype)
            for target in served(dtype):
                found = _Answers.of(task, layers, target.name, dtype)
                rows.append(asdict(_served(task, target, dtype, found, exact, rounded)))
        error = trained.passes.error(exact.outputs[None], task.test.y)
        return asdict(_described(task, exact, float(error[0]))), rows


def served(dtype: str) -> list[Target]:
    """Our kernels and re-implementations of GELUs that have a dtype."""
    return [each for each in targets().values() if each.function in SERVED and dtype in each.dtypes]


@dataclass(frozen=True)
class _Answers:
    """What a network says: outputs of the test part, and continuations of the text."""

    outputs: np.ndarray
    texts: np.ndarray

    @classmethod
    def of(cls, task: Task, layers: Sequence[Layer], activation: str, dtype: str) -> _Answers:
        arithmetic = RoundedArithmetic(dtype)
        found = outputs(layers, task.test.x, activation, arithmetic).astype(np.float64)
        if task.name != TEXT:
            return cls(found, np.zeros((0, LENGTH), int))
        return cls(found, continued(layers, prompts(task), activation, arithmetic))


def prompts(task: Task) -> np.ndarray:
    """Characters (TEXTS, CONTEXT) of the test part, evenly spaced."""
    chosen = np.linspace(0, len(task.test.x) - 1, TEXTS).astype(int)
    return np.asarray(task.test.x[chosen].reshape(TEXTS, CONTEXT, -1).argmax(-1))


def continued(
    layers: Sequence[Layer], prompts: np.ndarray, activation: str, arithmetic: RoundedArithmetic
) -> np.ndarray:
    """LENGTH more characters for each prompt, always the most probable one."""
    text = prompts
    for _ in range(LENGTH):
        found = outputs(layers, contexts(text[:, -CONTEXT:]), activation, arithmetic)
        text = np.concatenate([text, found.argmax(-1)[:, None]], 1)
    return text[:, CONTEXT:]


def _served(task: Task, target: Target, dtype: str, found: _Answers, exact: _Answers, rounded: _Answers) -> Served:
    rms, largest = _shift(found.outputs, exact.outputs)
    kernel_rms, kernel_largest = _shift(found.outputs, rounded.outputs)
    texts, first = _other_texts(found, exact)
    return Served(
        task=task.name,
        target=target.name,
        function=target.function,
        dtype=dtype,
        rms=rms,
        largest=largest,
        kernel_rms=kernel_rms,
        kernel_largest=kernel_largest,
        changed=_other_decisions(task, found, exact),
        kernel_changed=_other_decisions(task, found, rounded),
        nonfinite=int((~np.isfinite(found.outputs)).any(-1).sum()),
        texts_changed=texts,
        kernel_texts_changed=_other_texts(found, rounded)[0],
        first_change=first,
    )


def _shift(found: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Root mean square and largest difference; infinite where an output is not finite."""
    away = np.abs(found - other)
    away = np.where(np.isfinite(away), away, np.inf)
    return float(np.sqrt(np.square(away).mean())), float(away.max())


def _other_decisions(task: Task, found: _Answers, other: _Answers) -> int:
    if task.kind != "classes":
        return 0
    return int((found.outputs.argmax(-1) != other.outputs.argmax(-1)).sum())


def _other_texts(found: _Answers, other: _Answers) -> tuple[int, float]:
    """How many texts are different, and the median place of the first different character (NaN: none is)."""
    different = found.texts != other.texts
    firsts = different.argmax(1)[different.any(1)] if len(different) else np.zeros(0)
    return len(firsts), float(np.median(firsts)) if len(firsts) else float("nan")


def _described(task: Task, exact: _Answers, error: float) -> Trained64:
    margins = [float("nan")] * 3
    if task.kind == "classes":
        ordered = np.sort(exact.outputs, -1)
        margins = np.quantile(ordered[:, -1] - ordered[:, -2], (0, 0.01, 0.5)).tolist()
    least, percent, median = margins
    return Trained64(task.name, len(exact.outputs), float(exact.outputs.std()), least, percent, median, error)
