"""Ten releases of a package: one is broken, one crashes, and from the seventh on a constant has two digits."""

import re
import subprocess
import sys
import tempfile
from contextlib import nullcontext

import pytest
from wheels import BROKEN, CRASHES, RIGHT, WRONG, Unpacking, wheel_of

from gelu_verify.versions.bisect import first_change
from gelu_verify.versions.changes import changes_between, steps, unchanged_since, upgrade
from gelu_verify.versions.environments import CannotBeInstalled, Installed, Installer
from gelu_verify.versions.libraries import ways_of_package
from gelu_verify.versions.sources import check_installed, of_package
from gelu_verify.versions.store import default_root, keep, read_history

SOURCES = {f"1.{n}": RIGHT if n < 7 else WRONG for n in range(1, 11)} | {"1.3": BROKEN, "1.4": CRASHES}
KEY = "my_package:gelu/gelu/float16"


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    for version, text in SOURCES.items():
        wheel_of(folder, version, text)
    return of_package("my_package", ["my_package:gelu"], ["gelu"], ["float16"], "numpy", Unpacking(folder))


@pytest.fixture(scope="module")
def history(source, tmp_path_factory):
    root = tmp_path_factory.mktemp("kept")
    for release in source.releases:
        found = source.measurer.measured(release)
        keep(
            root, "my_package", found, [source.measurer.known[d] for of in found.results.values() for d in of.values()]
        )
    return read_history(root, "my_package")


@pytest.mark.nightly
def test_releases_are_in_order_of_version(history):
    assert [each.version for each in history.releases] == [f"1.{n}" for n in range(1, 11)]


@pytest.mark.nightly
def test_equal_releases_have_one_output(history):
    assert len(history.outputs) == 2
    digests = [next(iter(each.results[KEY].values())) for each in history.releases if not each.failure]
    assert digests == [digests[0]] * 4 + [digests[-1]] * 4


def test_a_release_that_is_broken_or_crashes_is_a_row_with_its_reason(history):
    failures = {each.version: each.failure for each in history.releases if each.failure}
    assert failures.keys() == {"1.3", "1.4"}
    assert "of another Python" in failures["1.3"]
    assert "SIGABRT" in failures["1.4"]


def test_the_step_at_which_it_became_worse_is_found_and_no_other(history):
    changed = {step.release.version: [each.verdict for each in step.changed] for step in steps(history)}
    assert {version for version, verdicts in changed.items() if verdicts} == {"1.7"}
    assert changed["1.7"] == ["worse"]
    (change,) = changes_between(history, history.release("1.6"), history.release("1.7"))
    assert change.intervals
    assert change.old.record.max_ulp < 0.6
    assert change.new.record.max_ulp > 1
    assert max(filter(None, change.new.curve)) > max(filter(None, change.old.curve))


def test_an_upgrade_is_a_comparison(history):
    found = upgrade(history, history.release("1.2"), history.release("1.9"))
    assert [each.verdict for each in found.results] == ["worse"]
    assert "1.2" in found.old.name
    assert [each.verdict for each in upgrade(history, *(history.release(v) for v in ("1.7", "1.10"))).results] == [
        "same"
    ]


def test_since_when(history):
    (level,) = history.levels
    assert unchanged_since(history, KEY, level, history.release("1.9")).version == "1.7"
    assert unchanged_since(history, KEY, level, history.release("1.6")).version == "1.1"
    assert unchanged_since(history, KEY, "amx-2", history.release("1.6")) is None


def test_bisection_finds_it_by_few_releases(source):
    (way,) = source.measurer.ways

    def outcome(release):
        return source.measurer.output(release, way, "", 0xC200)

    found = first_change(source.releases, outcome)
    assert (found.last_same, found.first_changed) == ("1.6", "1.7")
    assert found.asked <= 7
    assert found.before != found.after


def test_what_is_known_is_not_verified_again(source, history, monkeypatch):
    monkeypatch.setattr("gelu_verify.versions.measuring.measure_one", lambda request: pytest.fail("verified again"))
    found = source.measurer.measured(source.releases[8])
    assert found.results == history.release("1.9").results


def test_a_release_that_the_index_lacks_is_a_row(source):
    release = type(source.releases[0])("7.7")
    assert source.measurer.measured(release).failure == "no my_package==7.7"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def gelu(x):\n    return x.astype('float64')\n", "returned float64 where float16 was expected"),
        ("def gelu(x):\n    return x[:1]\n", "returned shape"),
        ("def other(x):\n    return x\n", "has no attribute 'gelu'"),
        ("print('chatter')\ndef gelu(x):\n    print('more')\n    return x\n", ""),
        ("import sys\ndef gelu(x):\n    sys.exit(3)\n", "ended with status 3"),
    ],
)
def test_what_a_function_does_wrong_is_said(tmp_path, text, reason):
    wheel_of(tmp_path, "2.0", text)
    source = of_package("my_package", ["my_package:gelu"], ["gelu"], ["float16"], "numpy", Unpacking(tmp_path))
    found = source.measurer.measured(source.releases[0])
    assert reason in found.failure
    assert bool(found.failure) == bool(reason)


@pytest.mark.nightly
def test_an_environment_of_a_process_that_was_killed_is_removed(tmp_path, monkeypatch):
    """With the network."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    code = (
        "import os; from gelu_verify.versions.environments import CannotBeInstalled, Installed, Installer\n"
        "with Installer().environment([]): os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-P", "-c", code], check=False)
    (left,) = tmp_path.glob("*/releases/*")
    with Installer().environment([]) as installed:
        assert not left.exists()
        assert installed.python.exists()
        assert "numpy" in installed.packages
    assert not [*tmp_path.glob("*/releases/*")]


@pytest.mark.parametrize(
    ("target", "functions", "expected"),
    [
        ("m:gelu_tanh", (), ["gelu_tanh"]),
        ("m:silu_f32", (), ["silu"]),
        ("m:mine", (), ["gelu"]),
        ("src/k.c:silu", ("gelu", "silu"), ["gelu", "silu"]),
    ],
)
def test_a_target_is_judged_as_what_it_says_or_as_all_that_is_asked(target, functions, expected):
    assert [way.function for way in ways_of_package(target, functions, ["float32"])] == expected


def test_one_input_is_asked_at_many_places_of_a_call(tmp_path):
    wheel_of(tmp_path, "1.0", "def gelu(x):\n    y = x.copy()\n    y[100:] = float('nan')\n    return y\n")
    source = of_package("my_package", ["my_package:gelu"], ["gelu"], ["float16"], "numpy", Unpacking(tmp_path))
    (way,) = source.measurer.ways
    assert source.measurer.output(source.releases[0], way, "", 0x3C00) == "0x3c00 or NaN"


def test_a_function_that_does_not_end_is_a_row(tmp_path, monkeypatch):
    monkeypatch.setattr("gelu_verify.versions.worker_process.PATIENCE", 3.0)
    wheel_of(tmp_path, "1.0", "import time\ndef gelu(x):\n    time.sleep(60 * (len(x) > 40000))\n    return x\n")
    source = of_package("my_package", ["my_package:gelu"], ["gelu"], ["float32"], "numpy", Unpacking(tmp_path))
    assert "did not answer within 3 s" in source.measurer.measured(source.releases[0]).failure


@pytest.mark.parametrize(
    ("installed", "named", "is_it"),
    [
        ("2.13.0+cpu", "2.13.0", True),
        ("1.0", "1.0.0", True),
        ("2.0.post1", "2.0.post1", True),
        ("1.0+local.1", "1.0+local.1", True),
        ("1.0+local.1", "1.0+local.2", False),
        ("2.0", "2.0.1", False),
        (None, "1.0", False),
    ],
)
def test_what_was_named_is_what_runs(tmp_path, installed, named, is_it):
    there = Installed(tmp_path, "3.11", {"My.Package": installed} if installed else {})
    with nullcontext() if is_it else pytest.raises(CannotBeInstalled, match="in the place of my_package"):
        check_installed(there, "my_package", named)


def test_committed_records_name_no_folder_of_a_machine():
    for path in default_root().glob("*/*.json"):
        assert not re.search(r"/(tmp|root|home|Users|work)/", path.read_text(encoding="utf-8")), path
