"""A random function under test, in the process where it lives: how it is called, and how it is seeded.

By the names of its parameters, or those that `--call` uses, it gets

    seed                          a whole number, another one for each call
    key                           jax.random.key(seed), likewise
    rng, random_state             numpy.random.default_rng(seed), made when it is seeded, used by the calls that follow
    generator                     torch.Generator().manual_seed(seed), likewise
    call                          the number of the call since it was seeded, beside `seed`, which then stays
    rate, p, prob, drop_prob, ... the probability of being dropped
    h, previous, prev, state      the old state (zoneout): -x

Where it takes no seed in any form, `random`, NumPy's and torch's global generators are seeded.
"""

from __future__ import annotations

import inspect
import random
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import MissingMeasurement, TargetUnavailable, UsageError
from ..formats import get_format
from ..targets.arrays import KINDS, ArrayKind, get_kind, kind_of_module
from ..targets.call_line import CallLine
from ..targets.files_read import FileWatch, watching
from ..targets.importing import framework
from ..targets.library_target import LibraryCall, LibraryTarget
from ..targets.python_callables import attribute, module_of_callable, ready, version_of
from ..targets.returned import parts
from .named import NAMED

MEANINGS = {
    "f": "what was named",
    "x": "the input",
    "seed": "a whole number",
    "call": "the number of the call",
    "key": "jax.random.key(seed)",
    "rng": "a numpy.random.Generator",
    "generator": "a torch.Generator",
    "rate": "the probability of being dropped",
    "h": "the old state, of zoneout",
}
_ALSO = {
    "random_state": "rng",
    "rng_key": "key",
    **dict.fromkeys(
        ("p", "prob", "drop_prob", "drop_p", "drop_rate", "dropout_prob", "dropout_p", "dropout_rate"), "rate"
    ),
    **dict.fromkeys(("previous", "prev", "state"), "h"),
}


@dataclass
class Seeded:
    """What the calls depend on beside x."""

    seed: int = 0
    rate: float = 0.5
    calls: int = 0
    looks_twice: bool = True  # whether somebody still writes to a result that was returned
    made: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class MapTarget(LibraryTarget):
    """`parameters`: what each parameter of `compute`, or each name of `line`, gets."""

    parameters: Mapping[str, str]
    line: CallLine | None = None
    state: Seeded = field(default_factory=Seeded, compare=False)

    def load(self, dtype: str, x_bits: np.ndarray) -> LibraryCall:
        with self.arrays.session(dtype):
            x = self.arrays.from_bits(dtype, x_bits)
            more = {name: self._value(what, dtype, x_bits) for name, what in self.parameters.items()}
        self.state.calls += 1
        return LibraryCall(dtype, (x, more), x_bits.size)

    def call(self, loaded: LibraryCall) -> Any:
        x, more = loaded.arguments
        with self.arrays.session(loaded.dtype):
            made = self.compute(x, **more) if self.line is None else self.line.run({"f": self.compute, "x": x, **more})
            return self.arrays.wait(made)

    def check_settled(self, returned: np.ndarray, copied: np.ndarray) -> None:
        if self.state.looks_twice:
            super().check_settled(returned, copied)

    def _value(self, what: str, dtype: str, x_bits: np.ndarray) -> Any:
        state, seed = self.state, self.state.seed
        if what == "seed":
            return seed if "call" in self.parameters.values() else seed + state.calls
        if what == "key":
            return framework("jax").random.key(seed + state.calls)
        if what == "h":
            return self.arrays.from_bits(dtype, x_bits ^ get_format(dtype).uint.type(get_format(dtype).sign_mask))
        return {"call": state.calls, "rate": state.rate}[what] if what in ("call", "rate") else state.made[what]


def seed(target: MapTarget, dtype: str, number: int, rate: float) -> None:
    """Seed the target, of whichever form; the next call is its first."""
    state, wanted = target.state, set(target.parameters.values())
    state.seed, state.rate, state.calls = number, rate, 0
    if "rng" in wanted:
        state.made["rng"] = np.random.default_rng(number)
    if "generator" in wanted:
        state.made["generator"] = framework("torch").Generator().manual_seed(number)
    if not wanted & {"seed", "key", "rng", "generator"}:
        random.seed(number)
        np.random.seed(number % (1 << 32))  # noqa: NPY002 - the generator that others use
        if "torch" in sys.modules:
            sys.modules["torch"].manual_seed(number)


def facts(target: MapTarget, dtype: str) -> dict[str, Any]:
    """How it is seeded, and whether it takes a rate."""
    wanted = set(target.parameters.values())
    seeds = [name for name in ("seed", "call", "key", "rng", "generator") if name in wanted]
    return {"seeded_by": " and ".join(seeds) or "global generators", "takes_rate": "rate" in wanted}


def make(name: str, dtype: str, kwargs: Mapping[str, Any], array: str | None, call: str | None) -> list[MapTarget]:
    """What a user named, as a target: a name of `named.py`, "module:function", "path/file.py:function"."""
    kind: ArrayKind | None
    if name in NAMED:
        try:
            framework(NAMED[name].array)
            NAMED[name].opens()
        except TargetUnavailable as reason:
            raise MissingMeasurement(f"{name} was asked for, but {reason}") from None
        compute, kind = NAMED[name].compute, get_kind(NAMED[name].array)
        version, files = version_of(sys.modules[NAMED[name].array], FileWatch())
    else:
        with watching() as watch:
            module, source, path = module_of_callable(name)
            compute, of_instance = attribute(name, module, path, kwargs)
        kwargs = {} if of_instance else kwargs
        version, files = version_of(module, watch)
        kind = get_kind(array) if array else kind_of_module(source) or _kind_of_annotation(compute)
    line = CallLine.parsed(call, MEANINGS) if call else None
    bound, _ = ready(name, compute, kwargs, line)
    parameters = _of_line(line) if line else _parameters(name, bound)
    parameters = {each: what for each, what in parameters.items() if each not in kwargs}
    target = MapTarget(name=name, function="gelu", dtypes=(dtype,), version=version, files=files,
                       arrays=kind or KINDS["numpy"], compute=bound, parameters=parameters, line=line)  # fmt: skip
    target = target if kind else _with_arrays(target, dtype)
    _ask_for_result(target, dtype)
    return [target]


def _of_line(line: CallLine) -> dict[str, str]:
    """What each name of a line gets."""
    return {each: each for each in line.names & MEANINGS.keys() - {"f", "x"}}


def _parameters(name: str, compute: Callable[..., Any]) -> dict[str, str]:
    """By their names, of all but the first; UsageError where one is needed that nothing here stands for."""
    try:
        given = list(inspect.signature(compute).parameters.values())
    except (ValueError, TypeError):  # much of what is written in C has no signature
        return {}
    found = {}
    for each in given[1:]:
        what = _ALSO.get(each.name, each.name)
        if what in MEANINGS and what not in ("f", "x"):
            found[each.name] = what
        elif each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            accepted = ", ".join(["--kwarg", "--call", *MEANINGS, *_ALSO])
            raise UsageError(f"{name} takes {each.name!r}, and nothing says what that is (accepted: {accepted})")
    return found


def _kind_of_annotation(compute: Callable[..., Any]) -> ArrayKind | None:
    with suppress(Exception):  # the user's annotations
        first = next(iter(inspect.signature(compute, eval_str=True).parameters.values()))
        return kind_of_module(getattr(first.annotation, "__module__", None))
    return None


def _with_arrays(target: MapTarget, dtype: str) -> MapTarget:
    """With the first kind of arrays, of libraries that are imported, that it takes and returns; NumPy's if none."""
    for kind in KINDS.values():
        tried = replace(target, arrays=kind)
        if kind.roots[0] in sys.modules and kind.owns(_tried(tried, dtype)[1]):
            return tried
    return target


def _tried(target: MapTarget, dtype: str) -> tuple[Any, Any]:
    """Four ones, and what it returns for them; None where it raises."""
    seed(target, dtype, 0, 0.5)
    fmt = get_format(dtype)
    with suppress(Exception):  # someone else's code: the verification shows what it raises
        loaded = target.load(dtype, np.full(4, fmt.one, fmt.uint))
        return loaded.arguments[0], target.call(loaded)
    return None, None


def _ask_for_result(target: MapTarget, dtype: str) -> None:
    """UsageError, with a call that was tried, where its result is one of several that it returns, or its input."""
    x, result = _tried(target, dtype)
    if x is None or target.line is not None:
        return
    text = f"f({', '.join(['x', *(f'{name}={what}' for name, what in target.parameters.items())])})"
    is_input = result is None or result is x
    if is_input:
        lines = [f"{text}; x"]
    else:
        lines = [] if target.arrays.owns(result) else [part for part, _ in parts(text, result)]
    for each in lines:
        line = CallLine.parsed(each, MEANINGS)
        if target.arrays.owns(_tried(replace(target, line=line, parameters=_of_line(line)), dtype)[1]):
            what = "changes its input" if is_input else f"returns {type(result).__name__}"
            raise UsageError(f"{target.name} {what}: give --call {each!r}, or another")
