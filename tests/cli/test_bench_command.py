"""`gelu-verify bench`: what is compared and how it is told; never how fast."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from core_bits import core_bits
from repository import ROOT

from gelu_verify import timing
from gelu_verify.cli import main
from gelu_verify.errors import MissingMeasurement, TargetUnavailable, UsageError
from gelu_verify.formats import DTYPES
from gelu_verify.speed import bench
from gelu_verify.speed.timer import interleaved_sides
from gelu_verify.truth.correctly_rounded import FUNCTIONS

CASE = bench.TimedCase("gelu", "float32", 64, 1)


def call(*args):
    return CliRunner().invoke(main, ["bench", *args])


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    """The least number of rounds, short samples."""
    monkeypatch.setattr(bench, "SAMPLE", 1e-6)
    monkeypatch.setattr(bench.compare, "__defaults__", (0.0,))


def test_json():
    done = call("gelu", "silu_grad", "--against", "copy", "--dtype", "float16,float32", "--sizes", "16,64", "--json")
    assert done.exit_code == 0, done.stderr
    printed = json.loads(done.stdout)
    assert set(printed) == {"machine", "versions", "results", "missing"}
    rows = printed["results"]
    contract = (ROOT / "docs" / "json.md").read_text().partition("## `bench --json`")[2]
    for key in (*printed, *rows[0], *rows[0]["ours"]):
        assert f"`{key}`" in contract or f'"{key}"' in contract, f"docs/json.md does not name {key}"
    cases = [(row["function"], row["dtype"], row["n"], row["threads"]) for row in rows]
    assert cases == [(f, d, n, 1) for f in ("gelu", "silu_grad") for d in ("float16", "float32") for n in (16, 64)]
    for row in rows:
        sides = [row.pop("ours"), row.pop("theirs")]
        assert set(row) == {"function", "dtype", "n", "scale", "threads", "rival", "path", "ratio", "repeats"}
        assert (row["rival"], row["path"]) == ("copy", "numpy.copyto")
        assert row["repeats"] >= 9
        width = 2 * int(row["dtype"][-2:]) // 8
        for side in sides:
            assert set(side) == {"elements_per_s", "bytes_per_s", "spread"}
            assert side["bytes_per_s"] == pytest.approx(width * side["elements_per_s"])
        assert row["ratio"] == pytest.approx(sides[0]["elements_per_s"] / sides[1]["elements_per_s"])


def test_where_no_other_library_has_it_nothing_was_timed():
    done = call("gelu", "--against", "numpy", "--sizes", "16")
    assert (done.exit_code, "nothing was timed: no path of numpy computes gelu in float32" in done.stderr) == (3, True)


def test_table():
    done = call("gelu", "--against", "copy", "--sizes", "2^10", "--threads", "1,2", "--scale", "2,10")
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    found = [line.split()[:5] for line in lines[2:]]
    assert found == [["gelu", "float32", "2^10", scale, threads] for threads in "12" for scale in ("2", "10")]
    assert all(len(line) <= 100 for line in lines)
    assert "ratio" in lines[1]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_torch_computes_what_it_is_compared_in(function, dtype):
    """Its answer is near the right one: the operator is the one that is meant, and it writes where it should."""
    torch = pytest.importorskip("torch", exc_type=ImportError)
    x = bench.inputs(dtype, 500, 0)
    try:
        path, (call_,) = bench._torch(bench.TimedCase(function, dtype, 500, 1), x)
    except bench._NoSuchPath as missing:
        assert "backward" in str(missing)  # noqa: PT017 - one version's gap is no fault of ours
        return
    call_()
    cells = dict(zip(call_.__code__.co_freevars, (cell.cell_contents for cell in call_.__closure__), strict=True))
    got = cells["out"].to(torch.float64).numpy()
    judged = function.replace("gelu_sigmoid", "silu")
    want = bench.numpy_dtype(dtype)
    right = core_bits(judged, dtype, x).view(want).astype(np.float64)
    tolerance = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-5, "float64": 1e-12}[dtype]
    assert np.allclose(got, right, rtol=tolerance, atol=tolerance), path


@pytest.mark.parametrize("rival", ["onnxruntime", "jax", "kernels", "scipy"])
def test_other_families(rival):
    if rival != "kernels":
        pytest.importorskip(rival, exc_type=ImportError)
    rows, missing = bench.compare(CASE, [rival])
    assert not missing
    assert rows[0]["path"].startswith(f"{rival}.gelu")
    if rival == "jax":
        assert rows[0]["path"] == "jax.gelu-jit"


def test_what_a_rival_does_not_compute_is_reported_and_left_out():
    done = call("gelu_tanh_grad", "--against", "scipy,copy", "--sizes", "16", "--json")
    printed = json.loads(done.stdout)
    assert [row["rival"] for row in printed["results"]] == ["copy"]
    assert printed["missing"] == ["no path of scipy computes gelu_tanh_grad in float32"]
    assert "not compared: no path of scipy computes gelu_tanh_grad in float32" in done.stderr


def absent(name):
    raise TargetUnavailable(f"{name} is not installed")


def test_an_absent_rival_that_was_named_ends_with_3(monkeypatch):
    monkeypatch.setattr(bench, "framework", absent)
    done = call("gelu", "--against", "torch", "--sizes", "16")
    assert done.exit_code == 3
    assert "torch was asked for, but torch is not installed" in done.stderr
    monkeypatch.setattr(bench, "find", lambda names: ([], {"jax": "jax is not installed"}))
    with pytest.raises(MissingMeasurement, match="jax was asked for, but jax is not installed"):
        bench.check_rivals(["copy", "jax"])


def test_the_default_is_torch_where_it_is_installed(monkeypatch):
    monkeypatch.setattr(bench, "framework", lambda name: object())
    assert bench.default_rivals() == ["torch", "copy"]
    monkeypatch.setattr(bench, "framework", absent)
    assert bench.default_rivals() == ["copy"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["relu"], "unknown correctly rounded function 'relu'"),
        (["--dtype", "float8_e5m2"], "unknown dtype 'float8_e5m2'"),
        (["--against", "tensorflux"], "did you mean 'tensorflow'"),
        (["--sizes", "0"], "--sizes '0' is not a size"),
        (["--sizes", "2^99"], "--sizes '2^99' is not a size"),
        (["--sizes", "2^9..2^8"], "2^9 is more than 2^8"),
        (["--threads", "0"], "--threads '0' is below 1"),
        (["--sizes", "1", "--threads", "2"], "1 elements cannot be shared by 2 threads"),
    ],
)
def test_usage_errors(args, words):
    done = call(*args)
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stdout == ""


def test_sizes():
    assert list(bench.sizes(["1000", "2^14"])) == [1000, 1 << 14]
    assert list(bench.sizes(["2^14..2^24"])) == [1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24]
    assert list(bench.sizes(["2^14..2^17"])) == [1 << 14, 1 << 16, 1 << 17]


def test_the_parts_of_the_threads_are_the_whole():
    x = bench.inputs("float32", 101, 0)
    case = bench.TimedCase("silu", "float32", 101, 3)
    side = bench._ours(case, x)
    for part in side:
        part()
    got = np.concatenate([part.args[1].view(np.uint32) for part in side])
    assert np.array_equal(got, core_bits("silu", "float32", x))


def test_calls_take_turns():
    seen = []
    sides = {name: [lambda name=name: seen.append(name)] for name in "abc"}
    times = interleaved_sides(sides, 0.0, 0.0)
    assert {name: len(seconds) for name, seconds in times.items()} == dict.fromkeys("abc", timing.REPEATS)
    timed = "".join(seen[-3 * timing.REPEATS :])
    assert timed == ("abc" + "bca" + "cab") * (timing.REPEATS // 3)


def test_an_error_on_another_thread_is_raised():
    def fails():
        raise ValueError("on the second thread")

    with pytest.raises(ValueError, match="second"):
        interleaved_sides({"": [lambda: None, fails]}, 0.0, 0.0)


def test_a_case_needs_a_known_function():
    with pytest.raises(UsageError, match="erf"):
        bench.check_case(bench.TimedCase("erf", "float32", 10, 1))
