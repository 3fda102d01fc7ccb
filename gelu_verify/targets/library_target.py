"""A path through a library, made of one Python callable: what most framework files consist of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..fenv import go_to
from ..formats import DTYPES
from .arrays import ArrayKind, bits_of
from .base import Target
from .expressions import evaluating
from .probing import Taken, outputs_of_probe, probed


@dataclass(frozen=True)
class LibraryCall:
    """Arguments of one call, in the library's own types, and the dtype that they are in."""

    dtype: str
    arguments: tuple[Any, ...]
    n: int = 0  # values that the caller asked for, where the arguments are padded


def _only_x(x: Any) -> tuple[Any, ...]:
    return (x,)


@dataclass(frozen=True, kw_only=True)
class LibraryTarget(Target):
    """A path through a library: `prepare` makes the arguments from x (not timed), `compute` is timed."""

    arrays: ArrayKind
    compute: Callable[..., Any]
    prepare: Callable[[Any], tuple[Any, ...]] = _only_x
    environment: tuple[bytes, list[str]] | None = None  # floating-point environment that its import leaves, in words

    @property
    def environment_words(self) -> list[str]:
        return self.environment[1] if self.environment else []

    def load(self, dtype: str, x_bits: np.ndarray) -> LibraryCall:
        with self.arrays.session(dtype):
            return LibraryCall(dtype, self.prepare(self.arrays.from_bits(dtype, x_bits)))

    def call(self, loaded: LibraryCall) -> Any:
        with self.arrays.session(loaded.dtype):
            self.enter_environment()
            return self.arrays.wait(self.compute(*loaded.arguments))

    def enter_environment(self) -> None:
        """Go to the floating-point environment that calls have; who makes the call goes back."""
        if self.environment is not None:
            go_to(self.environment[0])

    def store(self, dtype: str, loaded: LibraryCall, result: Any) -> np.ndarray:
        with self.arrays.session(dtype):
            return bits_of(self.name, dtype, result, self.arrays)


@dataclass(frozen=True)
class Path:
    """One way through a library: what it is called, what it computes, how, and the callable that does.

    `expression` of x: what users write to reach it; without `compute`, it is what is called. `gradient_of`: where
    there is none, the expression whose gradient it is.
    `prepare`, `note`, `components` and `dtypes` where they differ from the rest of the family.
    """

    name: str
    function: str
    form: str
    compute: Callable[..., Any] | None = None
    prepare: Callable[[Any], tuple[Any, ...]] | None = None
    note: str = ""
    components: tuple[str, ...] = ()
    expression: str = ""
    dtypes: tuple[str, ...] = DTYPES
    gradient_of: str = ""


def library_targets(
    family: str,
    version: str,
    paths: Iterable[Path],
    *,
    arrays: ArrayKind,
    names: Mapping[str, Any] | None = None,
    prepare: Callable[[Any], tuple[Any, ...]] = _only_x,
    note: str = "",
    takes: Callable[[LibraryTarget, str], Taken] | None = None,
    safe_in_threads: bool = False,
    components: tuple[str, ...] = (),
) -> Iterator[Target]:
    """The paths of one library as targets, each in the dtypes that it `takes` (default: in which it does not fail).

    `names`: modules by their names in the expressions of paths.
    """
    return probed(
        (
            LibraryTarget(
                name=f"{family}.{path.name}",
                function=path.function,
                dtypes=path.dtypes,
                form=path.form,
                expression=path.expression,
                note=path.note or note,
                version=version,
                safe_in_threads=safe_in_threads,
                compiles_per_length=arrays.compiles_per_length,
                arrays=arrays,
                compute=path.compute or evaluating(path.expression, names or {}),
                prepare=path.prepare or prepare,
                components=path.components or components,
            )
            for path in paths
        ),
        takes or outputs_of_probe,
    )
