"""ONNX models as protobuf: what a model file takes and gives is read, small models are written. Needs no package.

Numbers of fields are those of onnx.proto: see the class or function that reads or writes the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ..errors import UsageError
from ..formats import get_format
from .protobuf import message, parts, text, whole

ELEMENTS = {1: "float32", 10: "float16", 11: "float64", 16: "bfloat16"}  # TensorProto.DataType
ELEMENT_OF = {dtype: element for element, dtype in ELEMENTS.items()}
_OTHERS = {
    **{0: "no tensor", 2: "uint8", 3: "int8", 5: "int16", 6: "int32", 7: "int64", 8: "string", 9: "bool"},
    14: "complex64",
}

# ---- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OnnxValue:
    """An input or output; a dimension of any size is None; `shape` is None where the model does not say its rank.
    `sizes`: the names of its dimensions, empty for those without: of one name, they are of one size."""

    name: str
    element: int
    shape: tuple[int | None, ...] | None
    sizes: tuple[str, ...] = ()

    @property
    def dtype(self) -> str:
        return ELEMENTS.get(self.element) or _OTHERS.get(self.element) or f"element type {self.element}"


@dataclass(frozen=True)
class Signature:
    """What a model takes, less its initializers, what it gives, and the operators of its main graph in order.

    `external` are the files beside it that hold tensors of it, as it writes them.
    """

    inputs: tuple[OnnxValue, ...]
    outputs: tuple[OnnxValue, ...]
    operators: tuple[str, ...]
    external: tuple[str, ...] = ()


def signature(path: Path, shown: str) -> Signature:
    """The signature of a model file; UsageError when it holds none.

    ModelProto.graph 7; GraphProto.node 1, initializer 5, input 11, output 12; NodeProto.op_type 4; TensorProto.name 8.
    """
    try:
        model = memoryview(path.read_bytes())
        graph = next(parts(model, 7))
        constants = {text(part, 8) for part in parts(graph, 5)}
        inputs = tuple(value for part in parts(graph, 11) if (value := _value(part)).name not in constants)
        outputs = tuple(map(_value, parts(graph, 12)))
        operators = tuple(text(node, 4) for node in parts(graph, 1))
        external = sorted({location for tensor in _tensors(model) if (location := _location(tensor))})
    except (StopIteration, ValueError, IndexError, UnicodeDecodeError):
        raise UsageError(f"{shown} is not an ONNX model") from None
    return Signature(inputs, outputs, operators, tuple(external))


def _tensors(model: memoryview) -> Iterator[memoryview]:
    """Every tensor of a model: of its graph, of graphs in attributes (branches, loops), and of its functions.

    ModelProto.graph 7, functions 25; FunctionProto.node 7; GraphProto.node 1, initializer 5, sparse_initializer 15;
    NodeProto.attribute 5; AttributeProto.t 5, g 6, tensors 10, graphs 11, sparse_tensor 22, sparse_tensors 23.
    """
    graphs = list(parts(model, 7))
    nodes = [node for function in parts(model, 25) for node in parts(function, 7)]
    while graphs or nodes:
        if graphs:
            graph = graphs.pop()
            nodes += parts(graph, 1)
            yield from parts(graph, 5)
            yield from _of_sparse(parts(graph, 15))
            continue
        for attribute in parts(nodes.pop(), 5):
            graphs += [*parts(attribute, 6), *parts(attribute, 11)]
            yield from (*parts(attribute, 5), *parts(attribute, 10))
            yield from _of_sparse([*parts(attribute, 22), *parts(attribute, 23)])


def _of_sparse(sparse: Iterable[memoryview]) -> Iterator[memoryview]:
    """SparseTensorProto.values 1, indices 2."""
    for tensor in sparse:
        yield from (*parts(tensor, 1), *parts(tensor, 2))


def _location(tensor: memoryview) -> str:
    """The file that holds a tensor's data; empty where the model does. TensorProto.external_data 13: key 1, value 2."""
    entries = {text(entry, 1): text(entry, 2) for entry in parts(tensor, 13)}
    return entries.get("location", "")


def _value(part: memoryview) -> OnnxValue:
    """ValueInfoProto.name 1, type 2; TypeProto.tensor_type 1; its elem_type 1, shape 2; TensorShapeProto.dim 1;
    Dimension.dim_param 2."""
    name, element, shape = text(part, 1), 0, None
    sizes: tuple[str, ...] = ()
    for type_proto in parts(part, 2):
        for tensor in parts(type_proto, 1):
            element = whole(tensor, 1) or 0
            for dims in parts(tensor, 2):
                shape = tuple(map(_size, parts(dims, 1)))
                sizes = tuple(text(each, 2) for each in parts(dims, 1))
    return OnnxValue(name, element, shape, sizes)


def _size(dimension: memoryview) -> int | None:
    """Dimension.dim_value 1."""
    size = whole(dimension, 1)
    return None if size is not None and size >= 1 << 63 else size  # some exporters write -1 for any size


# ---- writing -------------------------------------------------------------------------------------


def model_of(
    nodes: Iterable[bytes], initializers: Iterable[bytes], dtype: str, opsets: Mapping[str, int], ir_version: int,
    inputs: Iterable[str] = ("x",),
) -> bytes:  # fmt: skip
    """A model from x, and what else its inputs are, to y: arrays of one dimension of any length.

    ModelProto.ir_version 1, graph 7, opset_import 8 (domain 1, version 2); GraphProto.node 1, name 2, initializer 5,
    input 11, output 12.
    """
    graph = message(
        *((1, node) for node in nodes),
        (2, "path"),
        *((5, tensor) for tensor in initializers),
        *((11, _port(name, dtype)) for name in inputs),
        (12, _port("y", dtype)),
    )
    imports = [message((1, domain), (2, version)) for domain, version in opsets.items()]
    return message((1, ir_version), (7, graph), *((8, each) for each in imports))


def _port(name: str, dtype: str) -> bytes:
    """As `_value` reads it; Dimension.dim_param 2."""
    shape = message((1, message((2, "n"))))
    return message((1, name), (2, message((1, message((1, ELEMENT_OF[dtype]), (2, shape))))))


def node_of(
    op: str, inputs: Iterable[str], output: str, attributes: Mapping[str, float | str | bytes], domain: str = ""
) -> bytes:
    """NodeProto.input 1, output 2, op_type 4, attribute 5, domain 7; an attribute of bytes is a tensor."""
    found = [_attribute(name, value) for name, value in attributes.items()]
    return message(*((1, each) for each in inputs), (2, output), (4, op), *((5, each) for each in found), (7, domain))


def _attribute(name: str, value: float | str | bytes) -> bytes:
    """AttributeProto.name 1; f 2 of type (20) 1, s 4 of type 3, t 5 of type 4."""
    field, kind = (2, 1) if isinstance(value, float) else (4, 3) if isinstance(value, str) else (5, 4)
    return message((1, name), (field, value), (20, kind))


def scalar_of(name: str, dtype: str, value: float) -> bytes:
    """A tensor of one number, rounded once to `dtype`. TensorProto.data_type 2, name 8, raw_data 9."""
    fmt = get_format(dtype)
    raw = fmt.round(Fraction(value)).to_bytes(fmt.width // 8, "little")
    return message((2, ELEMENT_OF[dtype]), (8, name), (9, raw))
