"""What the study computes: many trainings of one unit, or one network served with all kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..fenv import in_default_environment
from .inference import serve
from .inside import by_layer, under_noise
from .tasks import load_task
from .training import Start, train
from .units import UNITS


@dataclass(frozen=True)
class TrainingJob:
    """Networks of a unit in a dtype on a task; `inside`: whether it is also looked into them."""

    task: str
    unit: str
    dtype: str
    starts: tuple[Start, ...]
    seed: int
    inside: bool

    @property
    def label(self) -> str:
        return f"{self.task}: {self.unit} {self.dtype}"

    @in_default_environment
    def __call__(self) -> dict[str, Any]:
        splits = {run: load_task(self.task, self.seed, run) for run in {start.run for start in self.starts}}
        tasks = [splits[start.run] for start in self.starts]
        found = train(tasks, UNITS[self.unit], self.dtype, self.seed, self.starts)
        with np.errstate(all="ignore"):
            y = np.stack([task.test.y for task in tasks])
            outputs = found.passes.outputs(found.layers, np.stack([task.test.x for task in tasks]))
            result = {
                "validation": found.validation,
                "epoch": found.epoch.tolist(),
                "loss": found.passes.loss(outputs, y).tolist(),
                "error": found.passes.error(outputs, y).tolist(),
            }
            if self.inside:
                result["noise"] = under_noise(found, tasks, self.seed, self.starts)
                result["layers"] = [
                    by_layer(found, place, task, self.seed, start.run)
                    for place, (task, start) in enumerate(zip(tasks, self.starts, strict=True))
                ]
        return result


@dataclass(frozen=True)
class ServingJob:
    """A network that is trained once, served with all kernels."""

    task: str
    start: Start
    dtypes: tuple[str, ...]
    seed: int

    @property
    def label(self) -> str:
        return f"{self.task}: served with all kernels"

    def __call__(self) -> dict[str, Any]:
        network, rows = serve(load_task(self.task, self.seed, self.start.run), self.start, self.seed, self.dtypes)
        return {"network": network, "rows": rows}
