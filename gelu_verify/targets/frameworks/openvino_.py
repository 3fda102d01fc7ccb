"""OpenVINO, CPU plugin: one-operation models, inference precision float32."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from ...errors import TargetFailure
from ...formats import DTYPES
from ..base import HostCall, HostTarget, Target
from ..expressions import printing, with_imports
from ..importing import framework
from ..output_memory import empty_output_like
from ..switches import Switches

NEEDS = "openvino"

OPENVINO_TYPES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
NOTE = "CPU plugin, inference precision f32 (it computes every dtype in float32), preallocated output"

Operation = Callable[[ModuleType, Any, Any], Any]  # (opset, x, element type) -> node
EXPRESSIONS = {  # of a node x
    "gelu": 'openvino.opset13.gelu(x, "erf")',
    "gelu_tanh": 'openvino.opset13.gelu(x, "tanh")',
    "silu": "openvino.opset13.swish(x)",
    "elu": "openvino.opset13.elu(x, 1.0)",
    **{name: f"openvino.opset13.{name}(x)" for name in ("relu", "erf", "tanh", "sigmoid", "exp")},
}


IMPORTS = "import ml_dtypes\nimport numpy\nimport openvino\nimport openvino.opset13"


def PROGRAM(expression: str, dtype: str, value: str, n: int) -> str:
    """A program of a model of one operation; the factor of Swish is of float32 where none is given."""
    of_x = "swish(x, openvino.opset13.constant(1, x.get_element_type()))"
    node = expression if dtype == "float32" else expression.replace("swish(x)", of_x)
    seen = '.view("bfloat16")' if dtype == "bfloat16" else ""  # it comes as NumPy's float16
    body = f"""x = openvino.opset13.parameter([-1], openvino.Type.{OPENVINO_TYPES[dtype]})
model = openvino.Model([{node}], [x], "model")
compiled = openvino.Core().compile_model(model, "CPU", {{"INFERENCE_PRECISION_HINT": "f32"}})
y = compiled(numpy.full({n}, {value}, "{dtype}"))[0]{seen}
{printing(n)}
"""
    return with_imports(IMPORTS, body, dtype)


PATHS: tuple[tuple[str, str, str, Operation], ...] = (
    ("gelu", "gelu", "Gelu-7, erf", lambda ops, x, element: ops.gelu(x, "erf")),
    ("gelu_tanh", "gelu_tanh", "Gelu-7, tanh", lambda ops, x, element: ops.gelu(x, "tanh")),
    (
        "gelu_sigmoid",
        "gelu_sigmoid",
        "Swish-4, beta=1.702",
        lambda ops, x, element: ops.swish(x, ops.constant(1.702, element)),
    ),
    ("silu", "silu", "Swish-4, beta=1", lambda ops, x, element: ops.swish(x, ops.constant(1, element))),
    ("relu", "relu", "Relu-1", lambda ops, x, element: ops.relu(x)),
    ("elu", "elu", "Elu-1", lambda ops, x, element: ops.elu(x, 1.0)),
    ("erf", "erf", "Erf-1", lambda ops, x, element: ops.erf(x)),
    ("tanh", "tanh", "Tanh-1", lambda ops, x, element: ops.tanh(x)),
    ("sigmoid", "sigmoid", "Sigmoid-1", lambda ops, x, element: ops.sigmoid(x)),
    ("exp", "exp", "Exp-1", lambda ops, x, element: ops.exp(x)),
)


def discover() -> Iterator[Target]:
    """Every path, in all dtypes: the plugin converts at the model's borders."""
    openvino = imported()
    for name, function, form, operation in PATHS:
        yield OpenvinoTarget(
            name=f"openvino.{name}",
            function=function,
            dtypes=DTYPES,
            form=form,
            note=NOTE,
            expression=EXPRESSIONS.get(name, ""),
            version=openvino.__version__.partition("-")[0],
            operation=operation,
        )


def _chosen() -> dict[str, str]:
    """The implementation that the plugin says it runs for a gelu: "jit_avx512_f32"."""
    nodes = _compiled(PATHS[0][3], "float32").get_runtime_model().get_ops()
    words = (node.get_rt_info()["primitiveType"].value for node in nodes if "primitiveType" in node.get_rt_info())
    return {"oneDNN": " ".join(sorted({word for word in words if not word.startswith("unknown")}))}


SWITCHES = Switches(  # the plugin has oneDNN in it, which reads its own switch
    {
        level: {"ONEDNN_MAX_CPU_ISA": value}
        for level, value in (("sse4_2", "SSE41"), ("avx2", "AVX2"), ("avx512", "AVX512_CORE"))
    },
    _chosen,
)


def imported() -> ModuleType:
    """OpenVINO, which sends nothing home."""
    with _without_telemetry():
        return framework("openvino")


@contextmanager
def _without_telemetry() -> Iterator[None]:
    """Importing OpenVINO reports home from a forked process; without the reporter it uses its own stub."""
    absent = object()
    before = sys.modules.get("openvino_telemetry", absent)
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        if before is absent:
            del sys.modules["openvino_telemetry"]
        else:
            sys.modules["openvino_telemetry"] = before  # type: ignore[assignment]


@dataclass(frozen=True, kw_only=True)
class OpenvinoTarget(HostTarget):
    """A compiled one-operation model; input and output tensors share NumPy's memory."""

    operation: Operation

    def load(self, dtype: str, x_bits: np.ndarray) -> HostCall:
        openvino, compiled = imported(), _compiled(self.operation, dtype)
        returned = compiled.output(0).get_element_type().get_type_name()
        if returned != OPENVINO_TYPES[dtype]:
            raise TargetFailure(f"{self.name} returned {returned} where {dtype} was expected", "dtype")
        read, y_bits = np.require(x_bits, requirements="W"), empty_output_like(x_bits)
        element, shape = _element(openvino, dtype), openvino.Shape(list(x_bits.shape))
        request = compiled.create_infer_request()
        request.set_input_tensor(0, openvino.Tensor(read, shape, element))
        request.set_output_tensor(0, openvino.Tensor(y_bits, shape, element))
        return HostCall(request.infer, read, y_bits, x_bits)


@lru_cache(maxsize=8)
def _compiled(operation: Operation, dtype: str) -> Any:
    openvino, ops = imported(), framework("openvino.opset13")
    element = _element(openvino, dtype)
    x = ops.parameter([-1], element, name="x")
    model = openvino.Model([operation(ops, x, element)], [x], "path")
    return openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1})


def _element(openvino: ModuleType, dtype: str) -> Any:
    return getattr(openvino.Type, OPENVINO_TYPES[dtype])
