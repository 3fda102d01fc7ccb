"""A Python callable, called as a call line says, on arrays of the shape that it takes."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import TargetFailure
from ..formats import get_format
from .arrays import bits_of
from .buffers import output_like
from .calls import CallLine
from .library import LibraryTarget, Loaded
from .numbers import NUMBERS, Rounded, numbers_bits, rounded
from .pieces import Dimensions, Pieces, pieces_of, unfilled

_HINTS = {
    "NoneType": "where it changes its argument, --call 'f(x); x'; where it has an output, --call 'f(x, out=y)'",
    "tuple": "--call 'f(x)[0]' takes one of several results",
    "list": "--array list is for functions of lists",
    "float": "--array scalar is for functions of one number",
    "coroutine": "an asynchronous function returns no result by being called",
    "generator": "--call 'list(f(x))' takes all that it yields",
}


@dataclass(frozen=True, kw_only=True)
class CallableTarget(LibraryTarget):
    """`compute` is the f of `line`; without one, it is called with x alone.

    `dimensions`: the shape of what it is called with; the inputs fill as many arrays of it as it takes.
    """

    line: CallLine | None = None
    dimensions: Dimensions = (None,)

    def load(self, dtype: str, x_bits: np.ndarray) -> Loaded:
        pieces = pieces_of(self.dimensions, x_bits.size)
        filled = pieces.filled(x_bits)
        parts = [filled] if pieces.count == 1 else filled.reshape(pieces.count, pieces.size)
        with self.arrays.session(dtype):
            return Loaded(dtype, tuple(self._given(dtype, pieces, part) for part in parts), x_bits.size)

    def _given(self, dtype: str, pieces: Pieces, x_bits: np.ndarray) -> dict[str, Any]:
        """What the line's names stand for, for one array of inputs."""

        def array(bits: np.ndarray) -> Any:
            made = self.arrays.from_bits(dtype, bits)
            return made if self.dimensions == (None,) else self.arrays.shaped(made, pieces.shape)

        given = {"x": array(x_bits), "bits": x_bits}
        if self.line is None:
            return given
        fmt, names = get_format(dtype), self.line.names
        if "y" in names:
            given["y"] = array(output_like(x_bits))
        if "dy" in names:
            given["dy"] = array(np.full_like(x_bits, fmt.one))
        given |= {"f": self.compute, "n": x_bits.size, "grad": self.arrays.gradient}
        return given | {"rounded": functools.partial(rounded, self.name, dtype)}

    def call(self, loaded: Loaded) -> list[Any]:
        with self.arrays.session(loaded.dtype):
            self.enter_environment()
            if len(loaded.arguments) == 1:
                return [self.arrays.wait(self._answer(loaded.arguments[0]))]
            return [self._kept(loaded.dtype, self.arrays.wait(self._answer(given))) for given in loaded.arguments]

    def _kept(self, dtype: str, result: Any) -> np.ndarray:
        """Its bits, before the next call may write to the same memory."""
        try:
            return self._bits(dtype, result).copy()
        except TargetFailure as failure:
            failure.kind = failure.kind or "dtype"
            raise

    def _answer(self, given: dict[str, Any]) -> Any:
        x = given["x"]
        if self.arrays.name != "scalar":
            return self.compute(x) if self.line is None else self.line.run(given)
        if self.line is None:
            return [self.compute(value) for value in x]
        return [self.line.run(given | {"x": value, "dy": 1.0, "n": 1}) for value in x]

    def store(self, dtype: str, loaded: Loaded, result: Sequence[Any]) -> np.ndarray:
        with self.arrays.session(dtype):
            found = list(result) if len(result) > 1 else [self._bits(dtype, result[0])]
            for given in loaded.arguments:
                self._check_own_copy(dtype, given["x"], given["bits"])
        if self.dimensions == (None,):
            return found[0]
        asked = [given["bits"] for given in loaded.arguments]
        for each, given in zip(found, loaded.arguments, strict=True):
            shape = tuple(given["x"].shape)
            if each.shape != shape:
                raise TargetFailure(f"{self.name} returned shape {each.shape} for an input of shape {shape}", "shape")
        x_bits, got = (np.concatenate(list(map(np.ravel, all_of))) for all_of in (asked, found))
        return unfilled(get_format(dtype), x_bits, got, loaded.n or 0)

    def _bits(self, dtype: str, result: Any) -> np.ndarray:
        of_numbers = self.line is not None or self.arrays.name in NUMBERS
        if isinstance(result, Rounded):
            return numbers_bits(self.name, dtype, [result]).reshape(())
        if of_numbers and isinstance(result, list | tuple):
            return numbers_bits(self.name, dtype, result)
        try:
            return bits_of(self.name, dtype, result, self.arrays)
        except TargetFailure as failure:
            hint = _HINTS.get(type(result).__name__)
            raise TargetFailure(f"{failure} ({hint})" if hint else str(failure), failure.kind) from None

    def _check_own_copy(self, dtype: str, x: Any, x_bits: np.ndarray) -> None:
        """Where the callable was given a copy of its inputs, that must stay as it was too; the caller sees all else."""
        if self.arrays.name in NUMBERS:
            before = self.arrays.from_bits(dtype, x_bits)
            if not np.array_equal(np.array(list(x)), np.array(list(before)), equal_nan=True):
                raise TargetFailure(f"{self.name} changed its input", "changed input")
        elif self.arrays.name == "torch" and not x_bits.flags.writeable:
            self.check_unchanged(get_format(dtype), x_bits, self.arrays.to_bits(x)[1].ravel())
