"""Two revisions of code: each is measured as it was, and the user's checkout stays as it is."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from marking import nightly

from gelu_verify.cli import main
from gelu_verify.compare.installed import environment_of
from gelu_verify.compare.revisions import WORKING_TREE, Repository, is_range
from gelu_verify.errors import MissingMeasurement, UsageError

KERNEL = """#include <math.h>
#include <stddef.h>
#include "scale.h"
void gelu_f32(const float *x, float *y, size_t n) {
    for (size_t i = 0; i < n; ++i) y[i] = 0.5f * x[i] * erfcf(-x[i] * 0.70710678f) * SCALE;
}
"""


def git(folder, *words):
    return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two commits, the first tagged v1, and a working tree with changes, staged and not."""
    top = tmp_path_factory.mktemp("made") / "repository"
    (top / "sub").mkdir(parents=True)
    git(top, "init", "-q", "-b", "main")
    for name, value in (("user.name", "n"), ("user.email", "a@b"), ("commit.gpgsign", "false")):
        git(top, "config", name, value)
    (top / "sub" / "k.c").write_text(KERNEL)
    (top / "sub" / "scale.h").write_text("#define SCALE 1.0f\n")
    (top / ".gitattributes").write_text("k.c export-ignore\n")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "one")
    git(top, "tag", "v1")
    (top / "sub" / "scale.h").write_text("#define SCALE (x[i] == 1.5f ? 1.001f : 1.0f)\n")
    git(top, "commit", "-qam", "two")
    (top / "sub" / "scale.h").write_text("#define SCALE 2.0f\n")
    (top / "sub" / "staged.txt").write_text("x")
    git(top, "add", "sub/staged.txt")
    return top


@pytest.fixture
def repository(made, tmp_path, monkeypatch):
    top = Path(shutil.copytree(made, tmp_path / "repository"))
    monkeypatch.chdir(top / "sub")
    return top


def state(top):
    """What git and the disk have; git first, which notes the times of files in its index."""
    said = [git(top, *words.split()) for words in ("status --porcelain", "worktree list", "stash list", "branch -a")]
    return said, {str(path): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [*((text, True) for text in ("main..HEAD", "v1.0..v1.1", "main..", "a/b...HEAD~2", "HEAD^..@")),
     *((text, False) for text in ("..", "../runs", "a/../b", "latest~1", "reports/x", "..HEAD"))],
)  # fmt: skip
def test_what_reads_as_a_range(text, expected):
    assert is_range(text) is expected


def test_a_folder_is_never_a_range(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a..b").mkdir()
    assert not is_range("a..b")


def test_revisions_are_checked_out_elsewhere_and_nothing_is_touched(repository):
    before = state(repository)
    found = Repository.around(Path.cwd())
    for text, expected in (
        ("v1..HEAD", ("1.0f", "1.001f")),
        ("HEAD..", ("1.001f", "2.0f")),
        ("HEAD...v1", ("1.0f", "1.0f")),
    ):
        for revision, scale in zip(found.range(text), expected, strict=True):
            with found.checked_out(revision) as (place, _):
                assert (place / "k.c").exists()  # `git archive` would leave it out
                assert scale in (place / "scale.h").read_text()
                assert (place == Path.cwd()) is (revision.name == WORKING_TREE)
        assert revision.name == WORKING_TREE or not place.exists()
    assert state(repository) == before


@pytest.mark.parametrize(
    ("target", "why"),
    [("torch.gelu", "is not a file in"), ("../../other.c:f", "is not in the repository"),
     ("/etc/hosts.c:f", "is not in"), ("link.c:f", "is a link to something outside")],
)  # fmt: skip
def test_what_is_not_of_the_repository_is_refused(repository, target, why):
    Path("link.c").symlink_to("/dev/null")
    with pytest.raises(UsageError, match=why):
        Repository.around(Path.cwd()).relative(target)


def test_a_path_is_that_of_the_revision_however_it_is_written(repository):
    found = Repository.around(Path.cwd())
    assert found.relative(f"{Path.cwd()}/k.c:gelu_f32") == "k.c:gelu_f32"
    assert found.relative("../sub/k.c:gelu_f32") == "../sub/k.c:gelu_f32"
    Path("ops.py").write_text("")
    assert found.relative("pipe:python3 ops.py") == "pipe:python3 ops.py"
    assert found.relative("ops:gelu") == "ops:gelu"


def test_errors_of_git_are_one_line(repository, tmp_path):
    with pytest.raises(UsageError, match="'nope' is not a revision"):
        Repository.around(Path.cwd()).range("nope..HEAD")
    with pytest.raises(UsageError, match="'--exec=x' is not a revision"):
        Repository.around(Path.cwd()).range("--exec=x..HEAD")
    with pytest.raises(UsageError, match="not a git repository"):
        Repository.around(tmp_path)


def test_a_package_of_the_working_tree_is_that_of_the_revision_and_nothing_else_is(tmp_path, monkeypatch):
    top, tree = tmp_path / "top", tmp_path / "tree"
    for root in (top, tree):
        (root / "src" / "mine").mkdir(parents=True)
        (root / "src" / "mine" / "__init__.py").write_text(f"PLACE = {root.name!r}\n")
        (root / "random.py").write_text("raise SystemExit\n")
    monkeypatch.syspath_prepend(str(top / "src"))  # as an editable installation
    variables = environment_of(top, tree, tmp_path / "packages")
    code = "import mine, random; print(mine.PLACE, random.random() < 1)"
    done = subprocess.run([sys.executable, "-P", "-c", code], env=variables, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["tree", "True"]


def invoke(*words):
    return CliRunner().invoke(main, ["compare", *words])


@pytest.mark.parametrize(
    ("words", "why"),
    [(("v1..HEAD",), "name what to measure"), (("v1..HEAD", "k.c:f", "--target", "x"), "--target is for stored runs"),
     (("v1..HEAD", "k.c:gelu_f32", "--cflags", "-I{top}/sub"), "names the working tree"),
     (("v1..HEAD", "k.c:gelu_f32", "--seed", "-1"), "--seed"),
     (("v1..HEAD", "k.c:gelu_f32", "nowhere.c:f"), "has the file of nowhere.c:f"),
     (("v1..HEAD", "k.c:gelu_f32", "nowhere.c:f", "--device", "cuda"), "has the file of nowhere.c:f"),
     (("a", "b", "--plan", "quick"), "--plan is for revisions")],
)  # fmt: skip
def test_wrong_usage_is_said_before_anything_is_measured(repository, words, why):
    done = invoke(*(word.format(top=repository) for word in words))
    assert (done.exit_code, why in done.stderr) == (3 if "nowhere" in why else 2, True), done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("revisions", nightly("v1..HEAD"))
def test_a_regression_between_two_commits_is_found(repository, revisions):
    before = state(repository)
    done = invoke(revisions, "k.c:gelu_f32", "--plan", "quick", "--throughput", "none", "--fail-on", "worse")
    assert done.exit_code == 1, done.stderr
    assert "WORSE" in done.stdout
    assert "x = 1.5 (0x3fc00000)" in done.stdout
    assert "repeat gelu-verify run" not in done.stdout  # which would measure the working tree
    assert state(repository) == before
    done = invoke("HEAD..", "k.c:gelu_f32", "--plan", "quick", "--throughput", "none", "--json")
    assert '"name": "the working tree"' in done.stdout
    (repository / "sub" / "new.c").write_text(KERNEL)
    done = invoke("HEAD..", "new.c:gelu_f32")
    assert (done.exit_code, "has no file of new.c:gelu_f32" in done.stderr) == (3, True)
    done = invoke(revisions, "k.c:nosuch")
    assert (done.exit_code, "at v1 (" in done.stderr) == (2, True)


def test_a_revision_without_the_folder_is_missing(repository):
    (repository / "later").mkdir()
    found = Repository(repository.resolve(), (repository / "later").resolve())
    with pytest.raises(MissingMeasurement, match="has no folder later"), found.checked_out(found.range("v1..")[0]):
        pass
