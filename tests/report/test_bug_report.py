"""A bug report says what the run has and what a program printed here, and claims nothing else."""

import subprocess
import sys
import time
from dataclasses import replace

import pytest
from synthetic_runs import failed, manifest, result

from gelu_verify.formats import get_format
from gelu_verify.records.parts import Beside, FindingRecord, Witness
from gelu_verify.report import reproducer
from gelu_verify.report.bug_report import bug_report, title_of
from gelu_verify.report.reproducer import Reproducer, ShownInput, check_script, first_program, reproduced, shown_inputs
from gelu_verify.show.html import page
from gelu_verify.show.markdown import markdown
from gelu_verify.targets.expressions import printing

GARBAGE = "\N{REPLACEMENT CHARACTER}"
PLANTED = """
import math
def f(x):
    return [math.inf if each == 88.5 else 1.5 if len(x) == 1 else 2.5 for each in x]
"""


def bits(text, dtype="float32"):
    fmt = get_format(dtype)
    return fmt.bits_text(fmt.parse(text))


def shown(x, got, want, dtype="float32", why="largest error"):
    return ShownInput(bits(x, dtype), bits(got, dtype), bits(want, dtype), why)


@pytest.fixture
def record():
    found = result("numpy.gelu", "gelu", "float32", noise=9.0, cancels=True)
    return replace(found, expression="planted.f(x)")


@pytest.fixture(autouse=True)
def planted(tmp_path, monkeypatch):
    """A library that is wrong at 88.5, and elsewhere in calls of more than one."""
    (tmp_path / "planted.py").write_text(PLANTED)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(reproducer, "program_of", program_of)


def program_of(family, expression, dtype, x_bits, n=1):
    if not expression:
        return None
    value = float(get_format(dtype).fraction(x_bits))
    imports = "import numpy\nimport planted" if "numpy" in expression else "import planted"
    return f"{imports}\n\nx = [{value!r}] * {n}\ny = {expression}\n{printing(n)}\n"


def text_of(record, found=None, **words):
    return markdown(bug_report(record, [record], manifest(), found, **words))


# ---- the program -----------------------------------------------------------------------------------


def test_a_program_that_prints_what_the_run_found_shows_it(record):
    record = replace(record, expression="planted.f(numpy.array(x))")
    found = reproduced(record, [shown("88.5", "inf", "2.7e38")], {})
    assert (found.printed, found.shows) == ("inf", True)
    assert "numpy " in found.ran_with
    assert "Python 3." in found.ran_with


def test_one_that_prints_something_else_does_not(record):
    found = reproduced(record, [shown("3", "inf", "3")], {})
    assert (found.printed, found.shows) == ("1.5", False)
    text = text_of(record, found)
    assert "does not show what the run found, but gives `1.5`" in text


def test_the_next_input_is_tried(record):
    found = reproduced(record, [shown("3", "inf", "3"), shown("88.5", "inf", "2.7e38")], {})
    assert found.shows
    assert "88.5" in found.program


def test_what_only_a_longer_call_shows_is_shown_by_one(record):
    found = reproduced(record, [shown("3", "2.5", "1.5")], {})
    assert found.shows
    assert "* 1000" in found.program


@pytest.mark.few(1)
@pytest.mark.parametrize("named", ["check", "beside"])
def test_a_length_that_the_run_names_is_tried(record, named, tmp_path):
    (tmp_path / "planted.py").write_text("def f(x):\n    return [7.0 if len(x) == 4097 else 1.5 for each in x]\n")
    where = "at index 5 in a call of 4,097"
    each = shown("3", "7", "1.5", why=where if named == "check" else "largest error")
    beside = (Beside(bits("3"), bits("7"), bits("1.5"), 1.0, where),) if named == "beside" else ()
    assert reproduced(replace(record, beside=beside), [each], {}).shows


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("body", "printed"),
    [
        ("raise ValueError('no such dtype')", "ValueError: no such dtype"),
        ("import not_installed_here", "ModuleNotFoundError: No module named 'not_installed_here'"),
        ("import os; os.kill(os.getpid(), 11)", "nothing, and died of SIGSEGV"),
        ("import sys; sys.exit(4)", "nothing"),
        ("import sys; sys.stdout.buffer.write(b'\\xff' * 10000); sys.stdout.flush()", f"{GARBAGE * 200}..."),
    ],
)  # fmt: skip
def test_a_program_that_fails_shows_nothing_and_ends_the_trials(record, tmp_path, body, printed):
    log = tmp_path / "log"
    before = f"open({str(log)!r}, 'a').write('.')\n"
    (tmp_path / "planted.py").write_text(f"{before}{body}\ndef f(x):\n    import sys\n    sys.exit()\n")
    found = reproduced(record, [shown("3", "nan", "3"), shown("4", "nan", "4")], {})
    assert (found.printed, found.shows) == (printed, False)
    if "exit(4)" in body or "raise" in body:
        assert log.read_text() == "."
    text_of(record, found)


def test_what_a_library_prints_before_is_no_result(record, tmp_path):
    (tmp_path / "planted.py").write_text("print('inf')\nprint('Welcome 3')\ndef f(x):\n    return x\n")
    assert reproduced(record, [shown("3", "3", "4")], {}).printed == "3.0"
    assert not reproduced(record, [shown("3", "inf", "4")], {}).shows


def test_one_that_hangs_is_ended_with_what_it_started(record, tmp_path):
    child = tmp_path / "child"
    (tmp_path / "planted.py").write_text(
        "import subprocess, sys, time\n"
        "code = 'import os, time; print(os.getpid(), flush=True); time.sleep(60)'\n"
        f"subprocess.Popen([sys.executable, '-c', code], stdout=open({str(child)!r}, 'w'))\n"
        f"while not open({str(child)!r}).read(): time.sleep(0.01)\n"
        "time.sleep(60)\n"
    )
    begun = time.monotonic()
    found = reproduced(record, [shown("3", "inf", "3"), shown("4", "inf", "4")], {}, seconds=3)
    assert (found.printed, found.shows) == ("nothing within 3 seconds", False)
    assert time.monotonic() - begun < 30
    state = subprocess.run(["ps", "-o", "stat=", "-p", child.read_text().strip()], capture_output=True, text=True)
    assert state.stdout.strip()[:1] in ("", "Z")


@pytest.mark.parametrize(
    ("word", "dtype", "got", "same"),
    [
        ("0.1", "float32", "0.1", False),  # it is not exactly a float32
        ("0.10000000149011612", "float32", "0.1", True),
        ("1e30", "float16", "inf", False),
        ("inf", "float16", "inf", True),
        ("-inf", "float32", "inf", False),
        ("nan", "bfloat16", "nan", True),
        ("-nan", "float64", "nan", True),
        ("nan", "float32", "0", False),
        ("0.0", "float32", "-0", False),
        ("-0.0", "float32", "-0", True),
        ("0x3f800000", "float32", "1", False),
        ("5e-324", "float64", "5e-324", True),
        ("True", "float32", "1", False),
    ],
)
def test_a_printed_word_is_a_float_exactly(word, dtype, got, same):
    fmt = get_format(dtype)
    assert reproducer._is(fmt, word, fmt.parse(got)) == same


def test_values_are_printed_once_each_with_their_signs():
    names = {"y": [float("nan"), float("nan"), 0.0, -0.0, 0.0, 1.5]}
    code = f"import io, contextlib\nout = io.StringIO()\nwith contextlib.redirect_stdout(out):\n    {printing(6)}\n"
    exec(code, names)
    assert names["out"].getvalue() == "nan 0.0 -0.0 1.5\n"


def test_the_level_of_a_result_is_set_before_the_library_is_loaded(record, tmp_path):
    (tmp_path / "planted.py").write_text("import os\ndef f(x):\n    return [float(os.environ['LIMIT'])]\n")
    found = reproduced(record, [shown("3", "7", "3")], {"LIMIT": "7"})
    assert found.shows
    assert found.program.startswith('import os\n\nos.environ["LIMIT"] = "7"\n')


def test_there_is_none_without_an_expression_or_inputs(record):
    for each in (replace(record, expression=None), replace(record, witness=None, findings={}, regions=())):
        assert first_program(each, shown_inputs(each)) is None
        assert reproduced(each, shown_inputs(each), {}) is None
        assert each.repeat in text_of(each)


# ---- inputs ------------------------------------------------------------------------------------------


def finding(x, severity):
    return FindingRecord(f"at {x}", bits(x), bits("inf"), bits("1"), severity=severity)


def test_defects_come_first_and_conventions_not_at_all(record):
    findings = {"sign": finding("1", "loss"), "flushing": finding("2", "convention"), "finite": finding("3", "defect")}
    found = shown_inputs(replace(record, checks=dict.fromkeys(findings, "fail"), findings=findings))
    assert [each.why for each in found][:2] == ["at 3", "largest error"]
    assert found[-1].why == "at 1"
    assert bits("2") not in [each.x_bits for each in found]


def test_each_input_is_there_once_and_they_are_few(record):
    findings = {f"check{x}": finding(str(x), "defect") for x in range(30)} | {"again": finding("1", "defect")}
    found = shown_inputs(replace(record, checks=dict.fromkeys(findings, "fail"), findings=findings))
    assert len(found) == len({each.x_bits for each in found}) == 10


# ---- the document --------------------------------------------------------------------------------------


def test_a_sample_is_said_to_be_one(record):
    assert "so others may be worse" in text_of(record)
    whole = replace(record, bound="=")
    assert "every input of the dtype" in text_of(whole)
    assert "0x3f800000:0x40000000 (bits)" in text_of(replace(record, ranges=("0x3f800000:0x40000000",)))


def test_an_error_is_that_of_the_input(record):
    witness = Witness(bits("-6.5"), bits("-0"), bits("-2.61e-10"))
    table = text_of(replace(record, witness=witness, regions=(), checks={}))
    (row,) = [line for line in table.split("\n") if line.startswith("| -6.5 ")]
    assert "| 9.41e6 |" in row or "| 9.42e6 |" in row


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
@pytest.mark.parametrize(("x", "got", "want"), [("inf", "nan", "inf"), ("nan", "0", "nan"), ("2", "inf", "1.9545")])
def test_what_has_no_error_in_ulp_has_none(dtype, x, got, want):
    record = result("numpy.gelu", "gelu", dtype, noise=9.0, cancels=True)
    witness = Witness(bits(x, dtype), bits(got, dtype), bits(want, dtype))
    row = text_of(replace(record, witness=witness, regions=(), checks={}))
    assert f"| {bits(want, dtype)} |  | largest error |" in row


def test_a_failure_and_a_result_of_an_earlier_version_have_reports(record):
    crashed = failed("torch.gelu", "gelu", "float32", "torch.gelu raised ValueError: no")
    assert crashed.repeat in text_of(crashed)
    assert "raises an exception" in title_of(crashed)
    old = replace(record, grade=None, sentence=None, grade_bound=None, expression=None)
    assert "None" not in text_of(old)
    assert title_of(old).startswith("numpy.gelu in float32")


def test_what_is_left_behind_is_not_the_title(record):
    left = replace(
        record, failure="left files", failure_kind="left behind", sentence="leaves something behind; is wrong."
    )
    assert title_of(left).endswith(": is wrong")


def test_a_call_is_told_from_that_of_another_library(record):
    assert title_of(replace(record, family="litert", expression="tensorflow.exp(x)")).startswith(
        "litert: tensorflow.exp(x) "
    )


def test_its_own_words_are_shown(record):
    text = text_of(record, title="All is wrong", consequence="Training diverges.")
    assert text.startswith("**All is wrong**")
    assert "## In practice\n\nTraining diverges." in text
    assert "In practice" not in text_of(record)


def test_a_program_that_was_not_run_says_so(record):
    found = first_program(record, shown_inputs(record))
    assert "It was not run: planted is not installed." in text_of(record, found, not_run="planted is not installed")


@pytest.mark.parametrize("evil", ["<script>alert(1)</script>", "a|b **c** `d`", "```\n# heading", "\x1b[31m"])
def test_nothing_of_a_run_is_markup(record, evil):
    findings = {"finite": FindingRecord(evil, bits("1"), bits("inf"), bits("1"), severity="defect")}
    spoiled = replace(record, note=evil, sentence=evil, checks={"finite": "fail"}, findings=findings)
    found = Reproducer(f"x = {evil!r}\n", shown("1", "inf", "1"), evil, True, "numpy 2")
    document = bug_report(spoiled, [spoiled], manifest(), found, title=evil, consequence=evil)
    text = markdown(document)
    html = page(replace(document, title="bug report"))
    assert "\x1b" not in text + html
    assert "<script>alert" not in html
    tables = [line for line in text.split("\n") if line.startswith("| ") and "0x3f800000" in line]
    assert {line.replace("\\|", "").count("|") for line in tables} == {9}
    assert sum(line.startswith("# ") for line in text.split("\n")) == 0


# ---- the script ---------------------------------------------------------------------------------------


def run_script(text, folder):
    (folder / "check.py").write_text(text)
    return subprocess.run([sys.executable, "check.py"], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("returns", "want", "code"),
    [
        ("float('inf')", "2.7e38", 0),
        ("2.7e38", "2.7e38", 1),
        ("2.70000024e38", "2.7e38", 1),  # within 4 ULP
        ("2.70001e38", "2.7e38", 0),
        ("float('nan')", "0", 0),
        ("float('nan')", "nan", 1),
        ("0.0", "nan", 0),
        ("float('nan')", "inf", 0),
        ("float('inf')", "inf", 1),
        ("float('-inf')", "inf", 0),
    ],
)
def test_the_exit_code_of_a_script_says_whether_it_is_still_so(record, tmp_path, returns, want, code):
    (tmp_path / "planted.py").write_text(f"def f(x):\n    return [{returns}]\n")
    each = shown("88.5", "1" if want == "nan" else "nan", want)
    done = run_script(check_script(record, first_program(record, [each]), "It is wrong"), tmp_path)
    assert done.returncode == code, done.stderr
    assert done.stdout.startswith("still wrong:" if code == 0 else "not wrong:")


def test_an_error_of_less_than_4_ulp_is_told_from_none(record, tmp_path):
    each = shown("88.5", "1.00000024", "1")  # 2 ULP
    script = check_script(record, first_program(record, [each]), "It is wrong")
    for returns, code in (("1.0000002384185791", 0), ("1.0", 1)):
        (tmp_path / "planted.py").write_text(f"def f(x):\n    return [{returns}]\n")
        assert run_script(script, tmp_path).returncode == code


def test_a_script_of_a_library_that_is_not_here_ends_with_3(record, tmp_path):
    (tmp_path / "planted.py").unlink()
    done = run_script(check_script(record, first_program(record, [shown("1", "2", "1")]), "It is wrong"), tmp_path)
    assert (done.returncode, done.stdout.strip()) == (3, "No module named 'planted'")


def test_a_script_sets_the_level_before_the_library_is_loaded(record, tmp_path):
    """As NumPy does, it may be read once, when it is imported."""
    (tmp_path / "planted.py").write_text(
        "import os\nlimit = float(os.environ['LIMIT'])\ndef f(x):\n    return [limit]\n"
    )
    found = reproduced(record, [shown("3", "7", "3")], {"LIMIT": "7"})
    done = run_script(check_script(record, found, "It is wrong"), tmp_path)
    assert (done.returncode, done.stdout.split()[2]) == (0, "7.0"), done.stderr


@pytest.mark.parametrize("title", ['says """no"""', 'ends in "', "back\\slash \\N{X}", "two\nlines", ""])
def test_any_title_is_a_docstring(record, title):
    text = check_script(record, first_program(record, [shown("1", "2", "1")]), title)
    compile(text, "check.py", "exec")
