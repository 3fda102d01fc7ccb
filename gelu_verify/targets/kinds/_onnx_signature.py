"""Inputs, outputs and operators of an ONNX model file, read from its protobuf: which runtime runs it is decided later.

Fields of onnx.proto that are followed: ModelProto.graph 7, functions 25; GraphProto.node 1, initializer 5, input 11,
output 12, sparse_initializer 15; FunctionProto.node 7; NodeProto.op_type 4, attribute 5; AttributeProto.t 5, g 6,
tensors 10, graphs 11, sparse_tensor 22, sparse_tensors 23; SparseTensorProto.values 1, indices 2; TensorProto.name 8,
external_data 13 (key 1, value 2); ValueInfoProto.name 1, type 2; TypeProto.tensor_type 1; Tensor.elem_type 1,
shape 2; TensorShapeProto.dim 1; Dimension.dim_value 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ...errors import UsageError

ELEMENTS = {1: "float32", 10: "float16", 11: "float64", 16: "bfloat16"}  # TensorProto.DataType
_OTHERS = {2: "uint8", 3: "int8", 5: "int16", 6: "int32", 7: "int64", 8: "string", 9: "bool", 14: "complex64"}
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True)
class Value:
    """An input or output; a dimension of any size is None; `shape` is None where the model does not say its rank."""

    name: str
    element: int
    shape: tuple[int | None, ...] | None

    @property
    def dtype(self) -> str:
        return ELEMENTS.get(self.element) or _OTHERS.get(self.element) or f"element type {self.element}"


@dataclass(frozen=True)
class Signature:
    """What a model takes, less its initializers, what it gives, and the operators of its main graph in order.

    `external` are the files beside it that hold tensors of it, as it writes them.
    """

    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    operators: tuple[str, ...]
    external: tuple[str, ...] = ()


def signature(path: Path, shown: str) -> Signature:
    """The signature of a model file; UsageError when it holds none."""
    try:
        model = memoryview(path.read_bytes())
        graph = next(_parts(model, 7))
        given = {_text(part, 8) for part in _parts(graph, 5)}
        inputs = tuple(value for part in _parts(graph, 11) if (value := _value(part)).name not in given)
        outputs = tuple(map(_value, _parts(graph, 12)))
        operators = tuple(_text(node, 4) for node in _parts(graph, 1))
        external = sorted({location for tensor in _tensors(model) if (location := _location(tensor))})
    except (StopIteration, ValueError, IndexError, UnicodeDecodeError):
        raise UsageError(f"{shown} is not an ONNX model") from None
    return Signature(inputs, outputs, operators, tuple(external))


def _tensors(model: memoryview) -> Iterator[memoryview]:
    """Every tensor of a model: of its graph, of graphs in attributes (branches, loops), and of its functions."""
    graphs = list(_parts(model, 7))
    nodes = [node for function in _parts(model, 25) for node in _parts(function, 7)]
    while graphs or nodes:
        if graphs:
            graph = graphs.pop()
            nodes += _parts(graph, 1)
            yield from _parts(graph, 5)
            yield from _of_sparse(_parts(graph, 15))
            continue
        for attribute in _parts(nodes.pop(), 5):
            graphs += [*_parts(attribute, 6), *_parts(attribute, 11)]
            yield from (*_parts(attribute, 5), *_parts(attribute, 10))
            yield from _of_sparse([*_parts(attribute, 22), *_parts(attribute, 23)])


def _of_sparse(sparse: Iterable[memoryview]) -> Iterator[memoryview]:
    for tensor in sparse:
        yield from (*_parts(tensor, 1), *_parts(tensor, 2))


def _location(tensor: memoryview) -> str:
    """The file that holds a tensor's data; empty where the model does."""
    entries = {_text(entry, 1): _text(entry, 2) for entry in _parts(tensor, 13)}
    return entries.get("location", "")


def _value(part: memoryview) -> Value:
    name, element, shape = _text(part, 1), 0, None
    for type_proto in _parts(part, 2):
        for tensor in _parts(type_proto, 1):
            element = next((v for field, v in _fields(tensor) if field == 1 and isinstance(v, int)), 0)
            shape = next((tuple(map(_size, _parts(dims, 1))) for dims in _parts(tensor, 2)), None)
    return Value(name, element, shape)


def _size(dimension: memoryview) -> int | None:
    size = next((v for field, v in _fields(dimension) if field == 1 and isinstance(v, int)), None)
    return None if size is not None and size >= 1 << 63 else size  # some exporters write -1 for any size


def _text(message: memoryview, number: int) -> str:
    return next((bytes(part).decode() for part in _parts(message, number)), "")


def _parts(message: memoryview, number: int) -> Iterator[memoryview]:
    """The submessages and strings of one field."""
    return (value for field, value in _fields(message) if field == number and isinstance(value, memoryview))


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """(number, value) of each field; ValueError or IndexError where this is no protobuf."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, at = _varint(message, at)
            yield number, value
        elif wire in (_FIXED64, _FIXED32):
            at += 8 if wire == _FIXED64 else 4
        elif wire == _BYTES:
            size, at = _varint(message, at)
            if at + size > len(message):
                raise ValueError("a field ends beyond its message")
            yield number, message[at : at + size]
            at += size
        else:
            raise ValueError(f"no wire type {wire}")


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError("a number of more than 64 bits")
