"""A child process: it ends whatever it does and whoever asks for it, and its pipes are closed."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from gelu_verify.work.process import ChildProcess, died_of

PIPES = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)


def python(code, **options):
    return ChildProcess([sys.executable, "-c", code], **{**PIPES, **options})


def talked(process, text, due, seconds=20.0):
    """What came back, once it is that long; None where that takes longer."""
    left, got = bytearray(text), bytearray()

    def write(file):
        del left[: os.write(file, left)]
        return bool(left)

    def read(file):
        came = os.read(file, 1 << 16)
        got.extend(came)
        return bool(came) and len(got) < due

    return bytes(got) if process.talk(write, read, seconds) else None


def test_more_than_a_pipe_holds_goes_both_ways():
    process, text = ChildProcess(["cat"], **PIPES), os.urandom(1 << 20)
    assert talked(process, text, len(text)) == text
    assert talked(process, b"more", 5, 0.05) is None
    process.end()
    process.end()
    assert process.returncode == -signal.SIGKILL
    with pytest.raises(ValueError, match=r"closed|Invalid"):
        talked(process, b"again", 5)


def test_another_thread_ends_it_amid_a_talk():
    process = python("import time; time.sleep(60)")
    ending = threading.Timer(0.2, process.end)
    ending.start()
    start = time.monotonic()
    assert talked(process, b"", 1, 30.0) == b""
    ending.join()
    assert time.monotonic() - start < 10
    assert not process.alive


@pytest.mark.parametrize(
    ("code", "options", "status"),
    [
        ("import sys; sys.stdin.read()", {"stop": None, "patience": 10.0}, 0),
        ("import sys, time; sys.stdin.read(); time.sleep(60)", {"stop": None, "patience": 0.1}, -signal.SIGKILL),
        ("import time; time.sleep(60)", {"stop": signal.SIGTERM, "patience": 10.0}, -signal.SIGTERM),
    ],
)
def test_it_is_asked_first_and_then_killed(code, options, status):
    process = python(code, **options)
    process.end()
    assert process.returncode == status


def test_its_last_words_are_kept_however_much_it_writes():
    process = python("import sys; sys.stderr.write('x' * (1 << 20) + '\\nno such luck\\n'); sys.exit(3)")
    assert talked(process, b"", 1) == b""
    assert process.wait(10) == 3
    assert process.last_words() == ": no such luck"
    process.end()


def test_signals_have_the_kinds_of_the_documentation():
    assert died_of(-signal.SIGFPE) == ("arithmetic", "SIGFPE")
    assert died_of(-signal.SIGUSR1) == ("SIGUSR1", "SIGUSR1")
    assert died_of(-int(signal.SIGRTMIN) - 1) == ("signal 35", "signal 35")
