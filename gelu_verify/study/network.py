"""A fully connected network, forward and backward, many side by side in the arithmetic of one dtype.

What flows through a network is rounded to the dtype after each operation. All networks of a training are one array,
the first axis, which changes no bit: each has generators of its own, and matrices are multiplied one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from .arithmetic import RoundedArithmetic
from .tasks import Kind, Network
from .units import LEARNED, STOCHASTIC, Unit, evaluated, kept, normal_cdf

Layer = dict[str, np.ndarray]
"""Parameters of a layer, (networks, ...) each: `weights` and `bias`; of a hidden layer `mu` and `log_sigma` where these
are learned, and with batch normalisation `scale` and `shift`, and the running `mean` and `variance` for use."""
_FOLLOWED = 0.9  # share of the running mean and variance that a batch leaves
_LEAST_VARIANCE = 1e-5


def initial(
    shape: Network, inputs: int, outputs: int, unit: Unit, generators: Sequence[np.random.Generator]
) -> list[Layer]:
    """Weights with variance 2 / inputs, as for ReLU; no biases; mu 0, sigma 1."""
    found: list[Layer] = []
    widths = [inputs, *shape.hidden, outputs]
    for place, (before, width) in enumerate(pairwise(widths)):
        drawn = [generator.normal(size=(before, width)) for generator in generators]
        zeros = np.zeros((len(generators), 1, width))
        layer = {"weights": np.stack(drawn) * np.sqrt(2 / before), "bias": zeros}
        if place < len(shape.hidden):
            if shape.batch_norm:
                layer |= {"scale": zeros + 1, "shift": zeros, "mean": zeros, "variance": zeros + 1}
            if unit.name == LEARNED:
                layer |= {"mu": zeros[:, :, :1], "log_sigma": zeros[:, :, :1]}
        found.append(layer)
    return found


@dataclass
class Pass:
    """What one forward and backward pass leaves, layer by layer.

    `inputs` of each layer; `before`, what the activation is given, and its `slopes` there, of hidden layers; `flowing`,
    the derivatives of the mean loss by what is before normalisation; `gradients`, those by the parameters."""

    inputs: list[np.ndarray]
    before: list[np.ndarray] = field(default_factory=list)
    slopes: list[np.ndarray] = field(default_factory=list)
    flowing: list[np.ndarray] = field(default_factory=list)
    gradients: list[Layer] = field(default_factory=list)


@dataclass(frozen=True)
class Passes:
    """Passes through networks of one shape, unit and arithmetic, for losses of one kind."""

    shape: Network
    kind: Kind
    unit: Unit
    arithmetic: RoundedArithmetic

    def of(
        self, layers: Sequence[Layer], x: np.ndarray, y: np.ndarray, generators: Sequence[np.random.Generator]
    ) -> Pass:
        """A pass forward and backward over examples (networks, n, features), as in training: masks are drawn by the
        generator of each network, and batches are normalised by themselves, which their running means follow."""
        a, done = self.arithmetic, Pass([x])
        rounded = [{name: a.rounded(p) for name, p in layer.items()} for layer in layers]
        masks, normalised, by_own = [], [], []
        for layer, held in zip(rounded[:-1], layers, strict=False):
            z = a.rounded(done.inputs[-1] @ layer["weights"] + layer["bias"])
            if self.shape.batch_norm:
                z, *for_the_way_back = _normalised(z, layer, held)
                normalised.append(for_the_way_back)
            done.before.append(z)
            h, slope, own = self._activated(z, layer, generators)
            if self.shape.dropout:
                masks.append(self._mask(h, generators))
                h = a.rounded(h * masks[-1])
            done.inputs.append(h)
            done.slopes.append(slope)
            by_own.append(own)
        z = a.rounded(done.inputs[-1] @ rounded[-1]["weights"] + rounded[-1]["bias"])
        flowing = a.rounded(self._slope_of_loss(z, y) * a.work(a.loss_scale))
        for place in reversed(range(len(layers))):
            gradients = {}
            if place < len(layers) - 1:
                back = a.rounded(flowing @ rounded[place + 1]["weights"].transpose(0, 2, 1))
                if masks:
                    back = a.rounded(back * masks[place])
                gradients = {name: (back * slope).sum((1, 2), keepdims=True) for name, slope in by_own[place].items()}
                flowing = a.rounded(back * done.slopes[place])
                if normalised:
                    flowing, of_scale = _through_normalisation(flowing, rounded[place]["scale"], *normalised[place])
                    gradients |= of_scale
            gradients["weights"] = done.inputs[place].transpose(0, 2, 1) @ flowing
            gradients["bias"] = flowing.sum(1, keepdims=True)
            done.flowing.insert(0, flowing)
            done.gradients.insert(0, {name: a.rounded(g) / a.work(a.loss_scale) for name, g in gradients.items()})
        return done

    def _activated(
        self, z: np.ndarray, layer: Layer, generators: Sequence[np.random.Generator]
    ) -> tuple[np.ndarray, np.ndarray, Layer]:
        """The activation, its derivative, and those by parameters of its own."""
        a = self.arithmetic
        if self.unit.name == STOCHASTIC:
            mask = kept(z, generators)
            return np.where(mask, z, z.dtype.type(0)), mask.astype(z.dtype), {}
        if self.unit.name == LEARNED:
            sigma = np.exp(layer["log_sigma"])
            u = (z - layer["mu"]) / sigma
            cumulative = normal_cdf(a, u)
            by_u = z * np.exp(-u * u / 2) * a.work(1 / math.sqrt(2 * math.pi))
            own = {"mu": -by_u / sigma, "log_sigma": -by_u * u}
            return a.rounded(z * cumulative), a.rounded(cumulative + by_u / sigma), own
        return evaluated(self.unit.forward, a, z), evaluated(self.unit.backward, a, z), {}

    def _mask(self, h: np.ndarray, generators: Sequence[np.random.Generator]) -> np.ndarray:
        """Of dropout: what is kept is divided by its probability."""
        drawn = np.stack([generator.random(h.shape[1:], np.float32) for generator in generators])
        return np.asarray((drawn >= self.shape.dropout) / h.dtype.type(1 - self.shape.dropout), h.dtype)

    def _slope_of_loss(self, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        if self.kind == "classes":
            e = np.exp(z - z.max(-1, keepdims=True))
            return np.asarray((e / e.sum(-1, keepdims=True) - y) / z.shape[1])
        return np.asarray(2 * (z - y) / (z.shape[1] * z.shape[2]))

    def outputs(self, layers: Sequence[Layer], x: np.ndarray) -> np.ndarray:
        """Outputs of the networks in use, at inputs (networks, n, features) or (n, features)."""
        return outputs(layers, x, self.unit.forward, self.arithmetic)

    def loss(self, found: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Mean loss of each network: cross-entropy of classes, mean squared error of values."""
        if self.kind == "classes":
            return cross_entropy(found, y)
        return np.asarray(np.square(found.astype(np.float64) - y).mean((-2, -1)))

    def error(self, found: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Share of the examples that get another class than the wanted one; NaN where there are no classes."""
        if self.kind != "classes":
            return np.full(len(found), np.nan)
        wrong = (found.argmax(-1) != y.argmax(-1)).mean(-1)
        return np.where(np.isfinite(found).all((-2, -1)), wrong, np.nan)


def outputs(layers: Sequence[Layer], x: np.ndarray, activation: str, arithmetic: RoundedArithmetic) -> np.ndarray:
    """Outputs of a network, or of one for each of the first axis, with that target as its activation."""
    a = arithmetic
    h = a.rounded(x.astype(a.work))
    for place, held in enumerate(layers):
        layer = {name: a.rounded(p.astype(a.work)) for name, p in held.items()}
        h = a.rounded(h @ layer["weights"] + layer["bias"])
        if place < len(layers) - 1:
            if "scale" in layer:
                h = (h - layer["mean"]) / np.sqrt(layer["variance"] + a.work(_LEAST_VARIANCE))
                h = a.rounded(h * layer["scale"] + layer["shift"])
            if "mu" in layer:
                h = a.rounded(h * normal_cdf(a, (h - layer["mu"]) / np.exp(layer["log_sigma"])))
            else:
                h = evaluated(activation, a, h)
    return h


def cross_entropy(logits: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Mean over the examples, in float64."""
    shifted = logits.astype(np.float64) - logits.max(-1, keepdims=True)
    return np.asarray((np.log(np.exp(shifted).sum(-1)) - (shifted * wanted).sum(-1)).mean(-1))


def _normalised(z: np.ndarray, layer: Layer, held: Layer) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scaled and shifted to what is learned; and, for the way back, the normal form and the standard deviation."""
    mean, variance = z.mean(1, keepdims=True), z.var(1, keepdims=True)
    for name, value in (("mean", mean), ("variance", variance)):
        held[name] += z.dtype.type(1 - _FOLLOWED) * (value - held[name])
    deviation = np.sqrt(variance + z.dtype.type(_LEAST_VARIANCE))
    normal = (z - mean) / deviation
    return normal * layer["scale"] + layer["shift"], normal, deviation


def _through_normalisation(
    flowing: np.ndarray, scale: np.ndarray, normal: np.ndarray, deviation: np.ndarray
) -> tuple[np.ndarray, Layer]:
    """Derivatives by the pre-activations, and by scale and shift."""
    found = {"scale": (flowing * normal).sum(1, keepdims=True), "shift": flowing.sum(1, keepdims=True)}
    back = flowing * scale
    inner = back - back.mean(1, keepdims=True) - normal * (back * normal).mean(1, keepdims=True)
    return inner / deviation, found
