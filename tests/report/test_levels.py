"""The lines that say what differs between levels."""

from dataclasses import replace

import pytest
from mutants import at, correct, faulty

from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.pairs import FirstPaths
from gelu_verify.measure.sweep import sweep
from gelu_verify.report.levels import level_lines


def measured(names, wrong=""):
    """Records of relu at those names, each compared as in a run; at one of them 1 gives 2."""
    firsts, plan = FirstPaths(), make_plan("quick", "relu", "float16")
    found = []
    for name in names:
        made = faulty("relu", at(1, "2")) if name == wrong else correct("relu")
        result = sweep(replace(made, name=name), plan, workers=1)
        found.append(result.updated(pair=firsts.pair(result)).record)
    return found


def test_levels_that_agree_take_one_line():
    assert level_lines(measured(["lib.relu", "lib.relu@avx2"])) == ["lib@avx2: 0 of 1 results differ from those of lib"]


def test_what_differs_is_shown_with_grades_and_the_largest_difference():
    count, grades, most = level_lines(measured(["lib.relu", "lib.relu@avx2"], "lib.relu@avx2"))
    assert count == "lib@avx2: 1 of 1 results differ from those of lib"
    assert grades.startswith("  grades: lib.relu@avx2 float16 ○ correctly rounded -> ● ")
    assert most.startswith("  most: lib.relu@avx2 float16 at x = ")


@pytest.mark.parametrize("names", [["lib.relu"], ["lib.relu", "lib.relu-other"], ["lib.relu@avx2"]])
def test_what_is_not_at_two_levels_has_no_line(names):
    assert level_lines(measured(names, "lib.relu-other")) == []


def test_without_the_librarys_own_choice_the_first_level_is_compared_with():
    lines = level_lines(measured(["lib.relu@avx512", "lib.relu@avx2"], "lib.relu@avx2"))
    assert lines[0] == "lib@avx2: 1 of 1 results differ from those of lib@avx512"
