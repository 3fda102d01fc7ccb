"""A wrong answer is seen in whatever call, at whatever length, position and address it is given."""

import dataclasses
import itertools
import shutil
import sys
import textwrap

import numpy as np
import pytest
from foreign import needs_cc, shared_library
from marking import nightly
from mutants import correct, faulty, rounded, target

from gelu_verify.formats import DTYPES, get_format, numpy_dtype
from gelu_verify.inputs.plans import make_plan
from gelu_verify.isolation.hosts import Hosts, supported
from gelu_verify.measure.jobs import Job
from gelu_verify.measure.request import Request
from gelu_verify.measure.run import measured
from gelu_verify.measure.sweep import sweep
from gelu_verify.records.serialize import to_json
from gelu_verify.targets import short_calls
from gelu_verify.targets.extra_outputs import ExtraOutputs
from gelu_verify.targets.kinds._onnx_model import ModelTarget
from gelu_verify.targets.kinds._onnx_ports import Ports, Tensor
from gelu_verify.targets.output_memory import empty_output_like
from gelu_verify.targets.python_callables import callable_target
from gelu_verify.truth.values import reference_bits

isolated = pytest.mark.skipif(not supported(), reason="isolation needs Linux")


def planted(when):
    """42.0 where `when(call, n, at)` holds, `at` an array of the indices; else correctly rounded."""
    calls = itertools.count()

    def fault(dtype, x, y):
        fmt = get_format(dtype)
        return np.where(when(next(calls), len(x), np.arange(len(x))), fmt.uint.type(fmt.parse("42")), y)

    return faulty("gelu", fault)


def judged(mutant, dtype="float32", plan="default", ranges=None):
    return sweep(mutant, make_plan(plan, mutant.function, dtype, ranges=ranges), workers=1).record


def assert_seen(record, check="lane"):
    """The check fails and the largest error has a witness that is nothing that the function could give."""
    assert record.checks[check] == "fail"
    assert record.findings[check].got_bits != record.findings[check].want_bits
    assert record.max_ulp > 4
    assert record.witness.got_bits == get_format(record.dtype).bits_text(get_format(record.dtype).parse("42"))


LENGTHS = (1, 2, 3, 7, 8, 9, 31, 33, 63, 64, 127, 128, 129, 1025, 4095, 8192, 16385)


@pytest.mark.few(2)
@pytest.mark.parametrize("n", LENGTHS)
def test_each_length_at_its_first_last_and_middle_position(n):
    for place in {0, n // 2, n - 1}:
        assert_seen(judged(planted(lambda call, m, at, place=place: (m == n) & (at == place)), plan="quick"))


@pytest.mark.few(5)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [32767, 32768, 65535, 65536, 65537])
def test_lengths_that_the_default_plan_reaches(n, dtype):
    assert_seen(judged(planted(lambda call, m, at: (m == n) & (at == m - 1)), dtype))


def test_a_remainder_that_only_some_lengths_have():
    assert_seen(judged(planted(lambda call, n, at: (n % 16 == 3) & (n < 64) & (at == n - 1)), plan="quick"))


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float16", "float32", *nightly("bfloat16", "float64")])
def test_no_call_goes_unseen(dtype):
    """Whichever call it is in, the last of all included: a check fails, or the measures of the plan show it."""
    calls = []
    judged(planted(lambda call, n, at: calls.append(n) or False), dtype, "quick")
    rng = np.random.default_rng(4)
    for number in (*range(4), *rng.integers(4, len(calls), 10), *range(len(calls) - 4, len(calls))):
        place = int(rng.integers(calls[number]))
        record = judged(
            planted(lambda call, n, at, number=number, place=place: (call == number) & (at == place)), dtype, "quick"
        )
        failed = [name for name, verdict in record.checks.items() if verdict == "fail"]
        assert failed or record.max_ulp > 4, (number, calls[number], place)


def test_a_wrong_answer_that_is_not_the_worst_is_asked_again():
    """Under an error of 2^24 ulp everywhere in the tail, one call gives zero for -3: it is not hidden by the others.
    The same call does not give it again: it is no matter of the position."""
    struck = []

    def fault(dtype, x, y):
        fmt, value = get_format(dtype), x.view(numpy_dtype(dtype))
        lost = value < -5
        if (value == -3).any() and not struck:
            struck.append(lost := lost | (value == -3))
        return np.where(lost, fmt.uint.type(fmt.sign_mask), y)

    record = judged(faulty("gelu", fault))
    assert (record.checks["lane"], record.checks["repeatable"]) == ("not applicable", "fail")
    assert "f(-3) = -0 in the sweep, but -0.00404" in record.findings["repeatable"].detail


@pytest.mark.parametrize("ranges", [["1:0x3f801fff"], ["1:0x3f801ffe"], ["1"]])
def test_the_input_that_a_call_has_twice(ranges):
    """Calls of an odd number of inputs: the first comes again at the end."""
    size = make_plan("default", "gelu", "float32", ranges=ranges).size
    n = size + 1 if size % 2 == 0 else size
    mutant = planted(lambda call, m, at: (m == n) & (at == n - 1) & (call == 0))
    record = judged(mutant, ranges=ranges)
    assert record.max_ulp > 1e6
    if size % 2 == 0:
        assert_seen(record)
        assert f"at its last index, {n - 1}" in record.findings["lane"].detail


def test_two_unfaithful_answers_are_both_reported():
    """As torch 2.13: gelu(-4) is another number for one element, and both are thousands of ulp off."""

    def answer(dtype, x):
        y, moved = reference_bits("gelu", dtype, x), x.view(np.float32) == -4
        return np.where(moved, y + np.uint32(32768 if len(x) == 1 else 33000), y)

    record = judged(target("gelu", answer), plan="quick")
    assert record.checks["lane"] == "fail"
    detail = record.findings["lane"].detail
    assert detail.startswith("the result depends on the position in the array, on the number of elements, or on the ")
    assert "gelu(-4) = -0.00012" in detail
    assert " (off by 3.3e+04 ulp), but -0.00012" in detail
    assert " at index 0 in a call of 1," in detail
    assert detail.endswith("(off by 3.28e+04 ulp)")


def test_an_infinity_in_long_calls_only():
    def answer(dtype, x):
        y, fmt = reference_bits("gelu", dtype, x), get_format(dtype)
        large = (x.view(np.float32) > 3e38) & np.isfinite(x.view(np.float32))
        return np.where(large & (len(x) > 1), fmt.uint.type(fmt.infinity), y)

    record = judged(target("gelu", answer), plan="quick")
    assert record.checks["lane"] == "fail"
    assert "= inf" in record.findings["lane"].detail


def test_nan_and_a_number_always_differ():
    def answer(dtype, x):
        y, fmt = reference_bits("gelu", dtype, x), get_format(dtype)
        return np.where((x == fmt.infinity + fmt.sign_mask) & (len(x) == 1), fmt.uint.type(fmt.nan), y)

    assert judged(target("gelu", answer), plan="quick").checks["lane"] == "fail"


def test_faithful_answers_may_differ_and_change_no_number():
    up = rounded("gelu", "up")

    def answer(dtype, x):
        return (up if len(x) == 3 else correct("gelu")).answer(dtype, x)

    record = judged(target("gelu", answer), plan="quick")
    assert record.checks["lane"] == "pass"
    assert "both are faithful" in record.findings["lane"].detail
    assert record.max_ulp <= 1


def test_what_lies_outside_of_the_ranges_is_not_in_the_largest_error():
    record = judged(planted(lambda call, n, at: (n == 7) & (at == 3)), ranges=["100:101"])
    assert record.checks["lane"] == "fail"
    assert record.max_ulp <= 0.5


def test_a_kernel_that_returns_whole_wrong_calls_is_not_correctly_rounded():
    record = judged(planted(lambda call, n, at: (n == 7) & (at == 3)), plan="quick")
    assert record.correctly_rounded == 1
    assert record.grade != "correctly_rounded"


# ---- addresses -----------------------------------------------------------------------------------


@pytest.mark.parametrize("itemsize", [2, 4, 8])
def test_the_schedule_has_every_length_alignment_and_distance(itemsize):
    calls, inputs, ends = short_calls.schedule(itemsize, 257, 190)
    assert {len(call.inputs) for call in calls} == {*range(1, 65), *short_calls.LONGER}
    assert max(max(c.x_at, c.y_at) + itemsize * len(c.inputs) for c in calls) <= short_calls.PAGES * short_calls.PAGE
    assert len(inputs) == ends[-1]
    assert set(inputs[: ends[0]]) < set(range(190))
    for n in range(1, 65):
        mine = [call for call in calls if len(call.inputs) == n]
        kinds = {(call.x_at % 64 == 0, call.y_at % 64 == 0) for call in mine}
        assert kinds == {(True, True), (True, False), (False, True), (False, False)}
        apart = [call.y_at - call.x_at for call in mine]
        assert 4096 in apart
        assert any(distance % 4096 for distance in apart)
        assert any(distance < 0 for distance in apart)
        assert all(abs(distance) >= n * itemsize for distance in apart)
        again = [a for a, b in itertools.pairwise(mine) if a[1:] == b[1:] and set(a.inputs) != set(b.inputs)]
        assert again
    offsets = {call.x_at % 64 // itemsize for call in calls} & {call.y_at % 64 // itemsize for call in calls}
    assert offsets >= set(range(min(16, 64 // itemsize)))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Placing(type(correct("gelu"))):
    """A target that writes where it is told, and is wrong where `when(x address, y address, n)` holds."""

    when: object

    def load(self, dtype, x_bits):
        return dtype, x_bits, empty_output_like(x_bits)

    def call(self, loaded):
        dtype, x, y = loaded
        y[:] = reference_bits("gelu", dtype, x)
        if self.when(x.ctypes.data, y.ctypes.data, len(x)):
            y[-1] = get_format(dtype).parse("42")
        return y


ADDRESSES = {
    "input not aligned": lambda x, y, n: x % 64 == 4 * 11 and n == 7,
    "output not aligned": lambda x, y, n: y % 64 == 4 * 11 and n == 33,
    "output aligned, input not": lambda x, y, n: y % 64 == 0 and x % 64 and n == 16,
    "neither aligned": lambda x, y, n: x % 16 and y % 16 and n == 50,
    "a page apart": lambda x, y, n: y - x == 4096,
    "the output first": lambda x, y, n: x - y == 4096 - 4 and n < 65,
}


@pytest.mark.parametrize("name", ADDRESSES)
def test_addresses(name):
    when = ADDRESSES[name]
    if name == "the output first":
        when = lambda x, y, n: y < x and n == 20  # noqa: E731
    mutant = Placing(name="test.placing", function="gelu", dtypes=DTYPES, answer=None, when=when)
    assert_seen(judged(mutant, plan="quick"))


def test_memory_that_is_reused():
    """A cache by address: the same arrays with other contents give the old results."""
    known = {}

    def answer(dtype, x):
        key = x.ctypes.data, len(x)
        if len(x) == 5:
            return known.setdefault(key, np.array(reference_bits("gelu", dtype, x)))
        return reference_bits("gelu", dtype, x)

    assert judged(target("gelu", answer), plan="quick").checks["lane"] == "fail"


def test_scratch_that_a_longer_call_leaves_behind():
    scratch = {}

    def answer(dtype, x):
        y = np.array(reference_bits("gelu", dtype, x))
        old = scratch.get("y", y)
        scratch["y"] = y
        if len(x) < 8 < len(old) <= 64:  # a vector is filled up from memory, and its last lane is taken from there
            y[-1] = old[len(x) - 1]
        return y

    assert judged(target("gelu", answer), plan="quick").checks["lane"] == "fail"


# ---- calls that are timed, or made to see what a target takes ------------------------------------


@pytest.mark.nightly
def test_a_kernel_that_is_right_only_while_it_is_judged():
    """Called again with arguments that are loaded already, it is being timed."""

    class Cheating(type(correct("gelu"))):
        def load(self, dtype, x_bits):
            return [dtype, x_bits, 0]

        def call(self, loaded):
            dtype, x, calls = loaded
            loaded[2] += 1
            return np.array(reference_bits("gelu", dtype, x)) if calls < 3 else np.zeros_like(x)

    cheating = Cheating(name="test.cheating", function="gelu", dtypes=DTYPES, answer=None)
    plan = make_plan("quick", "gelu", "float32")
    (result,) = measured([Job(cheating, plan)], Request(throughput="quick"))
    assert result.record.checks["lane"] == "fail"
    assert "that was timed" in result.record.findings["lane"].detail
    (result,) = measured([Job(correct("gelu"), plan)], Request(throughput="quick"))
    assert result.record.checks["lane"] == "pass"
    assert set(to_json(result.record.throughput)) == {"elements_per_s", "spread", "copy_ratio", "n"}


@pytest.mark.parametrize("number", range(8))
def test_the_first_timed_calls_are_judged(number):
    """One wrong answer in call `number` of all, the timed ones first."""
    mutant = planted(lambda call, n, at: (call == number) & (at == n - 1))
    (result,) = measured([Job(mutant, make_plan("quick", "gelu", "float32"))], Request(throughput="quick"))
    assert_seen(result.record)


@pytest.mark.parametrize("wrong", [0, 1])
def test_the_calls_that_tell_which_arrays_and_dtypes_are_taken(wrong):
    calls = itertools.count()

    def first_is_wrong(x):
        y = reference_bits("gelu", "float32", x.view(np.uint32)).view(np.float32) if x.dtype == np.float32 else x
        return np.where(np.arange(len(x)) == 1, np.float32(42), y) if next(calls) == wrong else y

    found = callable_target(first_is_wrong, "gelu")
    assert len(found.probe_outputs["float32"]) == 8
    assert_seen(judged(found, plan="quick"))


def test_answers_that_are_given_to_a_sweep_are_judged():
    x, others = np.array([0x40000000], np.uint32), ExtraOutputs()
    others.add_call(x, np.array([0x42280000], np.uint32), "at index {} elsewhere")
    record = sweep(correct("gelu"), make_plan("quick", "gelu", "float32"), others=others).record
    assert_seen(record)
    assert "at index 0 elsewhere" in record.findings["lane"].detail


@pytest.mark.parametrize("seed", range(20))
def test_every_output_of_calls_is_kept_and_of_calls_that_come_again_few(seed):
    rng = np.random.default_rng(seed)
    lengths = np.exp(rng.uniform(0, np.log(3000), rng.integers(1, 8))).astype(int)
    calls = [rng.integers(0, rng.choice([3, 100, 1 << 31]), n).astype(np.uint32) for n in lengths]
    others = ExtraOutputs()
    for _ in range(30):
        for index in rng.permutation(len(calls)):
            others.add_call(calls[index], calls[index] ^ 1, "here")
    kept = others.all(get_format("float32"))
    assert np.array_equal(np.unique(kept.x), np.unique(np.concatenate(calls)))
    assert np.array_equal(kept.got, kept.x ^ 1)
    assert len(kept.x) <= 3 * lengths.sum()


# ---- in a process of its own ---------------------------------------------------------------------

SOURCE = """
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#define PLANT(name, when) void name(const float *x, float *y, size_t n) { \\
    static unsigned long calls; \\
    unsigned long call = calls++; \\
    uintptr_t a = (uintptr_t)x, b = (uintptr_t)y; \\
    (void)call, (void)a, (void)b; \\
    for (size_t i = 0; i < n; i++) \\
        y[i] = (when) ? 42.0f : (float)(0.5 * (double)x[i] * erfc(-(double)x[i] * 0.70710678118654752440)); \\
}
"""
PLANTS = {
    "honest": "0",
    "first_call": "call == 0 && i == n - 1",
    "second_call": "call == 1 && i == 0",
    "third_call": "call == 2 && i == n / 2",
    "hundredth_call": "call == 100 && i == 0",
    "at_the_start_of_a_page": "a % 4096 == 0 && n < 65 && i == 0",
    "length_7": "n == 7 && i == 3",
    "length_64_unaligned": "n == 64 && b % 64 && i == 63",
    "output_aligned_input_not": "b % 64 == 0 && a % 64 && i == 0",
    "input_aligned_output_not": "a % 64 == 0 && b % 64 && i == 0",
    "a_page_apart": "b - a == 4096 && i == n / 2",
    "long_call": "n == 16383 && i == 9999",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    plants = "".join(f"PLANT({name}, {when})\n" for name, when in PLANTS.items())
    return shared_library(tmp_path_factory.mktemp("plants"), SOURCE + plants)


@pytest.mark.few(2)
@isolated
@needs_cc
@pytest.mark.parametrize("name", [*list(PLANTS)[::3], *nightly(*(name for k, name in enumerate(PLANTS) if k % 3))])
def test_a_c_function_in_its_own_process(library, name):
    with Hosts() as hosts:
        (found,), _ = hosts.select([f"{library}:{name}"], function="gelu", dtype="float32")
        record = sweep(found, make_plan("quick", "gelu", "float32")).record
    assert record.failure is None or "different bits" in record.failure
    if name == "honest":
        assert record.checks["lane"] == "pass"
    elif record.failure is None:
        assert_seen(record)


COUNTED = """
import itertools, math, struct, sys
calls = itertools.count()

def gelu(x):
    import numpy as np
    from gelu_verify import reference_bits
    y = reference_bits("gelu", "float32", np.ascontiguousarray(x).view(np.uint32)).view(np.float32).copy()
    if next(calls) == {number}:
        y[{place}] = 42
    return y

if __name__ == "__main__":
    import numpy as np
    while head := sys.stdin.buffer.read(8):
        x = np.frombuffer(sys.stdin.buffer.read(4 * struct.unpack("<Q", head)[0]), np.float32)
        sys.stdout.buffer.write(head + gelu(x).tobytes())
        sys.stdout.buffer.flush()
"""


@pytest.mark.few(1)
@isolated
@pytest.mark.parametrize("number", [0, 50, *nightly(1, 2)])
@pytest.mark.parametrize("kind", ["python", "program"])
def test_a_python_function_and_a_program(tmp_path, kind, number):
    source = tmp_path / "gelu.py"
    source.write_text(textwrap.dedent(COUNTED.format(number=number, place=number % 2 - 1)))
    name = f"{source}:gelu" if kind == "python" else f"pipe:{sys.executable} {source}"
    with Hosts() as hosts:
        (found,), _ = hosts.select([name], function="gelu", dtype="float32")
        record = sweep(found, make_plan("landmarks", "gelu", "float32")).record
    assert record.failure is None or "different bits" in record.failure
    if record.failure is None:
        assert_seen(record)


@isolated
@needs_cc
@pytest.mark.parametrize("last", ["0x3f8003e7", "0x3f800006"])
def test_a_short_range_is_called_with_its_own_inputs(library, last):
    """The inputs lie at the end of shared memory, and the first call is made at its start: they overlap."""
    with Hosts() as hosts:
        (found,), _ = hosts.select([f"{library}:honest"], function="gelu", dtype="float32")
        plan = make_plan("default", "gelu", "float32", ranges=[f"0x3f800000:{last}"])
        record = sweep(found, plan).record
    assert record.failure is None
    assert record.max_ulp <= 0.51


# ---- what fills an input up to its shape ---------------------------------------------------------


@dataclasses.dataclass(frozen=True, kw_only=True)
class Padded(ModelTarget):
    """A model of shape (any, 4) whose runtime is wrong in what pads the last row."""

    wrong: bool = True

    @staticmethod
    def opened(files, content):
        raise NotImplementedError

    def bound(self, dtype, batches, x_shape, x_rows, y_rows):
        def run():
            y_rows[...] = reference_bits("gelu", dtype, x_rows)
            if self.wrong and y_rows.size == 8:
                y_rows[-1, -1] = get_format(dtype).parse("42")

        return run


@pytest.mark.parametrize("wrong", [False, True])
def test_the_padding_of_a_model_is_judged(wrong):
    x = Tensor("x", 1, (None, 4))
    ports = Ports(x, x)
    model = Padded(
        name="test.padded",
        function="gelu",
        dtypes=("float32",),
        files=(),
        paths=(),
        content="",
        ports=ports,
        wrong=wrong,
    )
    assert model.load("float32", np.zeros(7, np.uint32)).x_bits.size == 8
    record = judged(model, plan="quick")
    assert record.checks["lane"] == ("fail" if wrong else "pass")
    if wrong:
        assert_seen(record)


def test_there_is_a_compiler_where_it_is_needed():
    assert shutil.which("cc") is None or needs_cc.args[0] is False
