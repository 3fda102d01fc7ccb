"""What is wrong in a kernel is found and told: what, in which block and lane, on which line."""

import re

import numpy as np
import pytest
import requiring
from repository import SUPPORT

from gelu_verify.gpu import nvcc
from gelu_verify.ptx.executor import KernelFault, LaunchError, LoadedModule
from gelu_verify.ptx.ir import PtxError
from gelu_verify.ptx.memory import AddressedMemory
from gelu_verify.ptx.parse import parse
from gelu_verify.ptx.translate import translate

SOURCE = SUPPORT / "ptx_kernels.cu"
LINES = SOURCE.read_text().splitlines()
FAULTS = {
    int(match[1]): (match[2], number)
    for number, line in enumerate(LINES, 1)
    if (match := re.search(r"// fault (\d+): (.*)", line))
}
N = 128


@pytest.fixture(scope="module")
def text():
    requiring.nvcc()
    requiring.program("c++", "g++", "clang++")
    return nvcc.ptx_of(SOURCE, [], "sm_90").read_text()


@pytest.fixture
def device(text):
    memory = AddressedMemory()
    yield memory, LoadedModule(text, memory)
    memory.close()


def word(value, size=8):
    return int(value).to_bytes(size, "little")


def run_faulty(device, which):
    memory, module = device
    x = np.arange(1, N + 1, dtype=np.float32)
    source, to = memory.alloc(x.nbytes), memory.alloc(x.nbytes)
    memory.write(source, x)
    parameters = word(which, 4) + word(N, 4) + word(source) + word(to)
    module.kernel("faulty").launch((2, 1, 1), (64, 1, 1), parameters)
    y = np.empty_like(x)
    memory.read(to, y)
    return x, y


def test_a_right_kernel_is_executed(device):
    x, y = run_faulty(device, 0)
    np.testing.assert_array_equal(y, x.reshape(2, 64)[:, ::-1].reshape(-1))
    x, y = run_faulty(device, 1)
    np.testing.assert_array_equal(y, x.reshape(-1, 2)[:, ::-1].reshape(-1))
    _, y = run_faulty(device, 18)
    np.testing.assert_array_equal(y, np.tile(np.arange(63, -1, -1) ^ 1, 2))


@pytest.mark.parametrize("which", FAULTS)
def test_a_fault_is_named_with_its_line(device, which):
    what, line = FAULTS[which]
    with pytest.raises(KernelFault) as fault:
        run_faulty(device, which)
    message = str(fault.value)
    assert what in message
    assert re.search(r"kernel faulty, block \([01], 0, 0\), thread \d+ \(lane \d+ of warp [01]\), ", message)
    assert f"{SOURCE.name}:{line}" in message


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("which", "where"),
    [
        (2, "thread 0 .*: is a barrier missing?"),
        (4, r"block \(0, 0, 0\), thread 0 .* 0 bytes after 512 bytes at "),
        (5, "thread 0 .* of 16 bytes at "),
        (6, "thread 17 .* has ended"),
        (7, r"block \(0, 0, 0\), thread 0 .*; thread 40 .* has ended"),
        (8, "it is thread 9"),
        (10, "v > 1e30f"),
        (11, "thread 5 "),
        (14, "thread 0 .* against thread 1 |thread 1 .* against thread 0 "),
        (15, "thread 32 .* against thread 0 .* with no barrier between them"),
        (12, "of 4 bytes at 0x[0-9a-f]+ in global memory"),
    ],
)
def test_a_fault_says_what_it_collides_with(device, which, where):
    with pytest.raises(KernelFault, match=where.replace("?", "[?]")):
        run_faulty(device, which)


def test_what_a_kernel_prints(device, capfd):
    run_faulty(device, 16)
    printed = capfd.readouterr().out.splitlines()
    assert len(printed) == N
    assert printed[70] == "lane 6 of sixteen: 71.00 1099511627776"


def test_what_lanes_do_together(device):
    memory, module = device
    x = np.random.default_rng(4).integers(0, 97, 64, dtype=np.uint32)
    names = ["up", "down", "xor", "index", "ballot", "any", "all", "same", "every"]
    names += ["sum", "least", "count", "both", "either"]
    y, total = np.zeros(64, [(name, "<u4") for name in names]), np.array([0, 1000, 0, 0, 0], np.uint32)
    places = [memory.alloc(array.nbytes) for array in (x, y, total, np.zeros(1, np.float32))]
    for place, array in zip(places, (x, None, total, np.zeros(1, np.float32)), strict=True):
        if array is not None:
            memory.write(place, array)
    module.kernel("together").launch((1, 1, 1), (64, 1, 1), b"".join(map(word, places)))
    for place, array in ((places[1], y), (places[2], total)):
        memory.read(place, array.view(np.uint8))
    mean = np.empty(1, np.float32)
    memory.read(places[3], mean)
    lane, warps = np.arange(32), x.reshape(2, 32)
    bits = lambda flags: int((flags.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum())  # noqa: E731
    for w, v in enumerate(warps):
        got = y[32 * w : 32 * w + 32]
        expected = {
            "up": np.where(lane >= 3, v[lane - 3], v),
            "down": np.where(lane % 16 < 11, v[np.minimum(lane + 5, 31)], v),
            "xor": v[lane ^ 6],
            "index": v[lane // 8 * 8 + 2],
            "ballot": bits(v & 1),
            "any": (v > 90).any(),
            "all": (v < 95).all(),
            "same": [bits(v % 4 == each % 4) for each in v],
            "every": 0,  # a full mask and 1
            "sum": v.sum(),
            "least": v.min(),
            "count": (x & 1).sum(),
            "both": 1,
            "either": 0,
        }
        for name, values in expected.items():
            np.testing.assert_array_equal(got[name], np.broadcast_to(values, 32), err_msg=name)
    np.testing.assert_array_equal(total, [x.sum(), x.min(), 64 - 41, next(v for v in x if v), x.max()])
    assert mean[0] == 32.0


def test_a_launch_that_no_device_takes(device):
    kernel = device[1].kernel("faulty")
    with pytest.raises(LaunchError, match="takes up to 1024 threads"):
        kernel.launch((1, 1, 1), (2048, 1, 1), bytes(24))
    with pytest.raises(LaunchError, match="bytes of shared memory"):
        kernel.launch((1, 1, 1), (64, 1, 1), bytes(24), shared=1 << 20)


HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("frobnicate.b32 %r, %r;", "frobnicate.b32 is not supported"),
        ("add.rn.exotic.f32 %f, %f, %f;", r"add.rn.exotic.f32 \(.exotic\) is not supported"),
        ("activemask.b32 %r;", "activemask.b32 is not supported"),
        ("mov.u32 %r, %smid;", r"mov.u32 \(the register %smid\) is not supported"),
        ("div.f32 %f, %f, %f;", r"div.f32 \(no rounding\) is not supported"),
        ("rsqrt.approx.f64 %d, %d;", r"PTX bounds no error of it"),
        ("cvt.f16.f32 %h, %f;", r"cvt.f16.f32 \(no rounding\) is not supported"),
        ("call.uni absent, ();", r"call.uni \(the function absent\) is not supported"),
    ],
)
def test_what_is_not_known_is_an_error_that_names_it(statement, message):
    text = HEAD + (
        ".visible .entry k()\n{ .reg .b32 %r; .reg .f32 %f; .reg .f64 %d; .reg .b16 %h;\n" + statement + "\nret; }"
    )
    memory = AddressedMemory()
    with pytest.raises(PtxError, match=message):
        LoadedModule(text, memory).kernel("k")
    memory.close()


def test_constant_memory_is_not_written():
    requiring.program("c++", "g++", "clang++")
    memory = AddressedMemory()
    text = HEAD + ".const .align 4 .u32 table[1] = {5};\n.visible .entry k()\n{ .reg .b64 %a; .reg .b32 %r;\n"
    text += "mov.u64 %a, table; ld.const.u32 %r, [%a]; st.global.u32 [%a], %r;\nret; }"
    with pytest.raises(KernelFault, match="read-only memory is written: kernel k"):
        LoadedModule(text, memory).kernel("k").launch((1, 1, 1), (1, 1, 1), b"")
    memory.close()


@pytest.mark.parametrize(
    ("statements", "found"),
    [
        ("mul.f32 %p, %a, %b; add.f32 %s, %p, %a;", ["mul.f32 and add.f32"]),
        ("mul.f32 %p, %a, %b; neg.f32 %b, %p; sub.f32 %s, %a, %b;", ["mul.f32 and sub.f32"]),
        ("mul.rn.f32 %p, %a, %b; add.f32 %s, %p, %a;", []),
        ("mul.f32 %p, %a, %b; add.rn.f32 %s, %p, %a;", []),
        ("fma.rn.f32 %p, %a, %b, %a; add.f32 %s, %p, %a;", []),
        ("L: add.f32 %s, %p, %a; mul.f32 %p, %a, %b; @%q bra L;", ["mul.f32 and add.f32"]),
        ("mul.f16 %h, %h, %h; mov.b32 %r, {%h, %h}; add.f16x2 %r, %r, %r;", ["mul.f16 and add.f16x2"]),
    ],
)
def test_a_sum_of_a_product_that_may_be_contracted_is_named(statements, found):
    text = (
        HEAD + ".visible .entry k()\n{ .reg .f32 %a, %b, %p, %s; .reg .pred %q; .reg .b16 %h; .reg .b32 %r; "
        "mov.f32 %a, 0f3F800000; mov.f32 %b, %a;" + statements
    )
    translated = translate(parse(text + " ret; }"), "k")
    assert [opcodes for opcodes, _ in translated.contractible] == found
    assert ("one fma (-fmad=false decides that)" in translated.why_not_determined()) == bool(found)


@pytest.mark.parametrize("name", ["seven", "holder"])
def test_a_variable_that_holds_a_function_cannot_be_read(name):
    """Functions have no addresses here, so that it is never written."""
    memory = AddressedMemory()
    module = LoadedModule(
        f"""{HEAD}.visible .global .align 8 .u64 seven = 7;
.visible .global .align 8 .u64 holder = k;
.visible .entry k(.param .u64 out) {{
    .reg .b64 %r<3>;
    ld.param.u64 %r1, [out];
    ld.global.u64 %r2, [{name}];
    st.global.u64 [%r1], %r2;
    ret;
}}""",
        memory,
    )
    place, found = memory.alloc(8), np.zeros(8, np.uint8)
    if name == "holder":
        with pytest.raises(KernelFault, match="unwritten memory is read"):
            module.kernel("k").launch((1, 1, 1), (1, 1, 1), word(place))
    else:
        module.kernel("k").launch((1, 1, 1), (1, 1, 1), word(place))
        memory.read(place, found)
        assert found.view(np.uint64) == 7


def test_what_is_not_ptx():
    with pytest.raises(PtxError, match="not PTX"):
        parse("int main() {}")
    with pytest.raises(PtxError, match="not understood"):
        _ = parse(HEAD + ".visible .entry k() { mystery }").functions["k"].body
