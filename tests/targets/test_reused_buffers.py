"""A function may answer in memory that it uses again: judged is what it answered, not what lies there later."""

import dataclasses
import threading
import time

import numpy as np
import pytest
from marking import nightly

from gelu_verify import verify
from gelu_verify.formats import get_format
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.jobs import Job
from gelu_verify.measure.request import Request
from gelu_verify.measure.run import measured
from gelu_verify.measure.sweep import sweep
from gelu_verify.targets import select
from gelu_verify.targets.frameworks.kernels import KernelTarget
from gelu_verify.targets.python_callables import callable_target
from gelu_verify.truth.values import reference_bits

BUFFER = np.empty(1 << 23, np.uint8)


def correct(x):
    name = x.dtype.name
    return np.asarray(reference_bits("gelu", name, x.view(get_format(name).uint))).view(x.dtype)


def first(x):
    """The first bytes of one buffer, whatever the dtype."""
    return BUFFER[: x.nbytes].view(x.dtype)


def reused(x):
    np.copyto(first(x), correct(x))
    return first(x)


def from_the_end(x):
    """With a negative stride."""
    first(x)[::-1] = correct(x)
    return first(x)[::-1]


def every_other(x):
    """Every second element of a larger array."""
    y = BUFFER[: 2 * x.nbytes].view(x.dtype)[::2]
    y[:] = correct(x)
    return y


def read_only(x):
    y = reused(x)
    y.flags.writeable = False
    return y


def last_of_two(x, buffers={}):  # noqa: B006 - the buffers are what is tested
    """The two buffers take turns, one pair for each length."""
    one, other = buffers.setdefault((len(x), x.dtype.name), (np.empty_like(x), np.empty_like(x)))
    buffers[len(x), x.dtype.name] = other, one
    one[:] = correct(x)
    return one


def spoiling(x, before=[]):  # noqa: B006 - so is what it remembers
    """What it returned is overwritten at the start of the next call."""
    while before:
        before.pop().fill(np.nan)
    before.append(correct(x))
    return before[0]


WAYS = [reused, from_the_end, every_other, read_only, last_of_two, spoiling]


def sound(result):
    return (result.max_ulp, result.failed_checks, result.failure) == (pytest.approx(0.5, abs=1e-4), [], None)


@pytest.mark.few(2)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("dtype", ["float32", *nightly("float64", "bfloat16")])
def test_a_correct_function_passes_in_this_process(way, dtype):
    for seed in range(3):
        assert sound(verify(way, "gelu", dtype, "quick" if dtype != "float32" else "strata", seed=seed, workers=4))


@pytest.mark.parametrize("way", [reused, *nightly(from_the_end, spoiling)], ids=lambda way: way.__name__)
def test_it_passes_in_a_process_of_its_own(way):
    assert sound(verify(f"{__file__}:{way.__name__}", "gelu", "float32", "strata"))


@pytest.mark.parametrize("way", [reused, spoiling], ids=lambda way: way.__name__)
def test_it_passes_when_it_is_called_piece_by_piece(way):
    """As `--shape '(256,)'`: the pieces of one call are held until the last is answered."""
    assert sound(verify(way, "gelu", "float32", "quick", shape="(256,)"))


def test_jobs_side_by_side_share_a_buffer():
    """As `run --in-process`: two dtypes of one function, in one memory."""
    plans = [make_plan("strata", "gelu", dtype, seed) for seed, dtype in enumerate(("float32", "float64", "float32"))]
    jobs = [Job(callable_target(reused, "gelu", plan.dtype), plan) for plan in plans]
    assert all(map(sound, measured(jobs, Request(workers=4))))


def test_an_answer_that_is_kept_stays():
    target, x = callable_target(reused, "gelu", "float32"), np.arange(1000, dtype=np.uint32)
    one = target.evaluate("float32", x)
    two, _ = target.timed("float32", x + np.uint32(0x3F800000))
    assert (one == reference_bits("gelu", "float32", x)).all()
    target.evaluate("float32", x)
    assert (two == reference_bits("gelu", "float32", x + np.uint32(0x3F800000))).all()


def test_the_input_as_the_answer():
    """A view of what was lent: later inputs lie there."""
    for identity in (lambda x: x, lambda x: x[:], lambda x: x[::-1][::-1]):
        result = verify(identity, "relu", "float32", "strata", workers=4)
        assert (result.failure, "lane" in result.failed_checks) == (None, False)


def test_one_value_for_all():
    """Stride 0: every output lies at one address."""
    result = verify(lambda x: np.broadcast_to(x.dtype.type(2), x.shape), "gelu", "float32", "quick")
    assert result.failure is None
    assert "lane" not in result.failed_checks


def test_an_input_that_is_changed_at_the_next_call_is_found_or_harms_nobody():
    before = []

    def changing(x):
        while before:
            before.pop()[:] = 1.0
        before.append(x)
        return correct(x)

    result = verify(changing, "gelu", "float32", "strata")
    named = "changed its input" in str(result.failure) or "lane" in result.failed_checks
    assert named or sound(result)


def test_a_result_that_a_thread_still_writes_to_is_named():
    shared = np.zeros(1 << 20, np.float32)
    stop = threading.Event()

    def write():
        while not stop.is_set():
            shared[:16] += 1

    def unsettled(x):
        shared[: len(x)] = correct(x)
        return shared[: len(x)]

    thread = threading.Thread(target=write)
    thread.start()
    try:
        result = verify(unsettled, "gelu", "float32", "quick")
    finally:
        stop.set()
        thread.join()
    assert result.record.failure_kind == "nondeterministic" or "repeatable" in result.failed_checks


@pytest.mark.nightly
def test_a_shared_buffer_of_what_says_that_it_is_safe_in_threads_is_a_race():
    """Nobody may excuse it: the answers of two threads are mixed."""

    def slow(x):
        y = reused(x)
        time.sleep(0.001)
        return y

    target = dataclasses.replace(callable_target(slow, "gelu", "float32"), safe_in_threads=True)
    result = sweep(target, make_plan("strata", "gelu", "float32"), workers=4)
    assert result.failure or result.failed_checks


def test_kernels_are_not_copied():
    """What is made anew for each call is handed on as it is: an exhaustive sweep waits for nothing."""
    target = next(each for each in select(["kernels"], dtype="float32")[0])
    loaded = target.load("float32", np.arange(16, dtype=np.uint32))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KernelTarget, "load", lambda *_: loaded)
        assert target.timed("float32", loaded.x_bits)[0] is loaded.y_bits
