"""GPU failures are results: kinds from the driver's words, and a fresh process after a context has died."""

import textwrap

import numpy as np
import pytest

from gelu_verify.errors import TargetFailure
from gelu_verify.gpu.faults import is_broken, kind_of
from gelu_verify.isolation.hosts import Hosts, supported
from gelu_verify.verification import verify

# as PyCUDA, torch, CuPy, JAX and nvcc word them
MESSAGES = [
    ("cuCtxSynchronize failed: an illegal memory access was encountered", "illegal address", True),
    ("CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be", "illegal address", True),
    ("CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered", "illegal address", True),
    ("cuLaunchKernel failed: misaligned address", "illegal address", True),
    ("cuCtxSynchronize failed: unspecified launch failure", "launch", True),
    ("cuLaunchKernel failed: too many resources requested for launch", "launch", False),
    ("cuEventSynchronize failed: device-side assert triggered", "assert", True),
    ("cuCtxSynchronize failed: the launch timed out and was terminated", "hang", True),
    ("cuMemAlloc failed: out of memory", "memory", False),
    ("CUDA out of memory. Tried to allocate 2.00 GiB", "memory", False),
    ("cudaErrorMemoryAllocation: out of memory", "memory", False),
    ("cuModuleLoadDataEx failed: no kernel image is available for execution on the device -", "architecture", False),
    ("nvcc fatal   : Unsupported gpu architecture 'compute_130'", "architecture", False),
    ("cuModuleLoad failed: a PTX JIT compilation failed", "architecture", False),
    ("could not convert string to float: 'x'", "", False),
    ("out of memory", "", False),
]


@pytest.mark.parametrize(("message", "kind", "broken"), MESSAGES, ids=[message[:40] for message, _, _ in MESSAGES])
def test_the_drivers_words_say_what_happened(message, kind, broken):
    assert (kind_of(message), is_broken(kind, message)) == (kind, broken)


IMITATED = """
    import os

    dead = False  # as a context: after one error every call has it

    def gelu(x):
        global dead
        dead = dead or (x == -7.0).any()
        if dead:
            raise RuntimeError("cuCtxSynchronize failed: an illegal memory access was encountered")
        return x * (os.getpid() * 0 + 0.5)
"""


@pytest.mark.skipif(not supported(), reason="isolation is for Linux")
def test_after_an_illegal_address_the_next_call_has_a_fresh_process(tmp_path):
    path = tmp_path / "imitated.py"
    path.write_text(textwrap.dedent(IMITATED))
    bits = np.array([-7.0, 1.0, 2.0], np.float32).view(np.uint32)
    with Hosts() as hosts:
        (target,), _ = hosts.select([f"{path}:gelu"], function="gelu", dtype="float32")
        with pytest.raises(TargetFailure, match="illegal memory access") as failure:
            target.timed("float32", bits)
        assert failure.value.kind == "illegal address"
        answer, _ = target.timed("float32", bits[1:])
        assert answer.view(np.float32).tolist() == [0.5, 1.0]


@pytest.mark.nightly
@pytest.mark.skipif(not supported(), reason="isolation is for Linux")
def test_a_run_reports_it_with_the_smallest_range(tmp_path):
    path = tmp_path / "imitated.py"
    path.write_text(textwrap.dedent(IMITATED))
    record = verify(f"{path}:gelu", "gelu", "float16", "exhaustive").record
    assert record.failure_kind == "illegal address"
    assert record.failure_range == "0xc700:0xc700"
