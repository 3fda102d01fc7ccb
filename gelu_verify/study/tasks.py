"""Real data that scikit-learn ships, split and scaled, and the networks that learn them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any, Literal

import numpy as np

from ..errors import MissingMeasurement

SPLIT = 0  # what a generator is for; the others are in training.py
CONTEXT = 16  # characters that the next one is predicted from
_ALPHABET = " abcdefghijklmnopqrstuvwxyz0123456789.,:;'()-\n"
Kind = Literal["classes", "values"]


@dataclass(frozen=True)
class Network:
    """A fully connected network and how it is trained.

    Parameters
    ----------
    hidden : widths of the hidden layers
    batch : examples of a step
    epochs : at most; it ends before, `patience` epochs after the smallest validation loss
    dropout : share of the outputs of a hidden layer that are dropped while training
    batch_norm : whether pre-activations are normalised by the batch, with a learned scale and shift
    momentum : of gradient descent; None: Adam
    """

    hidden: tuple[int, ...]
    batch: int
    epochs: int
    patience: int
    dropout: float = 0.0
    batch_norm: bool = False
    momentum: float | None = None


@dataclass(frozen=True)
class Examples:
    """Examples: inputs (n, features) and wanted outputs (n, classes or values), float64 or, where they are 0 and 1,
    uint8."""

    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class Task:
    """Data in three parts, drawn for one run; `digest` of what scikit-learn ships."""

    name: str
    kind: Kind
    network: Network
    train: Examples
    validation: Examples
    test: Examples
    digest: str


@dataclass(frozen=True)
class Source:
    """How a task is made: what it asks of a network, in words, and the reader of its data."""

    kind: Kind
    text: str
    network: Network
    read: Callable[[], tuple[np.ndarray, np.ndarray]]
    scaled: bool = True  # features to mean 0 and variance 1 by the training part
    shuffled: bool = True


def _table(name: str) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    def read() -> tuple[np.ndarray, np.ndarray]:
        x, y = getattr(_datasets(), f"load_{name}")(return_X_y=True)
        return np.asarray(x, np.float64), np.eye(int(y.max()) + 1)[y]

    return read


def _autoencoder() -> tuple[np.ndarray, np.ndarray]:
    x = np.asarray(_datasets().load_digits(return_X_y=True)[0], np.float64) / 16
    return x, x


def _diabetes() -> tuple[np.ndarray, np.ndarray]:
    x, y = _datasets().load_diabetes(return_X_y=True)
    y = np.asarray(y, np.float64)
    return np.asarray(x, np.float64), ((y - y.mean()) / y.std())[:, None]


def corpus() -> str:
    """The descriptions of data sets that scikit-learn ships, in a small alphabet."""
    _datasets()
    folder = resources.files("sklearn.datasets") / "descr"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".rst")), key=lambda file: file.name)
    text = "".join(file.read_text(encoding="utf-8") for file in files).lower()
    return "".join(each if each in _ALPHABET else " " for each in text)


def encoded(text: str) -> np.ndarray:
    """Places of the characters in the alphabet."""
    return np.array([_ALPHABET.index(each) for each in text])


def contexts(places: np.ndarray) -> np.ndarray:
    """(n, CONTEXT) places of characters as inputs of the network: a 1 for each character, else 0."""
    found: np.ndarray = np.eye(len(_ALPHABET), dtype=np.uint8)[places]
    return found.reshape(len(places), -1)


def _text() -> tuple[np.ndarray, np.ndarray]:
    places = encoded(corpus())
    windows = np.lib.stride_tricks.sliding_window_view(places, CONTEXT + 1)
    return contexts(windows[:, :-1]), np.eye(len(_ALPHABET), dtype=np.uint8)[windows[:, -1]]


_DIGITS = Network((64,) * 4, batch=32, epochs=60, patience=8)


def _digits(text: str, **changed: Any) -> Source:
    return Source("classes", f"digits, {text}", replace(_DIGITS, **changed), _table("digits"))


SOURCES = {
    "digits": Source("classes", "digits of 8 x 8 pixels, ten classes", _DIGITS, _table("digits")),
    "digits_autoencoder": Source(
        "values", "the same pixels from 8 numbers", Network((32, 16, 8, 16, 32), 32, 80, 8), _autoencoder, scaled=False
    ),
    "breast_cancer": Source(
        "classes", "30 numbers of a tumour, two classes", Network((32,) * 3, 32, 80, 15), _table("breast_cancer")
    ),
    "wine": Source("classes", "13 numbers of a wine, three cultivars", Network((32,) * 3, 16, 80, 15), _table("wine")),
    "diabetes": Source("values", "a disease after a year from 10 numbers", Network((32,) * 3, 32, 80, 15), _diabetes),
    "digits_2_layers": _digits("2 hidden layers", hidden=(64,) * 2),
    "digits_16_layers": _digits("16 hidden layers", hidden=(64,) * 16),
    "digits_dropout": _digits("dropout of 0.5", dropout=0.5),
    "digits_batch_norm": _digits("batch normalisation", batch_norm=True),
    "digits_descent": _digits("gradient descent instead of Adam", momentum=0.0),
    "digits_momentum": _digits("gradient descent with a momentum of 0.9", momentum=0.9),
    "text": Source(
        "classes",
        f"the next character from {CONTEXT}",
        Network((128,) * 3, 128, 4, 4),
        _text,
        scaled=False,
        shuffled=False,
    ),
}
TASKS = tuple(SOURCES)
DATA_SETS = ("digits", "digits_autoencoder", "breast_cancer", "wine", "diabetes")  # all activations, kernels and dtypes
VARIANTS = tuple(name for name in TASKS if name.startswith("digits_") and name not in DATA_SETS)
TEXT = "text"  # learned once, to be served


@cache
def _data(name: str) -> tuple[np.ndarray, np.ndarray, str]:
    """Inputs, wanted outputs and their digest."""
    x, y = SOURCES[name].read()
    return x, y, hashlib.sha256(x.tobytes() + y.tobytes()).hexdigest()[:16]


def load_task(name: str, seed: int, run: int) -> Task:
    """The task of that name with the split of a run, the same for all networks of that run.

    55 % of the examples are for training, 20 % for validation, 25 % for the test. `text` is not shuffled."""
    source = SOURCES[name]
    x, y, digest = _data(name)
    places = np.arange(len(x))
    if source.shuffled:
        places = np.random.default_rng([seed, SPLIT, run]).permutation(places)
    first, second = round(0.55 * len(x)), round(0.75 * len(x))
    parts = np.split(places, [first, second])
    if source.scaled:
        mean, spread = x[parts[0]].mean(0), x[parts[0]].std(0)
        x = (x - mean) / np.where(spread > 0, spread, 1.0)
    train, validation, test = (Examples(x[part], y[part]) for part in parts)
    return Task(name, source.kind, source.network, train, validation, test, digest)


def _datasets() -> Any:
    try:
        import sklearn.datasets
    except ImportError:
        raise MissingMeasurement(
            "the study needs scikit-learn, for the data that it ships (accepted: pip install 'gelu-verify[study]')"
        ) from None
    return sklearn.datasets
