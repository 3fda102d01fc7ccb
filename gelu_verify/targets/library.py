"""What the framework files share: a target made of one Python callable, imports that explain themselves, probing."""

from __future__ import annotations

import dataclasses
import logging
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from ..errors import TargetFailure, TargetUnavailable
from ..fenv import go_to
from ..formats import DTYPES, get_format
from .arrays import ArrayKind, bits_of
from .base import Target, first_line

AnyTarget = TypeVar("AnyTarget", bound=Target)
Taken = bool | tuple[int, ...]  # whether it takes a dtype, or what it answered


@dataclass(frozen=True)
class Loaded:
    """Arguments of one call, and the dtype that they are in; `n` is how many values the caller has, where said."""

    dtype: str
    arguments: tuple
    n: int | None = None


def _alone(x: Any) -> tuple:
    return (x,)


@dataclass(frozen=True, kw_only=True)
class LibraryTarget(Target):
    """A path through a library: `prepare` makes the arguments from x (not timed), `compute` is timed."""

    arrays: ArrayKind
    compute: Callable[..., Any]
    prepare: Callable[[Any], tuple] = _alone
    environment: tuple[bytes, list[str]] | None = None  # floating-point environment that its import leaves, in words

    @property
    def environment_words(self) -> list[str]:
        return self.environment[1] if self.environment else []

    def load(self, dtype: str, x_bits: np.ndarray) -> Loaded:
        with self.arrays.session(dtype):
            return Loaded(dtype, self.prepare(self.arrays.from_bits(dtype, x_bits)))

    def call(self, loaded: Loaded) -> Any:
        with self.arrays.session(loaded.dtype):
            self.enter_environment()
            return self.arrays.wait(self.compute(*loaded.arguments))

    def enter_environment(self) -> None:
        """Go to the floating-point environment that calls have; who makes the call goes back."""
        if self.environment is not None:
            go_to(self.environment[0])

    def store(self, dtype: str, loaded: Loaded, result: Any) -> np.ndarray:
        with self.arrays.session(dtype):
            return bits_of(self.name, dtype, result, self.arrays)


@dataclass(frozen=True)
class Path:
    """One way through a library: what it is called, what it computes, how, and the callable that does.

    `prepare` and `note` where they differ from the rest of the family.
    """

    name: str
    function: str
    form: str
    compute: Callable[..., Any]
    prepare: Callable[[Any], tuple] | None = None
    note: str = ""


def library_targets(
    family: str,
    version: str,
    paths: Iterable[Path],
    *,
    arrays: ArrayKind,
    prepare: Callable[[Any], tuple] = _alone,
    note: str = "",
    takes: Callable[[LibraryTarget, str], Taken] | None = None,
    safe_in_threads: bool = False,
) -> Iterator[Target]:
    """The paths of one library as targets, each in the dtypes that it `takes` (default: in which it answers)."""
    return probed(
        (
            LibraryTarget(
                name=f"{family}.{path.name}",
                function=path.function,
                dtypes=DTYPES,
                form=path.form,
                note=path.note or note,
                version=version,
                safe_in_threads=safe_in_threads,
                compiles_per_length=arrays.compiles_per_length,
                arrays=arrays,
                compute=path.compute,
                prepare=path.prepare or prepare,
            )
            for path in paths
        ),
        takes or answers,
    )


@contextmanager
def quiet() -> Iterator[None]:
    """Import-time chatter of a framework is not ours to print, nor to fail on under `-W error`."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow reads it once, when it is first imported
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)


def framework(module: str, package: str | None = None) -> ModuleType:
    """Import `module`; TargetUnavailable says that `package` is not installed, or why it does not import."""
    package = package or module.partition(".")[0]
    try:
        with quiet():
            return import_module(module)
    except ModuleNotFoundError as error:
        if error.name == module.partition(".")[0]:
            raise TargetUnavailable(f"{package} is not installed") from None
        raise TargetUnavailable(_broken(package, error)) from error
    except Exception as error:  # a broken installation may raise anything
        raise TargetUnavailable(_broken(package, error)) from error


def _broken(package: str, error: Exception) -> str:
    return f"{package} cannot be imported: {type(error).__name__}: {first_line(error)}"


_looked_for: ContextVar[tuple[str | None, str | None]] = ContextVar("looked_for", default=(None, None))


@contextmanager
def looking_for(function: str | None, dtype: str | None) -> Iterator[None]:
    """While paths that compute another function, and other dtypes, need not be tried."""
    token = _looked_for.set((function, dtype))
    try:
        yield
    finally:
        _looked_for.reset(token)


def probed(targets: Iterable[AnyTarget], takes: Callable[[AnyTarget, str], Taken]) -> Iterator[AnyTarget]:
    """Each target with those of its dtypes that it takes, and what it answered; those that take none are left out."""
    function, only = _looked_for.get()
    for target in targets:
        if function not in (None, target.function):
            continue
        asked = [dtype for dtype in target.dtypes if only in (None, dtype)]
        taken = {dtype: said for dtype in asked if (said := takes(target, dtype))}
        if taken:
            answered = {dtype: said for dtype, said in taken.items() if isinstance(said, tuple)}
            yield dataclasses.replace(target, dtypes=tuple(taken), answered=answered)


def answers(target: Target, dtype: str) -> tuple[int, ...]:
    """Its answers to `ordinary_numbers` in that dtype; none where it gives none."""
    try:
        return tuple(target.evaluate(dtype, ordinary_numbers(dtype)).tolist())
    except TargetFailure:
        return ()


def ordinary_numbers(dtype: str) -> np.ndarray:
    """Bits of -1, 1/2, 1 and 2: what any implementation that takes the dtype at all answers."""
    fmt = get_format(dtype)
    return np.array([fmt.parse(text) for text in ("-1", "0.5", "1", "2")], fmt.uint)
