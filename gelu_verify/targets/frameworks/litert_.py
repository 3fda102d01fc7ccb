"""LiteRT (TensorFlow Lite) on the CPU: one-operator models, by the XNNPACK delegate and by the built-in kernels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...errors import TargetFailure
from ...formats import numpy_dtype
from ..base import Target
from ..expressions import printing
from ..importing import framework
from ..probing import outputs_of_probe, probed

NEEDS = "ai_edge_litert"

ON_REQUEST = True  # its models are written anew for every length

LITERT_TYPES = {"float16": "FLOAT16", "float32": "FLOAT32"}
DELEGATES = (  # suffix, how operators are resolved, in words
    ("", "AUTO", "the default: XNNPACK delegate"),
    ("-builtin", "BUILTIN_WITHOUT_DEFAULT_DELEGATES", "built-in kernels, no delegate"),
)


@dataclass(frozen=True)
class Operator:
    """A built-in operator of one input, with its options."""

    name: str
    options: str = ""
    approximate: bool = False


PATHS = (  # name, function, form, operator, and what TensorFlow's converter makes it of
    ("gelu", "gelu", "GELU", Operator("GELU", "GeluOptions"), "tensorflow.nn.gelu(x)"),
    (
        "gelu_tanh",
        "gelu_tanh",
        "GELU, approximate",
        Operator("GELU", "GeluOptions", approximate=True),
        "tensorflow.nn.gelu(x, approximate=True)",
    ),
    ("relu", "relu", "RELU", Operator("RELU"), "tensorflow.nn.relu(x)"),
    ("elu", "elu", "ELU", Operator("ELU"), "tensorflow.nn.elu(x)"),
    ("tanh", "tanh", "TANH", Operator("TANH"), "tensorflow.tanh(x)"),
    ("sigmoid", "sigmoid", "LOGISTIC", Operator("LOGISTIC"), "tensorflow.sigmoid(x)"),
    ("exp", "exp", "EXP", Operator("EXP"), "tensorflow.exp(x)"),
)


def PROGRAM(expression: str, dtype: str, value: str, n: int) -> str:
    """A program of a model that TensorFlow converts; it converts these operators in float32 only."""
    if dtype != "float32":
        return ""
    return f"""import ai_edge_litert.interpreter
import numpy
import tensorflow

x = numpy.full({n}, {value}, "{dtype}")
traced = tensorflow.function(lambda x: {expression})
concrete = traced.get_concrete_function(tensorflow.TensorSpec([{n}], tensorflow.{dtype}))
model = tensorflow.lite.TFLiteConverter.from_concrete_functions([concrete], traced).convert()
interpreter = ai_edge_litert.interpreter.Interpreter(model_content=model, num_threads=1)
interpreter.allocate_tensors()
interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
interpreter.invoke()
y = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
{printing(n)}
"""


def discover() -> Iterator[Target]:
    """Every path, in the dtypes that it takes."""
    framework("ai_edge_litert.interpreter")
    framework("flatbuffers")
    version = framework("importlib.metadata").version("ai-edge-litert")
    return probed(
        (
            LitertTarget(
                name=f"litert.{name}{suffix}",
                function=function,
                dtypes=tuple(LITERT_TYPES),
                form=form,
                note=f"CPU, one thread, {how}",
                expression="" if suffix else expression,  # the converter's models are run as the default is
                version=version,
                operator=operator,
                resolver=resolver,
            )
            for suffix, resolver, how in DELEGATES
            for name, function, form, operator, expression in PATHS
        ),
        outputs_of_probe,
    )


@dataclass(frozen=True, kw_only=True)
class LitertTarget(Target):
    """A model of one operator; the interpreter copies its input and output."""

    operator: Operator
    resolver: str

    def load(self, dtype: str, x_bits: np.ndarray) -> Any:
        interpreter = _interpreter(self.operator, dtype, self.resolver, x_bits.size)
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x_bits.view(numpy_dtype(dtype)))
        return interpreter

    def call(self, loaded: Any) -> None:
        loaded.invoke()

    def store(self, dtype: str, loaded: Any, result: None) -> np.ndarray:
        y: np.ndarray = loaded.get_tensor(loaded.get_output_details()[0]["index"])
        if y.dtype != numpy_dtype(dtype):
            raise TargetFailure(f"{self.name} returned {y.dtype} where {dtype} was expected")
        return y.view(f"u{y.itemsize}")


@lru_cache(maxsize=4)
def _interpreter(operator: Operator, dtype: str, resolver: str, size: int) -> Any:
    litert = framework("ai_edge_litert.interpreter")
    interpreter = litert.Interpreter(
        model_content=_model(operator, dtype, size),
        experimental_op_resolver_type=getattr(litert.OpResolverType, resolver),
        num_threads=1,
    )
    interpreter.allocate_tensors()
    return interpreter


def _model(operator: Operator, dtype: str, size: int) -> bytes:
    """A TFLite flatbuffer: x of `size` elements, one operator, y."""
    flatbuffers, schema = framework("flatbuffers"), framework("ai_edge_litert.schema_py_generated")
    code = schema.OperatorCodeT()
    code.builtinCode = getattr(schema.BuiltinOperator, operator.name)
    code.deprecatedBuiltinCode = min(code.builtinCode, 127)  # one byte; the wider field decides
    code.version = 1
    node = schema.OperatorT()
    node.opcodeIndex, node.inputs, node.outputs = 0, [0], [1]
    if operator.options:
        node.builtinOptionsType = getattr(schema.BuiltinOptions, operator.options)
        node.builtinOptions = getattr(schema, f"{operator.options}T")()
        node.builtinOptions.approximate = operator.approximate
    graph = schema.SubGraphT()
    graph.tensors = [_tensor(schema, name, dtype, size) for name in (b"x", b"y")]
    graph.inputs, graph.outputs, graph.operators, graph.name = [0], [1], [node], b"path"
    model = schema.ModelT()
    model.version, model.description = 3, b""
    model.buffers, model.operatorCodes, model.subgraphs = [schema.BufferT()], [code], [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def _tensor(schema: Any, name: bytes, dtype: str, size: int) -> Any:
    tensor = schema.TensorT()
    tensor.name, tensor.shape, tensor.buffer = name, [size], 0
    tensor.type = getattr(schema.TensorType, LITERT_TYPES[dtype])
    return tensor
