"""Inputs, outputs and operators of an ONNX model file, read from its protobuf: which runtime runs it is decided later.

Fields of onnx.proto that are followed: ModelProto.graph 7; GraphProto.node 1, initializer 5, input 11, output 12;
NodeProto.op_type 4; TensorProto.name 8; ValueInfoProto.name 1, type 2; TypeProto.tensor_type 1; Tensor.elem_type 1,
shape 2; TensorShapeProto.dim 1; Dimension.dim_value 1.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    """What a model takes, less its initializers, what it gives, and the operators of its main graph in order."""

    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    operators: tuple[str, ...]


def signature(path: Path, shown: str) -> Signature:
    """The signature of a model file; UsageError when it holds none."""
    try:
        graph = next(_parts(memoryview(path.read_bytes()), 7))
        given = {_text(part, 8) for part in _parts(graph, 5)}
        inputs = tuple(value for part in _parts(graph, 11) if (value := _value(part)).name not in given)
        outputs = tuple(map(_value, _parts(graph, 12)))
        operators = tuple(_text(node, 4) for node in _parts(graph, 1))
    except (StopIteration, ValueError, IndexError, UnicodeDecodeError):
        raise UsageError(f"{shown} is no ONNX model") from None
    return Signature(inputs, outputs, operators)


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
