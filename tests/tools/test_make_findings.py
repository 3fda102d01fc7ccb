"""docs/findings/: reports, scripts and index belong together, and what they say is still so."""

import runpy
import subprocess
import sys

import pytest
import requiring
from families import HEAVY, ON_REQUEST
from repository import ROOT

from gelu_verify.isa import LEVELS
from gelu_verify.machine import flags
from gelu_verify.show.markdown import escape

SCRIPT = runpy.run_path(str(ROOT / "tools" / "make_findings.py"))
FOLDER = ROOT / "docs" / "findings"
FINDINGS = {each.name: each for each in SCRIPT["FINDINGS"]}


def run(name, *options):
    command = [sys.executable, *options, str(FOLDER / f"{name}.py")]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def test_the_folder_has_the_files_of_the_list_and_no_others():
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == SCRIPT["index"](), "run: python tools/make_findings.py"
    files = {path.name for path in FOLDER.iterdir() if path.is_file()}
    assert files == {"README.md", *(f"{name}{end}" for name in FINDINGS for end in (".md", ".py"))}


@pytest.mark.parametrize("name", FINDINGS)
def test_both_files_have_the_title_and_say_who_wrote_them(name):
    report, script = ((FOLDER / f"{name}{end}").read_text(encoding="utf-8") for end in (".md", ".py"))
    written = SCRIPT["WRITTEN"].format(name)
    assert report.startswith(f"<!-- {written} -->\n**{escape(FINDINGS[name].title)}**\n")
    assert script.startswith(f"# {written}\n")
    assert FINDINGS[name].title in " ".join(script.split('"""')[1].split())
    assert "does not show what" not in report
    assert "was not run" not in report


@pytest.mark.parametrize("name", FINDINGS)
def test_a_script_ends_with_3_without_the_library(name):
    done = run(name, "-I", "-S")
    assert (done.returncode, done.stderr) == (3, "")
    assert "No module named" in done.stdout


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=pytest.mark.frameworks
            if each.target.partition(".")[0] in (*HEAVY, *ON_REQUEST)
            else pytest.mark.nightly,
        )
        for name, each in FINDINGS.items()
    ],
)
def test_it_is_still_so(name):
    """On a processor as that on which it was found; elsewhere the script only has to run."""
    done = run(name, "-W", "ignore")
    if done.returncode == 3:
        assert not requiring.REQUIRED & {FINDINGS[name].target.partition(".")[0], "frameworks"}, done.stdout
        pytest.skip(done.stdout.strip())
    is_alike = flags().issuperset(LEVELS["avx512"])
    assert done.returncode in ((0,) if is_alike else (0, 1)), done.stdout + done.stderr
