"""Measure the findings anew and write docs/findings/: python tools/make_findings.py [NAME ...]

Without a NAME it is all of them, which needs every library (`tox -e frameworks` names them) and some minutes. The
index, docs/findings/README.md, is written from the reports. A finding that does not hold any more ends this with an
error, and is to be removed from FINDINGS.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "docs" / "findings"
WRITTEN = "Written by `python tools/make_findings.py {}`; do not edit."
INTRODUCTION = """\
<!-- Written by `python tools/make_findings.py`; do not edit. -->
# Findings

Faults of libraries, each shown in the library's own API; no report has been sent. The script beside a report needs
nothing of ours: it ends with 0 while the fault is there, with 1 when it is gone, with 3 where the library is not
installed. All were found on a processor with AVX-512; where a library has other code for other processors, a script may
end with 1 there.
"""
HOW = """
## A report of your own

    gelu-verify run torch --function gelu --dtype float32 --own
    gelu-verify report-bug latest torch.gelu/float32

The report is about one result of a stored run: what was found, of how many inputs; a program that calls the library
alone; the inputs with what was returned and what is right; the likely cause; what could be written instead, as it was
measured in the same run (so measure the whole family, with `--own` our kernels too); processor, versions and the
command that repeats it. The program is run when the report is written: it shows the worst input that it can, alone or
in a call of 1,000, and the report says what it printed and with which versions. The exit code is 1 where that is not
what the run found, and 3 where the library is not installed. Of a run that somebody else made only the numbers are
used: what is run is the call that this version of gelu-verify knows for the target.

`--title` and `--consequence` add what no run knows. `--format script` writes a script as those above, to be run with
the next version of the library. Your own code has no such program: its report has the command that shows the fault.
"""


@dataclass(frozen=True)
class FoundFault:
    """A result with a fault: the call as its maintainers name it, what is wrong, and what that means in practice."""

    name: str
    target: str
    function: str
    dtype: str
    library: str
    call: str
    what: str
    consequence: str

    @property
    def title(self) -> str:
        return f"{self.call} in {self.dtype}: {self.what}"


FINDINGS = (
    FoundFault(
        "litert-exp-float32", "litert.exp", "exp", "float32", "LiteRT", "LiteRT EXP (XNNPACK)",
        "inf for x >= 88.3763, where e^x is finite up to 88.72; 0 for NaN",
        "A NaN, the sign that something went wrong before, becomes 0 and is not seen any more. Exponentials overflow "
        "earlier than they need to.",
    ),
    FoundFault(
        "litert-sigmoid-float32", "litert.sigmoid", "sigmoid", "float32", "LiteRT", "LiteRT LOGISTIC (XNNPACK)",
        "NaN at many x from 4.3e26 on, on both sides, such as 1e30 and -1e30",
        "A gate that is closed by adding -1e30 is NaN, not 0, and so is everything that it is multiplied with.",
    ),
    FoundFault(
        "mlx-erf-float32", "mlx.erf", "erf", "float32", "MLX", "mlx.core.erf on the CPU",
        "0 for small x such as 1e-10, and 1.7 % too small at 1e-5",
        "Small results have no right digit: erf(x)/x, or a difference of two values near 0, is wrong.",
    ),
    FoundFault(
        "mlx-exp-float32", "mlx.exp", "exp", "float32", "MLX", "mlx.core.exp on the CPU",
        "inf for x > 88, where e^x is finite up to 88.72; up to 64 ULP elsewhere",
        "Exponentials overflow earlier than they need to: a largest logit of 88.5 gives inf, and a softmax of it NaN.",
    ),
    FoundFault(
        "onnxruntime-fastgelu-float64", "onnxruntime.gelu_tanh-fastgelu", "gelu_tanh", "float64", "ONNX Runtime",
        "com.microsoft.FastGelu",
        "computes with constants of 6 digits (absolute error 2e-7); inf for x > 8.9e307",
        "A model in float64 has the accuracy of float32 after this operator.",
    ),
    FoundFault(
        "onnxruntime-swish-float32", "onnxruntime.silu", "silu", "float32", "ONNX Runtime", "Swish",
        "6.9 times the right value at x = -17.87, 4084 ULP in [-8, -5)",
        "From -14 down errors are of 7 % and more; from -16.1 down some x give 0, others up to 7 times the right "
        "value.",
    ),
    FoundFault(
        "openvino-gelu-float32", "openvino.gelu", "gelu", "float32", "OpenVINO", "opset13.gelu (erf) on the CPU",
        "inf for x >= 1.7e38, NaN at inf; 0 at most x below -5.5",
        "An activation that overflowed to inf becomes NaN. It is the code of oneDNN for AVX-512.",
    ),
    FoundFault(
        "paddle-exp-float32", "paddle.exp", "exp", "float32", "Paddle", "paddle.exp on the CPU",
        "2.9e-39 for all x below -88.73, at -inf too, where it is 0",
        "What is masked with -inf keeps a weight above 0, and its logarithm is -88.7. It depends on the place: the "
        "last numbers of a call, which fill no vector of 8, are right.",
    ),
    FoundFault(
        "torch-gelu-float32", "torch.gelu", "gelu", "float32", "PyTorch", "torch.nn.functional.gelu on AVX-512",
        "inf for x >= 1.7e38, NaN at inf; 0 at most x below -5.5",
        "An activation that overflowed to inf becomes NaN. A single number takes another path, which is right. It is "
        "the code of oneDNN for AVX-512.",
    ),
    FoundFault(
        "transformers-gelu_new-bfloat16", "huggingface.gelu_new", "gelu_tanh", "bfloat16", "transformers",
        'ACT2FN["gelu_new"]',
        "0 for x <= -3.06, where it is -0.003; 146 ULP at x = -3",
        "Models that name this activation, as GPT-2 does, lose the negative tail in bfloat16: each operation of the "
        "formula is rounded. gelu_pytorch_tanh computes the same function in one operation.",
    ),
    FoundFault(
        "jax-gelu-float64", "jax.gelu_tanh", "gelu_tanh", "float64", "JAX", "jax.nn.gelu (tanh form) on the CPU",
        "absolute error 2.8e-15 at x = -7.34, where the value is -3.2e-17",
        "It is 90 times the right value there: jax.numpy.tanh is off by 7 units of 2^-53 near -1, and 1 + tanh "
        "cancels.",
    ),
)  # fmt: skip


def write(finding: FoundFault) -> None:
    """Measure it, and write its report and its script; an error where its program shows nothing."""
    with tempfile.TemporaryDirectory() as folder:
        run, family = f"{folder}/run", finding.target.partition(".")[0]
        only = ("--function", finding.function, "--dtype", finding.dtype)
        _gelu_verify("run", family, *only, "--own", "--out", run, may_fail=True)  # with 1 where a target failed
        about = run, f"{finding.target}/{finding.dtype}", "--title", finding.title
        for name, words in ((".md", ("--consequence", finding.consequence)), (".py", ("--format", "script"))):
            out = Path(folder, "written")
            _gelu_verify("report-bug", *about, *words, "--out", str(out))
            text, written = out.read_text(encoding="utf-8"), WRITTEN.format(finding.name)
            first = f"<!-- {written} -->\n" if name == ".md" else f"# {written}\n"
            (FOLDER / f"{finding.name}{name}").write_text(first + text, encoding="utf-8")


def _gelu_verify(*words: str, may_fail: bool = False) -> None:
    subprocess.run([sys.executable, "-m", "gelu_verify", *words], check=not may_fail, stdout=subprocess.DEVNULL)


def index() -> str:
    """docs/findings/README.md, of today's reports."""
    lines = [INTRODUCTION, "| library | call | dtype | what | measured | |", "|---|---|---|---|---|---|"]
    for each in sorted(FINDINGS, key=lambda each: each.name):
        text = (FOLDER / f"{each.name}.md").read_text(encoding="utf-8")
        environment = dict(re.findall(r"^- (\w+): (.+)$", text.partition("## Environment")[2], re.MULTILINE))
        version, date = next(iter(environment.values())), environment["measured"][:10]
        files = f"[report]({each.name}.md), [script]({each.name}.py)"
        call, what = (words.replace("|", r"\|") for words in (each.call, each.what))
        lines.append(f"| {each.library} {version} | {call} | {each.dtype} | {what} | {date} | {files} |")
    return "\n".join(lines) + "\n" + HOW


def main(names: list[str]) -> None:
    if unknown := set(names) - {each.name for each in FINDINGS}:
        sys.exit(f"no such finding: {', '.join(sorted(unknown))}")
    for each in FINDINGS:
        if not names or each.name in names:
            print(each.name, flush=True)
            write(each)
    (FOLDER / "README.md").write_text(index(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
