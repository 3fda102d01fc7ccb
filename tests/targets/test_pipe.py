"""Programs over a pipe: every bit arrives, neither side blocks the other, and what a program does wrong is named."""

import gc
import random
import shlex
import signal
import subprocess
import sys

import numpy as np
import pytest
from foreign import chosen, needs_cc, shared_library, some_bits
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gelu_verify import targets, verify
from gelu_verify.errors import TargetFailure, UsageError
from gelu_verify.formats import DTYPES, get_format
from gelu_verify.targets.kinds._exchange import FRAME

# Reads a frame, or exits; `answer(n, x)` of each case below writes.
FRAME_LOOP = """
import os, sys, time
read, write = sys.stdin.buffer.read, sys.stdout.buffer.write
size = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}[os.environ["GELU_VERIFY_DTYPE"]]
number = 0
while head := read(8):
    number += 1
    n = int.from_bytes(head, "little")
    x = read(n * size)
    assert 1 <= n <= 65536 and len(x) == n * size
"""
# As before, once it has answered the two requests of ordinary numbers that every program gets first.
TRIED = (
    FRAME_LOOP
    + """
    if number <= 2:
        write(head + x[: n * size // (1 + bool(os.environ["GELU_VERIFY_SECOND_INPUT"]))])
        sys.stdout.buffer.flush()
        continue
"""
)
FLOATS = st.integers(0, 0x7F800000)
FLUSH = "    sys.stdout.buffer.flush()\n"
ANSWER = "    write(head + x)\n" + FLUSH


@pytest.fixture
def program(tmp_path):
    """Writes a program in Python and gives its name as a target."""

    def written(text, name="program.py"):
        (tmp_path / name).write_text(text)
        return f"pipe:{shlex.quote(sys.executable)} {shlex.quote(str(tmp_path / name))}"

    return written


def ending(target):
    """Runs its program to the end."""
    target._running[0]._end()


# ---- what is right -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_bit_arrives_there_and_back(program, dtype):
    target = chosen(program(FRAME_LOOP + ANSWER), dtype=dtype)
    every = np.arange(1 << 16, dtype=np.uint16) if get_format(dtype).width == 16 else some_bits(dtype, 1 << 16)
    np.testing.assert_array_equal(target.evaluate(dtype, every), every)


@settings(max_examples=30)
@given(st.lists(st.integers(1, 3 * FRAME + 5), min_size=1, max_size=4))
def test_any_sizes_in_any_order_through_one_program(sizes):
    for n in sizes:
        x = some_bits("float32", n, seed=n)
        np.testing.assert_array_equal(CAT.evaluate("float32", x), x)


CAT = chosen("pipe:cat", dtype="float32")


def test_it_is_started_once_and_kept(program):
    """Its answers count its frames; a copy narrowed to a dtype, as a run makes, asks the same process."""
    counting = "    write(head + number.to_bytes(size, 'little') * n)\n" + FLUSH
    target = chosen(program(FRAME_LOOP + counting), dtype="float32")
    for number in (3, 4, 5):
        assert target.evaluate("float32", np.zeros(2, np.uint32)).tolist() == [number] * 2
    assert target.evaluate("float32", np.zeros(2 * FRAME + 1, np.uint32))[[0, FRAME, 2 * FRAME]].tolist() == [6, 7, 8]


def test_one_that_answers_late_and_talks_on_stderr_blocks_nobody(program):
    """It reads all frames before it answers the first, and writes more to stderr than a pipe holds."""
    late = """    frames = globals().setdefault("frames", []); frames.append(head + x)
    print("x" * 100_000, file=sys.stderr)
    if number == 7:
        for frame in frames: write(frame)
        sys.stdout.buffer.flush()
"""
    x = some_bits("float64", 4 * FRAME + 1)
    np.testing.assert_array_equal(chosen(program(TRIED + late), dtype="float64").evaluate("float64", x), x)


def test_it_gets_dtype_and_function(program):
    reply = """    text = os.environ["GELU_VERIFY_DTYPE"] + " " + os.environ["GELU_VERIFY_FUNCTION"]
    raise SystemExit(text)
"""
    for dtype in DTYPES:
        with pytest.raises(UsageError, match=f"ended with status 1 after 0 of 4 values: {dtype} gelu_tanh; its first"):
            chosen(program(FRAME_LOOP + reply), function="gelu_tanh", dtype=dtype)


def test_the_run_says_what_it_really_computes(program):
    identity = program(FRAME_LOOP + ANSWER, "gelu.py")
    result = verify(identity, "gelu", "float32", "landmarks")
    assert result.record.variant == "none"
    assert "variant" in result.failed_checks


# Of a function of x and g: n values of x, then as many of g; it returns n.
TWO_INPUTS = """    n //= 2
    x, g = x[: n * size], x[n * size :]
    if os.environ["GELU_VERIFY_SECOND_INPUT"] != "g" or os.environ["GELU_VERIFY_FUNCTION"] != "swiglu": sys.exit("no g")
"""


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sizes=st.lists(st.integers(1, 3 * FRAME + 5), min_size=1, max_size=3), values=st.lists(FLOATS, min_size=1))
def test_a_second_input_follows_x_in_every_request(program, sizes, values):
    """One process, whatever the values: which half is which is what the two programs return."""
    texts = {half: FRAME_LOOP + TWO_INPUTS + f"    write(n.to_bytes(8, 'little') + {half})\n{FLUSH}" for half in "xg"}
    asked = {"function": "swiglu", "dtype": "float32", "call": "f(x, g)"}
    targets = [chosen(program(text, f"{half}.py"), **asked) for half, text in texts.items()]
    for n in sizes:
        x = some_bits("float32", n, seed=n)
        for target, due in zip(targets, (x, np.resize(np.array(values, np.uint32), n)), strict=True):
            asked = target.with_second("swiglu", tuple(values))
            np.testing.assert_array_equal(asked.evaluate("float32", x), due)
    assert len({id(each._running) for each in (targets[0], targets[0].with_second("swiglu[g=2]"))}) == 1
    fixed = targets[1].with_second("swiglu[g=2]")
    assert fixed.evaluate("float32", x[:1]) == 0x40000000


def test_one_that_takes_no_second_input_is_told_so(program):
    """It returns as many values as the request has."""
    identity = program(FRAME_LOOP + ANSWER)
    message = "returned 8 where the frame of 4 values was due, .* its request has 4 values of x and as many of g"
    with pytest.raises(UsageError, match=message):
        chosen(identity, function="swiglu", dtype="float32", call="f(x, g)")


@pytest.mark.parametrize(
    ("function", "call", "message"),
    [
        ("swiglu", "f(g, x)", r"says nothing of pipe:cat \(accepted of a program: 'f\(x, g\)', 'f\(x, b\)', 'f\(x\)'"),
        ("swiglu", "f(x, b)", "swiglu has no second input b"),
        ("gelu", "f(x, g)", "gelu has no second input g"),
    ],
)
def test_a_call_of_a_program_says_which_second_input_it_takes(function, call, message):
    with pytest.raises(UsageError, match=message):
        targets.select(["pipe:cat"], function=function, dtype="float32", call=call)


def test_a_name_that_says_two_inputs_is_asked_for(program):
    with pytest.raises(UsageError, match=r"--call 'f\(x, g\)' says how it takes g"):
        chosen(program("", "swiglu.py"), dtype="float32")


@pytest.mark.nightly
def test_a_program_of_two_inputs_is_measured(program):
    """Halves that are swapped compute another function: silu of g, times x."""
    text = (
        FRAME_LOOP.replace("import os", "import numpy as np, os")
        + TWO_INPUTS
        + """
    x, g = (np.frombuffer(each, "f4").astype("f8") for each in (x, g))
    np.seterr(all="ignore")
    write(n.to_bytes(8, "little") + (x / (1 + np.exp(-x)) * g).astype("f4").tobytes())
"""
    )
    right = program(text + FLUSH, "right.py")
    swapped = program(text.replace("in (x, g))", "in (g, x))") + FLUSH, "swapped.py")
    results = [verify(each, "swiglu", "float32", "landmarks", call="f(x, g)").record for each in (right, swapped)]
    assert [each.second.values for each in results] == [16, 16]
    assert results[0].max_ulp <= 0.51
    assert results[1].max_ulp > 1e6
    assert [each.grade for each in results] == ["faithful", "broken"]


def test_name_arguments_and_version(program, tmp_path):
    target = chosen(program(FRAME_LOOP + ANSWER, "gelu_tanh.py") + " --flag 'a b' $HOME", dtype="float16")
    assert target.function == "gelu_tanh"
    assert target.arguments[2:] == ("--flag", "a b", "$HOME")  # no shell
    before = target.version
    (tmp_path / "gelu_tanh.py").write_text(FRAME_LOOP + ANSWER + "#")
    assert chosen(target.name, dtype="float16").version != before
    assert chosen("pipe:cat", function="silu", dtype="float16").function == "silu"


@needs_cc
def test_a_version_is_of_the_program_and_its_libraries(tmp_path):
    """Those that the loader finds for it."""
    source = tmp_path / "main.c"
    echo = "char c[512]; for (ssize_t n; (n = read(0, c, sizeof c)) > 0;) write(1, c, n);"
    source.write_text(f"#include <unistd.h>\nfloat part(float); int main(void) {{ {echo} return part(1); }}")
    seen = []
    for n in (1, 2, 2):
        library = shared_library(tmp_path, f"float part(float x) {{ return {n}; }}", "libpart.so")
        made = [str(source), str(library), f"-Wl,-rpath,{tmp_path}", "-o", str(tmp_path / "main")]
        subprocess.run(["cc", *made], check=True)
        seen.append(chosen(f"pipe:{tmp_path}/main", dtype="float32").version)
    assert seen[0] != seen[1] == seen[2]


def test_it_ends_with_its_target(program):
    target = chosen(program(FRAME_LOOP + ANSWER), dtype="float32")
    target.evaluate("float32", some_bits("float32", 3))
    process = target._running[0]._process
    assert process.alive
    del target
    gc.collect()
    assert process.returncode == 0  # its input ended, and so did it


# ---- what is wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "answer", "message"),
    [
        ("exit", "    sys.exit(3)\n", r"ended with status 3 after 0 of 70000 values$"),
        ("exit", "    write(head + x); sys.stdout.flush(); sys.exit('no')\n", "status 1 after 65536 of .*: no$"),
        ("exit", "    write(head + x[:400]); sys.exit()\n", "ended with status 0 after 100 of 70000 values"),
        ("abort", "    os.abort()\n", "died of SIGABRT after 0 of 70000"),
        ("exit", "    raise ValueError('no such luck')\n", "status 1 after 0 of .*: ValueError: no such luck"),
        ("shape", "    write((n - 1).to_bytes(8, 'little') + x[4:])\n" + FLUSH, "returned 65535 where the frame of"),
        ("shape", "    write(x)\n" + FLUSH, "returned .* where the frame of 65536 values was due"),
        ("shape", "    print('gelu is ready'); sys.stdout.flush()\n", "returned 'gelu is ' where the frame"),
        ("partial write", "    os.close(1); time.sleep(60)\n", "closed its output after 0 of 70000 values"),
    ],
)  # fmt: skip
def test_a_broken_answer_is_named(program, kind, answer, message):
    target = chosen(program(TRIED + answer), dtype="float32")
    with pytest.raises(TargetFailure, match=message) as raised:
        target.evaluate("float32", np.zeros(70_000, np.uint32))
    assert raised.value.kind == kind
    assert target._running[0]._process.returncode is not None  # nothing is left running


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("print('loading model', flush=True)\n" + FRAME_LOOP + ANSWER, "returned 'loading ' .* is for responses only"),
        (FRAME_LOOP + ANSWER + "    print('done', flush=True)\n", "wrote 5 bytes more|returned .* is for responses"),
        (FRAME_LOOP + "    write(x)\n" + FLUSH, "where the frame of 4 values was due.* as many values as were sent"),
        (FRAME_LOOP + ANSWER + "    break\n", "ended with status 0 .* its second request .* more follow"),
        ("import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())\n", "did not answer within .* first request"),
        ("import sys\nfor _ in sys.stdin.buffer: print(1)\n", "did not answer within .* is bits, not lines"),
        ("gelu(x\n", "ended with status 1 .*SyntaxError: .* is bits, not lines"),
    ],
)  # fmt: skip
def test_one_that_does_not_read_requests_as_they_are_sent_is_asked_about(program, text, message):
    seconds = 1.0 if "did not answer" in message else 60.0
    with pytest.raises(UsageError, match=message) as raised:
        chosen(program(text), dtype="float32", time_limit=seconds)
    assert str(raised.value).endswith("docs/targets.md has the protocol, and an example")


@pytest.mark.parametrize("seed", range(8))
def test_no_answer_that_is_none_is_a_result(program, seed):
    """Random bytes in the place of the first response or the second one, then more reading, or the end."""
    rng = random.Random(seed)
    garbage, ends = rng.randbytes(rng.choice([0, 1, 7, 8, 24, 25, 500])), rng.random() < 0.5
    text = f"    if number == {rng.choice([1, 2])}:\n        write({garbage!r}); sys.stdout.buffer.flush()\n"
    text += "        break\n" if ends else "        continue\n"
    with pytest.raises(UsageError, match=r"docs/targets\.md has the protocol"):
        chosen(program(FRAME_LOOP + text + ANSWER), dtype="float32", time_limit=2.0)


def test_one_that_demands_many_values_is_asked_for_as_many(program):
    text = program(FRAME_LOOP + "    assert n % 16 == 0\n" + ANSWER)
    with pytest.raises(UsageError, match="ended with status 1 after 0 of 4 values: AssertionError"):
        chosen(text, dtype="float32")
    target = chosen(text, dtype="float32", contract="multiple_of=16")
    assert target.evaluate("float32", np.array([5], np.uint32)) == 5


def test_one_that_crashes_with_ordinary_numbers_has_a_result(program):
    """It is no question of how requests are read."""
    with pytest.raises(TargetFailure, match="died of SIGABRT after 0 of 1 values"):
        chosen(program(FRAME_LOOP + "    os.abort()\n"), dtype="float32").evaluate("float32", np.zeros(1, np.uint32))


def test_too_much_is_named_at_once_or_with_the_next_question(program):
    target = chosen(program(TRIED + "    write(head + x + b'more'); sys.stdout.flush()\n"), dtype="float32")

    def twice():
        for _ in range(2):
            target.evaluate("float32", np.zeros(10, np.uint32))

    with pytest.raises(TargetFailure, match=r"wrote 4 bytes more than its outputs|returned .* where"):
        twice()


def test_one_that_has_failed_is_started_anew(program):
    fails_on_a_nan = "    if x[:4] == bytes([0, 0, 192, 127]): sys.exit(1)\n    write(head + x)\n" + FLUSH
    target = chosen(program(FRAME_LOOP + fails_on_a_nan), dtype="float32")
    fine = np.array([0x3F800000], np.uint32)
    for _ in range(2):
        assert target.evaluate("float32", fine) == fine
        with pytest.raises(TargetFailure, match="ended with status 1"):
            target.evaluate("float32", np.array([0x7FC00000], np.uint32))


def test_one_that_ends_between_questions_has_failed(program):
    once = "    write(head + x); sys.stdout.flush(); break\n"
    target = chosen(program(TRIED + once), dtype="float32")
    assert target.evaluate("float32", np.zeros(3, np.uint32)).tolist() == [0] * 3
    target._running[0]._process.wait(10)
    with pytest.raises(TargetFailure, match="ended with status 0 after 0 of 3 values"):
        target.evaluate("float32", np.zeros(3, np.uint32))


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_amid_a_frame_leaves_no_half_read_answers(program, monkeypatch):
    target = chosen("pipe:cat", dtype="float32")
    x = some_bits("float32", 3 * FRAME)
    target.evaluate("float32", x)
    first = target._running[0]

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(type(first), "_receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            target.evaluate("float32", x)
    np.testing.assert_array_equal(target.evaluate("float32", x), x)
    assert target._running[0] is not first


def test_one_that_does_not_end_is_killed(program, monkeypatch):
    from gelu_verify.targets.kinds import _exchange

    monkeypatch.setattr(_exchange, "_PATIENCE", 0.1)
    stays = "    write(head + x)\n" + FLUSH + "while True: time.sleep(1)\n"
    target = chosen(program(FRAME_LOOP + stays), dtype="float32")
    target.evaluate("float32", some_bits("float32", 3))
    process = target._running[0]._process
    ending(target)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pipe:", "names no program"),
        ("pipe:   ", "names no program"),
        ("pipe:./it's", "cannot be split into words: No closing quotation"),
        ("pipe:no-such-program-anywhere --x", r"no such program: no-such-program-anywhere \(in PATH; one"),
        ("pipe:{folder}/absent", "no such program: .*absent$"),
        ("pipe:{folder}/text", "text is not executable .chmod .x, or name what runs it"),
    ],
)  # fmt: skip
def test_misuse_is_named(tmp_path, name, message):
    (tmp_path / "text").write_text("")
    with pytest.raises(UsageError, match=message):
        targets.select([name.format(folder=tmp_path)], dtype="float32")


def test_a_dtype_must_be_named():
    with pytest.raises(UsageError, match="nothing says which dtype pipe:cat computes in: give --dtype"):
        targets.select(["pipe:cat"])


def test_what_cannot_be_started_is_misuse(tmp_path):
    path = tmp_path / "nonsense"
    path.write_bytes(b"\x7fELF nonsense")
    path.chmod(0o755)
    with pytest.raises(UsageError, match="cannot be started: Exec format error"):
        chosen(f"pipe:{path}", dtype="float32")
