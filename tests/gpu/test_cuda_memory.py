"""Device memory, launches, marks and errors through the driver that executes PTX, which keeps PyCUDA's rules."""

import threading

import numpy as np
import pytest
import requiring

from gelu_verify.gpu import cuda
from gelu_verify.gpu.faults import is_broken, kind_of
from gelu_verify.gpu.ptx_driver import Driver
from gelu_verify.ptx import memory as ptx_memory

# y[i] = 2 x[i] by each of so many threads; a read of place `beyond` where that is not 0
PTX = """.version 9.0
.target sm_90
.address_size 64
.visible .global .align 8 .u64 numbers[3] = {1, 2, 3};
.visible .entry doubled(.param .u64 p_x, .param .u64 p_y, .param .u64 p_n, .param .u32 p_beyond)
.maxntid 64, 1, 1
{
.reg .pred %p<3>; .reg .b32 %r<6>; .reg .f32 %f<3>; .reg .b64 %rd<9>;
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
mad.lo.s32 %r4, %r2, %r3, %r1;
cvt.u64.u32 %rd1, %r4;
ld.param.u64 %rd2, [p_n];
setp.ge.u64 %p1, %rd1, %rd2;
@%p1 bra DONE;
ld.param.u64 %rd3, [p_x]; ld.param.u64 %rd4, [p_y]; ld.param.u32 %r5, [p_beyond];
shl.b64 %rd5, %rd1, 2;
mul.wide.u32 %rd8, %r5, 4;
add.s64 %rd6, %rd3, %rd5; add.s64 %rd6, %rd6, %rd8; add.s64 %rd7, %rd4, %rd5;
ld.global.f32 %f1, [%rd6];
add.rn.f32 %f2, %f1, %f1;
st.global.f32 [%rd7], %f2;
DONE: ret;
}
"""
THREADS = 64


@pytest.fixture
def device():
    requiring.program("c++", "g++", "clang++")
    device = cuda.Device(driver=Driver())
    yield device
    device._context.memory.close()


@pytest.fixture
def doubled(device, tmp_path):
    (tmp_path / "doubled.ptx").write_text(PTX)
    with device.current():
        handle = device.driver.module_from_file(str(tmp_path / "doubled.ptx"))
        return cuda.CudaModule(device, handle, tmp_path), cuda.LoadedFunction(handle.get_function("doubled"), THREADS)


def in_use(device):
    return device._context.memory.in_use


def in_another_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def run(device, function, n, beyond=0):
    x = np.arange(n, dtype=np.float32)
    source, to = device.alloc(x.nbytes), device.alloc(x.nbytes)
    device.copy_in(source, x)
    device.fill(to, 0xFF, x.nbytes)
    device.launch(function, -(-n // THREADS), THREADS, source, to, n, np.uint32(beyond))
    return device.copy_out(to, np.empty(n, np.float32))


def test_memory_is_given_back_in_any_thread(device):
    held = [device.alloc(64)]
    assert in_use(device) == 64
    in_another_thread(held.clear)
    in_another_thread(lambda: device.alloc(32))
    assert in_use(device) == 0
    assert device.driver.stack == []


def test_a_context_is_that_of_the_thread_that_pushed_it(device):
    allocation = device.alloc(64)._allocation
    with pytest.raises(device.driver.LogicError, match="cuMemAlloc failed: invalid device context"):
        device.driver.mem_alloc(64)
    with device.current(), pytest.raises(device.driver.LogicError, match="invalid argument"):
        device.driver.mem_alloc(0)
    failures = []

    def elsewhere():
        try:
            device.driver.mem_alloc(64)
        except device.driver.LogicError as error:
            failures.append(str(error))

    with device.current():
        in_another_thread(elsewhere)
    assert failures == ["cuMemAlloc failed: invalid device context"]
    with pytest.raises(device.driver.LogicError, match="invalid device context"):
        device.driver.Context.pop()
    with device.current(), pytest.raises(device.driver.LogicError, match="it was freed before"):
        allocation.free() or allocation.free()


def test_no_memory_left(device, monkeypatch):
    with pytest.raises(device.driver.Error, match="cuMemAlloc failed: out of memory") as error:
        device.alloc(ptx_memory.SIZE)
    assert isinstance(error.value, MemoryError)
    assert kind_of(str(error.value)) == "memory"
    assert device.driver.stack == []


def test_copies_stay_within_an_allocation(device):
    memory = device.alloc(16)
    with pytest.raises(device.driver.LogicError, match=r"24 bytes at 0x[0-9a-f]+ are not one allocation's"):
        device.copy_in(memory, np.zeros(3))
    with pytest.raises(device.driver.LogicError, match="cuMemcpyDtoH failed: invalid argument"):
        device.copy_out(int(memory) + 8, 16)
    with pytest.raises(device.driver.LogicError, match="cuMemsetD8 failed"):
        device.fill(memory, 0, 17)
    address = int(memory)
    del memory
    with pytest.raises(device.driver.LogicError, match="invalid argument"):
        device.copy_out(address, 8)


def test_a_kernel_is_launched_with_words_as_wide_as_it_has_them(device, doubled):
    _, function = doubled
    np.testing.assert_array_equal(run(device, function, 200), 2 * np.arange(200, dtype=np.float32))
    memory = device.alloc(64)
    with pytest.raises(
        device.driver.LaunchError, match=r"parameters of \[8, 8, 8, 4\] bytes, and was given \[8, 8, 8, 8\]"
    ):
        device.launch(function, 1, THREADS, memory, memory, 5, 7)
    with pytest.raises(device.driver.LaunchError, match="invalid configuration argument") as error:
        device.launch(function, 1, 2 * THREADS, memory, memory, 5, np.uint32(7))
    assert not is_broken(kind_of(str(error.value)), str(error.value))
    np.testing.assert_array_equal(run(device, function, 5), 2 * np.arange(5, dtype=np.float32))


def test_a_fault_is_told_by_what_waits_and_by_every_call_after_it(device, doubled):
    _, function = doubled
    memory = device.alloc(64)
    with pytest.raises(device.driver.LogicError, match="cuMemcpyDtoH failed: an illegal memory access") as error:
        run(device, function, 200, beyond=100)
    assert "kernel doubled, block (1, 0, 0), thread 36 (lane 4 of warp 1)" in str(error.value)
    assert is_broken(kind_of(str(error.value)), str(error.value))
    for call in (device.synchronize, lambda: device.alloc(8), lambda: device.copy_out(memory, 8),
                 lambda: device.launch(function, 1, THREADS, memory, memory, 1, np.uint32(0)),
                 lambda: device.seconds(lambda: None)):  # fmt: skip
        with pytest.raises(device.driver.LogicError, match="an illegal memory access was encountered"):
            call()
    assert device.driver.stack == []


def test_memory_of_a_dead_context_is_no_error(device, doubled, recwarn):
    memory = device.alloc(64)
    device._context.broken = "an illegal memory access was encountered"
    del memory
    assert not recwarn.list


def test_a_variable_of_a_module(device, doubled):
    module, _ = doubled
    address, nbytes = module.variable("numbers")
    assert device.copy_out(address, np.empty(nbytes // 8, np.uint64)).tolist() == [1, 2, 3]
    assert module.variable("absent") is None
    assert module.kernels == ()
    with pytest.raises(device.driver.LogicError, match="named symbol not found"):
        module.function("absent")


def test_an_opcode_that_is_not_known_is_named_when_the_kernel_is_asked_for(device, tmp_path):
    (tmp_path / "new.ptx").write_text(PTX.replace("add.rn.f32", "add.rn.new.f32"))
    with device.current():
        module = device.driver.module_from_file(str(tmp_path / "new.ptx"))
        with pytest.raises(
            device.driver.LogicError, match=r"PTX JIT compilation failed: add.rn.new.f32 \(.new\)"
        ) as error:
            module.get_function("doubled")
        (tmp_path / "no.ptx").write_text("no PTX")
        with pytest.raises(device.driver.LogicError, match="cuModuleLoad failed: PTX JIT compilation failed"):
            device.driver.module_from_file(str(tmp_path / "no.ptx"))
    assert kind_of(str(error.value)) == "architecture"


@pytest.mark.nightly
def test_an_approximation_is_refused_by_name_or_taken_within_its_bound(tmp_path):
    requiring.program("c++", "g++", "clang++")
    halved = "mul.rn.f32 %f2, %f1, 0f3F000000; ex2.approx.ftz.f32 %f2, %f2"
    (tmp_path / "near.ptx").write_text(PTX.replace("add.rn.f32 %f2, %f1, %f1", halved))
    found = {}
    for which in ("", "lowest", "nearest", "highest"):
        device = cuda.Device(driver=Driver(execution=which))
        with device.current():
            function = cuda.LoadedFunction(
                device.driver.module_from_file(str(tmp_path / "near.ptx")).get_function("doubled")
            )
        if not which:
            with pytest.raises(device.driver.LogicError, match=r"not determined: doubled computes ex2.approx.ftz.f32"):
                run(device, function, 50)
        else:
            found[which] = run(device, function, 50)
        device._context.memory.close()
    exact = np.exp2(np.arange(50) / 2).astype(np.float32)
    np.testing.assert_array_equal(found["nearest"], exact)
    for end in ("lowest", "highest"):  # exact at whole numbers
        np.testing.assert_array_equal(found[end][::2], exact[::2])
    np.testing.assert_array_equal(found["highest"][1::2], (exact + 2 * np.spacing(exact))[1::2])
    np.testing.assert_array_equal(found["lowest"][1::2], (exact - 2 * np.spacing(exact))[1::2])


def test_marks_are_made_and_dropped_where_the_context_is_current(device, doubled):
    _, function = doubled
    assert 0 < device.seconds(lambda: run(device, function, 1000)) < 60
    with pytest.raises(device.driver.LogicError, match="cuEventCreate failed: invalid device context"):
        device.driver.Event()


def test_the_device_says_what_it_is(device):
    assert (device.name, device.architecture, device.multiprocessors) == ("ptx on CPU", "sm_90", 1)
    assert device.driver.get_driver_version() >= cuda.NEEDED
    with pytest.raises(device.driver.LogicError, match="invalid device ordinal"):
        device.driver.Device(1)
