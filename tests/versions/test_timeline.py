"""Releases side by side: equal ones are one state, levels that agree are one series, and each change is told once."""

from dataclasses import replace

import pytest
from synthetic_history import ERF, FORMULA, HALF, NEW, OLD, OTHER, REASON, output, write_history

from gelu_verify.versions.overview import libraries
from gelu_verify.versions.store import History, MeasuredRelease, keep, libraries_in, read_history
from gelu_verify.versions.timeline import timeline


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return write_history(tmp_path_factory.mktemp("versions"))


@pytest.fixture(scope="module")
def torch(root):
    return timeline(read_history(root, "torch"))


def series_of(found, key):
    return [each for each in found.series if each.key == key]


def test_releases_are_in_the_order_of_their_versions_and_one_that_failed_has_its_reason(torch):
    assert [each.version for each in torch.releases] == ["1.9.0", "1.10.0", "2.0.0", "3.0.0"]
    assert [each.version for each in torch.measured] == ["1.9.0", "2.0.0", "3.0.0"]
    assert torch.releases[1].failure == "no wheel for Linux"


def test_releases_that_gave_the_same_are_one_state(torch):
    low, high = series_of(torch, ERF)
    assert (low.levels, high.levels) == (("avx2",), ("avx512",))
    assert [(each.first, each.last, each.releases, each.outputs) for each in low.states] == [
        ("1.9.0", "1.9.0", 1, OLD.digest),
        ("2.0.0", "3.0.0", 2, NEW.digest),
    ]
    assert [each.verdict for each in high.states] == [None, "better", "changed"]


def test_levels_that_always_agree_are_one_series(torch):
    (half,) = series_of(torch, HALF)
    assert half.levels == ("avx2", "avx512")
    assert half.absent == {"1.9.0": REASON}
    assert half.states[0].first == "2.0.0"


def test_body_and_tail_have_the_largest_error_of_their_regions(torch):
    state = series_of(torch, ERF)[0].states[0]
    assert state.tail_ulp == pytest.approx(16774748.2, rel=1e-5)
    assert state.body_ulp == 1.75
    assert state.max_ulp == 16774748.2


def test_the_calls_of_the_library_come_before_formulas(torch):
    assert [each.own for each in torch.series] == [True, True, True, False]
    assert series_of(torch, ERF)[0].call == "torch.nn.functional.gelu(x)"
    assert series_of(torch, FORMULA)[0].call == "x * torch.sigmoid(1.702 * x)"


def test_a_change_is_one_sentence_for_all_levels_at_which_it_is_the_same(torch):
    told = {(each.version, each.key): each for each in torch.changes}
    better, other = told["2.0.0", ERF], told["3.0.0", ERF]
    assert better.sentence == (
        "torch.nn.functional.gelu(x) float32 got better: broken to accurate, from >=1.67e7 to >=2.50 ULP"
    )
    assert better.before == "1.9.0"  # 1.10.0 failed
    assert better.levels == ()
    assert other.levels == ("avx512",)
    assert other.verdict == "changed"
    assert other.sentence.endswith("gives other bits in 38 of 38 intervals of x")
    assert told["2.0.0", HALF].verdict == "appeared"
    assert told["2.0.0", FORMULA].sentence.endswith("got worse: accurate to coarse, from >=2.00 to >=30.0 ULP")
    assert (other.old_outputs, other.new_outputs) == (NEW.digest, OTHER.digest)
    assert len({each.id for each in torch.changes}) == len(torch.changes)


def test_the_newest_change_comes_first_and_what_appeared_is_none_of_the_library(torch):
    assert [each.version for each in torch.changes] == ["3.0.0", "2.0.0", "2.0.0", "2.0.0"]
    assert [each.key for each in torch.own_changes] == [ERF, ERF]


def test_all_libraries_and_what_changed_last(root):
    found = libraries(timeline(read_history(root, each)) for each in libraries_in(root))
    numpy, torch = found.libraries
    assert (torch.library, torch.releases, torch.failed, torch.first, torch.last) == ("torch", 3, 1, "1.9.0", "3.0.0")
    assert (torch.results, torch.changed, torch.broken, torch.last_change) == (3, 1, 0, "3.0.0")
    assert (numpy.changed, numpy.last_change, numpy.released) == (0, None, None)
    assert [each.version for each in found.changes] == ["2.0.0"]  # other bits are no news, nor is a formula
    assert found.changes[0].sentence.startswith("torch 2.0.0: torch.nn.functional.gelu(x) float32 got better")


def test_a_library_of_which_nothing_is_kept_is_empty():
    found = timeline(History("torch", (), {}))
    assert (found.releases, found.series, found.changes, found.measured) == ((), (), (), [])


def test_a_release_in_which_only_bits_of_nan_differ_is_no_other_state(tmp_path):
    other = output(ERF, "8" * 16, 2.5, "accurate", parts="1")
    other = replace(other, intervals={**other.intervals, "inf or NaN": "9" * 8})
    for version, each in (("1.0", NEW), ("2.0", other)):
        results = {ERF: {"avx2": each.digest}}
        keep(tmp_path, "torch", MeasuredRelease(version=version, measured="2026-11-26", results=results), [each])
    found = timeline(read_history(tmp_path, "torch"))
    assert [(state.first, state.last) for state in found.series[0].states] == [("1.0", "2.0")]
    assert not found.changes


@pytest.mark.parametrize(
    ("max_ulp", "grade", "checks", "slight"),
    [
        (2.6, "accurate", (), True),
        (3.0, "accurate", (), False),
        (2.5, "coarse", (), False),
        (2.5, "accurate", ("tail_zero",), False),
    ],
)
def test_a_slight_change_is_not_among_the_latest(tmp_path, max_ulp, grade, checks, slight):
    other = output(ERF, "8" * 16, max_ulp, grade, checks, parts="3")
    for version, each in (("1.0", NEW), ("2.0", other)):
        results = {ERF: {"avx2": each.digest}}
        keep(tmp_path, "torch", MeasuredRelease(version=version, measured="2026-11-26", results=results), [each])
    found = timeline(read_history(tmp_path, "torch"))
    assert [each.is_slight for each in found.changes] == [slight]
    assert len(libraries([found]).changes) == (0 if slight else 1)
