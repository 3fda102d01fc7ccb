"""Training of networks, many side by side: Adam or gradient descent, minibatches, stopped by validation data.

Parameters and the state of the optimiser are float32 (float64 in float64), as in mixed-precision training; what flows
through the network forward and backward is rounded to the dtype."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..fenv import in_default_environment
from .arithmetic import RoundedArithmetic
from .network import Layer, Passes, initial
from .tasks import Examples, Task
from .units import Unit

INITIAL, ORDER, MASK = 1, 2, 3  # what a generator is for; tasks.py has 0, inside.py the others


class Start(NamedTuple):
    """One network: the run that draws its data, initial parameters, batches and masks; and its learning rate."""

    run: int
    rate: float


@dataclass(frozen=True)
class Trained:
    """Networks as they were at their smallest validation loss.

    `validation`: the loss after each epoch, for each network up to its end; `epoch`, from 1, of the smallest; `layers`
    there (after no epoch where no loss was finite); `passes`; the untrained `first` layers."""

    validation: list[list[float]]
    epoch: np.ndarray
    layers: list[Layer]
    first: list[Layer]
    passes: Passes


@in_default_environment
def train(tasks: Sequence[Task], unit: Unit, dtype: str, seed: int, starts: Sequence[Start]) -> Trained:
    """Train a network for each start, on the task with the split of its run.

    The same run begins with the same parameters and sees the same batches in the same order, whatever the unit, the
    dtype and the rate. The test part is not looked at."""
    shape, kind, arithmetic = tasks[0].network, tasks[0].kind, RoundedArithmetic(dtype)
    passes = Passes(shape, kind, unit, arithmetic)
    runs = [start.run for start in starts]
    drawn = initial(shape, tasks[0].train.x.shape[1], tasks[0].train.y.shape[1], unit, generators(seed, INITIAL, runs))
    layers: list[Layer] = [{name: p.astype(arithmetic.work) for name, p in layer.items()} for layer in drawn]
    optimizer = _Adam(layers) if shape.momentum is None else _Descent(layers, shape.momentum)
    going = _Going(tasks, layers, starts, arithmetic, optimizer, seed)
    first, best = _copy(layers), _copy(layers)
    validation: list[list[float]] = [[] for _ in starts]
    epoch = np.zeros(len(starts), int)
    least = np.full(len(starts), np.inf)
    with np.errstate(all="ignore"):  # what overflows in 16 bits is a result
        for now in range(1, shape.epochs + 1):
            for x, y in going.batches(shape.batch):
                going.step(passes.of(going.layers, x, y, going.masks).gradients)
            losses = passes.loss(passes.outputs(going.layers, going.validation.x), going.validation.y)
            better = losses < least[going.places]
            for place, loss in zip(going.places, losses, strict=True):
                validation[place].append(float(loss))
            improved = going.places[better]
            least[improved], epoch[improved] = losses[better], now
            for kept, layer in zip(best, going.layers, strict=True):
                for name, p in layer.items():
                    kept[name][improved] = p[better]
            going.drop(now - epoch[going.places] >= shape.patience)
            if not len(going.places):
                break
    return Trained(validation, epoch, best, first, passes)


def generators(seed: int, purpose: int, runs: Sequence[int]) -> list[np.random.Generator]:
    """A generator for each run."""
    return [np.random.default_rng([seed, purpose, run]) for run in runs]


def _copy(layers: Sequence[Layer]) -> list[Layer]:
    return [{name: p.copy() for name, p in layer.items()} for layer in layers]


class _Going:
    """The networks that are still trained: `places` among all, their data, parameters, optimiser and generators."""

    def __init__(
        self,
        tasks: Sequence[Task],
        layers: list[Layer],
        starts: Sequence[Start],
        arithmetic: RoundedArithmetic,
        optimizer: _Adam | _Descent,
        seed: int,
    ) -> None:
        work, runs = arithmetic.work, [start.run for start in starts]
        self.places = np.arange(len(starts))
        self.layers = layers
        self.masks, self._order = generators(seed, MASK, runs), generators(seed, ORDER, runs)
        self._x = np.stack([arithmetic.rounded(task.train.x.astype(work)) for task in tasks])
        self._y: np.ndarray = np.stack([task.train.y for task in tasks]).astype(work)
        self.validation = Examples(
            np.stack([task.validation.x for task in tasks]), np.stack([task.validation.y for task in tasks])
        )
        self._rates = np.array([start.rate for start in starts])[:, None, None]
        self._optimizer = optimizer

    def batches(self, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The batches of an epoch; an incomplete last one is left out."""
        places = np.stack([generator.permutation(self._x.shape[1]) for generator in self._order])
        own = np.arange(len(places))[:, None]
        for start in range(0, self._x.shape[1] - size + 1, size):
            chosen = places[:, start : start + size]
            yield self._x[own, chosen], self._y[own, chosen]

    def step(self, gradients: Sequence[Layer]) -> None:
        self._optimizer.step(self.layers, gradients, self._rates)

    def drop(self, ended: np.ndarray) -> None:
        """Go on without these."""
        if not ended.any():
            return
        left = ~ended
        self.places, self._x, self._y, self._rates = (
            each[left] for each in (self.places, self._x, self._y, self._rates)
        )
        self.validation = Examples(self.validation.x[left], self.validation.y[left])
        self.masks, self._order = (
            [each for each, stays in zip(of, left, strict=True) if stays] for of in (self.masks, self._order)
        )
        for layer in (*self.layers, *self._optimizer.state):
            for name in layer:
                layer[name] = layer[name][left]


class _Adam:
    """Kingma and Ba, with their constants; `state` has arrays like the parameters, and those change in place."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._steps, self._depth = 0, len(layers)
        self.state = [{name: np.zeros_like(p) for name, p in layer.items()} for layer in (*layers, *layers)]

    def step(self, layers: Sequence[Layer], gradients: Sequence[Layer], rates: np.ndarray) -> None:
        self._steps += 1
        sizes = rates * np.sqrt(1 - 0.999**self._steps) / (1 - 0.9**self._steps)
        firsts, seconds = self.state[: self._depth], self.state[self._depth :]
        for layer, of, first, second in zip(layers, gradients, firsts, seconds, strict=True):
            for name, g in of.items():
                kind = g.dtype.type
                first[name] += kind(0.1) * (g - first[name])
                second[name] += kind(0.001) * (g * g - second[name])
                layer[name] -= sizes.astype(kind) * first[name] / (np.sqrt(second[name]) + kind(1e-8))


class _Descent:
    """Gradient descent: each step is `momentum` times the last one, less the rate times the gradient."""

    def __init__(self, layers: Sequence[Layer], momentum: float) -> None:
        self._momentum = momentum
        self.state = [{name: np.zeros_like(p) for name, p in layer.items()} for layer in layers]

    def step(self, layers: Sequence[Layer], gradients: Sequence[Layer], rates: np.ndarray) -> None:
        for layer, of, last in zip(layers, gradients, self.state, strict=True):
            for name, g in of.items():
                kind = g.dtype.type
                last[name] *= kind(self._momentum)
                last[name] -= rates.astype(kind) * g
                layer[name] += last[name]
