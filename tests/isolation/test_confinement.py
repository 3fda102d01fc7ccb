"""A target cannot end, stop, trace or limit the process that verifies it, and nothing that it starts outlives that."""

import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import attacking
import pytest
from marking import nightly

from gelu_verify.isolation.hosts import supported

pytestmark = pytest.mark.skipif(not supported(), reason="isolation needs Linux")
ATTACKING = Path(attacking.__file__)
FIRST = ("parent", "its_group", "everybody", "thread", "traces", "limits")  # a signal by each way, and others

# A verifier of its own for the attacks: where they succeed, it is the one that ends.
VERIFIER = f"""
import json, sys, threading
from gelu_verify.errors import TargetFailure
from gelu_verify.isolation.hosts import Hosts
from gelu_verify.isolation.limits import Limits
from gelu_verify.targets.probing import ordinary_numbers

threading.Thread(target=threading.Event().wait, daemon=True).start()  # one more to be hit
with Hosts(Limits(seconds=30)) as hosts:
    for name in sys.argv[1:]:
        (target,), _ = hosts.select([f"{ATTACKING}:{{name}}"], function="relu", dtype="float32")
        try:
            found = target.evaluate("float32", ordinary_numbers("float32")).tolist(), ""
        except TargetFailure as failure:
            found = failure.kind, str(failure)
        print(json.dumps([name, *found]), flush=True)
"""
FORCES = """
from gelu_verify.isolation import _confinement
print(*_confinement.confine([1], []))
"""


@pytest.fixture(scope="module")
def forces():
    """(filter, domain): what this system has."""
    done = subprocess.run([sys.executable, "-P", "-c", FORCES], capture_output=True, text=True, check=True)
    return [word == "True" for word in done.stdout.split()]


def attacked(*names):
    """{name: (kind, message)}, from a process that survived them all."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", VERIFIER, *names], capture_output=True, text=True, check=True, timeout=300
    )
    return {name: found for name, *found in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("attacks", [FIRST, *nightly((tuple(attacking.ATTACKS),))], ids=["some", "all"])
def test_who_attacks_the_verifier_is_ended_and_named(forces, attacks):
    if not forces[0]:
        pytest.skip("this system has no filter of system calls")
    found = attacked(*attacks)
    assert tuple(found) == attacks
    for name, (kind, message) in found.items():
        assert kind == "interference", (name, message)
        assert "tried to signal, trace or limit the process that verifies it" in message


@pytest.mark.parametrize(
    "refused", [("a_thread", "memory"), *nightly((tuple(attacking.REFUSED),))], ids=["some", "all"]
)
def test_what_no_filter_knows_is_refused(forces, refused):
    if not forces[1]:
        pytest.skip("this system has no domains that keep signals in")
    found = attacked(*refused)
    assert tuple(found) == refused
    for name, (kind, message) in found.items():
        assert kind == "exception", (name, message)
        assert "Error" in message


def test_what_frameworks_do_is_allowed():
    ((kind, message),) = attacked("looks").values()
    assert isinstance(kind, list), message


def running(command):
    """Processes with that command line."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.joinpath("cmdline").read_bytes().split(b"\0")[:-1] == command:
                found.append(int(process.name))
        except OSError:
            continue
    return found


def test_a_daemon_ends_with_its_process():
    attacked("daemon")
    assert not running([b"sleep", b"31.4159"])


def test_a_daemon_ends_when_the_verifier_is_killed():
    words = [sys.executable, "-P", "-c", VERIFIER, "forever"]
    verifier = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not running([b"sleep", b"31.4159"]) and time.monotonic() < end:
        time.sleep(0.02)
    assert running([b"sleep", b"31.4159"])
    verifier.kill()
    verifier.wait()
    while running([b"sleep", b"31.4159"]) and time.monotonic() < end:
        time.sleep(0.02)
    assert not running([b"sleep", b"31.4159"])


SUPERVISED = """
    import os, sys
    from gelu_verify.isolation.confinement import begin

    lifeline, ours = os.pipe()
    fault = os.memfd_create("fault")
    begin(lifeline, fault)
    {body}
"""


@pytest.mark.parametrize(
    ("body", "code"),
    [("os._exit(7)", 7), ("os.kill(os.getpid(), 9)", -9), ("os.abort()", -6), ("os.kill(os.getppid(), 9)", -31)],
)
def test_a_supervisor_ends_as_what_it_supervises(forces, body, code):
    if code == -31 and not forces[0]:
        pytest.skip("this system has no filter of system calls")
    done = subprocess.run([sys.executable, "-P", "-c", textwrap.dedent(SUPERVISED).format(body=body)], check=False)
    assert done.returncode == code


def test_a_process_ends_with_its_supervisor():
    body = "print(os.getpid(), flush=True); import time; time.sleep(1000)"
    words = [sys.executable, "-P", "-c", textwrap.dedent(SUPERVISED).format(body=body)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as supervisor:
        worker = int(supervisor.stdout.readline())
        supervisor.kill()
    end = time.monotonic() + 30
    while os.path.exists(f"/proc/{worker}") and time.monotonic() < end:
        time.sleep(0.01)
    assert not os.path.exists(f"/proc/{worker}")
