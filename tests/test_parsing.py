"""Every number that a user types or hands over: plain decimals in a range, else one line that names the argument."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from gelu_verify import exact, verify
from gelu_verify.attribution import attribute
from gelu_verify.cli import main
from gelu_verify.cli.remote import fetch_answer
from gelu_verify.errors import RemoteError, UsageError
from gelu_verify.formats import get_format
from gelu_verify.inputs.plans import MOST, make_plan
from gelu_verify.isolation.limits import MEMORY, Limits, memory_of_machine
from gelu_verify.parsing import parse_real, parse_whole, real, whole
from gelu_verify.speed.bench import sizes
from gelu_verify.truth.lookup import answer

NOT_WHOLE = ["nan", "inf", "", " ", " 1", "1 ", "1\n", "1_0", "0x1", "1.0", "1e0", "٣", "²", "+", "--1", "1" * 5000]
NOT_REAL = ["nan", "-nan", "inf", "-Infinity", "", " 1", "1\n", "1_0", "0x1p0", "٣", "1e400", "1e99999", "e1", "."]
RUN = ("run", "kernels.gelu_erf", "--dtype", "float16")
OPTIONS = {
    (*RUN, "--workers"): [*NOT_WHOLE, "0", "-1", "1025"],
    (*RUN, "--length"): ["0", "1.5", "nan", "1_0", str((1 << 26) + 1)],
    (*RUN, "--seed"): [*NOT_WHOLE, "-1", str(1 << 63)],
    (*RUN, "--max-ulp"): [*NOT_REAL, "-1", "-1e-300"],
    (*RUN, "--time-limit"): [*NOT_REAL, "0", "-1", "1e-400", "1e7"],
    (*RUN, "--memory-limit"): [*NOT_REAL, "0", "1K", "-1G", "4٣G", "4\N{KELVIN SIGN}", "100000000000000T", "1P"],
    (*RUN, "--bits"): ["1:nan0", "", ":", "1:", "2:1", "_", "0x_", "1__0", "٣", "0x٣", "0x12345", "0x" + "1" * 9999],
    ("gate", "--workers"): ["0", "1.5", "nan"],
    ("attribute", "kernels.gelu_erf", "--seed"): ["-1", "nan"],
    ("lookup", "gelu", "float32", "1", "--digits"): [*NOT_WHOLE, "0", "5001"],
    ("serve", "--port"): [*NOT_WHOLE, "-1", "65536"],
    ("bench", "gelu", "--against", "copy", "--threads"): ["0", "65", "٣", "", ",", "1.5"],
    ("bench", "gelu", "--against", "copy", "--sizes"): ["0", "2^-1", "2^99", "2^31", "1_000", "٣", "..5", "5..4"],
}


@pytest.mark.parametrize(("command", "text"), [(c, t) for c, texts in OPTIONS.items() for t in texts],
                         ids=lambda each: ascii(each[-1] if isinstance(each, tuple) else each)[:30])  # fmt: skip
def test_options_refuse_what_is_not_a_number_of_theirs(command, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, [*command, text])
    assert done.exit_code == 2
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith(f"gelu-verify: error: {command[-1]}")
    assert "accepted: " in line or "too wide" in line
    assert len(line) < 400
    assert not list(tmp_path.iterdir())


@given(st.integers(-(10**12), 10**12))
def test_whole_numbers_are_read(value):
    assert parse_whole("n", str(value), -(10**12), 10**12) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_finite_numbers_are_read(value):
    assert parse_real("x", repr(value), -sys.float_info.max, sys.float_info.max) == value


@given(st.text(max_size=8))
def test_texts_are_numbers_or_refused(text):
    """What is read is what Python reads, but never the other way round."""
    for parse, python in ((parse_whole, int), (parse_real, float)):
        try:
            found = parse("n", text, -100, 100)
        except UsageError:
            continue
        assert found == python(text)
        assert text.isascii()


def test_arguments_that_are_no_numbers():
    for value in (True, 1.0, "1", None, float("nan"), 1 << 70, -1):
        with pytest.raises(UsageError, match=r"^n .*accepted: whole numbers from 0 to 10"):
            whole("n", value, 0, 10)
    for value in (True, "1", None, float("nan"), float("inf"), -1.0, 1 << 2000, 11):
        with pytest.raises(UsageError, match=r"^x .*accepted: decimal numbers from 0 to 10"):
            real("x", value, 0, 10)
    assert whole("n", np.int64(3), 0, 10) == 3
    assert real("x", np.float32(0.5), 0, 10) == 0.5


BAD_CALLS = {
    "workers": lambda value: verify(np.copy, "relu", "float16", "landmarks", workers=value),
    "seed": lambda value: verify(np.copy, "relu", "float16", "landmarks", seed=value),
    "digits": lambda value: exact("gelu", 1.0, digits=value),
    "digits of an answer": lambda value: answer("gelu", "float32", 0, value),
    "bits": lambda value: get_format("float16").check_bits(value),
    "bits of a range": lambda value: make_plan("quick", "gelu", "float16", 0, [(value, value)]),
    "length": lambda value: make_plan("quick", "gelu", "float16", 0, None, value),
    "seconds": lambda value: Limits(value),
    "nbytes": lambda value: Limits(nbytes=value),
}


@pytest.mark.parametrize("call", BAD_CALLS.values(), ids=BAD_CALLS)
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, 1 << 70, "1"])
def test_the_library_refuses_them_too(call, value):
    with pytest.raises(UsageError):
        call(value)


def test_limits_that_are_possible():
    Limits(1e6, max(MEMORY, memory_of_machine()))
    Limits(1e-3, 1 << 20)
    with pytest.raises(UsageError, match=r"the memory limit .* is above"):
        Limits(None, max(MEMORY, memory_of_machine()) + 1)


def test_ranges_of_too_many_inputs_say_how_many():
    with pytest.raises(UsageError, match=r"4,503,599,627,370,497 inputs, which take 7 years .*up to 8,589,934,592"):
        make_plan("default", "gelu", "float64", 0, ["1:2"])
    with pytest.raises(UsageError, match=r"8,589,934,593 inputs, which take 7 minutes"):
        make_plan("default", "gelu", "float64", 0, [(0, MOST)])
    with pytest.raises(UsageError, match="18,446,744,073,709,551,616 inputs"):
        make_plan("default", "gelu", "float64", 0, ["0x0:0xffffffffffffffff"])
    assert make_plan("default", "gelu", "float64", 0, [(0, MOST - 1)]).size == MOST
    assert make_plan("default", "gelu", "float32", 0, ["0x0:0xffffffff"]).exhaustive


def test_numbers_are_read_as_before():
    single = get_format("float32")
    assert single.parse("0xc0d00000") == single.parse(" -6.5") == single.parse("-0x1.ap+2") == 0xC0D00000
    for text in ("1_000", "0x1_0", "0x1_0p3", "1e1_0", "0xc0d0_0000"):
        with pytest.raises(UsageError, match="is not a number"):
            single.parse(text)
    assert list(sizes(["2^14..2^18", "1000"])) == [1 << 14, 1 << 16, 1 << 18, 1000]


@pytest.mark.parametrize("text", ["nan", "inf", "1e999999999", "1e-999999999", "1/0", "٣", ""])
def test_constants_of_an_attribution(text):
    target = __import__("gelu_verify.targets", fromlist=["select"]).select(["kernels.gelu_erf"], dtype="float16")[0][0]
    with pytest.raises(UsageError, match=r"constant sqrt\(1/2\)"):
        attribute(target, "float16", "landmarks", 0, constants={"sqrt(1/2)": text})


@pytest.mark.parametrize("url", ["http://[", "http://", "http://a b", "ftp://x", "http://x\ny", "x", "http://ü"])
def test_servers_that_are_none(url):
    with pytest.raises(UsageError, match="is not an http or https URL"):
        fetch_answer(url, "gelu", "float32", "1")


@pytest.mark.parametrize(
    ("status", "text", "error", "said"),
    [
        (200, {"a": 1}, RemoteError, "did not answer as `gelu-verify serve` does"),
        (200, [], RemoteError, "did not answer as `gelu-verify serve` does"),
        (200, 5, RemoteError, "did not answer as `gelu-verify serve` does"),
        (200, "<html>", RemoteError, "did not answer with JSON"),
        (404, {"detail": "Not Found"}, UsageError, "Not Found: http://.*/v1/reference/gelu/float32/1/3"),
        (404, {"detail": "no function 'gleu'"}, UsageError, "^no function 'gleu'$"),
    ],
)
def test_what_another_server_answers_is_no_answer(status, text, error, said):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path.partition("?")[0])
            self.send_response(status, {404: "Not Found"}.get(status))
            self.end_headers()
            self.wfile.write(text.encode() if isinstance(text, str) else json.dumps(text).encode())

        def log_message(self, *args):
            pass

    asked = []
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(error, match=said.replace("1/3", "1%2F3")):
            fetch_answer(f"http://127.0.0.1:{server.server_port}/v1/", "gelu", "float32", "1/3")
        server.shutdown()
    assert asked == ["/v1/reference/gelu/float32/1%2F3"]


def test_a_port_that_is_none_cannot_be_reached():
    done = CliRunner().invoke(main, ["lookup", "gelu", "float32", "1", "--remote", "http://127.0.0.1:port"])
    assert done.exit_code == 1
    assert len(done.stderr.splitlines()) == 1
