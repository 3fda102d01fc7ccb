"""An ONNX model: "model.onnx", "model.onnx:onnxruntime", "model.onnx:openvino".

A model of fixed shapes is run once for every batch of the inputs, one after the other.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import MissingMeasurement, TargetFailure, TargetUnavailable, UsageError, message_of, one_of
from ...formats import get_format
from ..base import HostCall, HostTarget, Target
from ..call_line import joined_inputs
from ..files_read import digests
from ..fixed_shapes import Batches, batches_for, without_padding
from ..frameworks.onnxruntime_ import session
from ..frameworks.openvino_ import OPENVINO_TYPES
from ..frameworks.openvino_ import imported as imported_openvino
from ..importing import framework, quiet
from ..onnx_format import signature
from ..output_memory import output_like
from ..probing import leave_out
from ._onnx_ports import PortConstant, Ports, ports_of
from .base import Asked, existing, function_of, hash_of

_SHOWN = 8  # operators of a graph that `form` lists at most


@dataclass(frozen=True, kw_only=True)
class ModelTarget(HostTarget):
    """A model file in a runtime that takes it: what it cannot run then is its failure.

    `paths`: the model, and the files that hold its weights; `content` their hash.
    """

    paths: tuple[Path, ...]
    content: str
    ports: Ports
    constants: tuple[PortConstant, ...] = field(default=())

    def beside(self, dtype: str, batches: Batches) -> list[np.ndarray]:
        """The second input of every batch, in its shape; nothing where there is none."""
        if self.ports.beside is None:
            return []
        shape = batches.shape[-len(self.ports.beside.dimensions) or len(batches.shape) :]
        every = self.second_bits(dtype, batches.count * batches.size).reshape(batches.count, batches.size)
        return [np.ascontiguousarray(row[: prod(shape)].reshape(shape)) for row in every]

    def load(self, dtype: str, x_bits: np.ndarray) -> HostCall:
        batches = batches_for(self.ports.x.dimensions, x_bits.size)
        padded = np.require(batches.padded(x_bits), requirements="W")  # OpenVINO takes no read-only memory
        y_bits, taken, shape = output_like(padded), padded, batches.shape
        if self.ports.packing:
            bits = {"x": padded, self.second: self.second_bits(dtype, padded.size)}
            taken = joined_inputs(self.ports.packing, bits, shape[-1])
            shape = (*shape[:-1], 2 * shape[-1])
        rows = [bits.reshape(batches.count, -1) for bits in (taken, y_bits)]
        return HostCall(self.bound(dtype, batches, shape, *rows), padded, y_bits, x_bits)

    @staticmethod
    @abstractmethod
    def opened(files: tuple[Path, ...], content: str) -> Any:
        """The model in the runtime, which may raise anything; `content` is the hash of what is to be run."""

    @abstractmethod
    def bound(
        self, dtype: str, batches: Batches, x_shape: tuple[int, ...], x_rows: np.ndarray, y_rows: np.ndarray
    ) -> Callable[[], Any]:
        """What runs the model on every batch, from a row of `x_rows`, of that shape, to the same of `y_rows`."""

    def shape_taken(
        self,
        shape: tuple[int, ...],
        x_shape: tuple[int, ...],
        run_into: Callable[[tuple[int, ...]], None],
        returned: Callable[[], Sequence[int]],
    ) -> tuple[int, ...]:
        """Run the model into memory of `shape`, or of the shape that it has `returned` without ours, if that holds as
        many values; which of them it was. TargetFailure where it returns more or fewer, or the axes of the input in
        another order, and so perhaps the values."""
        try:
            run_into(shape)
        except Exception:
            found = tuple(returned())
            if found == shape:
                raise
            axes, given = ([size for size in each if size != 1] for each in (found, x_shape))
            if prod(found) != prod(shape) or (axes != given and sorted(axes) == sorted(given)):
                message = f"{self.name} returned shape {found} for an input of shape {x_shape}"
                raise TargetFailure(message, "shape") from None
            run_into(found)
            return found
        return shape

    def store(self, dtype: str, loaded: HostCall, result: None) -> np.ndarray:
        return without_padding(get_format(dtype), loaded.x_bits, loaded.y_bits, loaded.asked.size)


class OnnxruntimeModel(ModelTarget):
    """ONNX Runtime, CPU provider; input and output stay where NumPy put them."""

    package = "onnxruntime"
    how = "CPU provider, default optimizations, IO binding, preallocated output"

    @staticmethod
    @lru_cache(maxsize=4)
    def opened(files: tuple[Path, ...], content: str) -> Any:
        found = session(str(files[0]))
        _check_content(files, content)
        return found

    def bound(
        self, dtype: str, batches: Batches, x_shape: tuple[int, ...], x_rows: np.ndarray, y_rows: np.ndarray
    ) -> Callable[[], Any]:
        opened = self.opened(self.paths, self.content)
        binding = opened.io_binding()
        x, y = self.ports.x, self.ports.y
        shape = y.shape_of(batches.shape)
        given = [each.beside(batches.shape) for each in self.constants]  # kept as long as `run`: nobody copies them
        for each, data in zip(self.constants, given, strict=True):
            binding.bind_input(each.name, "cpu", 0, each.element, data.shape, data.ctypes.data)
        beside, port = self.beside(dtype, batches), self.ports.beside

        def run_into(written: np.ndarray, shape: tuple[int, ...]) -> None:
            binding.bind_output(y.name, "cpu", 0, y.element, shape, written.ctypes.data)
            opened.run_with_iobinding(binding)

        def shape_returned() -> Sequence[int]:
            binding.bind_output(y.name, "cpu")
            opened.run_with_iobinding(binding)
            return binding.get_outputs()[0].shape()  # type: ignore[no-any-return]

        def run(_kept: list[np.ndarray] = given) -> None:
            nonlocal shape
            for at, (read, written) in enumerate(zip(x_rows, y_rows, strict=True)):
                if port:
                    second = beside[at]
                    binding.bind_input(port.name, "cpu", 0, port.element, second.shape, second.ctypes.data)
                binding.bind_input(x.name, "cpu", 0, x.element, x_shape, read.ctypes.data)
                shape = self.shape_taken(shape, x_shape, partial(run_into, written), shape_returned)

        return run


class OpenvinoModel(ModelTarget):
    """OpenVINO, CPU plugin; input and output tensors share NumPy's memory."""

    package = "openvino"
    how = "CPU plugin, inference precision f32, preallocated output"

    @staticmethod
    @lru_cache(maxsize=4)
    def opened(files: tuple[Path, ...], content: str) -> Any:
        core = imported_openvino().Core()
        hints = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
        found = core.compile_model(core.read_model(str(files[0])), "CPU", hints)
        _check_content(files, content)
        return found

    def bound(
        self, dtype: str, batches: Batches, x_shape: tuple[int, ...], x_rows: np.ndarray, y_rows: np.ndarray
    ) -> Callable[[], Any]:
        openvino, compiled = imported_openvino(), self.opened(self.paths, self.content)
        x, y = compiled.input(self.ports.x.name), compiled.output(self.ports.y.name)
        returned = y.get_element_type().get_type_name()
        if returned != OPENVINO_TYPES[dtype]:
            raise TargetFailure(f"{self.name} returned {returned} where {dtype} was expected")
        element, request = getattr(openvino.Type, OPENVINO_TYPES[dtype]), compiled.create_infer_request()
        shape = self.ports.y.shape_of(batches.shape)
        given = [each.beside(batches.shape) for each in self.constants]  # kept as long as `run`: nobody copies them
        for each, data in zip(self.constants, given, strict=True):
            port = compiled.input(each.name)
            request.set_tensor(port, openvino.Tensor(data, openvino.Shape(list(data.shape)), port.get_element_type()))

        beside = self.beside(dtype, batches)

        def tensor(bits: np.ndarray, shape: tuple[int, ...]) -> Any:
            return openvino.Tensor(bits, openvino.Shape(list(shape)), element)

        def run_into(written: np.ndarray, shape: tuple[int, ...]) -> None:
            request.set_tensor(y, tensor(written, shape))
            request.infer()

        def shape_returned() -> Sequence[int]:
            own = compiled.create_infer_request()
            for port in compiled.inputs:
                own.set_tensor(port, request.get_tensor(port))
            own.infer()
            return own.get_tensor(y).shape  # type: ignore[no-any-return]

        def run(_kept: list[np.ndarray] = given) -> None:
            nonlocal shape
            for at, (read, written) in enumerate(zip(x_rows, y_rows, strict=True)):
                if self.ports.beside:
                    second = tensor(beside[at], beside[at].shape)
                    request.set_tensor(compiled.input(self.ports.beside.name), second)
                request.set_tensor(x, tensor(read, x_shape))
                shape = self.shape_taken(shape, x_shape, partial(run_into, written), shape_returned)

        return run


RUNTIMES: dict[str, type[OnnxruntimeModel] | type[OpenvinoModel]] = {
    runtime.package: runtime for runtime in (OnnxruntimeModel, OpenvinoModel)
}


def _check_content(files: tuple[Path, ...], content: str) -> None:
    """TargetFailure where the files are no longer those that were named: the version would be another model's."""
    if hash_of(*files) != content:
        raise TargetFailure(f"{files[0].name} was changed while it was measured")


def load(name: str, match: re.Match[str], asked: Asked) -> Sequence[Target]:
    file, runtime = match["file"], match["runtime"]
    if runtime is not None and runtime not in RUNTIMES:
        raise one_of(f"runtime of {file}", runtime, list(RUNTIMES))
    path = existing(file)
    model = signature(path, file)
    files = (path, *(_beside(path, location, file) for location in model.external))
    content = hash_of(*files)
    ports, constants = ports_of(file, model, asked.call, asked.kwargs)
    found, absent, refused = [], [], {}
    for each in [runtime] if runtime else RUNTIMES:
        try:
            release = (imported_openvino() if each == "openvino" else framework(each)).__version__.partition("-")[0]
        except TargetUnavailable as reason:
            absent.append(str(reason))
            continue
        if why := _refusal(RUNTIMES[each], files, content):
            refused[each] = why
            continue
        target = RUNTIMES[each](
            name=f"{file}:{each}",
            function=function_of(path.stem, asked, second=ports.second),
            second=ports.second,
            one_second=ports.one_second,
            dtypes=(ports.x.dtype,),
            form=" ".join(model.operators[:_SHOWN]) + " ..." * (len(model.operators) > _SHOWN),
            note=RUNTIMES[each].how + ports.note(model, constants),
            version=f"{each} {release}, {content}",
            files=digests(files, path.parent),
            paths=files,
            content=content,
            ports=ports,
            constants=constants,
        )
        found.append(target)
    if not found and refused:
        raise UsageError(f"{file} is not loaded: {'; '.join(f'{each}: {why}' for each, why in refused.items())}")
    if not found:
        raise MissingMeasurement(f"{name} was asked for, but {', '.join(absent)}")
    for each, why in refused.items():
        leave_out(f"{file}:{each}", f"it does not load the model: {why}")
    return found


def _refusal(runtime: type[ModelTarget], files: tuple[Path, ...], content: str) -> str:
    """Why the runtime does not take the model, in its last line; empty where it does."""
    try:
        with quiet():
            runtime.opened(files, content)
    except Exception as error:  # noqa: BLE001 - a runtime's own: whatever it raises, it runs nothing then
        return message_of(error).strip().rpartition("\n")[2][:300]
    return ""


def _beside(path: Path, location: str, file: str) -> Path:
    """A file that holds weights; the runtimes look for it where the model lies."""
    found = path.parent / location
    if not found.is_file():
        raise UsageError(f"{file} has weights in {location}, and there is no such file beside it")
    return found.resolve()
