"""Halving finds two neighbours between which the outcome changed, whatever cannot be measured."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gelu_verify.errors import MissingMeasurement
from gelu_verify.versions.bisect import UNMEASURED, first_change
from gelu_verify.versions.releases import Release

OUTCOMES = st.lists(st.sampled_from(["a", "b", "c", f"{UNMEASURED}broken"]), min_size=1, max_size=40)


@given(OUTCOMES)
def test_it_changed_between_the_two_that_are_named(outcomes):
    releases = [Release(str(place)) for place in range(len(outcomes))]
    usable = [each for each in outcomes if not each.startswith(UNMEASURED)]
    if len(usable) < 2:
        with pytest.raises(MissingMeasurement, match=r"(no release|only \d+) can be measured"):
            first_change(releases, lambda release: outcomes[int(release.version)])
        return
    found = first_change(releases, lambda release: outcomes[int(release.version)])
    if usable[0] == usable[-1]:
        assert found is None
        return
    low, high = int(found.last_same), int(found.first_changed)
    assert low < high
    assert outcomes[low] == found.before == usable[0]
    assert outcomes[high] == found.after != usable[0]
    assert all(outcomes[place].startswith(UNMEASURED) for place in range(low + 1, high))
    assert [int(each) for each in found.skipped] == [*range(low + 1, high)]


@given(st.integers(1, 500), st.data())
def test_few_are_asked_where_all_can_be_measured(last, data):
    changed = data.draw(st.integers(1, last))
    asked = []

    def outcome(release):
        asked.append(release.version)
        return "new" if int(release.version) >= changed else "old"

    found = first_change([Release(str(place)) for place in range(last + 1)], outcome)
    assert int(found.first_changed) == changed
    assert len(asked) == found.asked <= 2 + last.bit_length()
