"""The verdict matrix on a terminal: 80 columns, plain ASCII, nothing that only colour says."""

import io
import re

import pytest
from synthetic_runs import failed, large_run, result

from gelu_verify.cli.terminal import _number, matrix_lines, plain, print_matrix
from gelu_verify.report.verdicts import headline, verdict


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(scope="module")
def results():
    return large_run().results


@pytest.mark.parametrize("width", [80, 100, 160])
def test_it_fits_the_terminal_in_ascii(results, width):
    text = plain(matrix_lines(results, absent={"tensorflow": "no module " * 20}, width=width))
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= width


def test_every_target_has_its_number_and_its_word():
    results = [
        result("torch.gelu", "gelu", "float32", cancels=True),
        result("torch.gelu", "gelu", "float16", noise=0.5, checks={"finite": "pass"}),
        failed("jax.gelu", "gelu", "float64", "jax.gelu raised ValueError: no such dtype"),
    ]
    text = plain(matrix_lines(results, absent={"openvino": "not installed"}))
    assert re.search(r"^  gelu +=0\.500 ok +>=1\.67e7 FAIL +-$", text, re.MULTILINE)
    assert "fails minus_infinity, tail_zero, monotone" in text
    assert "crashed jax.gelu gelu float64: jax.gelu raised ValueError: no such dtype" in text
    assert "not run openvino: not installed" in text
    assert " ".join(text.split()).endswith(headline(results))


def test_passing_every_check_is_no_praise_for_a_large_error():
    far, near = (
        result("torch.erf", "erf", d, noise=n, checks={"finite": "pass"})
        for d, n in (("float32", 400.0), ("float64", 1.5))
    )
    assert (verdict(far), verdict(near)) == ("inaccurate", "pass")
    assert re.search(r"^  erf .* ~ +.* ok", plain(matrix_lines([far, near])), re.MULTILINE)
    assert "1 passes every check but is inaccurate (> 4 ULP)" in headline([far, near])


def test_a_long_name_gets_a_line_of_its_own(results):
    text = plain(matrix_lines([result("my.py:" + "x" * 60, "gelu", d) for d in ("float32", "float64")]))
    assert "x" * 60 + "\n" in text


def test_nothing_measured():
    assert plain(matrix_lines([])) == "Nothing was measured.\n"


def test_colour_only_on_a_terminal_and_only_on_top(results, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    pipe, terminal = io.StringIO(), Terminal()
    print_matrix(results[:20], file=pipe)
    print_matrix(results[:20], file=terminal)
    assert "\x1b[" in terminal.getvalue()
    without = re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue())
    assert [line.rstrip() for line in without.splitlines()] == pipe.getvalue().splitlines()


def test_what_is_a_little_above_a_limit_does_not_read_as_if_it_met_it():
    """0.500 is correctly rounded, above 4 is inaccurate."""
    texts = [_number(error, ">=") for error in (0.5, 0.5 + 2**-10, 4.0, 4 + 2**-12)]
    assert texts == [">=0.500", ">=0.5009", ">=4.00", ">=4.0002"]
    assert _number(0.5 + 2**-15, ">=") == ">0.5"
    assert _number(0.5 + 2**-15, "=") == "=0.501"


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_what_a_terminal_would_obey_is_escaped(stream):
    evil = "a\x1b[2Jb\x07.py:g\u202ef\udc80"
    results = [result(evil, "gelu", "float32", cancels=True), failed(evil, "gelu", "float16", f"{evil} raised\x9b")]
    out = stream()
    print_matrix(results, absent={"fam": evil}, file=out)
    text = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())  # the colours are ours
    assert text.replace("\n", "").isprintable()
    assert "a\\x1b[2Jb\\x07.py:g\\u202ef\\udc80" in text
