"""Write docs/study.md and its figures from the studies in data/study: python tools/make_study.py [--run STUDY ...]

With --run, the studies in those folders, written by `gelu-verify study --out STUDY`, are first copied to
data/study/seed-SEED.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gelu_verify.report.markdown_blocks import table
from gelu_verify.report.study_charts import Chart, curves, differences, shifts, svg
from gelu_verify.report.study_text import (
    StudyTable,
    comparison_table,
    conclusions,
    dtype_served_table,
    kernel_served_table,
    kernel_table,
    loss_table,
    rate_table,
)
from gelu_verify.study.comparisons import UnitComparison, comparisons
from gelu_verify.study.statistics import detectable, signed_rank
from gelu_verify.study.store import read_study, write_study
from gelu_verify.study.study import Study
from gelu_verify.study.tasks import SOURCES, TEXT
from gelu_verify.study.units import UNITS

ROOT = Path(__file__).parents[1]
STORED, PAGE, FIGURES = ROOT / "data" / "study", ROOT / "docs" / "study.md", ROOT / "docs" / "study"
DTYPE = "float32"
Figures = dict[str, Chart]  # by the names of their files
TASK_HEAD = ("task", "what", "hidden layers", "epochs", "batch")

INTRODUCTION = """\
<!-- written by `python tools/make_study.py` from data/study: do not edit. -->
# What precision costs a network

Does it matter to a network which GELU it computes, and how exactly? `gelu-verify study` trains small networks on real
data with GELU, its relatives, its approximations, and kernels with the faults that libraries have
([matrix.md](matrix.md)), in four dtypes; and it serves networks that were trained once with every kernel that computes
a GELU here. All numbers of this page are of the studies in `data/study`:

    pip install 'gelu-verify[study]'
    gelu-verify study

That writes a page with all tables, plots and CSV files to `reports/study`; it takes some five minutes of two cores.
Another `--seed` splits the data differently and begins with other parameters: [below](#another-seed) is what changes.
"""

METHOD = """\
## How it was done

**Tasks.** Data that scikit-learn ships (BSD-3-Clause), read where it is installed: nothing is downloaded or copied.
55 % of the examples are for training, 20 % for validation, 25 % for the test, drawn by the seed. Features are scaled by
mean and deviation of the training part, pixels of the autoencoder to [0, 1]. `text` is the descriptions of the data
sets; its last quarter is the test.

{tasks}
**Activations.** Kernels are called through their targets, bits in and bits out.

{units}
**Training.** Adam with its published constants; weights from a normal law with variance 2/inputs. Everything that flows
through the network is rounded to the dtype after each operation, to nearest even; a linear layer is computed in float32
and rounded once, as matrix units do. Parameters and the state of Adam are float32 in 16-bit dtypes, and losses in
float16 are scaled by 1024, as in mixed-precision training. Nothing is skipped: a NaN stays. The stochastic map draws
its masks from NumPy's generator.

{rates}
**Pairs.** Run k has the same initial parameters and the same order of the same examples with every activation, kernel
and dtype. So each run gives one difference of losses on the test part after the last epoch, and Wilcoxon's signed-rank
test asks whether they lie on one side of 0: exact probabilities, given the ties, adjusted by Holm's method for all
{tests} comparisons of the study at once. Intervals are percentile bootstraps of the median over the runs, 95 % each,
not adjusted.

**Power.** The smallest difference that is found with a probability of 80 % is simulated with this very test, its
correction and normal differences: {factor} standard deviations of the differences with {runs} runs. Five runs, of which
the paper reports the median, cannot show anything by this test: the smallest p that they can give is {five:g}.

**Repeatability.** The same seed gives the same bytes of every Parquet file on the same machine with the same versions,
whatever `--workers` and `--executor` are and however often it was interrupted. On another processor the BLAS may
sum in another order. What is finished is used only where all kernels have the outputs that they had (257 inputs of
each, in each dtype); where not, a line names kernel, x and both outputs, and it is computed anew. A worker whose
kernels have other outputs gets no work.
"""

PAPER = """\
## Experiments of the paper

Hendrycks and Gimpel, "Gaussian Error Linear Units"; [seeds.md](seeds.md#values) has its set-ups and results. What a
download or a training would take is said from memory.

{experiments}
So nothing here confirms or refutes a number of the paper. Its ranking of GELU, ReLU and ELU is a statement about those
networks; what happened on ours is in the tables above. Other packages may ship other data; only scikit-learn was looked
at.

## What this study cannot say

The networks have at most six layers and learn for seconds. What adds up over a hundred layers, a million steps or sums
of thousands of terms is not seen here, nor is training in 8 bits. A kernel that fails only for large inputs looks
faultless where inputs stay small: that is what `gelu-verify run` is for.
"""
EXPERIMENTS = (
    (
        "MNIST classification: 8 layers of 128 units, Adam, rates 1e-3, 1e-4 and 1e-5, median of five runs",
        "not shipped: scikit-learn has 1,797 digits of 8 x 8 pixels, of another origin",
        "in kind: `digits`, 5 layers. The real one needs a download and some CPU hours",
    ),
    (
        "MNIST autoencoder: layers of 1000, 500, 250, 30 units and back, rates 1e-3 and 1e-4, median of three",
        "not shipped, likewise",
        "in kind: `digits_autoencoder`, from 64 pixels to 8 numbers. The real one: likewise",
    ),
    (
        "Twitter part-of-speech tags: 1,827 tweets, 2 layers of 256 units on pretrained word vectors",
        "neither tweets nor vectors are shipped",
        "no: the vectors are a large download",
    ),
    ("TIMIT frames: 5 layers of 2048 units", "sold by the Linguistic Data Consortium", "no: the licence"),
    ("CIFAR-10: 9 convolutional layers, 200 epochs", "not shipped", "no: a download, and GPU hours for each run"),
    ("CIFAR-100: a wide residual network of 40 layers", "not shipped", "no: likewise, and GPU days for several runs"),
)


def page(study: Study, found: Sequence[UnitComparison], figures: Figures, others: Sequence[Study]) -> str:
    """docs/study.md of a study; the others are compared with it."""
    rates = rate_table(study)
    method = METHOD.format(
        tasks=table(TASK_HEAD, [task_row(name) for name in study.plan.tasks]),
        units=table(("name", "what"), [(name, UNITS[name].note) for name in study.plan.units]),
        rates=f"**Learning rates.** {rates.text}\n\n{table(rates.head, rates.rows)}",
        tests=len(found),
        factor=detectable(study.plan.runs, len(found)),
        runs=study.plan.runs,
        five=signed_rank(np.arange(1.0, 6)),
    )
    blocks = [
        INTRODUCTION,
        "## What was found\n",
        "\n".join(f"- {line}" for line in conclusions(study, found)) + "\n",
        section(loss_table(study, DTYPE)),
        images(figures, "curves"),
        section(comparison_table(found, "function", f"Activations beside gelu, {DTYPE}", [DTYPE])),
        section(kernel_table(found)),
        "Filled points are significant. Bars: the smallest difference that would have been found.\n",
        images(figures, "kernels"),
        section(comparison_table(found, "dtype", "gelu in a dtype beside gelu in float64", study.plan.dtypes)),
        section(dtype_served_table(study)),
        section(kernel_served_table(study)),
        images(figures, "served"),
        another_seed(found, others),
        method,
        PAPER.format(experiments=rows(("experiment", "data", "can it be repeated here?"), EXPERIMENTS)),
    ]
    return "\n".join(block for block in blocks if block)


def section(found: StudyTable) -> str:
    return f"## {found.title}\n\n{found.text}\n\n{table(found.head, found.rows)}"


def rows(head: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """A table whose cells are Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *cells]) + "\n"


def task_row(name: str) -> tuple[str, ...]:
    source = SOURCES[name]
    network = source.network
    return name, source.text, ", ".join(map(str, network.hidden)), str(network.epochs), str(network.batch)


def another_seed(found: Sequence[UnitComparison], others: Sequence[Study]) -> str:
    """What studies with another seed say of the same comparisons."""
    lines = ["## Another seed\n"]
    for other in others:
        theirs = {key(each): each for each in comparisons(other.trainings)}
        pairs = [(each, theirs[key(each)]) for each in found if key(each) in theirs]
        both = [pair for pair in pairs if pair[0].significant and pair[1].significant]
        opposite = [a for a, b in both if a.difference.median * b.difference.median < 0]
        here = [a for a, b in pairs if a.significant and not b.significant]
        there = [b for a, b in pairs if b.significant and not a.significant]
        lines += [
            f"{len(both)} of {len(pairs)} comparisons are significant here and with `--seed {other.plan.seed}`.\n",
            f"- In opposite directions: {listed(opposite)}.",
            f"- Here only: {listed(here)}.",
            f"- There only: {listed(there)}.\n",
            "What that study says:\n",
            *(f"- {line}" for line in conclusions(other, list(theirs.values()))),
            "",
        ]
    return "\n".join(lines)


def key(each: UnitComparison) -> tuple[str, ...]:
    return each.task, each.unit, each.dtype, each.baseline, each.baseline_dtype


def listed(found: Sequence[UnitComparison]) -> str:
    return ", ".join(f"{each.unit} in {each.dtype} ({each.task})" for each in found) or "none"


def images(figures: Figures, kind: str) -> str:
    return "".join(f"![{chart['title']}](study/{name})\n\n" for name, chart in figures.items() if name.startswith(kind))


def drawn(study: Study, found: Sequence[UnitComparison]) -> Figures:
    charts = {f"curves-{task}.svg": curves(study, task, DTYPE) for task in study.plan.trained}
    charts |= {f"kernels-{task}.svg": differences(found, task) for task in study.plan.trained}
    charts |= {f"served-{TEXT}.svg": shifts(study, TEXT)}
    return {name: chart for name, chart in charts.items() if chart}


def files(studies: Sequence[Study]) -> dict[Path, str]:
    """The page and its figures."""
    study, *others = studies
    found = comparisons(study.trainings)
    figures = drawn(study, found)
    images = {FIGURES / name: svg(chart, alone=True) for name, chart in figures.items()}
    return {PAGE: page(study, found, figures, others), **images}


def stored() -> list[Study]:
    return [read_study(folder) for folder in sorted(STORED.iterdir())]


def main() -> None:
    arguments = sys.argv[1:]
    if arguments[:1] == ["--run"]:
        for folder in map(Path, arguments[1:]):
            write_study(found := read_study(folder), STORED / f"seed-{found.plan.seed}")
    for path, text in files(stored()).items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
