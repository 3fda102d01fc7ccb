"""The libraries whose releases are watched: what to install of each, and the paths that are called in it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ..errors import one_of
from ..formats import DTYPES
from ..records.result import Record
from ..targets.expressions import is_formula
from ..targets.frameworks import (
    jax_,
    litert_,
    mlx_,
    numpy_,
    onnxruntime_,
    openvino_,
    paddle_,
    scipy_,
    tensorflow_,
    torch_,
)
from ..targets.library_target import Path
from ..targets.names import claimed_by


@dataclass(frozen=True)
class Way:
    """One way through a library, in one dtype: its name as `gelu-verify list` has it, and what the worker opens."""

    target: str
    function: str
    dtype: str
    form: str
    expression: str  # that users write; empty where there is none
    opening: dict[str, Any]

    @property
    def is_own(self) -> bool:
        """Whether it is a known library's own, and no formula that somebody writes with its functions."""
        if ":" in self.target:
            return False
        return bool(self.expression) if "model" in self.opening else not is_formula(self.opening["expression"])

    @property
    def key(self) -> str:
        return f"{self.target}/{self.function}/{self.dtype}"


@dataclass(frozen=True)
class WatchedLibrary:
    """`alone`: it is installed without what it depends on, of which `requirements` are all that is needed; `besides`:
    what is installed where that is possible: there was no ml_dtypes, which bfloat16 needs, before 2023."""

    family: str
    distribution: str
    ways: Callable[[], Iterator[Way]]
    requirement: str = "{distribution}=={version}"
    requirements: tuple[str, ...] = ()
    alone: bool = False
    besides: tuple[str, ...] = ()
    compiles_per_length: bool = False

    def to_install(self, version: str) -> tuple[list[str], list[str]]:
        """What is installed with, and what without all that it depends on."""
        own = self.requirement.format(distribution=self.distribution, version=version)
        return ([*self.requirements], [own]) if self.alone else ([own, *self.requirements], [])


IR_VERSION = 8  # of ONNX 1.12: with opset 20, too


class _Absent:
    """A library that is not here: any name of it, and any call. Only the texts of its paths are read."""

    def __getattr__(self, name: str) -> _Absent:
        return self

    def __call__(self, *arguments: Any, **options: Any) -> _Absent:
        return self


def _expressed(family: str, paths: Callable[[Any], Sequence[Path]]) -> Callable[[], Iterator[Way]]:
    """The paths that have an expression, or are the gradient of one."""

    def ways() -> Iterator[Way]:
        for path in paths(_Absent()):
            text = path.expression or (path.gradient_of and f"gradient(lambda x: {path.gradient_of})(x)")
            for dtype in path.dtypes if text else ():
                yield Way(
                    f"{family}.{path.name}", path.function, dtype, path.form, path.expression, {"expression": text}
                )

    return ways


def _models_of_onnx() -> Iterator[Way]:
    for name, function, form, _, graph in onnxruntime_.PATHS:
        for dtype in DTYPES:
            content = base64.b64encode(onnxruntime_.model(_earliest(graph), dtype, IR_VERSION)).decode()
            model = {"content": content, "optimize": graph.optimize}
            expression = onnxruntime_.expression_of(graph)
            yield Way(f"onnxruntime.{name}", function, dtype, form, expression, {"model": model})


def _earliest(graph: onnxruntime_.Graph) -> onnxruntime_.Graph:
    """The same model, which older releases read, too; its operators have not changed since."""
    own = {step.op for step in graph.steps if not step.domain}
    return graph if own & {"Gelu", "Swish"} else replace(graph, opset=15)


def _models_of_openvino() -> Iterator[Way]:
    for name, function, form, _ in openvino_.PATHS:
        if name in openvino_.EXPRESSIONS:
            text = openvino_.EXPRESSIONS[name]
            for dtype in DTYPES:
                yield Way(f"openvino.{name}", function, dtype, form, text, {"model": {"expression": text}})


def _models_of_litert() -> Iterator[Way]:
    for suffix, resolver, _ in litert_.DELEGATES:
        for name, function, form, operator, expression in litert_.PATHS:
            model = {"operator": operator.name, "options": operator.options, "approximate": operator.approximate}
            for dtype in litert_.LITERT_TYPES:
                said = "" if suffix else expression
                yield Way(
                    f"litert.{name}{suffix}", function, dtype, form, said, {"model": {**model, "resolver": resolver}}
                )


_TORCH = ("filelock", "typing-extensions", "sympy", "networkx", "jinja2", "fsspec")
LIBRARIES = {
    each.family: each
    for each in (
        WatchedLibrary("torch", "torch", _expressed("torch", torch_.paths), requirements=_TORCH, alone=True),
        WatchedLibrary(
            "jax", "jax", _expressed("jax", jax_.paths), requirement="jax[cpu]=={version}", compiles_per_length=True
        ),
        WatchedLibrary("onnxruntime", "onnxruntime", _models_of_onnx),
        WatchedLibrary(
            "tensorflow", "tensorflow-cpu", _expressed("tensorflow", tensorflow_.paths), compiles_per_length=True
        ),
        WatchedLibrary("openvino", "openvino", _models_of_openvino),
        WatchedLibrary("numpy", "numpy", _expressed("numpy", numpy_.paths), besides=("ml_dtypes",)),
        WatchedLibrary("scipy", "scipy", _expressed("scipy", scipy_.paths)),
        WatchedLibrary("mlx", "mlx", _expressed("mlx", mlx_.paths), requirement="mlx[cpu]=={version}"),
        WatchedLibrary("paddle", "paddlepaddle", _expressed("paddle", paddle_.paths), requirements=("setuptools",)),
        WatchedLibrary("litert", "ai-edge-litert", _models_of_litert),
    )
}


def get_library(name: str) -> WatchedLibrary:
    """UsageError where none of that name is watched."""
    if name not in LIBRARIES:
        raise one_of("library", name, sorted(LIBRARIES))
    return LIBRARIES[name]


@cache
def ways_of(library: str) -> Mapping[str, Way]:
    """The ways through a known library by target/function/dtype; none of another."""
    return {way.key: way for way in LIBRARIES[library].ways()} if library in LIBRARIES else {}


def is_own(record: Record) -> bool:
    """Whether a result is of a library itself, and of no formula that somebody writes with its functions."""
    way = ways_of(record.family).get(record.key)
    return way.is_own if way else not is_formula(record.expression or "")


def ways_of_package(
    target: str, functions: Sequence[str], dtypes: Sequence[str], array: str = "numpy"
) -> Iterator[Way]:
    """What somebody names, `module:function` or a file; without `functions` as what its name says, else as gelu.

    On other arrays than NumPy's it may give something else, and has another name.
    """
    name = target if array == "numpy" else f"{target} ({array})"
    claimed = claimed_by(target.rpartition(":")[2].rpartition(".")[2])[0] or "gelu"
    for function in functions or (claimed,):
        for dtype in dtypes:
            yield Way(name, function, dtype, "", "", {"expression": target})
