"""Small tasks that need no data set, in place of the real ones."""

from dataclasses import replace

import numpy as np

from gelu_verify.study import tasks
from gelu_verify.study.tasks import Network, Source

NETWORK = Network((8, 6), batch=8, epochs=15, patience=4)


def clouds(n=64):
    """Two clouds of points."""
    rng = np.random.default_rng(1)
    label = rng.integers(2, size=n)
    return rng.normal(size=(n, 3)) + 2 * label[:, None], np.eye(2)[label]


def curve(n=64):
    """A smooth function of points."""
    x, _ = clouds(n)
    return x, np.sin(x[:, :1])


def source(kind="classes", **changed):
    return Source(kind, "clouds", replace(NETWORK, **changed), clouds if kind == "classes" else curve)


def instead(monkeypatch, sources):
    """Have these tasks be read."""
    for name, each in sources.items():
        monkeypatch.setitem(tasks.SOURCES, name, each)
    tasks._data.cache_clear()
