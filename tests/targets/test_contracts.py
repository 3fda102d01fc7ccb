"""Lengths and alignments that a C function demands of its arrays: declared behind its prototype, kept by every call."""

import numpy as np
import pytest
from foreign import chosen, needs_cc, shared_library, some_bits
from marking import nightly

from gelu_verify.errors import TargetFailure
from gelu_verify.formats import get_format
from gelu_verify.inputs.plans import make_plan
from gelu_verify.isolation.hosts import Hosts
from gelu_verify.isolation.limits import Limits
from gelu_verify.measure.sweep import sweep
from gelu_verify.speed.throughput import measure

pytestmark = needs_cc
# Every function computes relu. `strict` dies of every call that breaks its contract.
SOURCE = """
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#define FROM(start, end) for (size_t i = start; i < end; i++) y[i] = x[i] > 0 ? x[i] : x[i] != x[i] ? x[i] : 0;
#define ALIGNED(p) ((uintptr_t)(p) % 64 == 0)
void blocks(const float *x, float *y, size_t n) { FROM(0, n / 16 * 16) }
void aligned(const float *x, float *y, size_t n) { if (!ALIGNED(x) || !ALIGNED(y)) abort(); FROM(0, n) }
void several(const float *x, float *y, size_t n) { if (n < 8) abort(); FROM(0, n) }
void strict(const float *x, float *y, size_t n)
{
    if (n % 48 || n < 100 || !ALIGNED(x) || !ALIGNED(y)) abort();
    FROM(0, n)
}
void in_place(float *y, int n) { const float *x = y; if (n % 16 || !ALIGNED(y)) abort(); FROM(0, (size_t)n) }
void beyond(const float *x, float *y, size_t n) { FROM(0, n) y[n] = 1; }
void changes(float *x, float *y, size_t n) { FROM(0, n) x[n - 1] = 5; }
void skips(const float *x, float *y, size_t n) { FROM(1, n) }
void padding(const float *x, float *y, size_t n) { FROM(0, n) y[n - 1] = 3; }
"""
CALL = "void f(const float *x, float *y, size_t n)"
STRICT = f"{CALL}; multiple_of=48; at_least=100; aligned=64"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return shared_library(tmp_path_factory.mktemp("contracts"), SOURCE)


def judged(library, symbol, call):
    with Hosts(Limits(seconds=3)) as hosts:
        (target,), _ = hosts.select([f"{library}:{symbol}"], function="relu", dtype="float32", call=call)
        result = sweep(target, make_plan("landmarks", "relu", "float32"))
        throughput = None if result.failure else target.apply(measure, "float32")
        return target, result, throughput


def broken(library, symbol, call):
    """The kind of failure of a call with a number of inputs that no contract here allows."""
    with Hosts(Limits(seconds=3)) as hosts:
        (target,), _ = hosts.select([f"{library}:{symbol}"], function="relu", dtype="float32", call=call)
        with pytest.raises(TargetFailure) as raised:
            target.evaluate("float32", some_bits("float32", 7))
        return raised.value.kind


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("symbol", "kind", "call", "words"),
    [
        ("blocks", "partial write", f"{CALL}; multiple_of=16", "only with multiples of 16 values"),
        ("strict", "abort", STRICT, "only with multiples of 48 values, only with at least 100 values"),
        *nightly(
            ("aligned", "abort", f"{CALL}; aligned=64", "only with arrays aligned to 64 bytes"),
            ("several", "abort", f"{CALL}; at_least=8", "only with at least 8 values"),
        ),
        (
            "in_place",
            "abort",
            "void f(float *y, int n); multiple_of=16; aligned=64",
            "in place, only with multiples of 16",
        ),
    ],
)
def test_a_contract_is_kept_by_every_call_and_its_breach_is_named(library, symbol, kind, call, words):
    target, result, throughput = judged(library, symbol, call)
    assert (result.failure, result.failed_checks) == (None, [])
    assert (result.max_ulp, result.record.grade) == (0, "correctly_rounded")
    assert words in target.note
    assert throughput
    assert broken(library, symbol, call.partition(";")[0]) == kind


@pytest.mark.few(6)
@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 47, 48, 99, 100, 101, 4800, 5001])
def test_bits_come_out_where_they_went_in(library, n):
    target, x = chosen(f"{library}:strict", call=STRICT), some_bits("float32", n, seed=n)
    x = x[~np.isnan(x.view(np.float32))]
    np.testing.assert_array_equal(target.evaluate("float32", x), np.where(x.view(np.int32) > 0, x, 0))


@pytest.mark.parametrize(
    ("symbol", "kind", "call"),
    [
        ("beyond", "segfault", f"{CALL}; multiple_of=16; aligned=64"),
        ("changes", "changed input", "void f(float *x, float *y, size_t n); multiple_of=16"),
        ("skips", "partial write", f"{CALL}; multiple_of=16"),
    ],
)
def test_what_is_wrong_under_a_contract_is_named_as_ever(library, symbol, kind, call):
    assert broken(library, symbol, call) == kind


def test_writing_to_what_only_an_alignment_leaves_is_out_of_bounds(library):
    target = chosen(f"{library}:beyond", call=f"{CALL}; at_least=8; aligned=64")
    with pytest.raises(TargetFailure, match="wrote beyond the end of its output"):
        target.evaluate("float32", some_bits("float32", 17))


def test_outputs_that_only_fill_an_array_up_are_compared(library):
    _, result, _ = judged(library, "padding", f"{CALL}; multiple_of=16")
    assert result.failure is not None or result.failed_checks


def test_the_contract_is_part_of_the_version(library):
    versions = {chosen(f"{library}:blocks", call=f"{CALL}; multiple_of={k}").version for k in (16, 32)}
    assert len(versions) == 2


def test_addresses_are_as_aligned_as_they_must_be(library):
    fmt, x = get_format("float32"), some_bits("float32", 5)
    for aligned in (1, 2, 64, 4096, 65536):
        target = chosen(f"{library}:several", call=f"{CALL}; at_least=8; aligned={aligned}")
        loaded = target.load(fmt.name, x)
        assert [each.ctypes.data % aligned for each in (loaded.x_bits, loaded.outputs)] == [0, 0]
        assert loaded.x_bits.size == 8


def test_a_status_is_still_a_failure(tmp_path):
    status = shared_library(tmp_path, "int f(const float *x, float *y, int n) { return n % 16 ? 0 : 7; }")
    with pytest.raises(TargetFailure, match="returned status 7"):
        chosen(f"{status}:f", call="int f(const float *x, float *y, int n); multiple_of=16").evaluate(
            "float32", some_bits("float32", 3)
        )
