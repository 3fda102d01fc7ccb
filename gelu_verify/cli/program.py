"""The entry point of the command line: every error is one line on stderr and a documented exit code."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from itertools import pairwise
from typing import Any

import click

from .. import plugins
from ..errors import GeluVerifyError, MissingMeasurement, ResultsError, UsageError, printable
from ..fenv import in_default_environment
from ..interrupts import noting_interrupts

OVER_BUDGET = 1  # or over a limit of `run`; also an error of ours that is none of the below
USAGE = 2
MISSING = 3
INTERRUPTED = 130  # 128 + SIGINT
BROKEN_PIPE = 141  # 128 + SIGPIPE
NOT_FOR_GATES = ("pandas", "pyarrow")  # what a test environment may leave out (docs/ci.md)


def exit_code(error: GeluVerifyError) -> int:
    """Exit code of an error: 2 usage and unreadable results, 3 missing measurement, 1 any other."""
    if isinstance(error, UsageError | ResultsError):
        return USAGE
    return MISSING if isinstance(error, MissingMeasurement) else 1


def say(line: str, err: bool = False) -> None:
    """One line on stdout, or stderr; what a terminal would obey in a name is escaped."""
    click.echo(printable(line), err=err)


def warn(message: str) -> None:
    """One line on stderr, whatever line breaks the message has."""
    click.echo(f"gelu-verify: {printable(' '.join(message.split()))}", err=True)


@contextmanager
def stdout_for_results() -> Iterator[None]:
    """While implementations run, what they print (C libraries too) goes to stderr: stdout is for results."""
    sys.stdout.flush()
    ours = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        ctypes.CDLL(None).fflush(None)  # what C has buffered
        os.dup2(ours, 1)
        os.close(ours)


class Commands(Mapping[str, click.Command]):
    """The commands of modules, by name: each is imported when it is asked for, because that takes longer than most."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = modules

    def __getitem__(self, name: str) -> click.Command:
        module = import_module(self._modules[name])
        return next(each for each in vars(module).values() if isinstance(each, click.Command) and each.name == name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


class Program(click.Group):
    """A group of commands in which no error that a user can cause ends in a traceback.

    `when_refused` gets the words of a command that ended in an error of the user, why, and the exit code.
    """

    def __init__(self, *args: Any, when_refused: Callable[[Sequence[str], str, int], None], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._when_refused = when_refused

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> Any:  # type: ignore[override]
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:  # closed by who started us
                setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - until we end
            elif reconfigure := getattr(getattr(sys, name), "reconfigure", None):
                reconfigure(errors="backslashreplace")  # what it cannot hold, as names of any language
        sys.exit(self._guarded(list(sys.argv[1:] if args is None else args)))

    @in_default_environment
    def _guarded(self, args: list[str]) -> int:
        try:
            _refuse_empty(args)
            _refuse_gone_folder()
            with noting_interrupts(), self.make_context("gelu-verify", args) as context:
                self.invoke(context)
                sys.stdout.flush()
        except click.exceptions.Exit as done:
            return done.exit_code
        except click.ClickException as error:
            why = _no_such_option(error) if isinstance(error, click.NoSuchOption) else error.format_message()
            warn(f"error: {why}")
            self._when_refused(args, why, USAGE)
            return USAGE
        except GeluVerifyError as error:
            warn(f"error: {error}")
            self._when_refused(args, str(error), exit_code(error))
            return exit_code(error)
        except ModuleNotFoundError as error:
            if error.name not in NOT_FOR_GATES:
                raise
            warn(f"error: {error.name} is not installed, which this command needs: `pip install {error.name}`")
            return MISSING
        except KeyboardInterrupt:
            warn("interrupted; no file is left half written")
            return INTERRUPTED
        except BrokenPipeError:  # the reader has what it wanted: `gelu-verify list | head`
            _give_up_stdout()
            return BROKEN_PIPE
        except OSError as error:  # the layers below name their files themselves
            warn(f"error: {error.filename or 'cannot write to standard output'}: {error.strerror}")
            _give_up_stdout()
            return USAGE
        finally:
            for problem in plugins.problems():
                warn(problem)
        return 0


def options_of(words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Each word of a command line behind what stands before it; of --option=value both, of --option alone None."""
    for before, word in pairwise(["", *words]):
        option, equals, value = word.partition("=")
        is_option = word.startswith("--")
        yield (option, value if equals else None) if is_option else (before, word)


def _refuse_empty(words: Sequence[str]) -> None:
    """UsageError for an empty text, which a shell makes of a variable that is not set."""
    for option, value in options_of(words):
        if value == "":
            raise UsageError(
                f"{option or 'gelu-verify'}: an empty text follows (accepted: a value; is a variable not set?)"
            )


def _refuse_gone_folder() -> None:
    """UsageError where the folder that it was started in is removed: nothing relative to it can be found."""
    try:
        os.getcwd()
    except FileNotFoundError:
        raise UsageError("the folder that this was started in is gone (change to another)") from None


def _no_such_option(error: click.NoSuchOption) -> str:
    """What click says; where an argument has that name, as an option of other commands has, how this one is called."""
    context = error.ctx
    if context is None or error.option_name.removeprefix("--") not in {
        each.name for each in context.command.params if isinstance(each, click.Argument)
    }:
        return error.format_message()
    usage = " ".join([context.command_path, *context.command.collect_usage_pieces(context)])
    return f"{error.option_name} is no option here ({usage})"


def _give_up_stdout() -> None:
    """What is still buffered goes nowhere, instead of failing once more when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
