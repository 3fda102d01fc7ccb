"""Thirty questions of users, each answered on the first screen of a report, or by one click or one entry.

The page is that of a run over what is installed: values are compared with the run's, not with what was seen once.
"""

from dataclasses import dataclass

import pytest
import requiring
from browsing import SIZES, assert_accessible, chromium, opened
from click.testing import CliRunner

from gelu_verify.cli import main
from gelu_verify.report.calls import calls
from gelu_verify.runs.store import read_run

requiring.module("playwright.sync_api")
requiring.module("axe_playwright_python")
requiring.module("jax")
requiring.module("onnxruntime")
pytestmark = pytest.mark.service

RUN = [
    *("run", "jax", "onnxruntime", "kernels.gelu_cr", "kernels.gelu_tanh_cr", "--plan", "quick", "--dtype", "float16"),
    *("--dtype", "bfloat16", "--dtype", "float32", "--function", "gelu", "--function", "gelu_tanh"),
    *("--function", "gelu_grad", "--function", "gelu_tanh_grad"),
]
ANSWERS = "#answers"


@dataclass(frozen=True)
class Asked:
    """`entry` is typed into the box, or `click` is clicked, or neither; then `parts` are in view inside of `where`."""

    question: str
    parts: tuple[str, ...]
    where: str = ANSWERS
    entry: str = ""
    click: str = ""


def typed(question, *parts, entry=""):
    return Asked(question, parts, entry=entry or question)


QUESTIONS = [
    Asked("which call of jax is right in bfloat16?", ("jax.nn.gelu(x, approximate=False)", "bfloat16"), "#calls"),
    Asked("is anything broken?", ("broken",), "h1"),
    Asked("which is the most accurate gelu in float32?", ("Most accurate gelu", "in float32"), "header"),
    Asked("is jax.nn.gelu(x) the tanh form?", ("gelu_tanh", "jax.nn.gelu(x)"), "#calls .box:nth-child(2)"),
    Asked("are the gradients of jax accurate?", ("its gradient", "x >="), "#calls"),
    Asked("was all of it tried, or a sample?", ("● every input was tried, ○ a sample",), "#calls h2"),
    Asked("when was this measured, on which CPU?", ("{date}", "{cpu}"), ".eyebrow"),
    Asked(
        "what is the workaround in jax?", ("jax.nn.gelu(x), which computes gelu_tanh", "instead:", "times the time"),
        "#calls", click="#calls a >> text=/^jax.nn.gelu\\(x\\)$/",
    ),
    typed("what does jax return at -6 in float32?", "Around x = −6", "f(−5.9", "ask jax.gelu float32 -6"),  # noqa: RUF001
    typed("what does every library return at -6?", "jax.nn.gelu(x)", "onnxruntime: Gelu(x)", entry="-6"),
    typed("how large is the relative error in the tail, by region?", "[−8,−5)", "%", "jax.nn.gelu(x)"),  # noqa: RUF001
    typed("where do two forms (erf and tanh) differ by 1 %?", "−2.229", "1 % away"),  # noqa: RUF001
    typed("are gradients safe at inf?", "gradient of", "f(+∞)", "f(−∞)"),  # noqa: RUF001
    typed("how long does it take?", "elements/s", "jax.nn.gelu(x)", "/s"),
    typed("was a GPU used?", "No: all results are of {cpu}"),
    typed("what is NaN at -inf?", "f(−∞)", "want −0"),  # noqa: RUF001
    typed("is the 16-million-ULP real: show an input", "{worst}", "returned", "gelu-verify ask"),
    typed("how do I repeat it?", "{command}"),
    typed("how do I cite it?", "gelu-verify maintainers", "plan quick", "jax {jax}"),
    typed("how many inputs were tried?", "float16: {float16}", "float32: {float32}"),
    typed("which is fastest that is right?", "gelu in float32", "gelu_verify.gelu(x)", "correctly rounded", "/s"),
    typed("is float16 computed in float32?", "computes in", "composed"),
    typed("can I trust the reference?", "proved error bounds", "docs/proofs.md"),
    typed("what does a grade mean?", "every error is at most 4 ULP", "● and =: every input was tried"),
    typed("which version of onnxruntime?", "onnxruntime {onnxruntime}", "{cpu}"),
    typed("where can I download the data?", "results.parquet", "summary.csv"),
    Asked("where are all versions?", ("numpy {numpy}", "none was used"), "#provenance", click="nav >> text=provenance"),
    typed("how do I gate it in CI?", "gelu-verify gate", "docs/ci.md"),
    typed("is gelu monotonic in float16?", "monotone", "✓"),
    typed("does it keep the sign of zero?", "f(−0)", "✓ −0"),  # noqa: RUF001
    typed("are subnormals flushed?", "flushes", "subnormal"),
    typed("from which x is it zero?", "zero is right from x =", "zero from x ="),
    typed("does it matter to a network?", "docs/study.md"),
    typed("does AVX2 return the same?", "--isa all"),
    typed("why is it wrong?", "main cause", "formula, computed in"),
    typed("how do I put a figure into my paper?", "--format pdf", "save SVG"),
    typed("would the tests of a library have noticed?", "misses", "notices"),
    typed("is jit the same as eager?", "inputs that differ", "jax.gelu-jit"),
    typed("how do I report the bug?", "gelu-verify report-bug RUN"),
    typed("what is an ULP?", "distance between neighbouring floats"),
]  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("questions") / "run"
    done = CliRunner().invoke(main, [*RUN, "--out", str(out)])
    assert (out / "index.html").exists(), done.output
    return read_run(out)


@pytest.fixture(scope="module")
def url(run):
    return (run.path / "index.html").as_uri()


@pytest.fixture(scope="module")
def facts(run):
    """What answers must have, of the run itself."""
    manifest = run.manifest
    called = [record for call in calls(run.results) for record in call.records if record.witness]
    counts = {name: [each.n for each in run.results if each.dtype == name] for name in ("float16", "float32")}
    return {
        "date": manifest["created"][:10],
        "cpu": manifest["machine"]["cpu"],
        "command": manifest["command"],
        "worst": max(called, key=lambda each: each.max_ulp).witness.x_bits,
        **{name: f"{min(found):,}" for name, found in counts.items()},
        **{name: manifest["versions"][name] for name in ("jax", "numpy", "onnxruntime")},
    }


IN_VIEW = """([where, part]) => [...document.querySelectorAll(`:is(${where}), :is(${where}) *`)]
  .filter(node => node.innerText?.includes(part) && node.checkVisibility())
  .filter(node => !node.firstElementChild || node.matches("p, li, th, td, h1, h2, h3"))
  .some(node => { const { top } = node.getBoundingClientRect(); return top >= 0 && top < innerHeight - 10; })"""


def test_there_are_thirty():
    assert len({each.question for each in QUESTIONS}) >= 30


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked.question)
def test_it_is_answered_on_the_first_screen_or_by_one_step(browser, url, facts, asked):
    page = opened(browser, url)
    page.set_viewport_size({"width": 1400, "height": 1000})
    if asked.entry:
        page.fill("#ask", asked.entry)
    elif asked.click:
        page.locator(asked.click).first.click()
    for part in asked.parts:
        page.wait_for_function(IN_VIEW, arg=[asked.where, part.format(**facts)])
    assert page.complaints == []
    page.context.close()


@pytest.fixture
def page(browser, url):
    found = opened(browser, url)
    yield found
    complaints = found.complaints
    found.context.close()
    assert complaints == []


def test_a_link_of_an_answer_leads_there_and_takes_the_answer_away(page):
    page.fill("#ask", "sign of zero")
    page.get_by_text("All results, with these columns").locator("visible=true").first.click()
    assert "view=special" in page.url
    assert page.locator("#ranking thead th", has_text="f(−0)").is_visible()  # noqa: RUF001
    assert page.locator(ANSWERS).is_hidden()
    page.fill("#ask", "jax bfloat16 -6")
    rows = page.locator(f"{ANSWERS} tbody tr")
    rows.first.wait_for()
    assert all("bfloat16" in text and "ask jax." in text for text in rows.all_inner_texts())
    page.keyboard.press("Escape")
    assert page.locator(ANSWERS).is_hidden()


def test_what_no_question_has_is_looked_for_in_the_table(page):
    page.fill("#ask", "fastgelu")
    assert "No question" in page.locator(ANSWERS).inner_text()
    page.locator(f"{ANSWERS} a", has_text="in the table").click()
    assert page.input_value("#f-q") == "fastgelu"
    assert page.locator("#ranking tbody tr:not(.group):visible").count() == 2


@pytest.mark.parametrize("size", SIZES)
def test_answers_are_accessible_and_fit_the_window(browser, url, size):
    page = opened(browser, url, size)
    for entry in ("-6", "relative error by region", "is float16 computed in float32", "workaround"):
        page.fill("#ask", entry)
        page.locator(f"{ANSWERS} h3").first.wait_for()
        assert_accessible(page)
    assert page.complaints == []
    page.context.close()


def test_files_that_are_named_are_there(page, run):
    names = page.locator("#provenance .note code").all_inner_texts()
    assert len(names) > 8
    assert all((run.path / name).is_file() for name in names)
