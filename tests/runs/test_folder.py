"""The folder of runs: names, sizes, what may be removed and what never is, archives and back."""

import datetime
import io
import json
import shutil
import tarfile
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner
from forged import edited
from marking import nightly
from mutants import correct

from gelu_verify.atomic_files import in_use, remove_unused, unfinished_folder
from gelu_verify.cli import main
from gelu_verify.errors import ResultsError, UsageError
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.sweep import sweep
from gelu_verify.report import write_report
from gelu_verify.report.columns import FILES
from gelu_verify.runs import store
from gelu_verify.runs.archive import export_runs, import_runs
from gelu_verify.runs.committed import commit
from gelu_verify.runs.folder import PruneLimits, entries, protected, surplus
from gelu_verify.runs.integrity import verified
from gelu_verify.runs.references import find_run
from gelu_verify.runs.store import read_run, write_run

FACTS = {"versions": {"numpy": "2"}, "machine": {"cpu": "x"}, "git": None, "copy_bytes_per_s": 1e9}
MANIFEST = {"command": "gelu-verify run", "seed": 0, "plan": "landmarks", "absent": {}, "facts": FACTS}
NOW = datetime.datetime(2026, 9, 30, tzinfo=datetime.UTC)


@pytest.fixture(scope="module")
def result():
    return sweep(correct("gelu"), make_plan("landmarks", "gelu", "float16"))


@pytest.fixture(scope="module")
def stored(result, tmp_path_factory):
    """Runs of five days, 20 to 24 September 2026; the last one is `latest`."""
    place = tmp_path_factory.mktemp("stored") / "reports"

    with pytest.MonkeyPatch.context() as patch:
        for day in range(20, 25):
            now = datetime.datetime(2026, 9, day, 12, tzinfo=datetime.UTC)
            clock = SimpleNamespace(datetime=SimpleNamespace(now=lambda zone, now=now: now), UTC=datetime.UTC)
            patch.setattr(store, "datetime", clock)
            write_run([result], root=place, **MANIFEST)
    return place


@pytest.fixture
def root(stored, tmp_path):
    return Path(shutil.copytree(stored, tmp_path / "reports", symlinks=True))


def days(found):
    return [int(each.path.name[6:8]) for each in found]


def invoke(root, *words, **options):
    return CliRunner().invoke(main, ["runs", *map(str, words), "--runs", str(root)], **options)


# ---- names ---------------------------------------------------------------------------------------


def test_earlier_runs_have_names(root, tmp_path):
    assert days([type("Found", (), {"path": find_run(name, root)}) for name in ("latest", "latest~1", "latest~4")]) == [
        24,
        23,
        20,
    ]
    assert find_run("latest~~", root) == find_run("latest~2", root)
    assert find_run("20260922T120000Z-1", root) == root / "20260922T120000Z-1"
    assert find_run(str(root / "latest"), tmp_path).resolve() == find_run("latest", root).resolve()
    committed = commit(read_run(find_run("latest", root)), tmp_path / "committed")
    assert find_run(committed.name, root, tmp_path / "committed") == committed
    for name, why in (
        ("latest~5", "has 4 before latest"),
        ("nope", "no stored run 'nope'"),
        (str(tmp_path), "is not a stored run"),
    ):
        with pytest.raises(UsageError, match=why):
            find_run(name, root)


# ---- removing ------------------------------------------------------------------------------------


def chosen(root, **limits):
    return surplus(entries(root), PruneLimits(**limits), NOW, lambda each: protected(each, FILES))


def test_each_limit_is_met_and_the_oldest_go_first(root):
    size = entries(root)[0].size
    assert days(chosen(root, keep=2)[0]) == [20, 21, 22]
    assert days(chosen(root, older_than=datetime.timedelta(days=8))[0]) == [20, 21]
    assert days(chosen(root, max_size=2 * size + 100)[0]) == [20, 21, 22]
    assert days(chosen(root, keep=4, max_size=2 * size + 100)[0]) == [20, 21, 22]
    assert chosen(root, max_size=size * 6) == ([], [])


def test_what_must_stay_stays(root, tmp_path):
    kept = {}
    (first, second, third, fourth) = (each.path for each in entries(root)[:4])
    (first / "notes.txt").write_text("mine")
    kept[first.name] = "it holds notes.txt"
    (second / "buckets" / "mine.csv").write_text("mine")
    kept[second.name] = "it holds buckets/mine.csv"
    place = commit(read_run(third), tmp_path / "data")
    shutil.rmtree(third)
    shutil.copytree(place, third)
    kept[third.name] = "it is a recorded run"
    edited(fourth, lambda manifest: manifest.update(plan="other") or manifest["results"][0].update(n=-1))
    undated = Path(shutil.copytree(first, root / "undated"))
    edited(undated, lambda manifest: manifest.update(created="2026-02-30T00:00:00Z"))
    (root / "mine").mkdir()
    (root / "link").symlink_to(first)
    removed, staying = chosen(root, keep=0)
    assert removed == []
    named = {each.path.name: reason for each, reason in staying}
    assert {name for name in kept if not named[name].startswith(kept[name])} == set()
    assert "latest names it" in named.values()
    problems = {each.path.name: each.problem for each in entries(root) if not each.is_run}
    assert set(problems) == {fourth.name, "mine", "undated"}  # what cannot be read is told, and left alone


@pytest.mark.parametrize("keep", nightly(4))
def test_a_report_is_removed_with_its_run(root, keep):
    first = entries(root)[0].path
    assert {path.name for path in write_report([read_run(first)], first)} == set(FILES)
    invoke(root, "prune", "--keep", keep, "--yes")
    assert not first.exists()


def test_nothing_that_is_used_is_removed(root):
    second = entries(root)[1]
    with in_use(second.path):
        done = invoke(root, "prune", "--keep", 3, "--yes")
    assert done.exit_code == 0, done.output
    assert f"kept, because it is in use: {second.path.name}" in done.stdout
    assert days(entries(root)) == [21, 22, 23, 24]
    with unfinished_folder(root) as work:  # a run that is being written
        invoke(root, "prune", "--keep", 0, "--yes")
        assert work.exists()
    assert days(each for each in entries(root)) == [24]
    assert remove_unused(entries(root)[0].path)


def test_pruning_asks(root):
    assert "give a limit" in invoke(root, "prune").stderr
    done = invoke(root, "prune", "--keep", 1)
    assert (done.exit_code, "say --yes" in done.stderr) == (2, True)
    assert "would remove" in invoke(root, "prune", "--keep", 1, "--dry-run").stdout
    for option, value in (("--older-than", "30"), ("--max-size", "-1G"), ("--max-size", "nan"), ("--keep", "-1")):
        assert invoke(root, "prune", option, value).exit_code == 2
    assert len(entries(root)) == 5


def test_the_list_has_sizes(root):
    document = json.loads(invoke(root, "list", "--json", "--recorded", root / "none").stdout)
    assert [each["results"] for each in document["runs"]] == [1] * 5
    sizes = [sum(len(content) for content in files(each.path).values()) for each in entries(root)]
    assert [each["size"] for each in document["runs"]] == sizes
    assert document["size"] == sum(sizes)
    assert document["runs"][-1]["latest"]
    assert "5 runs in" in invoke(root, "list", "--recorded", root / "none").stdout


# ---- archives ------------------------------------------------------------------------------------


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["runs.zip", "runs.tar.zst"])
def test_an_archive_is_the_runs_and_the_same_runs_give_the_same_bytes(root, tmp_path, name):
    runs = [verified(read_run(each.path)) for each in entries(root)[:2]]
    export_runs(runs, tmp_path / name)
    export_runs(reversed(runs), tmp_path / f"again-{name}")
    assert (tmp_path / name).read_bytes() == (tmp_path / f"again-{name}").read_bytes()
    added, there = import_runs(tmp_path / name, tmp_path / "other")
    assert [place.name for place in added] == [run.path.name for run in runs]
    assert there == []
    for run, place in zip(runs, added, strict=True):
        assert files(place) == files(run.path)
    assert import_runs(tmp_path / name, tmp_path / "other") == ([], added)
    assert not list((tmp_path / "other").glob(".unfinished*"))


def test_another_run_of_that_name_is_not_replaced(root, tmp_path):
    run = read_run(find_run("latest", root))
    export_runs([run], tmp_path / "a.zip")
    place = tmp_path / "other" / run.path.name
    place.mkdir(parents=True)
    with pytest.raises(ResultsError, match="is another run"):
        import_runs(tmp_path / "a.zip", tmp_path / "other")
    assert files(place) == {}


def hostile(path, name, content=b"{}", link=False):
    with tarfile.open(path.with_suffix(".tar"), "w") as archive:
        member = tarfile.TarInfo(name)
        member.type = tarfile.SYMTYPE if link else tarfile.REGTYPE
        member.size, member.linkname = 0 if link else len(content), "/etc" if link else ""
        archive.addfile(member, io.BytesIO(content))
    path.write_bytes(pa.Codec("zstd").compress(path.with_suffix(".tar").read_bytes(), asbytes=True))


@pytest.mark.parametrize(
    "name",
    [
        "../x/manifest.json",
        "/x/manifest.json",
        "x/../../manifest.json",
        "x/evil.sh",
        "latest",
        "x/buckets/../m",
        "latest/manifest.json",
    ],
)
def test_members_that_are_not_of_a_run_are_refused(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(name, "{}")
    hostile(tmp_path / "a.tar.zst", name)
    for kind in ("a.zip", "a.tar.zst"):
        with pytest.raises(ResultsError, match="not an archive of stored runs"):
            import_runs(tmp_path / kind, tmp_path / "reports")
    assert files(tmp_path / "reports") == {}


def test_forged_damaged_and_huge_archives_are_refused(root, tmp_path, monkeypatch):
    place = Path(shutil.copytree(find_run("latest", root), tmp_path / "forged"))
    edited(place, lambda manifest: manifest["results"][0].update(max_ulp=0.125))
    export_runs([read_run(place)], tmp_path / "forged.zip")
    whole = tmp_path / "whole.tar.zst"
    export_runs([read_run(find_run("latest", root))], whole)
    (tmp_path / "short.tar.zst").write_bytes(whole.read_bytes()[:-100])
    (tmp_path / "text.zip").write_text("no")
    hostile(tmp_path / "link.tar.zst", "x/manifest.json", link=True)
    for name, why in (("forged.zip", "cannot be trusted"), ("short.tar.zst", "is damaged"), ("text.zip", "is damaged"),
                      ("link.tar.zst", "not a plain file"), ("none.zip", "no such file")):  # fmt: skip
        with pytest.raises(ResultsError, match=why):
            import_runs(tmp_path / name, tmp_path / "imported")
    monkeypatch.setattr("gelu_verify.runs.archive.LARGEST_FILE", 100)
    with pytest.raises(ResultsError, match="is too large"):
        import_runs(whole, tmp_path / "imported")
    assert files(tmp_path / "imported") == {}
    with pytest.raises(UsageError, match="is not the name of an archive"):
        export_runs([], tmp_path / "a.rar")


@pytest.mark.parametrize("name", nightly("a.zip", "a.tar.zst"))
def test_a_changed_byte_is_refused_or_changes_nothing(root, tmp_path, name):
    run = read_run(find_run("latest", root))
    export_runs([run], tmp_path / name)
    whole, expected = (tmp_path / name).read_bytes(), files(run.path)
    for place in np.random.default_rng(0).integers(0, len(whole), 400).tolist():
        other = tmp_path / f"other-{place}"
        (tmp_path / f"x{name}").write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            (added,), _ = import_runs(tmp_path / f"x{name}", other)
        except ResultsError:
            assert files(other) == {}
        else:
            assert files(added) == expected
