"""What a gate with another seed finds wrong is tried by every later run of the project."""

import shlex

import numpy as np
import pytest
from commands import call

from gelu_verify import verify
from gelu_verify.errors import UsageError
from gelu_verify.gate.project import hard_cases_here
from gelu_verify.inputs.found import KeptInput, add_found, found_case, read_found
from gelu_verify.inputs.plans import PLANS, make_plan

TARGET = """\
import gelu_verify


def silu(x):
    y = gelu_verify.silu(x)
    y[x.view("u4") == {x:#x}] = 7
    return y
"""


def inputs(plan):
    return {int(x) for chunk in plan.chunks for x in chunk.x_bits()}


@pytest.fixture(scope="module")
def wrong():
    """An input that the plan has with seed 5, and not with seed 0."""
    plans = [make_plan("quick", "silu", "float32", seed) for seed in (5, 0)]
    return next(x for x in sorted(inputs(plans[0]) - inputs(plans[1])) if 1 < np.uint32(x).view(np.float32) < 2)


@pytest.fixture
def project(tmp_path, monkeypatch, wrong):
    monkeypatch.chdir(tmp_path)
    for name in ("request", "jobs"):  # in this process, which is faster
        monkeypatch.setattr(f"gelu_verify.measure.{name}.supported", lambda: False)
    (tmp_path / "m.py").write_text(TARGET.format(x=wrong))
    (tmp_path / "gelu-verify.toml").write_text('targets = ["m.py:silu"]\ndtypes = ["float32"]\nplan = "quick"\n')
    return tmp_path


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "<<<<<<< ours\nsilu,float32,0x40000000,a\n=======\nsilu,float32,0x40400000,b\n>>>>>>> theirs\n",
            "conflicts of",
        ),
        (f"silu,float32,0x40000000,{'a' * 200_000}\n", "is not CSV: field larger"),
    ],
)
def test_a_file_of_inputs_that_cannot_be_read_says_what_to_do(tmp_path, text, why):
    file = tmp_path / "gelu-hard-cases.csv"
    file.write_text(f"function,dtype,x_bits,by\n{text}")
    with pytest.raises(UsageError, match=why):
        read_found(file)


def test_what_a_gate_with_another_seed_finds_fails_every_later_gate(project, wrong):
    assert call("budget")[0] == 0
    code, said = call("gate", "--seed", "5")
    assert (code, "\nseed 5\n" in said) == (1, True), said
    (command,) = {line.partition("later run: ")[2] for line in said.splitlines() if "gelu-verify keep" in line}
    text = f"{wrong:#010x}"
    assert command == f"gelu-verify keep silu float32 {text} --by 'm.py:silu, seed 5'"
    assert call(*shlex.split(command)[1:])[0] == 0
    assert (project / "gelu-hard-cases.csv").read_text() == (
        f'function,dtype,x_bits,by\nsilu,float32,{text},"m.py:silu, seed 5"\n'
    )
    code, said = call("gate")
    assert (code, text in said) == (1, True), said
    assert "gelu-verify keep" not in said  # every plan has it


def test_run_says_so_and_every_way_to_measure_tries_it(project, wrong, monkeypatch):
    (project / "sub").mkdir()
    words = ("m.py:silu", "--dtype", "float32", "--plan", "quick", "--no-own", "--no-throughput")
    code, said = call("run", *words, "--max-ulp", "1", "--seed", "5")
    (command,) = {line.partition("later run: ")[2] for line in said.splitlines() if "gelu-verify keep" in line}
    assert (code, f" {wrong:#010x} " in command) == (1, True)
    monkeypatch.chdir(project / "sub")
    assert verify(f"{project}/m.py:silu", "silu", "float32", "quick").max_ulp < 1
    assert call("keep", "silu", "float32", f"{wrong:#x}")[0] == 0
    assert verify(f"{project}/m.py:silu", "silu", "float32", "quick").max_ulp > 1e6


def test_an_input_that_raises_is_kept_too(project, wrong):
    assert call("budget")[0] == 0
    line = f"    assert not (x.view('u4') == {wrong:#x}).any()\n"
    (project / "m.py").write_text(TARGET.format(x=wrong).replace("    y[", f"{line}    y["))
    code, said = call("gate", "--seed", "5")
    assert (code, f"gelu-verify keep silu float32 {wrong:#010x} --by" in said) == (1, True), said


def test_every_plan_takes_what_is_kept_once(wrong):
    for name in PLANS:
        if name not in ("exhaustive", "stress"):
            plan = make_plan(name, "silu", "float32", also=[wrong, wrong])
            assert [chunk.has(wrong) for chunk in plan.chunks].count(True) == 1
            assert len({chunk.size for chunk in plan.chunks}) == 1  # no call of another length


def test_a_file_is_read_as_it_was_written_and_has_each_input_once(tmp_path):
    file = tmp_path / "cases.csv"
    assert read_found(file) == []
    cases = [found_case("gelu[mu=0.5]", "float32", "-1.5", 'a "name", seed 3'), found_case("gelu", "float64", "1", "")]
    assert add_found(file, cases) == 2
    assert add_found(file, [found_case("gelu", "float64", "0x1p0", "another"), cases[0]]) == 0
    assert read_found(file) == sorted(cases)
    assert cases[1] == KeptInput("gelu", "float64", "0x3ff0000000000000", "")


@pytest.mark.parametrize("row", ["gelu,float32", "gelo,float32,0x0,", "gelu,float33,0x0,", "gelu,float32,one,"])
def test_a_line_that_cannot_be_used_is_named(project, row):
    (project / "gelu-hard-cases.csv").write_text(f"function,dtype,x_bits,by\nsilu,float32,0x3f800000,\n{row}\n")
    with pytest.raises(UsageError, match=r"gelu-hard-cases\.csv:3: "):
        hard_cases_here()


def test_a_first_line_that_is_no_header_is_named(project):
    file = project / "gelu-hard-cases.csv"
    file.write_text("gelu,float32,0x3f9e0653,mine\n")
    with pytest.raises(UsageError, match=r"csv:1: gelu,float32,0x3f9e0653,mine .accepted: the header, function,dtype"):
        hard_cases_here()
    assert file.read_text() == "gelu,float32,0x3f9e0653,mine\n"


def test_a_number_beyond_the_dtype_is_kept_as_infinity_and_says_so(project):
    code, said = call("keep", "gelu", "float16", "1e6")
    assert (code, "1e6 is beyond the numbers of float16: x is inf" in said) == (0, True)
    assert "gelu,float16,0x7c00," in (project / "gelu-hard-cases.csv").read_text()


def test_without_a_project_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    assert hard_cases_here() == {}
    code, said = call("keep", "gelu", "float32", "1")
    assert (code, "gelu-verify init" in said) == (2, True)
