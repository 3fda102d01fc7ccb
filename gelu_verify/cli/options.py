"""What options take: numbers in plain decimal digits, sizes, K=V; and an error that names the option."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ..calling import OPTIONS, literal_or_text
from ..errors import ArgumentError, UsageError, one_of
from ..parsing import LARGEST_SEED, LONGEST_S, MOST_WORKERS, byte_count, parse_real, parse_whole

if TYPE_CHECKING:
    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # not generic before click 8.5
_COMMA = re.compile(r",(?![^\[]*\])")
_DURATION = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,20})?) ?([smhd]?)")
_SECONDS_OF = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Typed(ParamType):
    """What `read` makes of the option's name and the text that was typed for it."""

    def __init__(self, name: str, read: Callable[[str, str], Any]) -> None:
        self.name, self._read = name, read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return self._read(_name(param), value) if isinstance(value, str) else value


def whole_number(low: int, high: int) -> Typed:
    """An integer from `low` to `high`."""
    return Typed("whole number", partial(parse_whole, low=low, high=high))


def real_number(low: float = 0.0, high: float = math.inf, *, above: bool = False) -> Typed:
    """A finite number from `low` to `high`; `above`: not `low` itself."""
    return Typed("number", partial(parse_real, low=low, high=high, above=above))


def _seed(option: str, text: str) -> int:
    """A seed; `today`: the date as a number, so that a scheduled run has other inputs every day, and says which."""
    if text == "today":
        return int(datetime.now(UTC).strftime("%Y%m%d"))
    return parse_whole(option, text, 0, LARGEST_SEED)


def _duration(option: str, text: str) -> float:
    """A time in seconds: 90, 90s, 10m, 1.5h."""
    match = _DURATION.fullmatch(text)
    seconds = float(match[1]) * _SECONDS_OF[match[2]] if match else 0.0
    if not 0 < seconds <= LONGEST_S:
        wrong = "is not a time" if match is None else "is out of range"
        raise UsageError(f"{option} {text[:40]!r} {wrong} (accepted: 90s, 10m, 8h; up to {LONGEST_S:g} s)")
    return seconds


def _memory(option: str, text: str) -> int:
    """512M, 8G, 1.5GiB: bytes, from 1 MiB to what this machine has."""
    from ..isolation.limits import LEAST_MEMORY, memory_of_machine

    nbytes = byte_count(option, text)
    if not LEAST_MEMORY <= nbytes <= memory_of_machine():
        wrong = "is too little" if nbytes < LEAST_MEMORY else "is more than there is"
        accepted = f"512M, 8G; from 1M to the {memory_of_machine() >> 20}M of this machine"
        raise UsageError(f"{option} {text[:40]!r} {wrong} (accepted: {accepted})")
    return nbytes


def _pair(option: str, text: str, accepted: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise UsageError(f"{option} {text!r} cannot be used (accepted: {accepted})")
    return name, value


def _number(option: str, text: str) -> tuple[str, str]:
    """NAME=NUMBER as a pair of the name and the text: an exact number of a function's parameter."""
    return _pair(option, text, "mu=0.5, sigma=1/3, beta=0x1.8p+0")


def _literal(option: str, text: str) -> tuple[str, Any]:
    """K=V as a pair; V is a Python literal where it reads as one, else text."""
    name, value = _pair(option, text, "name=value")
    return name, literal_or_text(value)


def _reason(option: str, text: str) -> tuple[str, str]:
    """CHECK=REASON as a pair."""
    from ..checks import CHECKS

    check, _, reason = text.partition("=")
    if check not in CHECKS:
        raise one_of("check", check, list(CHECKS))
    if not reason.strip():
        raise UsageError(f"{option} {text!r} has no reason (accepted: CHECK=REASON)")
    return check, reason


def _names(option: str, text: str) -> tuple[str, ...]:
    """Names, separated by commas that are in no brackets, as a tuple."""
    found = tuple(part.strip() for part in _COMMA.split(text))
    if "" in found:
        raise UsageError(f"{option} {text!r} has an empty name (accepted: one or more, with commas between)")
    return found


class Several(click.Option):
    """An option of one or more names, with commas between or each after the option: all that were typed, each once."""

    def __init__(self, declared: list[str], **attributes: Any) -> None:
        super().__init__(declared, type=Typed("names", _names), multiple=True, **attributes)

    def value_from_envvar(self, ctx: click.Context) -> list[str] | None:
        text = self.resolve_envvar_value(ctx)
        return None if text is None else [text]

    def type_cast_value(self, ctx: click.Context, value: Any) -> tuple[str, ...]:
        typed = [value] if isinstance(value, str) else value  # a text of a file
        return tuple(dict.fromkeys(name for names in super().type_cast_value(ctx, typed) for name in names))


def _span(option: str, text: str) -> tuple[int, int]:
    """A:B as a pair of whole numbers, A below B."""
    first, colon, end = text.partition(":")
    if not (colon and first.isdecimal() and end.isdecimal() and int(first) < int(end)):
        raise UsageError(f"{option} {text!r} cannot be used (accepted: A:B, A below B, such as 0:1024)")
    return int(first), int(end)


@contextmanager
def naming_options() -> Iterator[None]:
    """An argument of a request that cannot be used, named as the option that it was typed as."""
    try:
        yield
    except ArgumentError as error:
        name = error.argument
        option = OPTIONS[name].typed if name in OPTIONS else "--bits" if name == "ranges" else f"--{name}"
        raise UsageError(f"{option}: {error.reason}") from None


def takes_target(*names: str, **texts: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds the options that say how a target is called, each named as its field of `Calling`: all, or those `names`.

    `texts`: the help of some, where it is another one.
    """

    def adding(command: Callable[..., Any]) -> Callable[..., Any]:
        for name in reversed(names or tuple(OPTIONS)):
            option = OPTIONS[name]
            said: dict[str, Any] = {"help": texts.get(name, option.text), "metavar": option.metavar or None}
            said |= {"type": click.Choice(option.choices)} if option.choices else _TYPES.get(option.reading, {})
            command = click.option(option.typed, name, **said)(command)
        return command

    return adding


def check_apart(option: str, *others: str) -> None:
    """UsageError where `option` was typed, and beside it one of `others`, which would not be used."""
    check_used(option not in _typed(), f"{option} is given", *others)


def check_used(used: object, why_not: str, *options: str) -> None:
    """UsageError where one of these was typed that would not be used."""
    typed = _typed()
    for option in options:
        if option in typed and not used:
            raise UsageError(f"{option} would not be used: {why_not}")


def _typed() -> set[str]:
    """The options and arguments that stand on the command line."""
    context = click.get_current_context()
    return {
        name
        for each in context.command.params
        if context.get_parameter_source(each.name or "") is ParameterSource.COMMANDLINE
        and context.params.get(each.name or "") != ()  # what click before 8.3 takes for typed
        for name in (each.opts if isinstance(each, click.Option) else [(each.metavar or "").strip("[].")])
    }


def check_given(x: tuple[str, ...]) -> None:
    """UsageError where there are no numbers, or one is an option."""
    _refuse_options(*x)
    if not x:
        raise UsageError("X is missing: at least one number (accepted: -6.5, -0x1.ap+2, 0xc0d00000, inf, nan)")


def _refuse_options(*words: str) -> None:
    """Where numbers may begin with -, click takes an option that there is not for an argument."""
    for text in words:
        if text.startswith("--"):
            option = text.partition("=")[0]
            raise click.NoSuchOption(option, f"no such option: {option}", ctx=click.get_current_context())


def check_order(command: str, first: str, dtype: str) -> None:
    """UsageError where the dtype was typed first, or an option that there is not."""
    from ..formats import FORMATS

    _refuse_options(first, dtype)
    if first in FORMATS and dtype not in FORMATS:
        raise UsageError(f"{first} is a dtype, and stands second: gelu-verify {command} {dtype} {first} ...")


def parsed_inputs(dtype: str, x: tuple[str, ...]) -> list[int]:
    """The bits of numbers as they were typed; a note on stderr where a finite one is infinite, or 0, in the dtype."""
    from ..formats import get_format, value_text

    fmt = get_format(dtype)
    found = [fmt.parse(text) for text in x]
    for text, bits in zip(x, found, strict=True):
        note_overflow(text, dtype, value_text(fmt, bits))
    return found


def note_overflow(text: str, dtype: str, x: str) -> None:
    """A note on stderr where the number that was typed is finite, and infinite or 0 in the dtype."""
    from .program import say

    if x.lstrip("-").lower() in ("inf", "nan", "0") and _is_finite_and_not_zero(text):
        beyond = "closer to 0 than" if x.endswith("0") else "beyond"
        say(f"gelu-verify: {text} is {beyond} the numbers of {dtype}: x is {x}", err=True)


def _is_finite_and_not_zero(text: str) -> bool:
    """Of a number that was typed: a decimal or a hex float, and no bits."""
    word = text.strip().lower().lstrip("+-")
    is_hex = word.startswith("0x")
    significand = word.removeprefix("0x").partition("p" if is_hex else "e")[0]
    return "n" not in word and ("p" in word or not is_hex) and any(digit not in "0._" for digit in significand)


def with_parameters(functions: tuple[str, ...], parameters: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """The functions that were named, with the parameters that were."""
    from ..functions import named

    if parameters and not functions:
        raise UsageError("--param needs --function: the function whose parameter it is")
    return tuple(named(each, dict(parameters)) for each in functions) if parameters else functions


def _each_once(
    context: click.Context, param: click.Parameter, pairs: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    """The pairs; UsageError where a name has two values."""
    names = [name for name, _ in pairs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"{_name(param)} {twice} is given twice")
    return pairs


def _name(param: click.Parameter | None) -> str:
    return param.opts[-1] if param is not None else "the number"


DURATION, REASON = Typed("time", _duration), Typed("CHECK=REASON", _reason)
SEED, SIZE, SPAN = Typed("seed", _seed), Typed("size", byte_count), Typed("A:B", _span)
WORKERS = whole_number(1, MOST_WORKERS)
MIN_GRADES = ("correctly_rounded", "faithful", "accurate", "accurate_range", "absolute", "coarse")  # all but the worst
LENGTH = whole_number(1, 1 << 26)  # `plans.LONGEST`
PARAMETERS = click.option("--param", "parameters", type=Typed("NAME=NUMBER", _number), multiple=True,
                          metavar="NAME=NUMBER", callback=_each_once,
                          help="A parameter of the function, exactly: mu=0.5, sigma=1/3; may be repeated.")  # fmt: skip
SECONDS = real_number(0.0, LONGEST_S, above=True)
_TYPES: dict[str, dict[str, Any]] = {  # of `calling.READINGS`
    "literals": {
        "type": Typed("K=V", _literal),
        "multiple": True,
        "callback": lambda context, param, pairs: dict(pairs),
    },
    "yes": {"is_flag": True},
    "no": {"is_flag": True, "callback": lambda context, param, typed: False if typed else None},
    "names": {"cls": Several},
    "count": {"type": LENGTH},
    "seconds": {"type": SECONDS},
    "bytes": {"type": Typed("size", _memory)},
}
