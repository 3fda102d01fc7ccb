"""The floating-point environment: set to the default in our code, restored for the caller.

A thread carries one: rounding mode, flushing of subnormals, exceptions that end the process. `torch.set_flush_denormal`
and C libraries change it. Every public function that computes runs in the default one, in which threads that it
starts begin; the exceptions that a caller has seen so far (sticky flags) are put back too.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any, ParamSpec, TypeVar

from ._fenv import enter, left
from ._fenv import leave as go_to

__all__ = [
    "LoadedInDefaultEnvironment",
    "awaited_in_default_environment",
    "default_environment",
    "go_to",
    "in_default_environment",
    "left",
]

P = ParamSpec("P")
T = TypeVar("T")


def in_default_environment(function: Callable[P, T]) -> Callable[P, T]:
    """`function`, called in the default environment, whatever the caller's is."""

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        __tracebackhide__ = True  # pytest shows the caller, not this
        callers = enter()
        try:
            return function(*args, **kwargs)
        finally:
            go_to(callers)

    return called


@contextmanager
def default_environment() -> Iterator[None]:
    """The default environment for this thread, and those that are started meanwhile; the caller's afterwards."""
    callers = enter()
    try:
        yield
    finally:
        go_to(callers)


@types.coroutine
def awaited_in_default_environment(coroutine: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
    """What `coroutine` returns, each of its steps in the default environment: other tasks share its thread."""
    step: Callable[[Any], Any] = coroutine.send
    value: Any = None
    while True:
        callers = enter()
        try:
            waiting = step(value)
        except StopIteration as done:
            result: T = done.value
            return result
        finally:
            go_to(callers)
        try:
            step, value = coroutine.send, (yield waiting)
        except BaseException as error:  # noqa: BLE001 - it is the coroutine's
            step, value = coroutine.throw, error


class LoadedInDefaultEnvironment:
    """Finds our modules for `import`: what they compute once, when they are loaded, stays for ever."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """As `importlib.abc.MetaPathFinder` has it."""
        spec = PathFinder.find_spec(name, path, target) if name.startswith(f"{__package__}.") else None
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = in_default_environment(spec.loader.exec_module)  # type: ignore[method-assign]
        return spec
