"""Which arrays a callable takes, where the user does not say: by where it comes from, by its annotation, by trying."""

from __future__ import annotations

import array
import functools
import inspect
import re
import sys
import threading
import typing
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from itertools import filterfalse
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import MissingMeasurement, TargetFailure
from ..fenv import default_environment
from ..formats import DTYPES, get_format
from ..interrupts import is_from_user
from . import under_way
from .arrays import KINDS, MAKERS, ArrayKind, ModuleKind, kind_of_module
from .call_line import signature_of
from .contract import ALIGNMENTS, NOTHING, Contract, as_demanded, demanding
from .fixed_shapes import parsed_shape
from .importing import quiet
from .probing import ordinary_numbers
from .python_floats import NUMBERS, is_number

if TYPE_CHECKING:
    from .base import Target
    from .callable_target import CallableTarget

# What is around each of these first calls: the process that hosts a target looks at what it leaves behind.
watched: Callable[[], AbstractContextManager[Any]] = nullcontext

_DIGITS = 15  # binary ones, which no result has by chance
_ELSEWHERE_S = 1.0  # that a call on another thread may take
_LENGTHS = sorted({*(1 << k for k in range(3, 16)), *(3 << k for k in range(2, 14)), 100, 1000, 10_000})
_SMALL = range(1, 14)
SHAPES = ("(n, 16)", "(1, n)", "(1, n, 16)", "(1, 16, n, 16)", "(8, 128)", "()")  # (8, 128) is a tile of a TPU
_ANNOTATIONS = {list: "list", Sequence: "list", array.array: "array", memoryview: "memoryview"}


def own_kind(compute: Callable[..., Any]) -> ArrayKind | None:
    """Kind of the package that a callable says it is from, or that its class or one of its bases is from."""
    while isinstance(compute, functools.partial):
        compute = compute.func
    classes = compute.__mro__ if inspect.isclass(compute) else type(compute).__mro__
    modules = [getattr(compute, "__module__", None), *(each.__module__ for each in classes)]
    return next((kind for module in modules if (kind := kind_of_module(module))), None)


def _package_arrays(compute: Callable[..., Any]) -> ArrayKind | None:
    """Arrays of the package that a callable is from, where it can make them of NumPy's: paddle, mlx.core."""
    root = (getattr(compute, "__module__", None) or "").partition(".")[0]
    for name in (root, f"{root}.core"):
        if any(hasattr(sys.modules.get(name), maker) for maker in MAKERS):
            return ModuleKind(name)
    return None


def _on(kind: ArrayKind, device: str) -> ArrayKind | None:
    """The kind with its arrays there; None where its library does not have that device."""
    with suppress(MissingMeasurement):
        return kind.on(device) if kind.has_devices else None
    return None


class Trial(NamedTuple):
    """What a callable returned for `ordinary_numbers`, and its bits; none where they are not those of the dtype.

    `another`: that they are of another dtype, or that it wrote nothing to an array of this one, in words.
    `is_input`: that the result is the array that it was given, changed.
    """

    result: list[Any]
    bits: tuple[int, ...]
    another: str = ""
    is_input: bool = False
    wrote_nothing: bool = False


class Detection:
    """Finds what a callable takes: see above. `outputs`, by kind and dtype, is what its trials returned."""

    def __init__(self, target: CallableTarget, device: str | None = None) -> None:
        self._target, self._device = target, device
        self.outputs: dict[tuple[str, str], tuple[int, ...]] = {}

    def kind(self) -> ArrayKind:
        """NumPy's arrays where nothing else is found; on a device those of the first library that has it."""
        kind = own_kind(self._target.compute) or _annotated_kind(self._target.compute)
        if kind is not None:
            return kind.on(self._device) if self._device else kind
        found = self._annotated_class() or self._array_kind() or self._numbers_kind()
        if found is None and self._device:
            found = next(self._candidates(), None)
            if found is None:
                raise MissingMeasurement(f"device {self._device!r}: no imported library has it (torch, jax)")
        return found or next(filterfalse(self._refuses_class, self._candidates()), KINDS["numpy"])

    def others(self, kind: ArrayKind) -> list[ArrayKind]:
        """Further kinds that it may take in another form, where nothing says which."""
        said = own_kind(self._target.compute) or _annotated_kind(self._target.compute)
        return [] if said else [each for each in self._candidates() if each.name != kind.name]

    def _refuses_class(self, kind: ArrayKind) -> bool:
        """Whether what it raises says that such an array is of another library than its own."""
        said = failure_of(replace(self._target, arrays=kind))
        return bool(re.search(r"AttributeError.* has no attribute", said))

    def _annotated_class(self) -> ArrayKind | None:
        """Of a class that the annotation names, where one can be made of an array: `x: pandas.Series`."""
        hint = _annotation(self._target.compute)
        if self._device or not isinstance(hint, type):
            return None
        package, name = hint.__module__.partition(".")[0], hint.__qualname__
        if package == "builtins" or getattr(sys.modules.get(package), name, None) is not hint:
            return None
        return kind if self._tried(kind := ModuleKind(f"{package}.{name}")) else None

    def _array_kind(self) -> ArrayKind | None:
        """The first kind, of libraries that are imported already, whose arrays it takes; NumPy's it may take for
        another's: what returns jax arrays is called with those, and what returns numbers with numbers."""
        for kind in self._candidates():
            result = self._tried(kind)
            if result is None:
                continue
            one = result[0]
            are_numbers = type(one) is float or (isinstance(one, list) and _are_numbers(one))
            if are_numbers and self._target.line is None and (numbers := self._numbers_kind()):
                return numbers
            owner = next((each for each in self._candidates() if each.owns(result[0])), kind)
            return owner if owner.name == kind.name or self._tried(owner) else kind
        return None

    def _candidates(self) -> Iterator[ArrayKind]:
        """The kinds whose library is imported by now: a trial may import one; last the arrays of its own package."""
        for kind in KINDS.values():
            if kind.roots[0] not in sys.modules:
                continue
            there = _on(kind, self._device) if self._device else kind
            if there is not None:
                yield there
        if not self._device and (own := _package_arrays(self._target.compute)):
            yield own

    def _numbers_kind(self) -> ArrayKind | None:
        """One number at a time, or lists, for what takes no array."""
        line = self._target.line
        if (line is not None and "y" in line.names) or self._target.dimensions != (None,) or self._device:
            return None
        for name, is_result in (("scalar", is_number), ("list", _are_numbers)):
            result = self._tried(NUMBERS[name])
            if result is not None and is_result(result[0][0] if name == "scalar" else result[0]):
                return NUMBERS[name]
            self.outputs = {key: bits for key, bits in self.outputs.items() if key[0] != name}
        return None

    def _tried(self, kind: ArrayKind) -> list[Any] | None:
        """What it returns in the first of its dtypes that it takes; None where it takes none."""
        target = replace(self._target, arrays=kind)
        for dtype in likeliest_first(target.dtypes):
            if found := trial(target, dtype):
                key = kind.name, dtype
                self.outputs[key] = self.outputs.get(key, ()) + found.bits
                return found.result
        return None


def failure_of(target: CallableTarget) -> str:
    """What it does with ordinary numbers, where it fails with them; empty where it does not."""
    dtype = likeliest_first(target.dtypes)[0]
    try:
        with quiet(), watched():
            target.timed(dtype, as_demanded(ordinary_numbers(dtype)))
    except TargetFailure as failure:
        return str(failure)
    return ""


def trial(target: CallableTarget, dtype: str, size: int | None = None) -> Trial | None:
    """One call with `ordinary_numbers`, or so many values of them; None where it raises."""
    ordinary = ordinary_numbers(dtype)
    ordinary = ordinary if size is None else np.resize(ordinary, size)
    x = as_demanded(ordinary)
    with quiet(), watched(), default_environment():
        try:
            loaded = target.load(dtype, x)
            under_way.began(dtype)
            result = target.call(loaded)
        except BaseException as error:  # someone else's code: the sweep shows what it raises
            if is_from_user(error):
                raise
            return None
        finally:
            under_way.ended()
        try:
            y = target.store(dtype, loaded, result)
        except BaseException as error:  # as above
            if is_from_user(error):
                raise
            is_of_another = isinstance(error, TargetFailure) and error.kind == "dtype"
            return Trial(result, (), str(error) if is_of_another else "")
    if target.line and "y" in target.line.names and (y == np.iinfo(y.dtype).max).all():  # as `output_like` left it
        return Trial(result, (), f"{target.name} writes nothing to an array of {dtype}", wrote_nothing=True)
    is_input = result[0] is loaded.arguments[0]["x"] and not (target.line and target.line.in_place)
    bits = tuple(y[: len(ordinary)].tolist()) if y.shape == x.shape else ()
    return Trial(result, bits, is_input=is_input and bits != tuple(ordinary.tolist()))


def computes_in_float32(target: CallableTarget) -> bool:
    """Whether a function of Python's floats returns float32 numbers of many digits for inputs that are none."""
    with quiet(), watched(), default_environment(), suppress(Exception):  # what it raises, the sweep shows
        y = target.evaluate("float64", np.array([1 / 3, -1 / 3, 2 / 3, 1.1]).view(np.uint64)).view(np.float64)
        digits = [float(each).as_integer_ratio()[0].bit_length() for each in y]  # of the odd numerator
        return bool((y == y.astype(np.float32)).all() and max(digits) > _DIGITS)
    return False


def works_here_alone(target: Target) -> bool:
    """Whether a Python function that returned a result for ordinary numbers does on this thread, and raises or hangs on
    another one, also at a length that it was not called with before: what is compiled for one is there for all."""
    dtype = next((name for name, bits in target.probe_outputs.items() if bits), "")
    if not dtype or target.family != "callable":
        return False
    x, returned = np.tile(ordinary_numbers(dtype), 2), threading.Event()

    def call() -> None:
        with suppress(Exception):  # whatever it is, the sweep shows it
            target.timed(dtype, x.copy())
            returned.set()

    elsewhere = threading.Thread(target=call, daemon=True)
    with quiet(), watched():
        elsewhere.start()
        elsewhere.join(_ELSEWHERE_S)
        if returned.is_set():
            return False
        call()
    return returned.is_set()


def demand_found(target: CallableTarget, dtypes: Iterable[str]) -> Contract:
    """What it demands of arrays of one dimension; nothing where no call shows it."""
    names = likeliest_first(dtypes)

    def takes(contract: Contract, size: int | None = None) -> bool:
        with demanding(contract):
            return any(_computes(target, name, size) for name in names)

    found = _lengths_taken(lambda contract, size=None: takes(replace(contract, aligned=ALIGNMENTS[-1]), size))
    aligned = (replace(found, aligned=each) for each in ALIGNMENTS) if found else ()
    return next(filter(takes, aligned), NOTHING)


def _lengths_taken(takes: Callable[..., bool]) -> Contract | None:
    fewer = len(ordinary_numbers("float32"))
    if takes(NOTHING):
        return _few_taken(takes)
    for n in _LENGTHS:
        if takes(Contract(at_least=n)):  # called with n values
            if takes(Contract(at_least=n + 1)) and takes(Contract(at_least=3 * n + 1)):
                least = bisect_left(range(n), True, fewer + 1, key=lambda fewest: takes(Contract(at_least=fewest)))
                return Contract(at_least=least)
            return Contract(multiple_of=n) if takes(Contract(at_least=3 * n)) else Contract(exactly=n)
        fewer = n
    return None


def _few_taken(takes: Callable[..., bool]) -> Contract:
    """What it demands that takes four values: only what all other small lengths show, as one alone may be a fault."""
    works = [n for n in _SMALL if takes(NOTHING, n)]
    if works == [4]:
        return Contract(exactly=4)
    return next((Contract(multiple_of=n) for n in (2, 4) if works == [*range(n, _SMALL.stop, n)]), NOTHING)


def takes_other_lengths(target: CallableTarget, dtypes: Iterable[str]) -> bool:
    """Whether it computes with a value more than `ordinary_numbers`, too; where lengths are compiled, it may."""
    dtype = likeliest_first(dtypes)[0]
    return target.compiles_per_length or _computes(target, dtype, len(ordinary_numbers(dtype)) + 1)


def shape_taken(target: CallableTarget, dtypes: Iterable[str]) -> str | None:
    """The first of SHAPES in which it returns as many values."""
    names = likeliest_first(dtypes)
    for text in SHAPES:
        shaped = replace(target, dimensions=parsed_shape(text))
        if any(_computes(shaped, name, 32) for name in names):
            return text
    return None


def _computes(target: CallableTarget, dtype: str, size: int | None = None) -> bool:
    """Whether it returns a number for ordinary numbers: a grid without blocks leaves what was in memory."""
    made, fmt = trial(target, dtype, size), get_format(dtype)
    return made is not None and not all(map(fmt.is_nan, made.bits))


def _annotated_kind(compute: Callable[..., Any]) -> ArrayKind | None:
    """Of the first parameter's annotation: `list[float]`, `torch.Tensor`."""
    hint = _annotation(compute)
    with suppress(TypeError):  # not hashable
        if hint in _ANNOTATIONS:
            return NUMBERS[_ANNOTATIONS[hint]]
    return kind_of_module(hint if isinstance(hint, str) else getattr(hint, "__module__", None))


def _annotation(compute: Callable[..., Any]) -> Any:
    """The first parameter's, without what stands in brackets; text where that is all there is."""
    try:
        signature: inspect.Signature | None = inspect.signature(compute, eval_str=True)
    except Exception:  # noqa: BLE001 - the user's annotations, whatever they raise
        signature = signature_of(compute)
    parameters = signature.parameters.values() if signature else ()
    hint = next(iter(parameters)).annotation if parameters else None
    return typing.get_origin(hint) or hint


def _are_numbers(result: Any) -> bool:
    if isinstance(result, np.ndarray):
        return bool(result.shape == (len(ordinary_numbers("float64")),))
    is_one_each = isinstance(result, list | tuple) and len(result) == len(ordinary_numbers("float64"))
    return is_one_each and all(map(is_number, result))


def likeliest_first(dtypes: Iterable[str]) -> list[str]:
    return sorted(dtypes, key=lambda dtype: ("float32", "float64", *DTYPES).index(dtype))
