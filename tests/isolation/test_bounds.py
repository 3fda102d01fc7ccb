"""What reaches beyond its arrays is named by the array and the side, a fault of a length by the length."""

import re
import shlex
import subprocess

import numpy as np
import pytest
from foreign import CC, needs_cc
from marking import nightly
from program import PROGRAM
from repository import SUPPORT

from gelu_verify.errors import TargetFailure, UsageError
from gelu_verify.formats import get_format
from gelu_verify.inputs.plans import make_plan
from gelu_verify.isolation.hosts import Hosts
from gelu_verify.isolation.limits import Limits
from gelu_verify.isolation.target import SMALL
from gelu_verify.measure.sweep import sweep

pytestmark = needs_cc
DTYPES = {"f32": "float32", "f64": "float64", "f16": "float16"}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bounds")
    source, place = SUPPORT / "bounds.c", folder / "libbounds.so"
    subprocess.run([CC, "-O1", "-w", "-shared", "-fPIC", str(source), "-o", str(place)], check=True)
    return place


@pytest.fixture(scope="module")
def hosts():
    with Hosts(Limits(seconds=20)) as all_of_them:
        yield all_of_them


def chosen(hosts, library, name, suffix):
    (found,), _ = hosts.select([f"{library}:{name}_{suffix}"], function="relu", dtype=DTYPES[suffix])
    return found


def called(target, length):
    """Inputs that are 1, and the outputs."""
    dtype = target.dtypes[0]
    fmt = get_format(dtype)
    x = fmt.uint.type(fmt.one).repeat(length)
    return x, target.evaluate(dtype, x)


BEYOND = {
    "x_before": "read before its input",
    "x_beyond": "read beyond the end of its input",
    "x_far_before": "read before its input",
    "x_far_beyond": "read beyond the end of its input",
    "x_stride_beyond": "read beyond the end of its input",
    "x_page_beyond": "read beyond the end of its input",
    "x_unsigned": "read beyond the end of its input",
    "x_before_if_long": "read before its input",
    "x_whole_vectors": "read beyond the end of its input",
    "y_before": "read before its output",
    "y_beyond": "read beyond the end of its output",
    "y_before_if_long": "read before its output",
    "write_x": "wrote to its input",
    "write_x_before": "wrote before its input",
    "write_x_beyond": "wrote beyond the end of its input",
    "write_y_before": "wrote before its output",
    "write_y_beyond": "wrote beyond the end of its output",
    "write_y_far_before": "wrote before its output",
    "write_y_far_beyond": "wrote beyond the end of its output",
    "write_y_before_if_long": "wrote before its output",
}


@pytest.mark.few(2)
@pytest.mark.parametrize("suffix", ["f32", *nightly(*(suffix for suffix in DTYPES if suffix != "f32"))])
@pytest.mark.parametrize("name", [*list(BEYOND)[::2], *nightly(*list(BEYOND)[1::2])])
def test_what_reaches_beyond_is_named_by_array_and_side(hosts, library, name, suffix):
    target = chosen(hosts, library, name, suffix)
    for length in (2001,) if name.endswith("long") else (7, 2001):
        with pytest.raises(TargetFailure, match=rf" {BEYOND[name]}( \(if the output comes first, --call .*\))?$"):
            called(target, length)


@pytest.mark.parametrize("suffix", DTYPES)
def test_what_stays_within_is_not_called_wrong(hosts, library, suffix):
    target = chosen(hosts, library, "good", suffix)
    for length in (1, 7, 8, SMALL, SMALL + 1, 2001, 1 << 17):
        x, got = called(target, length)
        assert (got == x).all()


@pytest.mark.parametrize("name", ["x_before_if_long", "y_before_if_long"])
def test_the_first_long_call_is_made_at_both_ends(library, name):
    """As those of a sweep are."""
    with Hosts(Limits(seconds=20)) as hosts, pytest.raises(TargetFailure, match=BEYOND[name]):
        chosen(hosts, library, name, "f32").timed("float32", np.arange(2001, dtype=np.uint32))


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["x_before_if_long", "y_before_if_long"])
def test_long_calls_of_a_sweep_are_made_at_both_ends(hosts, library, name):
    record = sweep(chosen(hosts, library, name, "f32"), make_plan("default", "relu", "float32")).record
    assert BEYOND[name] in record.failure
    assert record.failure.endswith("when it is called with 1,025 or more elements")
    assert record.failure_length == 1025


@pytest.mark.nightly
@pytest.mark.parametrize("suffix", ["f32", *nightly("f16")])
@pytest.mark.parametrize(
    ("name", "length", "words"),
    [
        ("dies_of_7", 7, "died of SIGSEGV at address 0x10, when it is called with 7 elements, but not with 8"),
        *nightly(
            ("x_whole_vectors", 1, "when it is called with 1, 2 or "),
            ("reads_after_7", 7, "read beyond the end of its input, when it is called with 7 elements"),
            ("dies_of_1025", 1025, "when it is called with 1,025 or more elements"),
            ("x_beyond", 1, ", whatever it is called with"),
            ("dies_of_3_among_16", 16, " in a call of 16 elements"),
            ("dies_of_8", 8, "when it is called with 8 elements, but not with 9"),
        ),
    ],
)
def test_a_fault_of_a_length_is_reported_by_the_length(hosts, library, name, suffix, length, words):
    record = sweep(chosen(hosts, library, name, suffix), make_plan("landmarks", "relu", DTYPES[suffix])).record
    assert words in record.failure
    assert record.failure_length == length
    assert "lane" not in [check for check, verdict in record.checks.items() if verdict == "fail"]
    first, last = record.failure_range.split(":")
    again = make_plan("default", "relu", DTYPES[suffix], 0, [record.failure_range], length)
    assert first == last
    assert re.sub(r", .*", "", sweep(chosen(hosts, library, name, suffix), again).record.failure) in record.failure


@pytest.mark.parametrize("suffix", ["f32", *nightly("f64", "f16")])
@pytest.mark.parametrize(
    ("name", "aligned"),
    [
        ("x_aligned_16", 16),
        *nightly(("y_aligned_32", 32), ("aligned_256", 256), ("multiple_of_8", None), ("writes_nothing", None)),
    ],
)
def test_a_fault_of_an_alignment_is_not_called_one_of_a_length(hosts, library, name, aligned, suffix):
    """The bytes named are the fewest that mend it, and the contract named makes the call valid."""
    plan = make_plan("landmarks", "relu", DTYPES[suffix])
    failure = sweep(chosen(hosts, library, name, suffix), plan).record.failure
    said = re.search(r"elements that are not aligned to (\d+) bytes \(--contract (aligned=\1) says", failure)
    assert (int(said[1]) if said else None) == aligned
    if said:
        asked = {"function": "relu", "dtype": DTYPES[suffix], "contract": said[2]}
        (agreed,), _ = hosts.select([f"{library}:{name}_{suffix}"], **asked)
        assert sweep(agreed, plan).failure is None


@pytest.mark.nightly
def test_a_length_can_be_asked_for(hosts, library):
    """What only a length shows that no plan has is seen where it is asked for; the command that repeats it says so."""
    target = chosen(hosts, library, "dies_of_2345", "f32")
    assert sweep(target, make_plan("quick", "relu", "float32")).failure is None
    record = sweep(target, make_plan("quick", "relu", "float32", length=2345)).record
    assert record.failure_length == 2345
    assert "--length 2345" in record.repeat
    assert "when it is called with 2,345 elements, but not with 2,346 or 4,690" in record.failure
    words = [*shlex.split(record.repeat)[1:], "--no-throughput", "--json"]
    done = subprocess.run([*PROGRAM, *words], capture_output=True, text=True, cwd=library.parent)
    assert done.returncode == 1
    assert "2,345 elements" in done.stdout


@pytest.mark.nightly
def test_a_length_does_not_change_what_is_measured(hosts, library):
    target = chosen(hosts, library, "good", "f32")
    one, other = (sweep(target, make_plan("quick", "relu", "float32", length=length)) for length in (None, 1001))
    assert one.frame().equals(other.frame())
    assert {len(chunk.order()) for chunk in make_plan("quick", "relu", "float32", length=1001).chunks} == {1001}
    for length in (0, -1, 1 << 40):
        with pytest.raises(UsageError, match="length"):
            make_plan("quick", "relu", "float32", length=length)
    with pytest.raises(UsageError, match="calls"):
        make_plan("exhaustive", "relu", "float32", length=8)
