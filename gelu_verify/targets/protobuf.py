"""Protocol Buffers as bytes: the fields of a message, read and written. What they mean, the caller knows."""

from __future__ import annotations

import struct
from collections.abc import Iterator

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types

Field = tuple[int, int | float | str | bytes]  # number, value; a message is its bytes


def message(*fields: Field) -> bytes:
    """A message of these fields, in this order; a float is written in 32 bits, an int must not be negative."""
    return b"".join(map(_written, fields))


def _written(field: Field) -> bytes:
    number, value = field
    if isinstance(value, int):
        return _varint_of(number << 3 | _VARINT) + _varint_of(value)
    if isinstance(value, float):
        return _varint_of(number << 3 | _FIXED32) + struct.pack("<f", value)
    content = value.encode() if isinstance(value, str) else value
    return _varint_of(number << 3 | _BYTES) + _varint_of(len(content)) + content


def _varint_of(value: int) -> bytes:
    groups = []
    while value >= 0x80:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])


def text(message: memoryview, number: int) -> str:
    """The first string of that field; empty where there is none."""
    return next((bytes(part).decode() for part in parts(message, number)), "")


def whole(message: memoryview, number: int) -> int | None:
    """The first integer of that field."""
    return next((value for field, value in fields(message) if field == number and isinstance(value, int)), None)


def parts(message: memoryview, number: int) -> Iterator[memoryview]:
    """The submessages and strings of one field."""
    return (value for field, value in fields(message) if field == number and isinstance(value, memoryview))


def fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """(number, value) of each field but floats; ValueError or IndexError where this is not a protobuf."""
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
            raise ValueError(f"wire type {wire} is not known")


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
