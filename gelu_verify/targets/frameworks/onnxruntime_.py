"""ONNX Runtime, CPU provider: one-node models, contrib operators, exported graphs before and after fusion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np

from ...formats import DTYPES, get_format
from ..base import Target
from ..buffers import room_like
from ..library import answers, framework, probed

ONNX_DTYPES = {"float16": "FLOAT16", "bfloat16": "BFLOAT16", "float32": "FLOAT", "float64": "DOUBLE"}
MICROSOFT = "com.microsoft"
IR_VERSION = 10  # of ONNX 1.16, with opset 21: what every ONNX Runtime that has Gelu-20 reads
NATIVE = "CPU provider, one node"
CONTRIB = "CPU provider, one com.microsoft node"
UNFUSED = "CPU provider, graph optimizations off"
FUSED = "CPU provider, graph as exported, default optimizations"
BODY = "CPU provider, the function body of the operator's definition, graph optimizations off"
BODY_FUSED = "CPU provider, the function body of the operator's definition, default optimizations"


@dataclass(frozen=True)
class Step:
    """One node: `result = op(*operands)`; an operand is the name of a value or a constant."""

    op: str
    operands: tuple[str | float, ...]
    result: str = "y"
    attributes: tuple[tuple[str, Any], ...] = ()
    domain: str = ""


@dataclass(frozen=True)
class Graph:
    """A model from x to y, and how it is run."""

    steps: tuple[Step, ...]
    opset: int = 20
    optimize: bool = True
    body: bool = False  # the only node is replaced by its definition, as a backend without a kernel for it does


def _one(op: str, domain: str = "", opset: int = 20, **attributes: Any) -> Graph:
    return Graph((Step(op, ("x",), "y", tuple(attributes.items()), domain),), opset)


def _body(optimize: bool, **attributes: Any) -> Graph:
    return replace(_one("Gelu", **attributes), optimize=optimize, body=True)


def _by_erf(optimize: bool) -> Graph:
    return Graph(
        (
            Step("Div", ("x", sqrt(2)), "scaled"),
            Step("Erf", ("scaled",), "erf"),
            Step("Add", ("erf", 1.0), "sum"),
            Step("Mul", ("x", "sum"), "product"),
            Step("Mul", ("product", 0.5)),
        ),
        optimize=optimize,
    )


def _by_sigmoid(*scale: Step) -> Graph:
    """x Sigmoid(s), s = x or what `scale` makes of it."""
    scaled = scale[-1].result if scale else "x"
    return Graph((*scale, Step("Sigmoid", (scaled,), "sigmoid"), Step("Mul", ("x", "sigmoid"))), optimize=False)


SCALE = Step("Mul", ("x", 1.702), "scaled")
PATHS = (  # name, function, form, note, graph
    ("gelu", "gelu", "Gelu-20", NATIVE, _one("Gelu")),
    ("gelu-contrib", "gelu", "com.microsoft.Gelu", CONTRIB, _one("Gelu", MICROSOFT)),
    ("gelu-erf", "gelu", "0.5 (x (1 + Erf(x/sqrt 2)))", UNFUSED, _by_erf(optimize=False)),
    ("gelu-fused", "gelu", "0.5 (x (1 + Erf(x/sqrt 2)))", FUSED, _by_erf(optimize=True)),
    ("gelu-body", "gelu", "0.5 x (1 + Erf(x/Sqrt(2)))", BODY, _body(optimize=False)),
    ("gelu-body_fused", "gelu", "0.5 x (1 + Erf(x/Sqrt(2)))", BODY_FUSED, _body(optimize=True)),
    ("gelu_tanh", "gelu_tanh", "Gelu-20, approximate=tanh", NATIVE, _one("Gelu", approximate="tanh")),
    ("gelu_tanh-fastgelu", "gelu_tanh", "com.microsoft.FastGelu", CONTRIB, _one("FastGelu", MICROSOFT)),
    (
        "gelu_tanh-body",
        "gelu_tanh",
        "0.5 x (1 + Tanh(Sqrt(0.63661977236) (x + 0.044715 Pow(x, 3))))",
        BODY,
        _body(optimize=False, approximate="tanh"),
    ),
    ("gelu_sigmoid", "gelu_sigmoid", "com.microsoft.QuickGelu", CONTRIB, _one("QuickGelu", MICROSOFT, alpha=1.702)),
    ("gelu_sigmoid-sigmoid", "gelu_sigmoid", "x Sigmoid(1.702 x)", UNFUSED, _by_sigmoid(SCALE)),
    ("silu", "silu", "Swish-24", NATIVE, _one("Swish", opset=24)),
    ("silu-quickgelu", "silu", "com.microsoft.QuickGelu, alpha=1", CONTRIB, _one("QuickGelu", MICROSOFT, alpha=1.0)),
    ("silu-sigmoid", "silu", "x Sigmoid(x)", UNFUSED, _by_sigmoid()),
    ("relu", "relu", "Relu-14", NATIVE, _one("Relu")),
    ("elu", "elu", "Elu-6", NATIVE, _one("Elu")),
    ("erf", "erf", "Erf-13", NATIVE, _one("Erf")),
    ("tanh", "tanh", "Tanh-13", NATIVE, _one("Tanh")),
    ("sigmoid", "sigmoid", "Sigmoid-13", NATIVE, _one("Sigmoid")),
    ("exp", "exp", "Exp-13", NATIVE, _one("Exp")),
)


def discover() -> Iterator[Target]:
    """Every path, in the dtypes for which the CPU provider has kernels."""
    ort = framework("onnxruntime")
    framework("onnx")
    return probed(
        (
            OnnxTarget(
                name=f"onnxruntime.{name}",
                function=function,
                dtypes=DTYPES,
                form=form,
                note=f"{note}, IO binding, preallocated output",
                version=ort.__version__,
                graph=graph,
            )
            for name, function, form, note, graph in PATHS
        ),
        answers,
    )


@dataclass(frozen=True, kw_only=True)
class OnnxTarget(Target):
    """A model on the CPU provider; input and output stay where NumPy put them."""

    graph: Graph

    def load(self, dtype: str, x_bits: np.ndarray) -> Loaded:
        session, element = _session(self.graph, dtype), _element(dtype)
        y_bits = room_like(x_bits)
        binding = session.io_binding()
        binding.bind_input("x", "cpu", 0, element, x_bits.shape, x_bits.ctypes.data)
        binding.bind_output("y", "cpu", 0, element, y_bits.shape, y_bits.ctypes.data)
        return Loaded(session, binding, x_bits, y_bits)

    def call(self, loaded: Loaded) -> None:
        loaded.session.run_with_iobinding(loaded.binding)

    def store(self, dtype: str, loaded: Loaded, result: None) -> np.ndarray:
        return loaded.y_bits


@dataclass(frozen=True)
class Loaded:
    """A session with its binding, and the memory that the binding points to."""

    session: Any
    binding: Any
    x_bits: np.ndarray
    y_bits: np.ndarray


@lru_cache(maxsize=4)
def _session(graph: Graph, dtype: str) -> Any:
    return session(_model(graph, dtype), graph.optimize)


def session(model: str | bytes, optimize: bool = True) -> Any:
    """A model, by its path or itself, on the CPU and in one thread."""
    ort = framework("onnxruntime")
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1  # as every target here
    options.log_severity_level = 4  # fatal: a missing kernel is raised, not printed
    if not optimize:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _model(graph: Graph, dtype: str) -> bytes:
    """The serialized model; its constants are rounded to `dtype`, as exporters do."""
    helper, element = framework("onnx.helper"), _element(dtype)
    nodes: list[Any] = []
    constants: list[Any] = []
    for step in graph.steps:
        names = []
        for operand in step.operands:
            if isinstance(operand, float):
                constants.append(_constant(f"c{len(constants)}", dtype, operand))
                operand = constants[-1].name
            names.append(operand)
        nodes.append(helper.make_node(step.op, names, [step.result], domain=step.domain, **dict(step.attributes)))
    body = helper.make_graph(
        _definition(nodes[0], element) if graph.body else nodes,
        "path",
        [helper.make_tensor_value_info("x", element, ["n"])],
        [helper.make_tensor_value_info("y", element, ["n"])],
        constants,
    )
    domains = [helper.make_opsetid("", graph.opset), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(body, opset_imports=domains, ir_version=IR_VERSION)
    return bytes(model.SerializeToString())


def _definition(node: Any, element: int) -> list[Any]:
    """The nodes of the function that ONNX defines the operator by, from x to y."""
    onnx, helper = framework("onnx"), framework("onnx.helper")
    schema = framework("onnx.defs").get_schema(node.op_type, 20)
    kind = helper.make_tensor_type_proto(element, ["n"]).SerializeToString()
    function = onnx.FunctionProto()
    function.ParseFromString(schema.get_context_dependent_function(node.SerializeToString(), [kind]))
    outer = {function.input[0]: "x", function.output[0]: "y"}
    for inner in function.node:
        inner.input[:] = [outer.get(name, name) for name in inner.input]
        inner.output[:] = [outer.get(name, name) for name in inner.output]
    return list(function.node)


def _constant(name: str, dtype: str, value: float) -> Any:
    fmt = get_format(dtype)
    raw = fmt.uint.type(fmt.round(Fraction(value))).tobytes()
    return framework("onnx.helper").make_tensor(name, _element(dtype), [], raw, raw=True)


def _element(dtype: str) -> int:
    return int(getattr(framework("onnx").TensorProto, ONNX_DTYPES[dtype]))
