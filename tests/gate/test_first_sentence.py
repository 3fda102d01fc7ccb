"""One sentence, what got worse and why, is the first line wherever a gate, a run or a comparison is read."""

import json
import shutil
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from gelu_verify.cli import main

KERNEL = """\
#include <math.h>
#include <stddef.h>
void gelu_f32(const float *x, float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (float)(0.5 * x[i] * erfc(-x[i] * 0.70710678118654752));
}
"""
KEY, NAME = "k.c:gelu_f32/gelu/float32", "k.c:gelu_f32 gelu float32: "
CAUSE = "; behaves as if 1/sqrt(2) were 0.7071067"
FILES = ("--junit", "j.xml", "--sarif", "s.sarif", "--github")
MEASURED = ("run", "k.c:gelu_f32", "--plan", "landmarks", "--no-throughput", "--no-report")
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


def call(*words):
    done = CliRunner().invoke(main, [*words], env={"GITHUB_STEP_SUMMARY": "summary.md"})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A kernel with a budget and a stored run, in which a constant has lost digits since."""
    top = tmp_path_factory.mktemp("project")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(top)
        (top / "k.c").write_text(KERNEL)
        (top / "gelu-verify.toml").write_text('targets = ["k.c:gelu_f32"]\nplan = "landmarks"\n')
        assert call("budget").exit_code == 0
        assert call(*MEASURED, "--out", "old").exit_code == 0
        (top / "k.c").write_text(KERNEL.replace("0.70710678118654752", "0.7071067"))
        assert call(*MEASURED, "--out", "new").exit_code == 0
    return top


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("words", "before", "first"),
    [
        (("gate",), "OVER  ", " times the error it may have in "),
        (
            (*MEASURED, "--max-ulp", "2", "--strict"),
            "gelu-verify: over the limit: ",
            " times the error it may have in ",
        ),
        (("compare", "old", "new", "--fail-on", "worse"), "WORSE    ", " times the error it had in "),
    ],
)
def test_every_form_begins_with_the_same_sentence(project, monkeypatch, words, before, first):
    monkeypatch.chdir(project)
    done = call(*words, *FILES)
    assert done.exit_code == 1, done.output
    message = ElementTree.parse("j.xml").find(".//failure").get("message")
    sentence = message.rpartition(" (and ")[0]
    assert first in sentence
    assert sentence.endswith(CAUSE)
    lines = done.output.split("\n")
    at = next(k for k, line in enumerate(lines) if line.startswith(f"{before}{NAME}"))
    said = " ".join(" ".join(lines[at : at + 3]).split())  # as a screen wraps it
    assert said.startswith(f"{before.strip()} {NAME}{sentence}")
    (annotation,) = (line for line in lines if line.startswith("::error "))
    assert unquote(annotation).split("::", 2)[2].startswith(f"{sentence}\nx ")
    (result,) = json.loads((project / "s.sarif").read_text())["runs"][0]["results"]
    assert result["message"]["text"].startswith(f"{KEY}: {sentence}\nx ")
    assert (project / "summary.md").read_text().count(f"- {sentence}\n") == 1
    (project / "summary.md").unlink()


def test_the_input_and_the_command_stand_before_all_other_reasons(project, monkeypatch):
    monkeypatch.chdir(project)
    words = [line.split()[0] for line in call("gate").stdout.splitlines()]
    at = words.index("OVER")
    assert words[at : at + 6] == ["OVER", "x", "got", "want", "repeat", "also"]
