"""Plan `stress`: what shows after a thousand calls, once in many, at one length, or grows, is named by what it is."""

import shutil
import subprocess

import numpy as np
import pytest
from foreign import CC, needs_cc
from judging import failing, judged
from marking import nightly
from mutants import faulty, racing

from gelu_verify.checks import endurance, lengths
from gelu_verify.formats import get_format, to_float64
from gelu_verify.inputs.plans import make_plan
from gelu_verify.isolation.hosts import Hosts, supported
from gelu_verify.isolation.limits import Limits
from gelu_verify.measure.sweep import sweep

pytestmark = [needs_cc, pytest.mark.skipif(not supported() or shutil.which("cc") is None, reason="needs isolation")]
SOURCE = r"""
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
static void *volatile kept;
static void keep(size_t n) { kept = memset(malloc(n), 1, n); }
#define KERNEL(name, also) \
    void name(const float *x, float *y, size_t n) { \
        static unsigned calls; \
        calls++; \
        for (size_t i = 0; i < n; i++) y[i] = x[i] > 0 || x[i] != x[i] ? x[i] : 0; \
        also \
    }
KERNEL(good, )
KERNEL(at_1000, if (calls == 1000) y[n / 2] = 5;)
KERNEL(from_1000, if (calls >= 1000) y[n / 2] = 5;)
KERNEL(rare, if (calls % 10007 == 10006) y[n / 2] = 5;)
KERNEL(leaks, keep(1000);)
KERNEL(caches, if (calls < 2000) keep(4096);)
KERNEL(opens, if (calls % 10 == 0) open("/dev/null", O_RDONLY);)
KERNEL(opens_all, open("/dev/null", O_RDONLY);)
KERNEL(dies, if (calls == 5000) *(volatile int *)16 = 0;)
KERNEL(long_tail, if (n > 1000000) y[n - 5] = 1;)
"""
BATCHES = (100,) * 10 + (1000,) * 20
FEW = BATCHES[:14]  # for what shows in the first of them


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stress")
    (folder / "state.c").write_text(SOURCE)
    place = folder / "libstate.so"
    subprocess.run([CC, "-O1", "-w", "-shared", "-fPIC", str(folder / "state.c"), "-o", str(place)], check=True)
    return place


def stressed(library, name, plan="stress"):
    with Hosts(Limits(seconds=60)) as hosts:
        (found,), _ = hosts.select([f"{library}:{name}"], function="relu", dtype="float32")
        return sweep(found, make_plan(plan, "relu", "float32")).record


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "check", "words"),
    [
        (
            "at_1000",
            "repeatable",
            "in call 1,000 of equal calls; differing outputs: 1; differing calls: 1 of 5,000",
        ),
        *nightly(
            ("leaks", "growth", "resident memory grows by 1,"),
            ("long_tail", "lengths", "in a call of 1,048,575"),
            ("opens_all", "growth", "open files grows by 1 a call"),
            ("opens", "growth", "open files grows by 0.1 a call"),
            ("rare", "repeatable", "in call 10,006 of equal calls; differing outputs: 1; differing calls: 2 of 21,000"),
            (
                "from_1000",
                "repeatable",
                "in call 1,000 of equal calls; differing outputs: 1; differing calls: 20,001 of 21,000",
            ),
        ),
    ],
)
def test_what_many_calls_show_is_named(library, name, check, words, monkeypatch):
    monkeypatch.setattr(endurance, "BATCHES", FEW if name == "at_1000" else BATCHES)
    if check != "lengths":
        monkeypatch.setattr(lengths, "LARGE", ())
    record = stressed(library, name)
    assert record.checks[check] == "fail"
    assert words in record.findings[check].detail
    assert check in failing(record)
    if name in ("leaks", "opens"):
        assert failing(record) == {check}
        assert record.failure_kind in (None, "left behind")
        assert failing(stressed(library, name, "quick")) == set()


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["caches", "good"])
def test_what_keeps_a_cache_is_not_called_wrong(library, name, monkeypatch):
    monkeypatch.setattr(endurance, "BATCHES", BATCHES)
    record = stressed(library, name)
    assert (failing(record), record.failure) == (set(), None)
    assert record.checks["growth"] == record.checks["lengths"] == "pass"


@pytest.mark.nightly
def test_a_call_that_dies_late_is_reported_by_its_number(library, monkeypatch):
    monkeypatch.setattr(endurance, "BATCHES", BATCHES)
    monkeypatch.setattr(lengths, "LARGE", ())
    record = stressed(library, "dies")
    assert record.failure_kind == "segfault"
    assert "in calls 4,001 to 5,000 of a fresh process" in record.failure
    assert record.max_ulp == 0


@pytest.mark.nightly
def test_threads_are_asked_for_long(monkeypatch):
    """Of plan stress too, where four threads at once have not shown it."""
    monkeypatch.setattr(endurance, "BATCHES", (10,) * 10)
    monkeypatch.setattr(endurance, "EACH", 20)
    monkeypatch.setattr("gelu_verify.checks.repeatable._threads", lambda evidence, cycle: _passed())
    record = judged(racing("gelu"), "float16", "stress")
    assert "in 8 threads at once" in record.findings["repeatable"].detail


def _passed():
    from gelu_verify.checks import Finding

    return Finding("pass")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_what_the_sweep_alone_saw_is_not_repeatable_whatever_check_saw_it(dtype):
    """A race in the sweep is no fault of monotone, outlier or sign: the same call, made again, shows none."""
    struck = set()

    def once(dtype, x, y):
        value = to_float64(get_format(dtype), x)
        hit = (value > 3) & (value < 30) & (len(x) > 10000) & (not struck)
        struck.update(np.flatnonzero(hit)[:1])
        return np.where(hit & (np.cumsum(hit) == 1), y ^ y.dtype.type(1 << (8 * y.itemsize - 1)), y)

    record = judged(faulty("gelu", once), dtype, "default")
    assert failing(record) == {"repeatable"}
    assert "when the same call is made again" in record.findings["repeatable"].detail
    details = [finding.detail for finding in record.findings.values()]
    assert any("not reproduced when it was called again" in detail for detail in details) or any(
        record.checks[name] == "not applicable" for name in ("monotone", "outlier", "sign", "range")
    )
