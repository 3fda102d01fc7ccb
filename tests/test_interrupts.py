"""Whatever an implementation raises is its result; Ctrl-C by the user is none."""

import itertools
import signal
import subprocess
import threading
import time

import numpy as np
import pytest
from marking import nightly
from program import PROGRAM

from gelu_verify import verify
from gelu_verify.errors import TargetFailure, message_of, printable
from gelu_verify.interrupts import interrupted, is_from_user, noting_interrupts


class Own(BaseException):
    pass


class Silent(Exception):
    def __str__(self):
        raise KeyboardInterrupt


class NoText(BaseException):
    def __str__(self):
        return 3


class Text(str):
    def strip(self, *_):
        raise RuntimeError


class Odd(Exception):
    def __str__(self):
        return Text("odd")


RAISED = {
    "interrupt": KeyboardInterrupt(),
    "exits": SystemExit(3),
    "generator": GeneratorExit(),
    "own": Own("its own"),
    "stop": StopIteration(5),
    "memory": MemoryError(),
    "recursion": RecursionError("deep"),
    "silent": Silent(),
    "no_text": NoText(),
    "odd": Odd(),
    "huge": ValueError("a" * 10**7),
    "controls": ValueError("\x1b[2J\x07\u202egelb\udc80\nsecond line"),
    "named": type("\x1b[31m", (Exception,), {})("m"),
}


def raising(error):
    def target(x):
        raise error

    return target


globals().update({f"raises_{name}": raising(error) for name, error in RAISED.items()})  # for another process


@pytest.mark.few(3)
@pytest.mark.parametrize("name", RAISED)
@pytest.mark.parametrize("how", ["one thread", "its own process", *nightly("two threads")])
def test_what_a_target_raises_is_a_result(name, how):
    isolate = how == "its own process"
    target = f"{__file__}:raises_{name}" if isolate else raising(RAISED[name])
    workers = 2 if how == "two threads" else 1
    result = verify(target, "gelu", "float16", "landmarks", isolate=isolate, workers=workers)
    assert f"raised {printable(type(RAISED[name]).__name__)}" in result.failure
    assert result.record.failure_kind == ("memory" if name == "memory" else "exception")
    assert result.failure == printable(result.failure)
    assert len(result.failure) < 1000


def test_what_an_array_raises_is_a_result():
    class Interrupts:
        def __array__(self, *_, **__):
            raise KeyboardInterrupt

    assert "raised KeyboardInterrupt" in verify(lambda x: Interrupts(), "gelu", "float16", "landmarks").failure


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_is_none_and_interrupts(workers):
    """Whether it meets the target or what judges it."""
    before, calls = signal.getsignal(signal.SIGINT), itertools.count()

    def slow(x):
        assert next(calls) < 30, "nothing has interrupted it"
        time.sleep(0.3)
        return np.maximum(x, 0)

    timer = threading.Timer(0.5, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        verify(slow, "relu", "float32", "strata", workers=workers)
    timer.join()
    assert not interrupted.is_set()
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_that_a_target_turns_into_something_else_interrupts():
    """As an import does."""

    def renaming(x):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("numpy cannot be imported") from None

    with pytest.raises(KeyboardInterrupt):
        verify(renaming, "relu", "float16", "landmarks", workers=1)


def test_a_handler_of_the_user_is_asked_first():
    seen, previous = [], signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        with noting_interrupts():
            signal.raise_signal(signal.SIGINT)
            assert not is_from_user(KeyboardInterrupt())
    finally:
        signal.signal(signal.SIGINT, previous)
    assert seen == [1]


def test_a_program_that_ignores_ctrl_c_goes_on_ignoring_it():
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with noting_interrupts():
            signal.raise_signal(signal.SIGINT)
            assert not is_from_user(KeyboardInterrupt())
    finally:
        signal.signal(signal.SIGINT, previous)


def test_the_command_line_reports_a_target_that_interrupts(tmp_path):
    (tmp_path / "mine.py").write_text("def gelu(x):\n    raise KeyboardInterrupt('\\x1b[31mred')\n")
    command = [*PROGRAM, "run", "mine.py:gelu", "--dtype", "float16", "--no-report"]
    for also in ([], ["--in-process"]):
        done = subprocess.run([*command, *also], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 1
        assert "raised KeyboardInterrupt: \\x1b[31mred" in done.stderr
        assert "\x1b" not in done.stdout + done.stderr


def test_messages_fit_on_a_line():
    assert message_of(Silent()) == "(no message: its __str__ raises KeyboardInterrupt)"
    assert type(message_of(Odd())) is str
    assert str(TargetFailure("a\x1b]0;title\x07b\nc")) == "a\\x1b]0;title\\x07b\\nc"
    assert printable("plain, é, 漢字,\u00a0spaces") == "plain, é, 漢字,\u00a0spaces"
    assert printable("\u202eturned\u2028\ud800\x7f\x9b") == "\\u202eturned\\u2028\\ud800\\x7f\\x9b"
