"""`compare` with files for CI: what got worse fails, what is not known was not measured, all else is a note."""

from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from gelu_verify.ci.changes import cases_of_comparison
from gelu_verify.cli import main
from gelu_verify.compare.comparison import ComparedRun, Comparison, ResultComparison
from gelu_verify.judge.sides import Bits, Change, ChangeWitness

RUN = ComparedRun("a", "2026-11-22", "gelu-verify run", "default", 0, 1)
SHOWN = ChangeWitness("0xc406", "0x8790", "0x879f", "0x8790")


def change(verdict, text, witness=None):
    return Change(what="error", verdict=verdict, old=None, new=None, text=text, witness=witness)


def case(verdict, fail_on, *changes):
    result = ResultComparison(
        target="k.c:gelu", family="callable", function="gelu", dtype="float16", verdict=verdict, old_grade="faithful",
        new_grade="accurate", bits=Bits(9, 2, 9, 2, 3), changes=changes, repeat="again",
    )  # fmt: skip
    (found,) = cases_of_comparison(Comparison(RUN, RUN, (), (result,)), fail_on)
    return found


WORSE, BETTER = change("worse", "1 -> 2 ULP", SHOWN), change("better", "3 -> 1 ULP")
UNKNOWN, OTHER = change("unknown", "other inputs"), change("neither", "other bits")


@pytest.mark.parametrize(
    ("of_rules", "fail_on", "changes", "verdict", "reasons"),
    [
        ("worse", None, [WORSE], "passed", ()),
        ("worse", "worse", [WORSE, OTHER], "failed", ("1 -> 2 ULP",)),
        ("mixed", "worse", [BETTER, WORSE], "failed", ("1 -> 2 ULP",)),
        ("better", "worse", [BETTER], "passed", ()),
        ("better", "change", [BETTER], "failed", ("3 -> 1 ULP",)),
        ("changed", "change", [OTHER], "failed", ("other bits",)),
        ("unknown", "worse", [UNKNOWN, OTHER], "not measured", ("other inputs",)),
        ("vanished", "worse", [], "not measured", ("vanished",)),
        ("appeared", "change", [], "failed", ("appeared",)),
        ("same", "change", [], "passed", ()),
    ],
)
def test_what_a_change_is_to_ci(of_rules, fail_on, changes, verdict, reasons):
    found = case(of_rules, fail_on, *changes)
    assert (found.verdict, found.reasons) == (verdict, reasons)
    assert {*found.reasons, *found.notes} >= {each.text for each in changes}


def test_both_outputs_are_shown():
    found = case("worse", "worse", WORSE)
    assert [(each.name, each.bits) for each in found.values] == [
        ("x", "0xc406"), ("old", "0x8790"), ("new", "0x879f"), ("want", "0x8790"),
    ]  # fmt: skip
    assert "was faithful" in found.sentence
    assert "other results at 2 to 3 inputs" in found.sentence


def test_the_command_writes_files_and_ends_with_its_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for run, by in (("old", "1"), ("new", "1.01")):
        (tmp_path / "mine.py").write_text(
            f"import numpy as np\ndef f(x):\n    return np.maximum(x, 0) * x.dtype.type({by})"
        )
        CliRunner().invoke(main, ["run", "mine.py:f", "--function", "relu", "--dtype", "float16", "--plan", "landmarks",
                                  "--no-throughput", "--no-report", "--in-process", "--no-own",
                                  "--out", run])  # fmt: skip
    done = CliRunner().invoke(
        main, ["compare", "old", "new", "--fail-on", "worse", "--junit", "j.xml", "--github", "--json"]
    )
    assert done.exit_code == 1, done.output
    assert (
        ElementTree.parse("j.xml")
        .find(".//failure")
        .get("message")
        .startswith("NaN or infinity: 0 -> 1 inputs; computes neither ")
    )
    assert "::error file=mine.py,line=2,title=mine.py%3Af/relu/float16::" in done.stderr
    assert "::error" not in done.stdout
