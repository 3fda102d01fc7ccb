"""How a target is called, declared once, for commands, configurations, Python and the words that repeat a result.

Importing this imports no array library.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from .errors import ArgumentError, UsageError, one_of
from .parsing import byte_count


@dataclass(frozen=True)
class Reading:
    """How values of one sort are written: in a configuration (`types`, and these in words), and on a command line."""

    types: tuple[type, ...] = (str,)
    accepted: str = "a text"
    words: Callable[[str, Any], list[str]] = lambda option, value: [option, value]


def _literals(option: str, values: Mapping[str, Any]) -> list[str]:
    return [word for name, value in values.items() for word in (option, f"{name}={_literal(value)}")]


READINGS = {
    "text": Reading(),
    "flags": Reading(words=lambda option, value: [f"{option}={value}"]),  # they begin with hyphens
    "literals": Reading((dict,), "a table", _literals),
    "names": Reading((list,), "a list of names", lambda option, value: [option, ",".join(value)]),
    "yes": Reading((bool,), "true or false", lambda option, value: [option]),
    "no": Reading((bool,), "true or false", lambda option, value: [option]),
    "count": Reading((int,), "a whole number", lambda option, value: [option, str(value)]),
    "seconds": Reading((int, float), "seconds", lambda option, value: [option, repr(value).removesuffix(".0")]),
    "bytes": Reading((int, str), '"512M", "8G"', lambda option, value: [option, _memory_text(value)]),
}


@dataclass(frozen=True)
class Option:
    """A field of `Calling`: the name of its option (`typed`), and its help.

    `of`: what it says something about: the user's own "code", the "inputs" (the command that repeats a result has those
    anyhow), or the "process" of any target. `taken`, of code: by the kinds that have it among their `options`
    ("listed"), by all kinds ("code"), or by families too ("any"). `reading`: of `READINGS`.
    """

    name: str
    text: str
    metavar: str = ""
    reading: str = "text"
    of: Literal["code", "inputs", "process"] = "code"
    taken: Literal["listed", "code", "any"] = "listed"
    choices: tuple[str, ...] = ()
    typed: str = ""

    def is_said(self, value: Any) -> bool:
        """Whether a value says more than the default."""
        return value is False if self.reading == "no" else value not in (None, {}, (), "", False)

    def words(self, value: Any) -> list[str]:
        """What a command line says for a value."""
        return READINGS[self.reading].words(self.typed, value) if self.is_said(value) else []


def _option(text: str, metavar: str = "", reading: str = "text", **more: Any) -> Any:
    said = {"text": text, "metavar": metavar, "reading": reading, **more}
    if reading == "literals":
        return field(default_factory=dict, metadata=said)
    return field(default={"names": (), "yes": False}.get(reading), metadata=said)


@dataclass(frozen=True, kw_only=True)
class Calling:
    """How targets are called, and within which limits; checked when it is made."""

    kwargs: Mapping[str, Any] = _option(
        "Keyword argument for a callable or a model; may be repeated.", "K=V", "literals", typed="--kwarg"
    )
    array: str | None = _option(
        "Type that a callable is called with: numpy, torch, jax, tensorflow, MODULE, MODULE.CLASS, scalar (one float), "
        "list, array, memoryview.", "KIND",
    )  # fmt: skip
    compile: str | None = _option("Compile a callable: torch (torch.compile), jax (jax.jit) or tensorflow.", "KIND")
    cflags: str | None = _option("Compiler flags for a source file; default -O2.", "FLAGS", "flags")
    call: str | None = _option(
        "How to call it. Python, where it is not f(x): 'f(x, out=y)', 'f(x); x', 'f(dy, x)', 'grad(f)(x)', "
        "'rounded(f(x))'. C and CUDA, where the declaration does not say it: 'f(bytes, x, y, params=NULL)', "
        "'f<<<(n + 255) / 256, 256>>>(x, y, n)'; of a library with types: 'void f(int n, float *y, const float *x)'.",
        "LINE",
    )  # fmt: skip
    shape: str | None = _option("Shape of the arrays that a callable is called with: '(n, 16)', '(16,)'.", "S")
    device: str | None = _option(
        "Only families that run on this device: cpu, cuda, or ptx, which executes nvcc's PTX on the CPU; of a Python "
        "callable, where its arrays are (torch, jax). Exits with 3 if there are none.", "D",
        taken="any", choices=("cpu", "cuda", "ptx"),
    )  # fmt: skip
    approximations: str | None = _option(
        "With --device ptx: one execution, where PTX leaves results open; default: each, and the worst is judged. The "
        "value of ex2.approx and the like within its bound: lowest, nearest, highest, or mixed, by argument; and "
        "lowest-fused and so on, where products and sums become fma.", "A",
        choices=tuple(f"{value}{how}" for how in ("", "-fused") for value in ("lowest", "nearest", "highest", "mixed")),
    )  # fmt: skip
    contract: str | None = _option(
        "What your own code demands of its arrays: 'multiple_of=16; at_least=32; aligned=64' (values, values, bytes), "
        "all or a part; every call keeps to it.", "C", taken="code",
    )  # fmt: skip
    thread_safe: bool = _option(
        "Several threads may call your own code at once: they do, and its results must be those of one thread.",
        reading="yes",
    )
    isa: tuple[str, ...] = _option(
        "Instruction-set levels, each in its own process: sse4_2, avx2, avx512, ...; all: what libraries choose, and "
        "each level of this processor.", "L,L", "names", of="inputs", taken="any",
    )  # fmt: skip
    length: int | None = _option("Number of inputs in each call.", "N", "count", of="inputs", taken="any")
    time_limit: float | None = _option(
        "Time limit of one call in seconds; default: 120 for the first one, then 30 beside what earlier ones took.",
        "S", "seconds", of="process", taken="any",
    )  # fmt: skip
    memory_limit: int | None = _option(
        "Memory limit of an implementation, such as 512M or 8G; default 4G.", "SIZE", "bytes",
        of="process", taken="any",
    )  # fmt: skip
    isolate: bool | None = _option(
        "Call every target in this process, for use with a debugger; a crash ends the run.", "", "no",
        of="process", taken="any", typed="--in-process",
    )  # fmt: skip

    def __post_init__(self) -> None:
        if not isinstance(self.kwargs, Mapping | None):
            raise UsageError(f"kwargs is of type {type(self.kwargs).__name__} (accepted: a dict)")
        self._set("kwargs", self.kwargs or {})
        for name, option in OPTIONS.items():
            if option.reading in ("text", "flags") and not isinstance(value := getattr(self, name), str | None):
                raise ArgumentError(name, f"is of type {type(value).__name__} (accepted: a text)")
        self._set("isa", as_tuple(self.isa))
        if type(size := getattr(self, "memory_limit")) is str:  # noqa: B009 - of a configuration
            self._set("memory_limit", byte_count("memory_limit", size))
        for option in OPTIONS.values():
            value = getattr(self, option.name)
            if option.choices and value is not None and value not in option.choices:
                raise one_of(option.name, value, list(option.choices))

        if self.isolate is False and self.needs_process:
            why = "is held in a process of its own, which --in-process (isolate=False) excludes"
            raise ArgumentError(self.needs_process, why)

    @property
    def needs_process(self) -> str | None:
        """The field that cannot be had but in a process of the target's own, where one was given."""
        return next((name for name, each in OPTIONS.items() if each.of == "process" and getattr(self, name)), None)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @property
    def call_options(self) -> dict[str, Any]:
        """How what the user wrote is called, as far as that was said."""
        said = {name: getattr(self, name) for name, option in OPTIONS.items() if option.of == "code"}
        return {name: value for name, value in said.items() if OPTIONS[name].is_said(value)}

    def words(self, of: str) -> list[str]:
        """What a command line says about that: the code, the inputs, the process."""
        return [
            word for name, option in OPTIONS.items() if option.of == of for word in option.words(getattr(self, name))
        ]


OPTIONS = {
    each.name: Option(each.name, **{"typed": f"--{each.name.replace('_', '-')}", **each.metadata})
    for each in fields(Calling)
}


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Of one text, or of any number of values; one that is neither stands alone, for whoever reads it to refuse."""
    return tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)


def literal_or_text(text: str) -> Any:
    """The Python literal that `text` is, else the text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _literal(value: Any) -> str:
    """The text that `literal_or_text` reads as this value; of an object that is no literal, how it shows itself."""
    return value if isinstance(value, str) and literal_or_text(value) == value else repr(value)


def is_literal(value: Any) -> bool:
    """Whether a command line can say this value."""
    try:
        read = literal_or_text(_literal(value))
        return type(read) is type(value) and bool(read == value)
    except Exception:  # noqa: BLE001 - the user's object: whatever it raises, it is no literal
        return False


def _memory_text(nbytes: int) -> str:
    """512M, 8G: in the largest unit that it is a multiple of."""
    shift, unit = next(
        (shift, unit) for shift, unit in ((30, "G"), (20, "M"), (10, "K"), (0, "")) if not nbytes % (1 << shift)
    )
    return f"{nbytes >> shift}{unit}"
