"""`versions` and `upgrade` as a user types them."""

import json
import re
import shutil
import subprocess
from contextlib import contextmanager

import pytest
from click.testing import CliRunner
from marking import nightly
from wheels import BROKEN, RIGHT, WRONG, Unpacking, wheel_of

from gelu_verify.cli import main
from gelu_verify.versions import environments

PACKAGE = ("my_package", "--target", "my_package:gelu", "--dtype", "float16")


@contextmanager
def folder_with_wheels(place):
    """A folder with wheels of three releases, the last of which is worse."""
    for version, text in {"1.0": RIGHT, "1.1": RIGHT, "2.0": WRONG}.items():
        wheel_of(place / "wheels", version, text)
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(place)
        patched.setattr(environments, "Installer", lambda python, find_links: Unpacking(find_links))
        yield place


@pytest.fixture
def here(tmp_path):
    with folder_with_wheels(tmp_path) as place:
        yield place


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """What `versions` said of all three, and where it kept that."""
    with folder_with_wheels(tmp_path_factory.mktemp("once")) as place:
        return measured(), place / "reports"


@pytest.fixture
def recorded(here, once):
    """The folder with what was measured."""
    shutil.copytree(once[1], here / "reports")
    return here


def called(*words):
    return CliRunner().invoke(main, [*words])


def measured(*words):
    return called("versions", *PACKAGE, "--find-links", "wheels", *words)


@pytest.mark.nightly
def test_each_release_has_a_line_and_the_change_is_told(once):
    found, _ = once
    assert found.exit_code == 0
    lines = found.stdout.splitlines()
    assert lines[0] == "1.0 1 result"
    assert lines[1] == "1.1 1 result, the same bit for bit"
    assert lines[2] == "2.0 1 changed, 0 the same"
    assert "WORSE my_package:gelu" in lines[3]
    assert "3/3 my_package 2.0: 1 result" in found.stderr


def test_nothing_is_measured_twice(recorded):
    (recorded / "reports/versions/my_package/2.0.json").unlink()
    assert "1/1 my_package 2.0" in measured().stderr
    assert "/" not in measured().stderr
    assert "1/1" in measured("--again", "--to", "1.0").stderr


@pytest.mark.nightly
def test_what_is_asked_later_is_added(here):
    measured("--to", "1.0")
    measured("--to", "1.0", "--dtype", "float64")
    assert measured("--to", "1.0").stdout == "1.0 2 results\n"


def test_what_cannot_be_measured_is_said_beside_what_is_kept(recorded):
    found = called("versions", "my_package", "--target", "my_package:silu", "--find-links", "wheels", "--to", "1.0")
    assert found.exit_code == 3
    assert found.stdout.splitlines()[0] == "1.0 1 result"  # of before
    assert re.search(r"none my_package:silu/silu/float32: AttributeError", found.stdout)
    assert "no release of my_package could be measured" in found.stderr


def test_arrays_of_another_library_are_another_result(recorded):
    assert "1/1 my_package 1.0" in measured("--to", "1.0", "--array", "torch").stderr


def test_newer_releases(recorded):
    (recorded / "reports/versions/my_package/2.0.json").unlink()
    assert "1/1 my_package 2.0" in measured("--newer").stderr
    nothing = measured("--newer")
    assert nothing.exit_code == 0
    assert "no release that is newer" in nothing.stderr


def test_json_is_the_documented_timeline(recorded):
    document = json.loads(measured("--json").stdout)
    (change,) = document["changes"]
    assert (change["version"], change["verdict"], change["target"]) == ("2.0", "worse", "my_package:gelu")
    assert change["intervals"]
    assert [each["version"] for each in document["releases"]] == ["1.0", "1.1", "2.0"]


def test_an_upgrade_is_answered_from_the_records_and_fails_a_build(recorded):
    found = called("upgrade", "my_package", "1.0", "2.0", "--fail-on", "worse")
    assert found.exit_code == 1
    assert "1 result: 1 is worse." in found.stdout
    same = called("upgrade", "my_package", "1.0", "1.1", "--fail-on", "change")
    assert same.exit_code == 0
    assert "1 result: 1 is the same." in same.stdout
    assert called("upgrade", "my_package", "1", "--json").exit_code == 0
    document = json.loads(called("upgrade", "my_package", "1", "--json").stdout)
    assert (document["old"]["name"], document["new"]["name"]) == ("my_package 1.1", "my_package 2.0")


@pytest.mark.parametrize("form", ["markdown", "html", "latex"])
def test_an_upgrade_in_other_forms(recorded, form):
    assert "package:gelu" in called("upgrade", "my_package", "1.0", "2.0", "--format", form).stdout.replace("\\_", "_")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("upgrade", "nothing"), 2, "unknown library 'nothing'"),
        (("upgrade", "my_package", "9.9", "2.0"), 3, "my_package 9.9 is not on record (on record: 1.0, 1.1, 2.0"),
        (("upgrade", "my_package"), 3, "my_package is not installed here"),
        (("upgrade", "my_package", "1.0", "2.0", "--isa", "amx"), 2, "level 'amx' is not on record of both"),
        (("upgrade", "my_package", "1.0", "2.0", "--target", "x"), 2, "nothing on record is meant"),
        (("versions", "my_package", "--find-links", "wheels"), 2, "say which function of my_package to call"),
        (("versions", *PACKAGE, "--find-links", "wheels", "--from", "banana"), 2, "a version as 2.3.1"),
        (("versions", *PACKAGE, "--find-links", "wheels", "--isa", "avx2"), 2, "no switch for instruction-set levels"),
        (("versions", *PACKAGE, "--find-links", "wheels", "-x", "1"), 2, "--input is for --bisect"),
        (("versions", *PACKAGE, "--find-links", "wheels", "--dtype", "float64", "--bisect"), 2, "needs one result"),
        (("versions", *PACKAGE, "--find-links", "wheels", "--bisect", "-x", "one"), 2, "'one' is not a number"),
        (("versions", "torch", "--target", "torch.nope"), 2, "no path of torch is meant"),
        (("versions", "all", "--bisect"), 2, "name one library"),
        (("versions", "all", "--from", "1.0"), 2, "name one library"),
        (("versions", "all", "--json"), 2, "name one library"),
        (("versions", "torch", "--dtype", "fp16"), 2, "unknown dtype 'fp16'"),
    ],
)
def test_mistakes(recorded, monkeypatch, words, code, said):
    monkeypatch.setattr("gelu_verify.versions.sources.of_index", lambda distribution, python: [])
    found = called(*words)
    assert found.exit_code == code
    assert said in found.stderr
    assert found.stderr.strip().count("\n") == 0


@pytest.mark.few(1)
@pytest.mark.parametrize("x", [(), ("-x", "-3")])
def test_bisection(here, x):
    found = measured("--bisect", *x)
    assert found.exit_code == 0
    assert "first changed: my_package 2.0" in found.stdout
    assert "1.1 gave" in found.stdout
    assert "give the same" in measured("--bisect", *x, "--to", "1.1").stdout


@pytest.mark.parametrize("x", ["-3", *nightly("")])
def test_releases_that_cannot_be_measured_are_no_end_of_a_bisection(here, x):
    words = ("--bisect", *(("-x", x) if x else ()))
    for version in ("1.0", "2.0"):
        wheel_of(here / "wheels", version, BROKEN)
    alone = measured(*words)
    assert (alone.exit_code, "only 1.1 can be measured, and two are needed" in alone.stderr) == (3, True)
    wheel_of(here / "wheels", "1.2", RIGHT)
    found = measured(*words)
    assert found.stdout.startswith("1.1 and 1.2 give the same; what lies between was not looked at\n")
    assert re.search(r"^1\.0 cannot be measured: ", found.stdout, re.MULTILINE)
    assert re.search(r"^2\.0 cannot be measured: ", found.stdout, re.MULTILINE)


def test_bisection_in_json(here):
    document = json.loads(measured("--bisect", "-x", "-3", "--json").stdout)
    assert (document["last_same"], document["first_changed"]) == ("1.1", "2.0")


# ---- commits ---------------------------------------------------------------------------------------

KERNEL = "#include <math.h>\nfloat gelu(float x) {{ return (float)(0.5 * x * erfc(-(double)x * {constant})); }}\n"


def git(folder, *words):
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Three commits of a kernel: the second does not compile, from the third on a constant has eight digits."""
    git(tmp_path, "init", "-q")
    for name, value in (("user.name", "n"), ("user.email", "a@b"), ("commit.gpgsign", "false")):
        git(tmp_path, "config", name, value)
    for number, constant in enumerate(("sqrt(0.5)", "+;", "0.70710678"), 1):
        (tmp_path / "gelu.c").write_text(KERNEL.format(constant=constant))
        (tmp_path / "number").write_text(str(number))
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", str(number))
    git(tmp_path, "tag", "v1", "HEAD~2")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.nightly
def test_commits_of_a_file(checkout):
    found = called("versions", ".", "--target", "gelu.c:gelu", "--from", "v1", "--out", "kept")
    assert found.exit_code == 0, found.stderr
    text = found.stdout
    assert [line[:3] for line in text.splitlines() if line[1:3] == "+g"] == [f"{n}+g" for n in range(1, 4)]
    assert "gelu.c does not compile" in text
    assert text.count("WORSE") == 1
    found = called("versions", ".", "--target", "gelu.c:gelu", "--from", "v1", "--out", "kept", "--json")
    assert [each["target"] for each in json.loads(found.stdout)["changes"]] == ["gelu.c:gelu"]
    assert "is not a revision" in called("versions", ".", "--target", "gelu.c:gelu", "--from", "v9").stderr


@pytest.mark.nightly
def test_bisection_of_commits(checkout):
    found = called("versions", ".", "--target", "gelu.c:gelu", "--bisect")
    assert "first changed" in found.stdout
    assert " 3+g" in found.stdout
    assert "between them, and not to be measured: 2+g" in found.stdout


@pytest.mark.parametrize(
    ("x", "before"),
    [("inf", "0x7f800000"), *nightly(("-inf", "0x[7f]fc00000"), ("nan", "0x7fc00000"), ("-0", "0x80000000"))],
)
def test_bisection_at_a_special_value(checkout, x, before):
    (checkout / "gelu.c").write_text("float gelu(float x) { return 1; }\n")
    git(checkout, "commit", "-qam", "4")
    found = called("versions", ".", "--target", "gelu.c:gelu", "--bisect", "-x", x)
    changed = rf"first changed: \S+ 4\+g\w+ \(0x3f800000\); \S+ gave {before}$"
    assert re.search(changed, found.stdout, re.MULTILINE), found.stdout + found.stderr


@pytest.mark.nightly
def test_releases_of_the_index_in_environments_of_their_own(tmp_path, monkeypatch):
    """With the network: two old releases of SciPy, of which the second one is called as the first one is."""
    monkeypatch.chdir(tmp_path)
    words = ("scipy", "--from", "1.14.0", "--to", "1.14.1", "--target", "scipy.erfc", "--dtype", "float64")
    found = called("versions", *words)
    assert found.exit_code == 0, found.stderr
    assert "1.14.0 (2024-06-24) 1 result" in found.stdout
    assert "1.14.1 (2024-08-21) 1" in found.stdout
