"""The caller's floating-point environment changes nothing, whichever it is, and is as it was when we return."""

import ast
import asyncio
import gc
import inspect
import json
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path

import floating_environments as floating
import numpy as np
import pytest
from marking import nightly
from repository import SUPPORT

import gelu_verify
from gelu_verify import _fenv as _environment
from gelu_verify import stochastic, testing, verification
from gelu_verify.fenv import awaited_in_default_environment, default_environment, in_default_environment

ENVIRONMENTS = floating.environments()
ANSWERS = SUPPORT / "environment_answers.py"
names = pytest.mark.parametrize("name", ENVIRONMENTS)
# a rounding and every bit; the other roundings are in the same field
OFTEN = {"rounds to zero, FTZ, DAZ"} & ENVIRONMENTS.keys()
SELDOM = ENVIRONMENTS.keys() - OFTEN


@pytest.fixture(autouse=True)
def back():
    yield
    floating.default()


def here():
    """The environment of this thread, its raised exceptions too."""
    state = _environment.enter()
    _environment.leave(state)
    return state


def at(name, function, *arguments):
    """What a function answers in that environment, and the environment before and after.

    Without garbage collection: hypothesis times it, and an inexact difference of times would set a flag.
    """
    gc.disable()
    try:
        ENVIRONMENTS[name]()
        before = here()
        try:
            found = function(*arguments)
        finally:
            after = here()
            floating.default()
    finally:
        gc.enable()
    return found, before, after


# ---- the mechanism -------------------------------------------------------------------------------


@names
def test_what_is_called_runs_in_the_default_environment_and_the_callers_is_put_back(name):
    inexact = np.float64(1.0)
    found, before, after = at(name, in_default_environment(lambda: (_environment.left(), float(inexact / 3))))
    assert found == (None, 1 / 3)
    assert before == after


def test_exceptions_that_the_caller_has_seen_are_kept_and_ours_are_not_added():
    floating.LIBM.feclearexcept(61)
    with default_environment():
        assert floating.LIBM.feraiseexcept(4) == 0
    assert not floating.LIBM.fetestexcept(61)
    floating.LIBM.feraiseexcept(4)
    with default_environment():
        assert not floating.X86 or not floating.LIBM.fetestexcept(61)
    assert floating.LIBM.fetestexcept(61) & 4


@names
def test_an_error_goes_through_and_the_callers_environment_is_put_back(name):
    def fails():
        raise KeyError

    def caught():
        try:
            in_default_environment(fails)()
        except KeyError:
            return True

    found, before, after = at(name, caught)
    assert found
    assert before == after


@names
def test_threads_begin_in_the_default_environment(name):
    found = []

    @in_default_environment
    def start():
        thread = threading.Thread(target=lambda: found.append(_environment.left()))
        thread.start()
        thread.join()

    at(name, start)
    assert found == [None]


@pytest.mark.parametrize("name", [name for name in ENVIRONMENTS if "unmasked" not in name])  # asyncio would die of it
def test_every_step_of_a_coroutine_runs_in_the_default_environment(name):
    seen = []

    async def inner():
        for _ in range(3):
            seen.append(_environment.left())
            await asyncio.sleep(0)
        return "done"

    async def outer():
        ENVIRONMENTS[name]()
        other = asyncio.ensure_future(asyncio.sleep(0))
        result = await awaited_in_default_environment(inner())
        await other
        return result, _environment.left()[1]

    result, after = asyncio.run(outer())
    ENVIRONMENTS[name]()
    assert (result, after) == ("done", _environment.left()[1])
    assert seen == [None] * 3


@pytest.mark.skipif(not floating.X86, reason="names the bits of x86")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("rounds up", ["rounds up"]),
        ("rounds down, FTZ", ["rounds down", "flushes subnormal results to zero"]),
        ("rounds to nearest, DAZ", ["takes subnormal inputs as zero"]),
        ("unmasked", ["ends the process at an exception (unmasked)"]),
        ("24 bits", ["computes long double with fewer bits"]),
    ],
)
def test_what_was_left_is_reported_in_words(name, words):
    ENVIRONMENTS[name]()
    assert _environment.left()[1] == words
    assert _environment.left() is None


# ---- what users call -----------------------------------------------------------------------


@cache
def answers(*environments):
    """{environment: {case: hash of the answer}}, each in a process of its own; of the default one, None, too."""
    words = [sys.executable, "-P", str(ANSWERS), *environments]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return {found["environment"]: found["answers"] for found in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("names", [OFTEN, *nightly(SELDOM)], ids=["often", "seldom"])
def test_every_answer_is_that_of_the_default_environment(names):
    found = dict(answers(*names))
    expected = found.pop(None)
    assert {case.partition(" ")[0] for case in expected} >= set(gelu_verify.__all__) - {"__version__"}
    assert found == dict.fromkeys(names, expected)


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["rounds to zero, FTZ, DAZ", *nightly("rounds up", "unmasked")])
def test_what_is_computed_when_we_are_imported_is_the_same(name, tmp_path):
    """Constants and tables, and the files in which Python keeps compiled modules."""
    done = subprocess.run(
        [sys.executable, "-P", "-X", f"pycache_prefix={tmp_path}", str(ANSWERS), "--first", name],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["answers"] == answers()[None]


def interface():
    """What users call that is not native: all else of ours runs within one of these."""
    yield from ((name, getattr(stochastic, name)) for name in stochastic.__all__)
    yield from ((name, getattr(gelu_verify, name)) for name in ("exact", "reference", "reference_bits", "ulp_error"))
    yield from (("verify", gelu_verify.verify), ("assert_gelu_accurate", testing.assert_gelu_accurate))
    yield from ((name, getattr(verification.Verification, name)) for name in ("frame", "__repr__", "_repr_html_"))


@pytest.mark.parametrize(("name", "function"), [*interface()])
def test_what_users_call_is_decorated(name, function):
    codes = {each.__code__ for each in (function, getattr(function, "__wrapped__", function))}
    assert in_default_environment(lambda: None).__code__ in codes


def test_no_generator_is_decorated():
    """Its body would run when the decorator has gone back to the caller's environment."""
    found = 0
    for path in Path(gelu_verify.__file__).parent.rglob("*.py"):
        if "@in_default_environment" not in (text := path.read_text(encoding="utf-8")):
            continue
        for node in ast.walk(ast.parse(text)):
            if any(getattr(d, "id", "") == "in_default_environment" for d in getattr(node, "decorator_list", ())):
                lazy = isinstance(node, ast.AsyncFunctionDef) or any(yields(inner) for inner in node.body)
                assert not lazy, f"{path.name}: {node.name}"
                found += 1
    assert found > 10


def yields(node):
    """Whether it does by itself, not only in a function that is defined in it."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return False
    return isinstance(node, ast.Yield | ast.YieldFrom) or any(map(yields, ast.iter_child_nodes(node)))


def test_a_decorated_function_is_still_documented():
    assert list(inspect.signature(gelu_verify.reference_bits).parameters)[:3] == ["function", "dtype", "bits"]
    assert "Correctly rounded" in gelu_verify.reference_bits.__doc__
