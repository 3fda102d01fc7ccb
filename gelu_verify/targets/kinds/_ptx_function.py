"""A kernel whose PTX is executed on the CPU, as a target."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import GeluVerifyError, TargetFailure, UsageError
from ...formats import get_format, to_float64
from ...gpu.cuda import LoadedFunction
from ...gpu.faults import kind_of
from .. import incoming
from ..base import DeviceCall, Target
from ..declarations.prototype import BESIDE, SPARE, WIDEST, ZEROS, Prototype
from ..declarations.roles import OpenCall
from ..executions import in_all_executions
from ..output_memory import output_like
from ..probing import ordinary_numbers
from ._launch import launch_of, launches_of, packed

if TYPE_CHECKING:
    from ...gpu.cuda import CudaModule
    from ...gpu.ptx_device import PtxDevice
    from ...ptx.ir import ParsedFunction


@dataclass(frozen=True, kw_only=True)
class PtxFunction(Target):
    """A kernel whose PTX is executed on the CPU; `sizes`: of its parameters, in bytes."""

    device: PtxDevice
    where: tuple[CudaModule, str]
    kernel: LoadedFunction
    prototype: Prototype
    sizes: tuple[int, ...]
    beside: str = ""  # what it takes beside x and y: `Prototype.beside`

    def load(self, dtype: str, x_bits: np.ndarray) -> DeviceCall:
        memory = {"x": self.device.alloc(x_bits.nbytes), "y": self.device.alloc(x_bits.nbytes)}
        self.device.copy_in(memory["x"], x_bits)
        bits = None
        if self.beside and not self.one_second:
            bits = incoming.beside(self, self.beside, dtype, x_bits)
            memory[self.beside] = self.device.alloc(bits.nbytes)
            self.device.copy_in(memory[self.beside], bits)
        for each in self.prototype.parameters:
            if zeros := ZEROS.fullmatch(each.value):
                size = (x_bits.size + SPARE) * WIDEST if zeros[1] == "bytes" else int(zeros[1])
                memory[each.name] = self.device.alloc(size)
                self.device.copy_in(memory[each.name], np.zeros(size, np.uint8))
        held = bits if self.prototype.replaced else None
        return DeviceCall(partial(self._launch, memory, x_bits, held), memory, x_bits)

    def _launch(self, memory: dict[str, Any], x_bits: np.ndarray, held: np.ndarray | None) -> None:
        if not x_bits.size:
            return
        if self.prototype.in_place:
            self.device.copy_in(memory["y"], x_bits)
        elif self.prototype.is_added_to:
            self.device.copy_in(memory["y"], np.zeros_like(x_bits))
        elif held is not None:
            self.device.copy_in(memory["y"], held)
        given = {**memory, "x": memory["y"]} if self.prototype.in_place else memory
        arrays, start, itemsize = ("x", "y", self.beside), 0, x_bits.itemsize
        for n in self.prototype.lengths(x_bits.size, itemsize):
            grid, block, shared = launch_of(self.prototype, n, itemsize)
            words = [
                self.device.at(given[each.name], start * itemsize * (each.name in arrays))
                if each.name in given
                else packed(self.prototype, each, size, n, itemsize)
                for each, size in zip(self.prototype.parameters, self.sizes, strict=True)
            ]
            self.device.launch(replace(self.kernel, shared=shared), grid, block, *words)
            start += n

    def call(self, loaded: DeviceCall) -> None:
        try:
            loaded.run()
            self.device.synchronize()
        except self.device.driver.Error as error:
            outside, line = "out of bounds" in str(error), self.prototype.text
            hint = f" (if a thread takes several values, --call {line + '; multiple_of=8'!r} says so)"
            is_free = not self.prototype.contract.demands and self.prototype.launch
            message = f"{self.name}: {error}{hint if outside and is_free else ''}"
            raise TargetFailure(message, kind_of(str(error)) or "ptx") from error

    def store(self, dtype: str, loaded: DeviceCall, result: None) -> np.ndarray:
        """What the kernel has not written is NaN."""
        return self.device.copy_out(loaded.memory["y"], output_like(loaded.x_bits))


_MANY = 2048  # values: several blocks
_NEAR = 0.02  # the rest of a kernel may compute otherwise than its vectors, but a second gelu of its output is farther


def working(function: PtxFunction, calls: Iterable[Prototype]) -> Prototype | None:
    """The first of the calls in which it writes all of its outputs, and the same for the same inputs, however many."""
    return next((call for call in calls if _works(replace(function, prototype=call))), None)


def _works(function: PtxFunction) -> bool:
    dtype, contract = function.dtypes[0], function.prototype.contract
    x = ordinary_numbers(dtype)
    try:
        with function.device.attempting():
            found = [function.evaluate(dtype, np.resize(x, contract.length(n))) for n in (len(x), _MANY)]
    except (TargetFailure, UsageError):
        return False
    few, many = (to_float64(get_format(dtype), y) for y in found)
    same = np.resize(few[: len(x)], len(many))
    is_same = len(function.given) > 1 or np.allclose(many, same, rtol=_NEAR, atol=_NEAR)  # given: second inputs
    return bool(np.isfinite(many).all() and is_same and len({*few.tolist()}) > 1)  # one value: nothing is computed


def answerable(
    question: OpenCall, symbol: str, made: Callable[[str], PtxFunction], undeclared: ParsedFunction | None = None
) -> OpenCall:
    """What is asked of a kernel, with such lines as work, or all, where none does; `made`: the kernel as called by a
    line."""
    found, tried = list[str](), 0
    for line in question.lines:
        with suppress(GeluVerifyError):
            function = made(line)
            tried += 1
            others = launches_of(function.prototype, symbol, question.declared, undeclared)
            if call := working(function, chain([function.prototype], others)):
                found.append(call.text)
    is_none_right = not found and tried == len(question.lines) > 0
    came = "none writes all outputs, the same for the same inputs: it was tried with -1, 1/2, 1 and 2" * is_none_right
    return OpenCall(question.declared, question.why, found or question.lines, came)


def in_a_launch(function: PtxFunction, others: Iterable[Prototype]) -> Target:
    """The function as a target, in all executions that its device is asked for; `others`: in other launches, where
    nobody has said one. UsageError where it does not work as it is launched, and does in one of these."""
    if others and not _works(function) and (other := working(function, others)):
        said = function.prototype
        is_launch = said.launch != other.launch and said.contract == other.contract
        how, tried = ("launched", f"<<<{said.launch}>>>") if is_launch else ("called", said.text)
        raise UsageError(
            f"nothing says how {function.name} is {how}, and {tried} does not fit it: "
            f"give --call {other.text!r}, which does, or yours"
        )
    return in_all_executions(function, function.device, [function.where])


def ptx_function(
    name: str, prototype: Prototype, device: PtxDevice, where: tuple[CudaModule, str], kernel: LoadedFunction,
    version: str, **fields: Any,
) -> PtxFunction:  # fmt: skip
    """A kernel, called as `prototype` says.

    `where`: its module, and its name there; `version`: of what is executed; `fields`: others of the target.

    Raises UsageError where its parameters are others than said, or have values that are not known.
    """
    sizes = tuple(size for _, size in kernel.handle.kernel.translated.parameters)
    if len(sizes) != len(prototype.parameters):
        raise UsageError(f"{name} has {len(sizes)} parameters of {list(sizes)} bytes, called as {prototype.text}")
    n = prototype.contract.length(256)
    for each, size in zip(prototype.parameters, sizes, strict=True):
        if each.name not in ("x", "y", *BESIDE) and not ZEROS.fullmatch(each.value):
            packed(prototype, each, size, n, 4)
    launch_of(prototype, n, 4)
    executed = device.executed_by([where])
    return PtxFunction(
        **fields, name=name, executed=executed, version=f"{executed}, {version}",
        device=device, where=where, kernel=kernel, prototype=prototype, sizes=sizes,
    )  # fmt: skip
