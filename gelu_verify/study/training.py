"""Training of a network, many runs side by side: Adam, minibatches, the arithmetic of one dtype.

Parameters and the state of Adam are float32 (float64 in float64), as in mixed-precision training; what flows through
the network forward and backward is rounded to the dtype. All runs of a training are one array, the first axis, which
changes no bit: each has generators of its own, and matrices are multiplied one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..fenv import in_default_environment
from .arithmetic import RoundedArithmetic
from .tasks import Examples, Task
from .units import STOCHASTIC, Unit, evaluated, kept

Parameters = list[np.ndarray]  # weights and bias of each layer, one after the other
INITIAL, ORDER, MASK = 1, 2, 3  # what a generator is for


@dataclass(frozen=True)
class Trained:
    """`losses` on the test part after each epoch (epochs, runs); loss on the validation part and share of wrong
    decisions on the test part at the end (NaN where nothing is decided); the parameters."""

    losses: np.ndarray
    validation: np.ndarray
    errors: np.ndarray
    parameters: Parameters


@in_default_environment
def train(task: Task, unit: Unit, dtype: str, rate: float, seed: int, runs: Sequence[int]) -> Trained:
    """Train one network for each run; the same run begins with the same parameters and sees the same batches in the
    same order, whatever the unit, the dtype and the rate."""
    arithmetic = RoundedArithmetic(dtype)
    network = _Network(task, unit, arithmetic, _generators(seed, MASK, runs))
    parameters: Parameters = [p.astype(arithmetic.work) for p in _initial(task, seed, runs)]
    adam = _Adam(parameters, rate)
    order = _generators(seed, ORDER, runs)
    x: np.ndarray = arithmetic.rounded(task.train.x.astype(arithmetic.work))
    y: np.ndarray = task.train.y.astype(arithmetic.work)
    losses = []
    with np.errstate(all="ignore"):  # what overflows in 16 bits is a result
        for _ in range(task.network.epochs):
            places = np.stack([generator.permutation(len(x)) for generator in order])
            for start in range(0, len(x) - task.network.batch + 1, task.network.batch):
                chosen = places[:, start : start + task.network.batch]
                adam.step(parameters, network.gradients(parameters, x[chosen], y[chosen]))
            losses.append(network.loss(parameters, task.test))
        validation = network.loss(parameters, task.validation)
        return Trained(np.array(losses), validation, network.errors(parameters, task.test), parameters)


def outputs(parameters: Parameters, x: np.ndarray, activation: str, arithmetic: RoundedArithmetic) -> np.ndarray:
    """Outputs of a network, or of one for each run, at inputs (n, features), with that target as its activation."""
    h = arithmetic.rounded(x.astype(arithmetic.work))
    layers = len(parameters) // 2
    for layer in range(layers):
        weights, bias = (arithmetic.rounded(p.astype(arithmetic.work)) for p in parameters[2 * layer : 2 * layer + 2])
        h = arithmetic.rounded(h @ weights + bias)
        if layer < layers - 1:
            h = evaluated(activation, arithmetic, h)
    return h


def cross_entropy(logits: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Mean over the examples, in float64."""
    shifted = logits.astype(np.float64) - logits.max(-1, keepdims=True)
    return np.asarray((np.log(np.exp(shifted).sum(-1)) - (shifted * wanted).sum(-1)).mean(-1))


def _generators(seed: int, purpose: int, runs: Sequence[int]) -> list[np.random.Generator]:
    return [np.random.default_rng([seed, purpose, run]) for run in runs]


def _initial(task: Task, seed: int, runs: Sequence[int]) -> Parameters:
    """Weights with variance 2 / inputs, as for ReLU; no biases."""
    generators = _generators(seed, INITIAL, runs)
    widths = [task.train.x.shape[1], *task.network.hidden, task.train.y.shape[1]]
    found: Parameters = []
    for inputs, width in pairwise(widths):
        drawn = [generator.normal(size=(inputs, width)) for generator in generators]
        found += [np.stack(drawn) * np.sqrt(2 / inputs), np.zeros((len(runs), 1, width))]
    return found


class _Network:
    """Forward and backward passes of all runs."""

    def __init__(
        self, task: Task, unit: Unit, arithmetic: RoundedArithmetic, generators: Sequence[np.random.Generator]
    ) -> None:
        self._classes = task.kind == "classes"
        self._unit, self._arithmetic, self._generators = unit, arithmetic, generators

    def gradients(self, parameters: Parameters, x: np.ndarray, y: np.ndarray) -> Parameters:
        """Of the mean loss of a batch, in the dtype of the parameters."""
        a, layers = self._arithmetic, len(parameters) // 2
        rounded = [a.rounded(p) for p in parameters]
        inputs, slopes = [x], []
        for layer in range(layers):
            z = a.rounded(inputs[-1] @ rounded[2 * layer] + rounded[2 * layer + 1])
            if layer < layers - 1:
                h, slope = self._activated(z)
                inputs.append(h)
                slopes.append(slope)
        flowing = a.rounded(self._slope_of_loss(z, y) * a.work(a.loss_scale))
        found: Parameters = []
        for layer in reversed(range(layers)):
            weights = a.rounded(inputs[layer].transpose(0, 2, 1) @ flowing)
            found = [weights, a.rounded(flowing.sum(1, keepdims=True)), *found]
            if layer:
                back = a.rounded(flowing @ rounded[2 * layer].transpose(0, 2, 1))
                flowing = a.rounded(back * slopes[layer - 1])
        return [each / a.work(a.loss_scale) for each in found]

    def _activated(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The activation and its derivative."""
        if self._unit.name == STOCHASTIC:
            mask = kept(z, self._generators)
            return np.where(mask, z, z.dtype.type(0)), mask.astype(z.dtype)
        a = self._arithmetic
        return evaluated(self._unit.forward, a, z), evaluated(self._unit.backward, a, z)

    def _slope_of_loss(self, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        if self._classes:
            e = np.exp(z - z.max(-1, keepdims=True))
            return np.asarray((e / e.sum(-1, keepdims=True) - y) / z.shape[1])
        return np.asarray(2 * (z - y) / (z.shape[1] * z.shape[2]))

    def loss(self, parameters: Parameters, part: Examples) -> np.ndarray:
        """Mean loss of each run: cross-entropy of classes, mean squared error of values."""
        found = outputs(parameters, part.x, self._unit.forward, self._arithmetic)
        if self._classes:
            return cross_entropy(found, part.y)
        return np.asarray(np.square(found.astype(np.float64) - part.y).mean((-2, -1)))

    def errors(self, parameters: Parameters, part: Examples) -> np.ndarray:
        """Share of the examples that get another class than the wanted one; NaN where there are no classes."""
        found = outputs(parameters, part.x, self._unit.forward, self._arithmetic)
        if not self._classes:
            return np.full(len(found), np.nan)
        wrong = (found.argmax(-1) != part.y.argmax(-1)).mean(-1)
        return np.where(np.isfinite(found).all((-2, -1)), wrong, np.nan)


class _Adam:
    """Kingma and Ba, with their constants."""

    def __init__(self, parameters: Parameters, rate: float) -> None:
        self._rate, self._steps = rate, 0
        self._first = [np.zeros_like(p) for p in parameters]
        self._second = [np.zeros_like(p) for p in parameters]

    def step(self, parameters: Parameters, gradients: Parameters) -> None:
        """Change the parameters in place."""
        self._steps += 1
        size = self._rate * np.sqrt(1 - 0.999**self._steps) / (1 - 0.9**self._steps)
        for p, g, first, second in zip(parameters, gradients, self._first, self._second, strict=True):
            kind = p.dtype.type
            first *= kind(0.9)
            first += kind(0.1) * g
            second *= kind(0.999)
            second += kind(0.001) * g * g
            p -= kind(size) * first / (np.sqrt(second) + kind(1e-8))
