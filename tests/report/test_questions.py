"""Questions of users: those that a run answers, from what it has."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from graded_runs import graded_run
from synthetic_runs import SyntheticRun, manifest

import gelu_verify.report
from gelu_verify import reference
from gelu_verify.report.page import SECTIONS
from gelu_verify.report.question_answers import one_percent
from gelu_verify.report.questions import QUESTIONS, questions, roles
from gelu_verify.show.document import plain

CALLS = {"torch.gelu": "torch.nn.functional.gelu(x)", "jax.gelu_tanh": "jax.nn.gelu(x)"}


@pytest.fixture(scope="module")
def run():
    found = graded_run()
    return SyntheticRun(found.manifest, [replace(each, expression=CALLS.get(each.target)) for each in found.results])


def answer(run, words):
    found = {each.text: blocks for each, blocks in questions([run], run.results)}
    (blocks,) = (blocks for text, blocks in found.items() if words in text)
    return blocks


def test_views_and_sections_are_there():
    script = (Path(gelu_verify.report.__file__).parent / "web" / "columns.js").read_text(encoding="utf-8")
    assert {each.view for each in QUESTIONS} - {""} <= set(re.findall(r"^  (\w+): \{ title", script, re.MULTILINE))
    assert {each.section for each in QUESTIONS} - {""} <= set(SECTIONS)
    assert len({each.text for each in QUESTIONS}) == len(QUESTIONS) >= 30


def test_the_tanh_form_is_one_percent_away_there_and_more_below():
    def apart(x):
        return abs(float(reference("gelu_tanh", x)) / float(reference("gelu", x)) - 1)

    x = one_percent()
    assert apart(x - 1e-5) > 0.01 > apart(x + 1e-5)
    assert all(apart(x - k / 4) > 0.01 for k in range(1, 20))
    assert all(apart(x + k / 8) < 0.01 for k in range(1, 60) if x + k / 8)


def test_the_right_call_is_one_of_a_library(run):
    (items,) = answer(run, "Which call is right")
    lines = [plain(line) for line in items.texts]
    assert any("gelu in float32: torch.nn.functional.gelu(x)" in line for line in lines)
    assert not any("kernels" in line for line in lines)


def test_the_largest_error_is_shown_by_its_input(run):
    head, values, command = answer(run, "Is the largest error real?")
    called = [each for each in run.results if each.expression and each.witness]
    worst = max(called, key=lambda each: each.max_ulp)
    assert worst.expression in plain(head.text)
    assert [text.split()[-1] for _, text in values.pairs] == [
        f"({bits})" for bits in (worst.witness.x_bits, worst.witness.got_bits, worst.witness.want_bits)
    ]
    assert worst.witness.x_bits in command.text


def test_a_gpu_is_named_where_one_was_used(run):
    assert plain(answer(run, "Was a GPU used?")[0].text).startswith("No: ")
    device = {"name": "NVIDIA H100", "nvcc": "13.0", "cuda": "13.0"}
    other = SyntheticRun({**run.manifest, "device": device}, run.results)
    assert "H100" in plain(answer(other, "Was a GPU used?")[0].text)


def test_what_a_result_is_of(run):
    found = roles(run.results)
    assert {text for kind, text in found.values() if kind == "call"} == set(CALLS.values())
    assert all(record.expression for record in run.results if found.get(id(record), ("", ""))[0] == "call")


@pytest.mark.parametrize("runs", [[], [SyntheticRun(manifest(), [])]], ids=["no run", "no result"])
def test_of_nothing_only_what_is_always_so_is_said(runs):
    found = questions(runs, [])
    assert 5 < len(found) < len(QUESTIONS)
