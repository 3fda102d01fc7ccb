"""What a target leaves behind is a finding that names it, and harms neither the truth nor the next target."""

import os
from contextlib import ExitStack

import floating_environments as floating
import numpy as np
import pytest
from marking import nightly
from repository import SUPPORT

from gelu_verify import _fenv as _environment
from gelu_verify import verify
from gelu_verify.inputs.plans import make_plan
from gelu_verify.isolation import state
from gelu_verify.isolation.hosts import Hosts, supported
from gelu_verify.isolation.limits import Limits
from gelu_verify.measure.sweep import sweep
from gelu_verify.targets import select

LEAVING = SUPPORT / "leaving.py"
WORDS = {
    "rounds_up": "rounds up",
    "rounds_down": "rounds down",
    "flushes": "flushes subnormal results to zero",
    "denormals": "takes subnormal inputs as zero",
    "unmasks": "ends the process at an exception",
}


@pytest.fixture(params=["here", "isolated"])
def chosen(request):
    """How a target of the zoo is had, in this process and in one of its own."""
    options = {"function": "relu", "dtype": "float32"}
    if request.param == "here":
        yield lambda name: select([f"{LEAVING}:{name}"], **options)[0][0]
        return
    if not supported():
        pytest.skip("isolation needs Linux")
    with Hosts(Limits(seconds=20)) as hosts:
        yield lambda name: hosts.select([f"{LEAVING}:{name}"], **options)[0][0]


RANGES = ["2.9999:3.0001", "-1:-0.99999", "0x1:0x40"]


def judged(target):
    return sweep(target, make_plan("default", "relu", "float32", 0, RANGES))


@pytest.mark.few(1)
@pytest.mark.skipif(not floating.X86, reason="sets the bits of x86")
@pytest.mark.parametrize("name", [*list(WORDS)[::3], *nightly(*(name for k, name in enumerate(WORDS) if k % 3))])
def test_a_changed_floating_point_environment_is_named_and_spoils_nothing(chosen, name):
    result = judged(chosen(name))
    assert result.record.failure_kind == "environment"
    assert f"left the floating-point environment changed: it {WORDS[name]}" in result.failure
    assert result.max_ulp == 0
    assert result.failed_checks == []
    assert _environment.left() is None
    after = judged(chosen("good"))
    assert (after.failure, after.max_ulp) == (None, 0)


@pytest.mark.skipif(not floating.X86, reason="sets the bits of x86")
def test_what_raises_after_it_changed_the_environment_harms_nobody(chosen):
    assert "after it changed the rounding" in judged(chosen("raises")).failure
    assert _environment.left() is None


def test_the_callers_environment_does_not_reach_the_target():
    def relu(x):
        with np.errstate(all="ignore"):
            return np.where(x > 0, x, x * np.float32(0))

    found = verify(relu, "relu", "float32", "landmarks").record
    for name, go in floating.environments().items():
        go()
        try:
            again = verify(relu, "relu", "float32", "landmarks").record
        finally:
            floating.default()
        assert again == found, name
    assert found.failure is None


@pytest.mark.few(2)
@pytest.mark.skipif(not supported(), reason="isolation needs Linux")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("handles", "changed a signal handler"),
        *nightly(("ignores", "changed a signal handler"), ("alarms", "left a timer running")),
        ("blocks", "changed which signals are blocked"),
        ("times", "left a timer running"),
        ("limits", "changed a resource limit"),
        ("localizes", "changed the locale"),
        ("moves", "changed the working directory"),
        ("nice", "changed the priority of its process"),
        ("forked", "left a process that it forked running"),
        *nightly(("daemons", "left a process that it forked running")),
        ("redirected", "closed or redirected stdout"),
        ("threaded", "left a thread running after each of several calls"),
        ("opens", "left a file descriptor open after each of several calls"),
        *nightly(("spawns", "left a process after each of several calls"), ("leaks", "held on to memory")),
    ],
)
def test_what_is_left_behind_is_named_and_measured_all_the_same(name, words):
    with Hosts(Limits(seconds=20)) as hosts:
        (target,), _ = hosts.select([f"{LEAVING}:{name}"], function="relu", dtype="float32")
        result = judged(target)
    assert result.record.failure_kind == "left behind", result.failure
    assert words in result.failure
    assert result.max_ulp == 0


@pytest.mark.skipif(not supported(), reason="isolation needs Linux")
@pytest.mark.parametrize("already_open", [0, 64])
def test_who_closes_the_connection_is_named(already_open):
    """Also where the numbers that the connection has are larger than those that are closed: what is looked through
    has others."""
    with ExitStack() as opened, Hosts(Limits(seconds=20)) as hosts:
        for _ in range(already_open):
            opened.callback(os.close, os.open("/dev/null", os.O_RDONLY))
        (target,), _ = hosts.select([f"{LEAVING}:closed"], function="relu", dtype="float32")
        result = judged(target)
    assert result.record.failure_kind == "left behind"
    assert "closed a file descriptor that it did not open" in result.failure


@pytest.mark.few(1)
@pytest.mark.skipif(not supported(), reason="isolation needs Linux")
@pytest.mark.parametrize("name", ["pools", "cycles", *nightly("good")])
def test_what_frameworks_keep_is_not_a_finding(name):
    with Hosts(Limits(seconds=20)) as hosts:
        (target,), _ = hosts.select([f"{LEAVING}:{name}"], function="relu", dtype="float32")
        result = judged(target)
    assert (result.failure, result.max_ulp) == (None, 0)


IMPORTING = """
import sys
sys.path.append({folder!r})
import floating_environments as floating
floating.environments()["rounds to nearest, FTZ, DAZ"]()

def scaled(x):
    return x * x.dtype.type(1) * (x > 0)
"""


@pytest.mark.skipif(not floating.X86, reason="sets the bits of x86")
def test_a_target_is_called_in_the_environment_that_its_import_leaves_and_says_so(tmp_path):
    """As its users compute; the environment of everybody else stays as it is, and nobody is accused of it."""
    path = tmp_path / "importing.py"
    path.write_text(IMPORTING.format(folder=str(SUPPORT)))
    for _ in range(2):
        (target,), _ = select([f"{path}:scaled"], function="relu", dtype="float32")
        assert _environment.left() is None
        assert "import leaves: flushes subnormal results to zero and takes subnormal inputs as zero" in target.note
        result = judged(target)
        assert result.failure is None
        assert result.record.checks["subnormals"] == "fail"


@pytest.mark.frameworks
def test_torch_set_flush_denormal_of_the_caller_changes_nothing():
    torch = pytest.importorskip("torch")
    from gelu_verify import reference_bits
    from gelu_verify.truth.values import judge

    want = reference_bits("erf", "float64", 8)
    x = np.array([0x3A5, 0x8000000000000011, 0x3FF0000000000000], np.uint64)
    fine = [np.asarray(part).tobytes() for part in judge("gelu", "float64", x, x)]
    kernel = verify("kernels.gelu_erfc", "gelu", "float64", "landmarks", isolate=False).record
    assert torch.set_flush_denormal(True)
    try:
        assert reference_bits("erf", "float64", 8) == want == 9
        assert [np.asarray(part).tobytes() for part in judge("gelu", "float64", x, x)] == fine
        assert verify("kernels.gelu_erfc", "gelu", "float64", "landmarks", isolate=False).record == kernel
        assert torch.tensor(1e-310, dtype=torch.float64) / 2 == 0  # it is still the caller's
    finally:
        torch.set_flush_denormal(False)


@pytest.mark.parametrize("kept", [False, True])
def test_what_is_open_for_a_moment_is_not_left_by_a_call(kept):
    """By another thread: seen after a call of one target, and gone after a call of another one."""
    watch, opened, found = state.StateWatch([]), [], []
    for _ in range(2 * state.OFTEN):
        for who in ("one", "other"):
            watch.enter()
            if who == "one":
                opened.append(os.open("/dev/null", os.O_RDONLY))
            elif not kept:
                os.close(opened.pop())
            found.append(watch.look(who))
    texts = {left[0] for left in found if left}
    assert texts == ({"left a file descriptor open after each of several calls"} if kept else set())
    for number in opened:
        os.close(number)


LAZY = """
import numpy as np

def gelu(x):
    import library_of_mine
    return np.maximum(x, 0)

def again(x):
    import library_of_mine, locale
    locale.setlocale(locale.LC_ALL, "C.UTF-8")
    return np.maximum(x, 0)
"""
LIBRARY = """
import signal, sqlite3
signal.signal(signal.SIGUSR1, lambda *_: None)
opened = sqlite3.connect(":memory:")
"""


@pytest.mark.skipif(not supported(), reason="isolation needs Linux")
def test_what_a_library_does_when_a_call_imports_it_is_no_finding(tmp_path):
    (tmp_path / "lazy.py").write_text(LAZY)
    (tmp_path / "library_of_mine.py").write_text(LIBRARY)
    with Hosts(Limits(seconds=20)) as hosts:
        for name, found in (("gelu", None), ("again", "changed the locale")):
            (target,), _ = hosts.select([f"{tmp_path / 'lazy.py'}:{name}"], function="relu", dtype="float32")
            result = judged(target)
            assert result.max_ulp == 0
            assert (result.failure is None) if found is None else found in result.failure


HARMLESS = """
import logging, os, sqlite3, tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
import numpy as np

FOLDER = Path(__file__).parent

@cache
def database():
    opened = sqlite3.connect(FOLDER / "kept.sqlite", check_same_thread=False)
    opened.execute("create table if not exists calls (n integer)")
    return opened

def sqlite(x):
    with database() as opened:
        opened.execute("insert into calls values (?)", (len(x),))
    return np.maximum(x, 0)

@cache
def pool():
    return ThreadPoolExecutor(4)

def threads(x):
    parts = [x[i::4] for i in range(4)]
    y = np.empty_like(x)
    for i, part in enumerate(pool().map(lambda part: np.maximum(part, 0), parts)):
        y[i::4] = part
    return y

def logs(x):
    logging.warning("called with %d values", len(x))
    return np.maximum(x, 0)

def makes_a_folder(x):
    (FOLDER / "cache" / str(len(x) % 7)).mkdir(parents=True, exist_ok=True)
    return np.maximum(x, 0)

def sets_a_variable(x):
    os.environ["OMP_NUM_THREADS"] = "1"
    return np.maximum(x, 0)
"""


@pytest.mark.nightly
@pytest.mark.few(1)
@pytest.mark.skipif(not supported(), reason="isolation needs Linux")
@pytest.mark.parametrize("name", ["sqlite", "threads", "logs", "makes_a_folder", "sets_a_variable"])
def test_what_implementations_do_at_first_use_is_no_finding(tmp_path, name):
    """A database, a pool of threads, a log, a folder, a variable: found in libraries that are right."""
    (tmp_path / "harmless.py").write_text(HARMLESS)
    with Hosts(Limits(seconds=20)) as hosts:
        (target,), _ = hosts.select([f"{tmp_path / 'harmless.py'}:{name}"], function="relu", dtype="float32")
        result = judged(target)
    assert (result.failure, result.failed_checks, result.max_ulp) == (None, [], 0)


@pytest.mark.parametrize("given_back", [True, False])
def test_memory_that_is_given_back_while_nobody_looks_is_not_held(monkeypatch, given_back):
    """Another thread of ours takes memory beside each call that is looked at, and gives it back between them."""
    watch, growth, had = object.__new__(state.StateWatch), state.Growth(), 1 << 30
    monkeypatch.setattr(state.StateWatch, "_private", lambda self: had)
    said = []
    for _ in range(100):
        had += 1 << 18
        watch._memory = had
        said += watch._held(growth, 1 << 18, excused=False)
        had -= given_back << 18
    assert bool(said) != given_back


@pytest.mark.few(1)
@pytest.mark.skipif(not supported(), reason="isolation needs Linux")
@pytest.mark.parametrize("name", ["compiles", "frees"])
def test_what_is_compiled_for_each_length_or_is_free_is_not_held(name):
    """As tinygrad compiles, for ever; what grows at lengths that it knows is held ("leaks", above)."""
    with Hosts(Limits(seconds=20)) as hosts:
        (target,), _ = hosts.select([f"{LEAVING}:{name}"], function="relu", dtype="float32")
        result = judged(target)
    assert (result.failure, result.max_ulp) == (None, 0)
