"""The plan of calls is made by whoever judges, timed or not; calls on several threads, where they are called safe."""

import shutil

import pytest
from commands import call
from marking import nightly

from gelu_verify import verify
from gelu_verify.checks.endurance import calls_together
from gelu_verify.checks.repeatable import ROUNDS, THREADS
from gelu_verify.errors import UsageError
from gelu_verify.targets import load, select
from gelu_verify.targets.kinds.base import Asked
from gelu_verify.testing import assert_gelu_accurate

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
SILU = "v < -700 ? -0.0f : (float)(v / (1 + exp(-v)))"
SOURCE = f"""
#include <math.h>
#include <stddef.h>
#include <string.h>
static float silu(double v) {{ return {SILU}; }}
static float memory[1 << 22];
void silu_f32(const float *x, float *y, size_t n) {{ for (size_t i = 0; i < n; i++) y[i] = FAULT silu(x[i]); }}
void scratch_f32(const float *x, float *y, size_t n)
{{
    memcpy(memory, x, n * sizeof *x);
    for (size_t i = 0; i < n; i++) y[i] = silu(memory[i]);
}}
"""
FAULT = "n > 65537 || (n >= 66 && n <= 126) ? 0 : n > 1 && x[0] == x[n - 1] && x[0] == x[n / 2] ? NAN :"


@needs_compiler
def test_the_gate_verify_and_an_assertion_make_all_calls(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gelu-verify.toml").write_text('targets = ["k.c:silu_f32"]\nplan = "landmarks"\n')
    (tmp_path / "k.c").write_text(SOURCE.replace("FAULT", ""))
    assert call("budget")[0] == 0
    (tmp_path / "k.c").write_text(SOURCE.replace("FAULT", FAULT))
    code, said = call("gate", "--unchanged")
    assert (code, "lane" in said) == (1, True), said
    found = verify("./k.c:silu_f32", "silu", "float32", plan="landmarks")
    assert found.grade == "broken"
    assert {"lane", "finite"} <= set(found.record.failed_checks)
    with pytest.raises(AssertionError, match="check lane fails"):
        assert_gelu_accurate("./k.c:silu_f32", "silu", "float32", max_ulp=1, plan="landmarks")


@needs_compiler
def test_static_memory_shows_where_threads_are_called_safe(tmp_path):
    (tmp_path / "k.c").write_text(SOURCE.replace("FAULT", ""))
    for symbol, is_wrong in (("silu_f32", False), ("scratch_f32", True)):
        (target,), _ = load(f"{tmp_path}/k.c:{symbol}", Asked(function="silu", thread_safe=True))
        assert target.safe_in_threads
        tried = (calls_together(target, "float32", "silu", None, ROUNDS, THREADS) for _ in range(20 if is_wrong else 3))
        assert any(found is not None for found in tried) == is_wrong
    asked = f"{tmp_path}/k.c:scratch_f32", "silu", "float32"
    assert any(verify(*asked, plan="landmarks", thread_safe=True).grade == "broken" for _ in range(3))


ON_MAIN = """
import threading
import numpy as np
def is_main():
    return threading.current_thread() is threading.main_thread()
def wrong_relu(x):
    return np.maximum(x, 0) * np.float32(1.5 if is_main() else 1)
def raising_relu(x):
    if is_main():
        raise RuntimeError("not here")
    return np.maximum(x, 0)
"""


@pytest.mark.parametrize("name", ["wrong_relu", *nightly("raising_relu")])
def test_one_call_is_on_the_main_thread(tmp_path, name):
    (tmp_path / "k.py").write_text(ON_MAIN)
    found = verify(f"{tmp_path}/k.py:{name}", "relu", "float32", plan="landmarks", array="numpy")
    assert found.grade == "broken"
    shown = found.failure or found.record.findings["lane"].detail
    assert "on the main thread" in shown


BOUND = """
import asyncio, signal, sqlite3, threading, time
import numpy as np
base, loop, home = sqlite3.connect(":memory:"), asyncio.new_event_loop(), threading.get_ident()
asyncio.set_event_loop(loop)
known = set()
async def later(x): return np.maximum(x, 0)
def by_a_base(x): base.execute("select 1"); return np.maximum(x, 0)
def by_a_loop(x): return asyncio.get_event_loop().run_until_complete(later(x))
def by_a_signal(x): signal.signal(signal.SIGUSR1, signal.getsignal(signal.SIGUSR1)); return np.maximum(x, 0)
def by_length(x):
    assert len(x) in known or threading.get_ident() == home, "compiles on one thread"
    known.add(len(x))
    return np.maximum(x, 0)
def hangs(x):
    if threading.get_ident() != home: time.sleep(10_000)
    return np.maximum(x, 0)
"""


@pytest.mark.parametrize("name", ["by_length", *nightly("by_a_base", "by_a_loop", "by_a_signal", "hangs")])
def test_what_works_on_one_thread_is_called_there(tmp_path, name):
    """It is right in a program of one thread."""
    (tmp_path / "k.py").write_text(BOUND)
    asked = f"{tmp_path}/k.py:{name}", "relu", "float32"
    found = verify(*asked, plan="landmarks").record
    assert (found.failure, found.max_ulp, found.checks["lane"]) == (None, 0, "pass")
    assert "on the main thread of its process" in found.note
    here = verify(*asked, plan="landmarks", isolate=False).record
    assert (here.failure, here.max_ulp) == (None, 0)


def test_threads_are_said_to_be_safe_of_own_code_only(tmp_path):
    (tmp_path / "k.py").write_text("def silu(x):\n    return x\n")
    for asked in ({}, {"thread_safe": True}):
        ((target,), _) = select([f"{tmp_path}/k.py:silu"], dtype="float32", **asked)
        assert target.safe_in_threads == bool(asked)
    with pytest.raises(UsageError, match="--thread-safe is for "):
        select(["numpy"], thread_safe=True)
