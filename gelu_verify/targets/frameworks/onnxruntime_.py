"""ONNX Runtime, CPU provider: one-node models, contrib operators, exported graphs before and after fusion.

The models are written here (`onnx_format`): the package `onnx` is not needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from math import sqrt
from typing import Any

import numpy as np

from ...formats import DTYPES
from ...functions import Function, base_name
from ..base import HostCall, HostTarget, Target
from ..call_line import SECOND
from ..expressions import printing, with_imports
from ..importing import framework
from ..onnx_format import ELEMENT_OF, model_of, node_of, scalar_of
from ..output_memory import empty_output_like
from ..probing import outputs_of_probe, probed

NEEDS = "onnxruntime"

MICROSOFT = "com.microsoft"
NO_SWITCH = "MLAS chooses by the processor alone"
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
    attributes: tuple[tuple[str, float | str | bytes], ...] = ()
    domain: str = ""


@dataclass(frozen=True)
class Graph:
    """A model from x, and g or b, to y, and how it is run."""

    steps: tuple[Step, ...]
    opset: int = 20
    optimize: bool = True

    @property
    def second(self) -> str:
        """The second input; empty for none."""
        operands = {each for step in self.steps for each in step.operands}
        return next((name for name in SECOND if name in operands), "")


def _one(op: str, domain: str = "", opset: int = 20, **attributes: float | str) -> Graph:
    return Graph((Step(op, ("x",), "y", tuple(attributes.items()), domain),), opset)


def _like_x(name: str, value: float) -> tuple[Step, Step]:
    """A constant of float32, then in the dtype of x."""
    constant = Step("Constant", (), f"{name}_float", (("value", scalar_of("", "float32", value)),))
    return constant, Step("CastLike", (constant.result, "x"), name)


# The function that ONNX defines Gelu-20 by, which a backend without a kernel for it runs.
BODY_ERF = (
    *_like_x("half", 0.5),
    *_like_x("one", 1.0),
    *_like_x("two", 2.0),
    Step("Sqrt", ("two",), "sqrt_two"),
    Step("Div", ("x", "sqrt_two"), "scaled"),
    Step("Erf", ("scaled",), "erf"),
    Step("Sum", ("one", "erf"), "phi"),
    Step("Mul", ("half", "x"), "half_x"),
    Step("Mul", ("half_x", "phi")),
)
BODY_TANH = (
    *_like_x("half", 0.5),
    *_like_x("one", 1.0),
    *_like_x("two_over_pi", 0.63661977236),
    *_like_x("c0", 0.044715),
    Step("Sqrt", ("two_over_pi",), "sqrt_two_over_pi"),
    *_like_x("three", 3.0),
    Step("Pow", ("x", "three"), "cube"),
    Step("Mul", ("c0", "cube"), "c0_cube"),
    Step("Sum", ("x", "c0_cube"), "inner"),
    Step("Mul", ("sqrt_two_over_pi", "inner"), "u"),
    Step("Tanh", ("u",), "tanh"),
    Step("Sum", ("one", "tanh"), "phi"),
    Step("Mul", ("half", "x"), "half_x"),
    Step("Mul", ("half_x", "phi")),
)


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


IMPORTS = "import ml_dtypes\nimport numpy\nimport onnx.parser\nimport onnxruntime"


def PROGRAM(expression: str, dtype: str, value: str, n: int) -> str:
    """A program of a model of one node: `Gelu(x, approximate="tanh")`."""
    name, _, arguments = expression.removesuffix(")").partition("(x")
    element = {"float32": "float", "float64": "double"}.get(dtype, dtype)
    attributes = f"<{arguments.removeprefix(', ')}>" if arguments else ""
    body = f'''model = onnx.parser.parse_model("""
<ir_version: {IR_VERSION}, opset_import: ["": {_opset(name)}, "{MICROSOFT}": 1]>
f ({element}[N] x) => ({element}[N] y) {{ y = {name}{attributes} (x) }}
""")
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
x = numpy.full({n}, {value}, "{dtype}")
y = session.run(None, {{"x": x}})[0]
{printing(n)}
'''
    return with_imports(IMPORTS, body, dtype)


SCALE = Step("Mul", ("x", 1.702), "scaled")
PATHS = (  # name, function, form, note, graph
    ("gelu", "gelu", "Gelu-20", NATIVE, _one("Gelu")),
    ("gelu-contrib", "gelu", "com.microsoft.Gelu", CONTRIB, _one("Gelu", MICROSOFT)),
    ("gelu-erf", "gelu", "0.5 (x (1 + Erf(x/sqrt 2)))", UNFUSED, _by_erf(optimize=False)),
    ("gelu-fused", "gelu", "0.5 (x (1 + Erf(x/sqrt 2)))", FUSED, _by_erf(optimize=True)),
    ("gelu-body", "gelu", "0.5 x (1 + Erf(x/Sqrt(2)))", BODY, Graph(BODY_ERF, optimize=False)),
    ("gelu-body_fused", "gelu", "0.5 x (1 + Erf(x/Sqrt(2)))", BODY_FUSED, Graph(BODY_ERF)),
    ("gelu_tanh", "gelu_tanh", "Gelu-20, approximate=tanh", NATIVE, _one("Gelu", approximate="tanh")),
    ("gelu_tanh-fastgelu", "gelu_tanh", "com.microsoft.FastGelu", CONTRIB, _one("FastGelu", MICROSOFT)),
    (
        "gelu_tanh-body",
        "gelu_tanh",
        "0.5 x (1 + Tanh(Sqrt(0.63661977236) (x + 0.044715 Pow(x, 3))))",
        BODY,
        Graph(BODY_TANH, optimize=False),
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


_TIMES_G = Step("Mul", ("activation", "g"))
_FUSED_WITH_B = "CPU provider, one com.microsoft node; the second input is its bias"
TWO_INPUTS = (
    ("bias_gelu", "bias_gelu", "com.microsoft.BiasGelu", _FUSED_WITH_B,
     Graph((Step("BiasGelu", ("x", "b"), domain=MICROSOFT),))),
    ("bias_gelu_tanh", "bias_gelu_tanh", "com.microsoft.FastGelu", _FUSED_WITH_B,
     Graph((Step("FastGelu", ("x", "b"), domain=MICROSOFT),))),
    ("geglu", "geglu", "Gelu-20, Mul", FUSED, Graph((Step("Gelu", ("x",), "activation"), _TIMES_G))),
    ("swiglu", "swiglu", "Sigmoid, Mul, Mul", FUSED, Graph(
        (Step("Sigmoid", ("x",), "s"), Step("Mul", ("x", "s"), "activation"), _TIMES_G))),
    ("swiglu-quickgelu", "swiglu", "com.microsoft.QuickGelu, alpha=1, Mul", CONTRIB, Graph(
        (Step("QuickGelu", ("x",), "activation", (("alpha", 1.0),), MICROSOFT), _TIMES_G))),
    ("reglu", "reglu", "Relu, Mul", FUSED, Graph((Step("Relu", ("x",), "activation"), _TIMES_G))),
)  # fmt: skip


def discover() -> Iterator[Target]:
    """Every path, in the dtypes for which the CPU provider has kernels."""
    return _targets(PATHS)


def computing(function: Function) -> Iterator[Target]:
    """Functions of two inputs."""
    found = ((name, function.name, *how) for name, of, *how in TWO_INPUTS if of == base_name(function.name))
    return _targets(found)


def _targets(paths: Iterable[tuple[Any, ...]]) -> Iterator[Target]:
    ort = framework("onnxruntime")
    return probed(
        (
            OnnxTarget(
                name=f"onnxruntime.{name}",
                function=function,
                dtypes=DTYPES,
                form=form,
                note=f"{note}, IO binding, preallocated output",
                expression=expression_of(graph),
                version=ort.__version__,
                graph=graph,
                second=graph.second,
            )
            for name, function, form, note, graph in paths
        ),
        outputs_of_probe,
    )


def expression_of(graph: Graph) -> str:
    """A model of one node as a call: `com.microsoft.QuickGelu(x, alpha=1.702)`; of several there is none."""
    if len(graph.steps) != 1:
        return ""
    (step,) = graph.steps
    attributes = (f", {name}={json.dumps(value)}" for name, value in step.attributes)
    return f"{step.domain}{'.' * bool(step.domain)}{step.op}(x{''.join(attributes)})"


def _opset(name: str) -> int:
    """The opset that has an operator."""
    return next((graph.opset for *_, graph in PATHS if graph.steps[0].op == name), 20)


@dataclass(frozen=True, kw_only=True)
class OnnxTarget(HostTarget):
    """A model on the CPU provider; input and output stay where NumPy put them."""

    graph: Graph

    def load(self, dtype: str, x_bits: np.ndarray) -> HostCall:
        session, element = _session(self.graph, dtype), ELEMENT_OF[dtype]
        y_bits = empty_output_like(x_bits)
        binding = session.io_binding()
        inputs = {"x": x_bits} | ({self.second: self.second_bits(dtype, x_bits.size)} if self.second else {})
        for name, bits in inputs.items():
            binding.bind_input(name, "cpu", 0, element, bits.shape, bits.ctypes.data)
        binding.bind_output("y", "cpu", 0, element, y_bits.shape, y_bits.ctypes.data)
        return HostCall(partial(_run, session, binding, inputs), x_bits, y_bits, x_bits)


def _run(session: Any, binding: Any, inputs: dict[str, np.ndarray]) -> None:
    """The binding has the addresses of the inputs, which stay as long as this may be called."""
    session.run_with_iobinding(binding)


@lru_cache(maxsize=4)
def _session(graph: Graph, dtype: str) -> Any:
    return session(model(graph, dtype), graph.optimize)


def session(model: str | bytes, optimize: bool = True) -> Any:
    """A model, by its path or itself, on the CPU and in one thread."""
    ort = framework("onnxruntime")
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1  # as every target here
    options.log_severity_level = 4  # fatal: a missing kernel is raised, not printed
    if not optimize:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def model(graph: Graph, dtype: str, ir_version: int = IR_VERSION) -> bytes:
    """The serialized model; its constants are rounded to `dtype`, as exporters do."""
    nodes: list[bytes] = []
    constants: dict[str, float] = {}
    for step in graph.steps:
        names = []
        for operand in step.operands:
            name = operand if isinstance(operand, str) else f"c{len(constants)}"
            if isinstance(operand, float):
                constants[name] = operand
            names.append(name)
        nodes.append(node_of(step.op, names, step.result, dict(step.attributes), step.domain))
    initializers = [scalar_of(name, dtype, value) for name, value in constants.items()]
    inputs = ("x", graph.second) if graph.second else ("x",)
    return model_of(nodes, initializers, dtype, {"": graph.opset, MICROSOFT: 1}, ir_version, inputs)
