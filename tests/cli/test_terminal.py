"""What a run prints at its end: one screen, 80 columns, plain ASCII, nothing that only colour says."""

import io
import re
from dataclasses import replace

import pytest
from synthetic_runs import failed, large_run, result

from gelu_verify.cli.lines import number
from gelu_verify.cli.terminal import SCREEN, print_results, result_lines
from gelu_verify.records.grades import GRADES
from gelu_verify.records.parts import AccurateRange
from gelu_verify.report.verdicts import headline
from gelu_verify.show.terminal import STYLES, in_ascii

CORRECT, RANGE = {"noise": 0.5}, {"cancels": True}


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(scope="module")
def results():
    return large_run().results


def text_of(results, **options):
    return in_ascii(result_lines(results, **options))


def ascii_of(text):
    return in_ascii([[(text, "")]]).strip()


@pytest.mark.parametrize("details", [False, True])
@pytest.mark.parametrize("width", [80, 100, 160])
def test_it_fits_the_terminal_in_ascii(results, width, details):
    text = text_of(results, absent={"tensorflow": "no module " * 20}, width=width, details=details)
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("count", [1, 2, 5, 12, 25, 40, 80, 250])
@pytest.mark.parametrize("width", [80, 100])
def test_it_is_at_most_a_screen(results, count, width):
    text = text_of(results[:count], absent=dict.fromkeys(map(str, range(30)), "not installed"), width=width)
    assert len(text.splitlines()) <= SCREEN
    assert " ".join(text.split()).endswith(ascii_of(headline(results[:count], brief=True)))


def test_results_are_ranked_within_their_function_and_dtype():
    models = {"a.gelu": {"noise": 3.0}, "b.gelu": CORRECT, "c.gelu": {"noise": 400.0}, "d.gelu": {"noise": 0.9}}
    models |= {"e.gelu": RANGE, "f.gelu": {**RANGE, "noise": 0.8}}  # f's range is the wider one
    lines = text_of([result(name, "gelu", "float32", **model) for name, model in models.items()]).splitlines()
    assert lines[0].split()[:2] == ["gelu", "float32"]
    shown = [line.split()[:2] for line in lines[1:7]]
    assert shown == [
        ["b.gelu", "~correct"],
        ["d.gelu", "~faithful"],
        ["a.gelu", "~accurate"],
        ["f.gelu", "~range"],
        ["e.gelu", "~range"],
        ["c.gelu", "~absolute"],
    ]
    assert re.search(r"f\.gelu +~range +~x>=-1\.32 ", "\n".join(lines))


def test_titles_are_written_out_where_there_is_room():
    shown = text_of([result("a.gelu", "gelu", "float32", cancels=True)], width=120)
    assert "~accurate on a range  ~x>=-1.11 " in shown


def test_sentences_come_the_worst_first_and_equal_ones_once():
    results = [
        result("a.gelu", "gelu", "float32", noise=0.9),
        result("b.gelu", "gelu", "float32", cancels=True),
        result("b.gelu-jit", "gelu", "float32", cancels=True),
        failed("c.gelu", "gelu", "float32", "c.gelu raised ValueError: no"),
    ]
    sentences = [line for line in text_of(results, width=200).splitlines() if ": " in line]
    assert sentences[:3] == [
        "*BROKEN   c.gelu float32: raises an exception.",
        "~range    b.gelu, gelu-jit float32: within 4 ULP for x >= -1.12; zero from -5.54 on. [NaN at -inf]",
        "~faithful a.gelu float32: within 0.9 ULP at every finite input. [NaN at -inf]",
    ]


def test_of_many_results_the_first_are_listed_and_the_worst_come_in_a_sentence():
    names = [f"{family}.gelu-{k}" for family in ("jax", "torch") for k in range(30)]
    results = [result(n, "gelu", "float32", noise=0.6 + k / 10) for k, n in enumerate(names)]
    text = text_of(results)
    assert text.splitlines()[1].startswith(" jax.gelu-0 ")
    assert re.search(r"^and \d+ more lines \(--details\)$", text, re.MULTILINE)
    assert "torch.gelu-29 float32: " in " ".join(text.split())
    assert "more sentences (--details)" in text
    assert all(f"torch.gelu-{k} " in text_of(results, details=True) for k in range(30))


def called(name, function, dtype, expression, **model):
    return replace(result(name, function, dtype, **model), expression=expression)


GELU = "torch.nn.functional.gelu(x)"
TORCH = [
    called("torch.gelu", "gelu", "float32", GELU, **RANGE),
    called("torch.gelu", "gelu", "float64", GELU, noise=3.0),
    called("torch.gelu_grad", "gelu_grad", "float32", f"torch.autograd.grad({GELU}.sum(), x)[0]", noise=0.9),
    called("torch.gelu-erfc", "gelu", "float32", "0.5 * x * torch.erfc(x * -(0.5**0.5))", noise=0.8),
    called("torch.gelu-in_float64", "gelu", "float32", "torch.nn.functional.gelu(x.double()).to(x.dtype)", noise=3.0),
]


def test_the_calls_of_a_library_come_first_with_gradients_and_what_to_write_instead():
    lines = text_of([*TORCH, result("mine.py:gelu", "gelu", "float32", noise=0.7)]).splitlines()
    assert lines[0].split()[:2] == ["gelu", "float32"]  # your own code
    assert lines[1].startswith(" mine.py:gelu ")
    assert lines[2] == GELU
    assert lines[3].split() == ["dtype", "accurate", "for", "max", "ULP", "gradient", "elements/s"]
    assert lines[4].split()[:4] == ["float32", "~", "x", ">="]
    assert "~ faithful" in lines[4]
    assert lines[5].split()[:3] == ["float64", "~", "accurate"]
    assert lines[6].startswith("  instead: 0.5 * x * torch.erfc(x * -(0.5**0.5)): float32 ~ faithful in ")
    assert "and 3 results of other functions, paths and formulas (--details)" in lines


@pytest.mark.parametrize("own", [1, 3])
def test_what_is_listed_is_not_counted_as_left_out(own):
    mine = [result(f"kernels.{name}", name, "float16") for name in ("gelu", "gelu_tanh", "silu")[:own]]
    assert "results of other functions" not in text_of(mine)
    assert "and 3 results of other functions, paths and formulas (--details)" in text_of([*TORCH, *mine])


def test_a_formula_of_a_library_s_functions_is_none_of_its_results():
    assert "torch.gelu-erfc" not in text_of(TORCH)
    assert headline(TORCH).endswith("Not counted: 1 of formulas to write with functions of a library.")
    alone = [called("scipy.gelu", "gelu", "float32", "x * scipy.special.ndtr(x)", **RANGE)]
    assert text_of([*alone, result("a.py:f", "gelu", "float32")]).splitlines()[2] == (
        "scipy has no gelu; write x * scipy.special.ndtr(x)"
    )


def test_many_calls_are_a_line_each_with_the_range_in_each_dtype():
    found = AccurateRange("0xbfe8ffff", -1.82, "0x7f7fffff", 3.4e38, ">=", 3, "0xbfb5ffff", 4.2)
    group = [
        replace(called(f"a.gelu{k}", "gelu", "float32", f"a.gelu{k}(x)", **RANGE), accurate_range=found)
        for k in range(12)
    ]
    lines = text_of([*group, *TORCH]).splitlines()
    assert lines[0].split() == ["gelu", "float32", "float64"]
    assert lines[1].split() == ["a", "gelu0(x)", "~x>=-1.82!", "-"] or lines[1].split() == [
        "a",
        "gelu0(x)",
        "~range",
        "-",
    ]
    assert [line.split()[-2:] for line in lines if line.startswith("   its gradient")] == [["~faithful", "-"]]


def test_what_comes_with_us_is_told_apart():
    """By what its kernels declare: correctly rounded ones are ours, the others are there to be compared with."""
    results = [
        result("torch.gelu", "gelu", "float32", cancels=True),
        result("kernels.gelu_erf", "gelu", "float32", cancels=True),
        result("kernels.gelu_cr", "gelu", "float32", form="correctly rounded", **CORRECT),
        result("cuda.gelu_cr", "gelu", "float16", form="cr", **CORRECT),
        result("published.mlx-gelu", "gelu", "float32", noise=400.0),
    ]
    text = " ".join(text_of(results, width=200).split())
    assert (
        "our own correctly rounded kernels: 2 correctly rounded (1 from a sample) (kernels.gelu_cr, cuda.gelu_cr)"
        in text
    )
    specimens = "1 accurate in absolute error only (from a sample), 1 accurate on a range (from a sample)"
    assert f"textbook specimens, shipped for comparison: {specimens}" in text
    assert text.index("torch.gelu") < text.index("kernels.")
    assert headline(results).endswith("Not counted: 4 of kernels that come with gelu-verify.")
    assert "textbook specimens" in text_of(results[1:2])


def test_absences_are_one_line_unless_they_were_asked_for():
    absent = {"cupy": "not installed", "mlx": "no module mlx.core"}
    results = [result("torch.gelu", "gelu", "float32")]
    assert "\nnot measured: cupy, mlx (--details says why)\n" in text_of(results, absent=absent)
    for options in ({"asked": True}, {"details": True}):
        text = text_of(results, absent=absent, **options)
        assert "\nnot measured cupy: not installed\nnot measured mlx: no module mlx.core\n" in text


def test_details_are_every_result_with_its_checks_its_sentence_and_its_failure():
    results = [
        result("torch.gelu", "gelu", "float32", cancels=True),
        result("torch.gelu", "gelu", "float16", **CORRECT),
        failed("jax.gelu", "gelu", "float64", "jax.gelu raised ValueError: no such dtype"),
    ]
    text = text_of(results, details=True)
    assert re.search(r"^ torch\.gelu +=0\.500[*~ ]correct +>=1\.67e7[*~ ]range +-$", text, re.MULTILINE)
    assert "fails minus_infinity, tail_zero, monotone" in text
    assert "crashed jax.gelu gelu float64: jax.gelu raised ValueError: no such dtype" in text
    for r in results:
        assert r.sentence in " ".join(text.split())


def test_a_run_of_an_earlier_version_has_no_grades_and_says_so():
    old = [replace(result("torch.gelu", "gelu", d), grade=None, sentence=None) for d in ("float32", "float64")]
    text = text_of(old)
    assert re.search(r"^ torch\.gelu +- ", text, re.MULTILINE)
    assert "not graded (no finite input was measured, or by an earlier version)" in text
    assert headline(old) == "2 are not graded (no finite input was measured, or by an earlier version)."


def test_a_long_name_is_shortened_in_a_table_and_whole_in_the_details():
    results = [result("my.py:" + "x" * 60, "gelu", d) for d in ("float32", "float64")]
    assert "my.py:" + "x" * 20 in text_of(results)
    assert " my.py:" + "x" * 60 + "\n" in text_of(results, details=True)


def test_nothing_measured():
    assert text_of([]) == "Nothing was measured.\n"


def test_every_grade_has_a_word_and_a_style_of_its_own():
    words = {each.word.lower() for each in GRADES.values()}
    assert len(words) == len({each.letter for each in GRADES.values()}) == len(GRADES)
    assert len({STYLES[grade] for grade in GRADES}) == len(GRADES)


@pytest.mark.parametrize("details", [False, True])
def test_colour_only_on_a_terminal_and_only_on_top(results, monkeypatch, details):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    pipe, terminal = io.StringIO(), Terminal()
    print_results(results[:20], details=details, file=pipe)
    print_results(results[:20], details=details, file=terminal)
    assert "\x1b[" in terminal.getvalue()
    without = re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue())
    assert [line.rstrip() for line in without.splitlines()] == pipe.getvalue().splitlines()


def test_what_is_a_little_above_a_limit_does_not_read_as_if_it_met_it():
    """0.500 is correctly rounded, above 4 is inaccurate."""
    texts = [number(error, ">=") for error in (0.5, 0.5 + 2**-10, 4.0, 4 + 2**-12)]
    assert texts == [">=0.500", ">=0.5009", ">=4.00", ">=4.0002"]
    assert number(0.5 + 2**-15, ">=") == ">0.5"
    assert number(0.5 + 2**-15, "=") == "=0.501"


@pytest.mark.parametrize("details", [False, True])
@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_what_a_terminal_would_obey_is_escaped(stream, details):
    evil = "a\x1b[2Jb\x07.py:g\u202ef\udc80"
    results = [result(evil, "gelu", "float32", cancels=True), failed(evil, "gelu", "float16", f"{evil} raised\x9b")]
    out = stream()
    print_results(results, absent={"fam": evil}, asked=True, details=details, file=out)
    text = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())  # the colours are ours
    assert text.replace("\n", "").isprintable()
    assert "a\\x1b[2Jb\\x07.py:g\\u202ef\\udc80" in text
