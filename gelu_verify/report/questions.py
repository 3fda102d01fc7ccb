"""What users ask of a report, in their words, each with its answer or with the columns of the table that answer it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..records.result import Record
from ..show.document import Block, Inline, Listing, Marked, Text
from . import question_answers as answers
from .calls import calls, gradient_of
from .frames import RunLike
from .question_answers import ReportedRuns

FILES = {
    "results.parquet": "every result, for pandas",
    "summary.csv": "the table of results",
    "regions.csv": "errors by region of x",
    "special.csv": "outputs at infinity, NaN and -0",
    "tail.csv": "where outputs become zero",
    "throughput.csv": "speed",
    "sizes.csv": "speed by array size",
    "attribution.csv": "causes of errors",
    "findings.csv": "checks, with an input of each",
    "tables.tex": "for LaTeX",
    "citation.bib": "for a bibliography",
    "report.md": "this report as Markdown",
}  # beside the page
Kind = Literal["call", "gradient", "path"]
Answer = Callable[[ReportedRuns], Iterable[Block]]


def _says(*parts: str | Marked) -> Answer:
    return lambda _: [Text(parts)]


def _types(*commands: str, after: Inline = "") -> Answer:
    return lambda _: [Listing("\n".join(commands)), Text(after)]


def _nothing(_: ReportedRuns) -> Iterable[Block]:
    return ()


@dataclass(frozen=True)
class Question:
    """`words`: others for the same; `answer`: its blocks; `view`: the columns of the table of results that answer it,
    for calls, their gradients, or paths beside them; `section`: where more stands."""

    text: str
    words: str
    answer: Answer = _nothing
    view: str = ""
    of: Kind = "call"
    section: str = ""


QUESTIONS = (
    Question(
        "Which call is right in bfloat16, or in another dtype?",
        "which best correct accurate use recommended choose",
        answers.best,
        section="calls",
    ),
    Question(
        "What can I write instead of a call that is wrong?",
        "workaround fix alternative better avoid",
        answers.instead,
        section="calls",
    ),
    Question(
        "What does a call return at -6, or at another x?",
        "value input output got want evaluate number",
        _says("Type the number, and a library or a dtype: ", Marked("-6 float32", "code"), "."),
    ),
    Question(
        "How large is the relative error, by region of x?",
        "tail percent small large negative positive",
        view="relative",
    ),
    Question("How many ULP is it wrong, by region of x?", "tail error worst maximum negative positive", view="regions"),
    Question(
        "Where do the erf and the tanh form differ by 1 %?",
        "approximate gelu_tanh exact same interchangeable percent forms difference distance",
        answers.forms_apart,
        section="gallery",
    ),
    Question(
        "Are gradients safe at infinity and NaN?",
        "gradient derivative backward grad training inf special",
        view="special",
        of="gradient",
    ),
    Question(
        "How wrong are gradients?", "gradient derivative backward grad training accurate", view="regions", of="gradient"
    ),
    Question(
        "What is returned at +inf, -inf, NaN and -0, and are subnormals flushed?",
        "special infinity infinite sign of zero signed negative subnormal denormal flush tiny limit",
        view="special",
    ),
    Question(
        "From which x on is it zero, and is it monotonic?",
        "underflow vanish monotone increasing decreasing plateau tail",
        view="tail",
    ),
    Question(
        "How long does a call take?", "time duration seconds throughput slow performance speed bandwidth", view="speed"
    ),
    Question(
        "Which is the fastest that is right?",
        "fast correct pareto best tradeoff speed quick accurate",
        answers.fastest,
        section="speed",
    ),
    Question("Was a GPU used?", "cuda device nvidia cpu graphics accelerator", answers.gpu, section="provenance"),
    Question(
        "On which machine, and with which versions?",
        "processor hardware library version python environment when date torch",
        answers.machine,
        section="provenance",
    ),
    Question(
        "Is the largest error real? Show an input.",
        "witness example million proof worst believe reproduce 16777216",
        answers.example,
        section="witnesses",
    ),
    Question(
        "Since which version is it so?",
        "when release changed regression upgrade history older newer versions bisect",
        answers.since,
    ),
    Question("How do I repeat it?", "reproduce rerun again command seed", answers.repeat, section="witnesses"),
    Question(
        "How do I cite it?", "citation bibtex reference paper doi publication", answers.cite, section="provenance"
    ),
    Question("How many inputs were tried?", "sample exhaustive tested coverage count all plan", answers.inputs),
    Question(
        "Is float16 computed in float32?",
        "internally precision computes wider bfloat16 accumulate rounding upcast formula algorithm",
        view="how",
    ),
    Question(
        "Can I trust the reference?",
        "truth oracle ground exact mpmath proved correct know right",
        _says(
            "Each output is compared with the exact value. C code with proved error bounds computes it; what they "
            "do not decide gets as many digits as it takes, and a second library (Arb) agrees: docs/proofs.md."
        ),
    ),
    Question(
        "What do grades and marks mean?",
        "legend accurate coarse broken faithful absolute range circle symbol letter",
        answers.grades,
        section="legend",
    ),
    Question(
        "What is an ULP?",
        "unit last place spacing definition",
        _says(
            "The distance between neighbouring floats at the exact value: an error of 0.5 ULP is that of rounding, and "
            "one of 2^24 ULP in float32 leaves no correct bit."
        ),
        section="legend",
    ),
    Question(
        "Where are the numbers to download?",
        "csv data parquet json excel pandas latex table file export",
        _says("In the folder of this page: results.parquet for pandas, summary.csv and other tables, tables.tex."),
        section="provenance",
    ),
    Question(
        "How do I get a figure for a paper?",
        "svg pdf plot chart image save latex print publication",
        _types("gelu-verify report RUN --format pdf", after="Or \u201csave SVG\u201d at a figure of this page."),
        section="plots",
    ),
    Question(
        "How do I check it in CI?",
        "gate github actions gitlab continuous integration pytest budget regression fail",
        _types(
            "gelu-verify init mine.py:gelu",
            "gelu-verify budget",
            "gelu-verify gate",
            after="More: docs/ci.md.",
        ),
    ),
    Question(
        "How do I test my own function?",
        "kernel custom own cuda triton code try",
        _types("gelu-verify run mine.py:gelu --function gelu --dtype float32", after="All ways: docs/targets.md."),
    ),
    Question(
        "Does it matter to a network?",
        "training inference accuracy loss model practice relevant important",
        _says(
            "In small networks, no difference of the loss is claimed for inexact kernels of gelu, but one led to NaN "
            "in float16; served in 16 bits, some kernels change decisions: docs/study.md."
        ),
    ),
    Question(
        "Does the instruction set change it?",
        "avx avx2 avx512 cpu isa simd processor machine another level",
        answers.levels,
    ),
    Question("Would known tests have noticed?", "tolerance suite allclose rtol atol unittest", view="tests"),
    Question(
        "Why is it wrong?", "cause reason explain come attribution formula constants cancellation", view="attribution"
    ),
    Question(
        "Do compiled, strided or other paths return the same?",
        "jit torch.compile eager contiguous path bits deterministic position xla",
        view="paths",
        of="path",
    ),
    Question(
        "How good is it for usual inputs?",
        "share median mean average percentile typical normal faithful bits",
        view="shares",
    ),
    Question("Which checks failed?", "check defect loss convention fail bug", view="checks", section="legend"),
    Question(
        "Is there one that is correctly rounded?",
        "exact perfect ours kernel library install",
        _types(
            "from gelu_verify import gelu",
            after="For NumPy, PyTorch, C and CUDA, every input of every dtype: docs/use.md.",
        ),
    ),
    Question("How do I report it to the library?", "bug issue upstream maintainers github", answers.bug),
)


def questions(runs: Sequence[RunLike], records: Sequence[Record]) -> list[tuple[Question, list[Block]]]:
    """Those that the runs answer, each with its answer."""
    reported = ReportedRuns(runs, records)
    found = [(each, list(each.answer(reported))) for each in QUESTIONS]
    return [(each, answer) for each, answer in found if answer or each.view]


def roles(records: Sequence[Record]) -> dict[int, tuple[Kind, str]]:
    """{id of a record: whether it is a call or the gradient of one, and what users write for the call}."""
    found: dict[int, tuple[Kind, str]] = {}
    for call in calls(records):
        for record in call.records:
            found[id(record)] = "call", call.written
            if derivative := gradient_of(record, records):
                found[id(derivative)] = "gradient", call.written
    return found
