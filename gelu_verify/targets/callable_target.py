"""A Python callable, called as a call line says, on arrays of the shape that it takes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import TargetFailure
from ..formats import get_format
from . import incoming
from .arrays import bits_of, dtype_of
from .call_line import CallLine, joined_inputs
from .fixed_shapes import Batches, Dimensions, batches_for, without_padding
from .library_target import LibraryCall, LibraryTarget
from .output_memory import output_like
from .python_floats import NUMBERS, ROUNDS_ONCE, Rounded, is_number, is_of_objects, numbers_bits, rounded

IF_IT_WRITES = " (where that is its result: --call 'f(x); x')"
_HINTS = {
    "NoneType": "where it changes its argument, --call 'f(x); x'; where it has an output, --call 'f(x, out=y)'",
    "list": "--array list is for functions of lists",
    "float": "--array scalar is for functions of one number",
    "coroutine": "an asynchronous function returns no result by being called",
}


def in_its_words(hint: str, line: str) -> str:
    """What a hint says of f(x), of the call that was typed; unchanged where that is more than an expression."""
    return hint if ";" in line or '"' in line else hint.replace('"f(x)[', f'"{line}[').replace("(f(x))", f"({line})")


@dataclass(frozen=True, kw_only=True)
class CallableTarget(LibraryTarget):
    """`compute` is the f of `line`; without one, it is called with x alone.

    `dimensions`: the shape of what it is called with; the inputs fill as many arrays of it as it takes.
    """

    line: CallLine | None = None
    dimensions: Dimensions = (None,)

    @property
    def why_not_in_place(self) -> str:
        if self.line is None or "y" not in self.line.names:
            in_every = self.line is not None and self.line.in_place
            return "its results replace its input in every call" if in_every else super().why_not_in_place
        return ""

    def load(self, dtype: str, x_bits: np.ndarray) -> LibraryCall:
        batches = batches_for(self.dimensions, x_bits.size)
        padded = batches.padded(x_bits)
        parts = [padded] if batches.count == 1 else padded.reshape(batches.count, batches.size)
        with self.arrays.session(dtype):
            return LibraryCall(dtype, tuple(self._names(dtype, batches, part) for part in parts), x_bits.size)

    def _names(self, dtype: str, batches: Batches, x_bits: np.ndarray) -> dict[str, Any]:
        """What the line's names stand for, for one array of inputs."""

        def array(bits: np.ndarray) -> Any:
            made = self.arrays.from_bits(dtype, bits)
            return made if self.dimensions == (None,) else self.arrays.shaped(made, batches.shape)

        names: dict[str, Any] = {"x": array(x_bits), "inputs": (("x", x_bits),)}
        if self.line is None:
            return names
        if self.second:
            names |= self._second_names(dtype, batches, x_bits, array)
        if "y" in self.line.names:
            names["y"] = array(output_like(x_bits))
        if "dy" in self.line.names:
            names["dy"] = array(incoming.bits(get_format(dtype), x_bits.size))
        names |= {"f": self.compute, "n": x_bits.size, "grad": self.arrays.gradient}
        return names | {"rounded": functools.partial(rounded, self.name, dtype)}

    def _second_names(
        self, dtype: str, batches: Batches, x_bits: np.ndarray, array: Callable[[np.ndarray], Any]
    ) -> dict[str, Any]:
        """The second input, and what the line packs it into."""
        assert self.line is not None
        bits = {"x": x_bits, self.second: self.second_bits(dtype, x_bits.size)}
        names: dict[str, Any] = {self.second: array(bits[self.second])}
        inputs = {"x": x_bits, self.second: bits[self.second]}
        for name, packing in self.line.packings.items():
            inputs[name] = joined_inputs(packing, bits, batches.shape[-1])
            names[name] = self.arrays.from_bits(dtype, inputs[name])
            if self.dimensions != (None,):
                names[name] = self.arrays.shaped(names[name], (*batches.shape[:-1], 2 * batches.shape[-1]))
        return names | {"inputs": (("x", x_bits), *((name, inputs[name].copy()) for name in inputs if name != "x"))}

    def call(self, loaded: LibraryCall) -> list[Any]:
        with self.arrays.session(loaded.dtype):
            self.enter_environment()
            if len(loaded.arguments) == 1:
                return [self.arrays.wait(self._result(loaded.arguments[0]))]
            return [self._copied(loaded.dtype, self.arrays.wait(self._result(names))) for names in loaded.arguments]

    def _copied(self, dtype: str, result: Any) -> np.ndarray:
        """Its bits, before the next call may write to the same memory."""
        try:
            return self._bits(dtype, result).copy()
        except TargetFailure as failure:
            failure.kind = failure.kind or "dtype"
            raise

    def _result(self, names: dict[str, Any]) -> Any:
        x = names["x"]
        if self.arrays.name != "scalar":
            return self.compute(x) if self.line is None else self.line.run(names)
        if self.line is None:
            return [self.compute(value) for value in x]
        others = [names[self.second]] if self.second else []
        given = (dict(zip(("x", self.second), each, strict=False)) for each in zip(x, *others, strict=True))
        return [self.line.run(names | each | {"dy": incoming.scalar(), "n": 1}) for each in given]

    def store(self, dtype: str, loaded: LibraryCall, result: Sequence[Any]) -> np.ndarray:
        with self.arrays.session(dtype):
            found = list(result) if len(result) > 1 else [self._bits(dtype, result[0])]
            for names in loaded.arguments:
                for name, bits in names["inputs"]:
                    self._check_own_copy(dtype, names[name], bits, always=name != "x")
        if self.dimensions == (None,):
            return found[0]
        asked = [names["inputs"][0][1] for names in loaded.arguments]
        for each, names in zip(found, loaded.arguments, strict=True):
            shape = tuple(names["x"].shape)
            if each.shape != shape:
                raise TargetFailure(f"{self.name} returned shape {each.shape} for an input of shape {shape}", "shape")
        x_bits, got = (np.concatenate(list(map(np.ravel, all_of))) for all_of in (asked, found))
        return without_padding(get_format(dtype), x_bits, got, loaded.n)

    def _bits(self, dtype: str, result: Any) -> np.ndarray:
        try:
            return self._bits_of(dtype, result)
        except TargetFailure as failure:
            if self.line is None:
                raise
            raise TargetFailure(in_its_words(str(failure), self.line.text), failure.kind) from None

    def _bits_of(self, dtype: str, result: Any) -> np.ndarray:
        of_numbers = self.line is not None or self.arrays.name in NUMBERS
        if isinstance(result, Rounded):
            return numbers_bits(self.name, dtype, [result]).reshape(())
        are_arrays = isinstance(result, tuple) and any(getattr(each, "shape", ()) != () for each in result)
        if of_numbers and isinstance(result, list | tuple) and not are_arrays:
            return numbers_bits(self.name, dtype, result)
        if is_of_objects(result):
            return numbers_bits(self.name, dtype, result.ravel().tolist()).reshape(result.shape)
        try:
            return bits_of(self.name, dtype, result, self.arrays)
        except TargetFailure as failure:
            hint = self._hint(dtype, result)
            raise TargetFailure(f"{failure} ({hint})" if hint else str(failure), failure.kind) from None

    def _hint(self, dtype: str, result: Any) -> str | None:
        """How else it may have to be called, as what it returned is not its result."""
        got = dtype_of(result, self.arrays)
        if got and get_format(got).precision > get_format(dtype).precision:
            return ROUNDS_ONCE
        if isinstance(self.compute, type) and isinstance(result, self.compute):
            return "--kwarg gives what an instance is made with, which is then called"
        is_one_each = isinstance(result, tuple) and result and all(map(is_number, result))
        return _HINTS.get("list" if is_one_each else type(result).__name__)

    def _check_own_copy(self, dtype: str, x: Any, x_bits: np.ndarray, always: bool = False) -> None:
        """Where the callable got a copy of its inputs, that must stay as it was too; the caller checks all else."""
        if self.arrays.name in NUMBERS:
            before = self.arrays.from_bits(dtype, x_bits)
            if not np.array_equal(np.array(list(x)), np.array(list(before)), equal_nan=True):
                raise TargetFailure(f"{self.name} changed its input", "changed input")
        elif always or self.arrays.device or (self.arrays.name == "torch" and not x_bits.flags.writeable):
            self.check_unchanged(get_format(dtype), x_bits, self.arrays.to_bits(x)[1].ravel())
