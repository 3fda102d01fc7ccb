"""Write docs/study.md and its figures from the study in data/study: python tools/make_study.py [--run STUDY]

With --run, the study in that folder, which `gelu-verify study --out STUDY` wrote, replaces the one in data/study.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from gelu_verify.report.markdown_blocks import table as markdown_table
from gelu_verify.report.study_charts import curves, differences, shifts, svg
from gelu_verify.report.study_text import (
    Table,
    comparison_table,
    conclusions,
    dtype_served_table,
    kernel_served_table,
    kernel_table,
    loss_table,
    rate_table,
)
from gelu_verify.study.comparisons import comparisons
from gelu_verify.study.statistics import signed_rank
from gelu_verify.study.store import FRAMES, read_study
from gelu_verify.study.study import Study
from gelu_verify.study.tasks import SOURCES
from gelu_verify.study.units import UNITS

ROOT = Path(__file__).parents[1]
STORED, PAGE, FIGURES = ROOT / "data" / "study", ROOT / "docs" / "study.md", ROOT / "docs" / "study"
DTYPE = "float32"

INTRODUCTION = """\
<!-- written by `python tools/make_study.py` from data/study: do not edit. -->
# What precision costs a network

Does it matter to a network which GELU it computes, and how exactly? `gelu-verify study` trains small networks on real data with GELU, its
relatives, its approximations, and kernels with the faults that libraries have (docs/matrix.md), in four dtypes; and it serves networks that
were trained once with every kernel that computes a GELU here. All numbers of this page are of the run in `data/study`:

    pip install 'gelu-verify[study]'
    gelu-verify study

writes a page with all tables, plots and CSV files to `reports/study`, in ten minutes on two cores that other programs share. Another `--seed` splits
the data differently and begins with other parameters: numbers change, conclusions should not ("Another seed", below).
"""

METHOD = """\
## How it was done

**Tasks.** Data that scikit-learn ships; nothing is downloaded. 55 % of the examples are for training, 20 % for validation, 25 % for the test, drawn
by the seed. Features are scaled by the mean and deviation of the training part (digits of the autoencoder to [0, 1]).

{tasks}
**Activations.** Functions are correctly rounded in each dtype (ELU and ReLU: NumPy's, rounded). Kernels are called through their targets, bits in, bits out.

{units}
**Training.** Adam with its published constants; weights from a normal law with variance 2/inputs. Everything that flows through the network
is rounded to the dtype after each operation, to nearest even; a linear layer is computed in float32 and rounded once, as matrix units do.
Parameters and the state of Adam are float32 in 16-bit dtypes (float64 in float64), and losses in float16 are scaled by 1024, as in mixed-precision
training. Nothing is skipped: a NaN stays. The stochastic map multiplies x by 0 or 1 while training, with its own generator (NumPy's), and is its
expectation, gelu, in the test.

**Learning rates** are tuned as the paper does it: {rates_text}

{rates}
**Pairs.** Run k has the same initial parameters and the same order of the same examples with every activation, kernel and dtype. So each
run gives a difference of losses on the test part after the last epoch, and Wilcoxon's signed-rank test asks whether they lie on one side of 0: exact
probabilities, given the ties, adjusted by Holm's method for all {tests} comparisons of the study at once. Intervals are percentile bootstraps of
the median over the runs, 95 % each, not adjusted.

**Power.** The smallest difference that is found with a probability of 80 % is simulated for this very test, its correction and normal differences: {factor} standard
deviations of the differences, with {runs} runs. Five runs, of which the paper reports the median, cannot show anything by this test: its smallest p is {five:g}.

**Repeatability.** The same seed gives the same bytes of every Parquet file on the same machine and versions, whatever `--workers` is and
however often it was interrupted; on another processor the BLAS may sum in another order.
"""

PAPER = """\
## Experiments of the paper

Hendrycks and Gimpel, "Gaussian Error Linear Units"; what it did is said from memory. "Data": whether a package that this project uses ships them.

| experiment | data | could it be repeated here? |
| --- | --- | --- |
| MNIST classification: 8 layers of 128 units, Adam, rates 1e-3, 1e-4, 1e-5, median of five runs | no: scikit-learn ships 1,797 digits of 8 x 8 pixels from another source | in kind: `digits`, with 4 layers of 64. The real one needs a download of 11 MB and some CPU hours |
| MNIST autoencoder: layers of 1000, 500, 250, 30 and back, Adam, rates 1e-3, 1e-4 | no, likewise | in kind: `digits_autoencoder`, from 64 pixels to 8 numbers. The real one: CPU hours for each run |
| Twitter part-of-speech tags: 2 layers of 256 units on word vectors | no: neither the tweets nor the vectors | no: the 1,827 tweets are small, but the pretrained word vectors are a large download |
| TIMIT frames: 5 layers of 2048 units | no: sold by the Linguistic Data Consortium | no: the licence |
| CIFAR-10: nine convolutional layers, 200 epochs | no | no: a download of 170 MB, and GPU hours for each run |
| CIFAR-100: a wide residual network of 40 layers | no | no, likewise; GPU days for a median of runs |

So nothing here confirms or refutes a number of the paper. Its ranking of GELU, ReLU and ELU is a statement about those networks; on ours the tables
above say what happened. Other packages may ship other data; only scikit-learn was looked at.

## What this study cannot say

The networks have at most six layers and some ten thousand parameters, and learn for seconds. What adds up over a hundred layers, over a million steps, or in
sums of thousands of terms is not seen here, nor is pretraining in 8 bits. A kernel that fails only for large inputs is not found guilty where inputs stay small:
that is what `gelu-verify run` is for.
"""


def page(study: Study) -> str:
    """docs/study.md of a study."""
    found = comparisons(study.trainings)
    said = conclusions(study, found)
    rates = rate_table(study)
    factor = next((each.seen for each in found), None)
    method = METHOD.format(
        tasks=markdown_table(
            ("task", "what", "hidden layers", "epochs", "batch"),
            [
                (name, source.text, ", ".join(map(str, source.network.hidden)), source.network.epochs, source.network.batch)
                for name, source in SOURCES.items()
            ],
        ),
        units=markdown_table(("name", "what"), [(UNITS[name].name, UNITS[name].note) for name in study.plan.units]),
        rates_text=rates.text[0].lower() + rates.text[1:],
        rates=markdown_table(rates.head, rates.rows),
        tests=len(found),
        factor=_factor(study, len(found)) if factor else "none",
        runs=study.plan.runs,
        five=signed_rank_of_five(),
    )
    blocks = [
        INTRODUCTION,
        "## What was found\n",
        "\n".join(f"- {line}" for line in said) + "\n",
        *_section(loss_table(study, DTYPE)),
        *(f"![{chart['title']}](study/{name})\n" for name, chart in _charts(study).items() if name.startswith("curves")),
        *_section(comparison_table(found, "function", f"Activations beside gelu, {DTYPE}", [DTYPE])),
        *_section(kernel_table(found)),
        "Filled: significant. Bars: the smallest difference that would have been found, in the colour of its dtype.\n",
        *(f"![{chart['title']}](study/{name})\n" for name, chart in _charts(study).items() if name.startswith("kernels")),
        *_section(comparison_table(found, "dtype", "gelu in a dtype beside gelu in float64", study.plan.dtypes)),
        *_section(dtype_served_table(study)),
        *_section(kernel_served_table(study)),
        *(f"![{chart['title']}](study/{name})\n" for name, chart in _charts(study).items() if name.startswith("served")),
        method,
        PAPER,
    ]
    return "\n".join(blocks)
