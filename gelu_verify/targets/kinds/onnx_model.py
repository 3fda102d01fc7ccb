"""An ONNX model of one input and one output: "model.onnx", "model.onnx:onnxruntime", "model.onnx:openvino"."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...errors import MissingMeasurement, TargetFailure, TargetUnavailable, UsageError, one_of
from ...formats import get_format
from ...other_answers import differences, report
from .._buffers import output_like
from .._library import framework
from ..base import Target
from ..onnxruntime_ import session
from ..openvino_ import OPENVINO_TYPES, _openvino
from ._onnx_signature import ELEMENTS, Signature, Value, signature
from .base import Asked, Kind, existing, function_of, hash_of, of_a_file

_SHOWN = 8  # operators of a graph that `form` lists at most


class Loaded(NamedTuple):
    """What runs the model, and the memory that it reads and writes; the first `n` values are the caller's."""

    run: Callable[[], Any]
    x_bits: np.ndarray
    y_bits: np.ndarray
    n: int


@dataclass(frozen=True, kw_only=True)
class ModelTarget(Target):
    """A model file in one runtime, which reads it when it is first called: what it cannot run is its failure."""

    path: Path
    x: Value
    y: Value

    def load(self, dtype: str, x_bits: np.ndarray) -> Loaded:
        n = x_bits.size
        shape = _shape(self.x, n)
        if (padded := prod(shape)) != n:
            x_bits = np.resize(x_bits, padded)  # inputs that have an answer: those of the padding are compared with it
        x_bits = np.require(x_bits, requirements="W")  # OpenVINO takes no read-only memory
        y_bits = output_like(x_bits)
        return Loaded(self.bound(dtype, shape, x_bits, y_bits), x_bits, y_bits, n)

    @abstractmethod
    def bound(self, dtype: str, shape: tuple[int, ...], x_bits: np.ndarray, y_bits: np.ndarray) -> Callable[[], Any]:
        """What runs the model once, from `x_bits` to `y_bits`, both taken as arrays of `shape`."""

    def call(self, loaded: Loaded) -> None:
        loaded.run()

    def store(self, dtype: str, loaded: Loaded, result: None) -> np.ndarray:
        got, padding = loaded.y_bits[: loaded.n], loaded.y_bits[loaded.n :]
        if len(padding) and loaded.n:
            x, first = (np.resize(array, len(padding)) for array in (loaded.x_bits[: loaded.n], got))
            where = "at index {}", "at index {} of what pads the input to its shape"
            report(differences(get_format(dtype), x, first, padding, where))
        return got


def _shape(x: Value, n: int) -> tuple[int, ...]:
    """The input's shape with room for `n` values: its first free dimension takes what its fixed ones leave."""
    dimensions = x.shape if x.shape is not None else (None,)
    fixed = prod(size for size in dimensions if size is not None)
    free = dimensions.index(None)
    return tuple(
        size if size is not None else -(-n // fixed) if axis == free else 1 for axis, size in enumerate(dimensions)
    )


class OnnxruntimeModel(ModelTarget):
    """ONNX Runtime, CPU provider; input and output stay where NumPy put them."""

    package = "onnxruntime"
    how = "CPU provider, default optimizations, IO binding, preallocated output"

    def bound(self, dtype: str, shape: tuple[int, ...], x_bits: np.ndarray, y_bits: np.ndarray) -> Callable[[], Any]:
        session = _session(str(self.path), self.version)
        binding = session.io_binding()
        binding.bind_input(self.x.name, "cpu", 0, self.x.element, shape, x_bits.ctypes.data)
        binding.bind_output(self.y.name, "cpu", 0, self.y.element, shape, y_bits.ctypes.data)
        return lambda: session.run_with_iobinding(binding)


class OpenvinoModel(ModelTarget):
    """OpenVINO, CPU plugin; input and output tensors share NumPy's memory."""

    package = "openvino"
    how = "CPU plugin, inference precision f32, preallocated output"

    def bound(self, dtype: str, shape: tuple[int, ...], x_bits: np.ndarray, y_bits: np.ndarray) -> Callable[[], Any]:
        openvino, compiled = _openvino(), _compiled(str(self.path), self.version)
        given = compiled.output(0).get_element_type().get_type_name()
        if given != OPENVINO_TYPES[dtype]:
            raise TargetFailure(f"{self.name} returned {given} where {dtype} was expected")
        element, size = getattr(openvino.Type, OPENVINO_TYPES[dtype]), openvino.Shape(list(shape))
        request = compiled.create_infer_request()
        request.set_input_tensor(0, openvino.Tensor(x_bits, size, element))
        request.set_output_tensor(0, openvino.Tensor(y_bits, size, element))
        return lambda: request.infer()


RUNTIMES: dict[str, type[OnnxruntimeModel] | type[OpenvinoModel]] = {
    runtime.package: runtime for runtime in (OnnxruntimeModel, OpenvinoModel)
}


@lru_cache(maxsize=4)
def _session(path: str, version: str) -> Any:
    """The model in ONNX Runtime; `version`, of its content, is there for the cache."""
    return session(path)


@lru_cache(maxsize=4)
def _compiled(path: str, version: str) -> Any:
    core = _openvino().Core()
    hints = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
    return core.compile_model(core.read_model(path), "CPU", hints)


def load(name: str, match: re.Match[str], asked: Asked) -> Sequence[Target]:
    file, runtime = match["file"], match["runtime"]
    if runtime is not None and runtime not in RUNTIMES:
        raise one_of(f"runtime of {file}", runtime, list(RUNTIMES))
    path = existing(file)
    model = signature(path, file)
    x, y = _border(file, model)
    found, absent = [], []
    for each in [runtime] if runtime else RUNTIMES:
        try:
            release = (_openvino() if each == "openvino" else framework(each)).__version__.partition("-")[0]
        except TargetUnavailable as reason:
            absent.append(str(reason))
            continue
        target = RUNTIMES[each](
            name=f"{file}:{each}",
            function=function_of(path.stem, asked),
            dtypes=(x.dtype,),
            form=" ".join(model.operators[:_SHOWN]) + " ..." * (len(model.operators) > _SHOWN),
            note=RUNTIMES[each].how,
            version=f"{each} {release}, {hash_of(path)}",
            path=path,
            x=x,
            y=y,
        )
        found.append(target)
    if not found:
        raise MissingMeasurement(f"{name} was asked for, but {', '.join(absent)}")
    return found


def _border(file: str, model: Signature) -> tuple[Value, Value]:
    """The one input and the one output, of one float dtype; UsageError where there are others."""
    for what, values in (("inputs", model.inputs), ("outputs", model.outputs)):
        if len(values) != 1:
            names = f" ({', '.join(value.name for value in values)})" if values else ""
            raise UsageError(f"{file} has {len(values)} {what}{names}; accepted is a model of one input and one output")
    (x,), (y,) = model.inputs, model.outputs
    if x.element not in ELEMENTS:
        raise UsageError(f"{file} takes {x.dtype} (accepted: {', '.join(ELEMENTS.values())})")
    if y.element != x.element:
        raise UsageError(f"{file} takes {x.dtype} and gives {y.dtype}; accepted is one dtype for both")
    if x.shape is not None and (None not in x.shape or 0 in x.shape):
        raise UsageError(
            f"the input {x.name} of {file} is of the fixed shape {list(x.shape)}; "
            "accepted is one with a free dimension, which takes as many values as there are"
        )
    return x, y


KIND = Kind(
    name="ONNX model",
    syntax={
        "model.onnx": "one input, one output, in each runtime that is installed",
        "model.onnx:onnxruntime": "in this one; or openvino",
    },
    pattern=of_a_file("onnx", "runtime"),
    load=load,
)
