"""What happens inside trained networks, layer by layer; and what noise on their inputs does to them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .arithmetic import RoundedArithmetic
from .network import Layer, Pass
from .tasks import Task
from .training import Start, Trained, generators
from .units import normal_cdf

NOISE_DRAWN, MASKS_INSIDE = 4, 5  # what a generator is for
AMOUNTS = (0.5, 1.0, 2.0, 3.0)  # of noise: uniform on [-a, a], added to every input
DEAD = 1e-3  # a unit is dead where no training example gives a slope of the activation of at least this size
FROM_NORMAL = 0.62  # mean of `normal` for normal numbers, times the square root of how many there are
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def by_layer(trained: Trained, place: int, task: Task, seed: int, run: int) -> list[dict[str, float]]:
    """Of one network, a row for each hidden layer, over all training examples.

    `gradient_first` and `gradient`: the root mean square of the derivatives of an example's loss by the outputs of the
    linear layer, before the training and after it; `mean`, `deviation` and quantiles of what the activation is given;
    `normal`: the largest distance of its distribution function from that of the normal law with the mean and deviation
    of a unit, a mean over the units (NaN where all are constant); `dead`: the share of units whose slope is below DEAD
    everywhere; `mu` and `sigma` where these are learned, else NaN."""
    first, last = (_passed(trained, layers, place, task, seed, run) for layers in (trained.first, trained.layers))
    rows = []
    for number, (before, slopes) in enumerate(zip(last.before, last.slopes, strict=True)):
        layer = trained.layers[number]
        has_own = "mu" in layer
        rows.append({
            "layer": number + 1,
            "gradient_first": _size(first.flowing[number]),
            "gradient": _size(last.flowing[number]),
            "mean": float(before.mean()),
            "deviation": float(before.std()),
            **dict(zip((f"q{100 * q:02.0f}" for q in QUANTILES), np.quantile(before, QUANTILES).tolist(), strict=True)),
            "normal": _from_normal(before[0].astype(np.float64)),
            "dead": float((np.abs(slopes[0]).max(0) < DEAD).mean()),
            "mu": float(layer["mu"][place, 0, 0]) if has_own else math.nan,
            "sigma": math.exp(layer["log_sigma"][place, 0, 0]) if has_own else math.nan,
        })  # fmt: skip
    return rows


def _passed(trained: Trained, layers: Sequence[Layer], place: int, task: Task, seed: int, run: int) -> Pass:
    """All training examples in one batch through one network, as in training."""
    work = trained.passes.arithmetic.work
    alone = [{name: p[place : place + 1].copy() for name, p in layer.items()} for layer in layers]
    x: np.ndarray = task.train.x[None].astype(work)
    y: np.ndarray = task.train.y[None].astype(work)
    return trained.passes.of(alone, x, y, generators(seed, MASKS_INSIDE, [run]))


def _size(flowing: np.ndarray) -> float:
    return float(np.sqrt(np.square(flowing.astype(np.float64) * flowing.shape[1]).mean()))


def _from_normal(before: np.ndarray) -> float:
    varied = before[:, before.std(0) > 0]
    if not varied.size:
        return math.nan
    cumulative = normal_cdf(RoundedArithmetic("float64"), np.sort((varied - varied.mean(0)) / varied.std(0), 0))
    steps = np.arange(len(varied) + 1)[:, None] / len(varied)
    return float(np.maximum(np.abs(steps[1:] - cumulative), np.abs(cumulative - steps[:-1])).max(0).mean())


def under_noise(trained: Trained, tasks: Sequence[Task], seed: int, starts: Sequence[Start]) -> list[list[list[float]]]:
    """For each network and each of AMOUNTS, loss and error on the test part; the noise of a run is the same for all."""
    drawn = [np.random.default_rng([seed, NOISE_DRAWN, start.run]) for start in starts]
    x, y = (np.stack([getattr(task.test, name) for task in tasks]) for name in ("x", "y"))
    noise = np.stack([generator.uniform(-1, 1, of.shape) for generator, of in zip(drawn, x, strict=True)])
    found = []
    for amount in AMOUNTS:
        outputs = trained.passes.outputs(trained.layers, x + amount * noise)
        found.append((trained.passes.loss(outputs, y), trained.passes.error(outputs, y)))
    return list(np.array(found).transpose(2, 0, 1).tolist())
