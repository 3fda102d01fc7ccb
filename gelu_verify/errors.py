"""The errors that a user can see; each message says what was wrong and what is accepted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class GeluVerifyError(Exception):
    """Base of every error that this package raises on purpose; its message is one line that a terminal can show."""

    def __str__(self) -> str:
        return printable(super().__str__())


class UsageError(GeluVerifyError, ValueError):
    """An argument that cannot be used: unknown name, bad number, bits too wide."""


class ArgumentError(UsageError):
    """An argument of a request that cannot be used: `argument` is its name there, `reason` what is wrong with it."""

    def __init__(self, argument: str, reason: str) -> None:
        super().__init__(f"{argument}: {reason}")
        self.argument, self.reason = argument, reason


class TargetUnavailable(GeluVerifyError):
    """A framework or kernel family that cannot be used here; the message is the reason."""


class TargetFailure(GeluVerifyError):
    """The implementation under test raised, crashed, or broke its contract: a result, not our crash.

    `kind` is one word for it ("segfault", "hang", "exception", "shape", ...: docs/json.md lists them); `first_bits` and
    `last_bits` are the ends of the smallest range that shows it, where that is known; `inputs` (bits, an array)
    those of the call that failed, from which the range is found; `length` the number of inputs that it depends on.
    """

    def __init__(
        self, message: str, kind: str = "", *, first_bits: int | None = None, last_bits: int | None = None
    ) -> None:
        super().__init__(message)
        self.kind, self.first_bits, self.last_bits = kind, first_bits, last_bits
        self.inputs: Any = None
        self.length: int | None = None


class Unanswered(TargetFailure):
    """Only answers to other inputs are there, and the implementation cannot be called: no fault of it."""


class OracleError(GeluVerifyError):
    """The oracle could not prove a rounding: never answered with a guess."""


class ResultsError(GeluVerifyError):
    """A stored run that is missing, truncated, foreign or cannot be written."""


class MissingMeasurement(GeluVerifyError):
    """A measurement that was required is not there (exit code 3)."""


class NotMeasured(GeluVerifyError, AssertionError):
    """A measure of an implementation that failed: nothing that is asserted of it can hold."""


class RemoteError(GeluVerifyError):
    """A server that was asked cannot be reached, or fails."""


@contextmanager
def cannot(what: str) -> Iterator[None]:
    """An OSError as a ResultsError of one line: cannot `what`, and why."""
    try:
        yield
    except OSError as error:
        raise ResultsError(f"cannot {what}: {error.strerror or error}") from error


LONGEST = 10_000  # characters of a message that are looked at


def message_of(error: BaseException) -> str:
    """The message of an exception that somebody else's code raised: asking for it may raise as well."""
    try:
        return str.__getitem__(str(error), slice(LONGEST))
    except BaseException as second:  # noqa: BLE001 - whatever it raises, the first one is what matters
        return f"(no message: its __str__ raises {type(second).__name__})"


def printable(text: str) -> str:
    """`text` with everything escaped that a terminal obeys or a file cannot hold.

    That is control characters, line breaks, marks that turn the direction of writing, lone surrogates.
    """
    if text.isprintable():
        return text
    from unicodedata import category

    kept = (category(each)[0] != "C" and each not in "\u2028\u2029" for each in text)
    return "".join(each if keep else ascii(each)[1:-1] for each, keep in zip(text, kept, strict=True))


_OTHER_NAMES = {  # of dtypes, in C and in libraries
    **dict.fromkeys(("f16", "fp16", "half"), "float16"),
    **dict.fromkeys(("bf16", "brainfloat"), "bfloat16"),
    **dict.fromkeys(("f32", "fp32", "float", "single"), "float32"),
    **dict.fromkeys(("f64", "fp64", "double"), "float64"),
}


def one_of(kind: str, name: str, accepted: list[str], usual: str = "") -> UsageError:
    """Error for an unknown `name` of some `kind`, listing what is accepted and the closest match: the `usual` name of
    what others call so, where that is known."""
    import difflib

    small, by_small = str(name).lower(), {each.lower(): each for each in reversed(accepted)}
    usual = usual or _OTHER_NAMES.get(small, "")
    close = [usual] if usual in by_small else difflib.get_close_matches(small, by_small, n=1)
    hint = f"; did you mean {by_small[close[0]]!r}?" if close else ""
    return UsageError(f"unknown {kind} {name!r}{hint} (accepted: {', '.join(dict.fromkeys(accepted))})")
