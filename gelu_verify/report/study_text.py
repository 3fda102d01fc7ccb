"""What a study found, in sentences and tables: the same ones on the page, in docs/study.md and as JSON."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from ..show.document import Inline, Items, Marked, Section, Text, TextTable
from ..study.comparisons import Question, UnitComparison
from ..study.inference import EXACT, SERVED, TEXTS
from ..study.statistics import LEVEL
from ..study.study import TUNING_RUNS, Study
from ..study.tasks import TEXT
from ..study.units import UNITS
from .text import NONE, number_text

NEGLIGIBLE = 0.05  # of the standard deviation of the losses over runs
_WHAT: dict[Question, tuple[str, str]] = {  # in the order in which they are told
    "kernel": ("a kernel with the same function correctly rounded", "kernels"),
    "dtype": ("gelu in a narrower dtype with gelu in float64", "dtypes"),
    "function": ("another activation with gelu", "activations"),
}


def _table(title: str, text: str, head: Sequence[str], rows: Sequence[tuple[str, ...]]) -> Section:
    """A table under its title, with what it says; empty without rows."""
    named: list[list[Inline]] = [[Marked(name, "breakable"), *cells] for name, *cells in rows]
    return Section(title, [Text(text, "note"), TextTable(head, named, title)] if rows else [Items([])])


# ---- sentences -----------------------------------------------------------------------------------


def conclusions(study: Study, found: Sequence[UnitComparison]) -> list[str]:
    """What the numbers say; the first sentence is the headline."""
    asked = [question for question in _WHAT if any(each.question == question for each in found)]
    lines = [_verdict(found, question) for question in asked]
    lines[1:1] = _diverged(found)
    lines += [line for question in asked for line in _directions(found, question)]
    return [*lines, *_power(study, found, asked), *_served(study)]


def _verdict(found: Sequence[UnitComparison], question: Question) -> str:
    these = [each for each in found if each.question == question]
    significant = [each for each in these if each.significant]
    counted = f"Of {len(these)} comparison{'s' * (len(these) > 1)} of {_WHAT[question][0]}, "
    if not significant:
        return f"{counted}none shows a difference of the loss (adjusted p <= {LEVEL:g})."
    small = sum(_is_negligible(each) for each in significant)
    within = f", {small} of them by less than {100 * NEGLIGIBLE:g} % of the spread between runs" if small else ""
    verb = "shows" if len(significant) == 1 else "show"
    return f"{counted}{len(significant)} {verb} a difference of the loss (adjusted p <= {LEVEL:g}){within}."


def _is_negligible(each: UnitComparison) -> bool:
    return abs(each.difference.median) < NEGLIGIBLE * each.spread


def _directions(found: Sequence[UnitComparison], question: Question) -> Iterator[str]:
    """For each unit where it is better and where it is worse."""
    significant = [each for each in found if each.question == question and each.significant]
    for name in dict.fromkeys(_name(each) for each in significant):
        parts = []
        for word, sign in (("lower", -1), ("higher", 1)):
            these = [e for e in significant if _name(e) == name and math.copysign(1, e.difference.median) == sign]
            if these:
                parts.append(f"{word} in {_places(these)}")
        yield f"{name}: a loss that is {'; '.join(parts)}."


def _name(each: UnitComparison) -> str:
    return each.unit if each.question != "dtype" else f"gelu in {each.dtype}"


def _places(these: Sequence[UnitComparison]) -> str:
    """'digits (4 dtypes, by up to 23 %)'."""
    texts = []
    for task, count in Counter(each.task for each in these).items():
        most = max(abs(e.difference.median) / e.loss for e in these if e.task == task)
        dtypes = [e.dtype for e in these if e.task == task]
        what = ", ".join(dtypes) if count < 4 else "all dtypes"
        texts.append(f"{task} ({what}; by up to {_percent(most)})")
    return ", ".join(texts)


def _percent(share: float) -> str:
    return "any amount" if math.isinf(share) else f"{float(f'{100 * share:.2g}'):g} %"


def _diverged(found: Sequence[UnitComparison]) -> Iterator[str]:
    ours = {(e.unit, e.dtype, e.task): (e.diverged[0], e.runs) for e in found if e.diverged[0]}
    theirs = {(e.baseline, e.baseline_dtype, e.task): (e.diverged[1], e.runs) for e in found if e.diverged[1]}
    texts = [
        f"{n} of {runs} of {unit} in {dtype} ({task})" for (unit, dtype, task), (n, runs) in (theirs | ours).items()
    ]
    yield (
        f"Trainings that ended in NaN or infinity: {', '.join(texts)}."
        if texts
        else "No training ended in NaN or infinity."
    )


def _power(study: Study, found: Sequence[UnitComparison], asked: Sequence[Question]) -> Iterator[str]:
    """What these runs could not have seen."""
    if any(each.seen is None for each in found):
        yield (
            f"{study.plan.runs} runs are too few for {len(found)} comparisons: whatever the losses are, the smallest p "
            "that this test can give is too large after the correction."
        )
        return
    for question in asked:
        open_ones = [e for e in found if e.question == question and not e.significant and e.loss > 0]
        shares: dict[str, list[float]] = {}
        for each in open_ones:
            shares.setdefault(each.dtype, []).append((each.seen or 0.0) / each.loss)
        if open_ones:
            limits = ", ".join(f"{_percent(max(shares[d]))} in {d}" for d in study.plan.dtypes if d in shares)
            yield (
                f"Where none was found among {_WHAT[question][1]}, a difference below this share of the loss could not "
                f"have been seen by {study.plan.runs} runs (with a probability of 80 %, in the worst task): {limits}."
            )


def _served(study: Study) -> Iterator[str]:
    """What kernels do to decisions."""
    examples, has_text = _decided(study), TEXT in study.plan.tasks
    for dtype, rows in study.served.groupby("dtype", sort=False) if examples else ():
        base = rows[rows["target"] == EXACT]
        other = rows[rows["target"] != EXACT].groupby(["target", "function"], sort=False)["kernel_changed"].sum()
        ours = other[other.index.get_level_values("function") == "gelu"]
        texts = f" and {int(base['texts_changed'].sum())} of {TEXTS} texts" if has_text else ""
        worst = (
            f"Most, {int(other.max())}, are changed by {other.idxmax()[0]}."
            if other.max()
            else "Nor do those of its approximations."
        )
        yield (
            f"Served in {dtype}: the dtype alone changes {int(base['changed'].sum())} of {examples} decisions{texts}; "
            f"of {len(ours)} other kernels of gelu {int((ours == 0).sum())} change no further decision. {worst}"
        )


def _decided(study: Study) -> int:
    """How many decisions there are in all tasks with classes."""
    return int(study.networks.loc[study.networks["margin_median"].notna(), "examples"].sum())


# ---- tables --------------------------------------------------------------------------------------


def comparison_table(found: Sequence[UnitComparison], question: Question, title: str, dtypes: Sequence[str]) -> Section:
    """Every comparison of a question, in these dtypes."""
    rows = [
        (
            each.task, each.unit, each.dtype, number_text(each.loss),
            f"{number_text(each.difference.median, signed=True)} "
            f"[{number_text(each.difference.low, signed=True)}, {number_text(each.difference.high, signed=True)}]",
            f"{each.adjusted:.2g}" + ("" if each.significant else f" (p {each.p:.2g})"),
            NONE if each.seen is None else number_text(each.seen), f"{each.equal} of {each.runs}",
        )
        for each in found if each.question == question and each.dtype in dtypes
    ]  # fmt: skip
    text = (
        "Loss: the median of the baseline over the runs. Difference: the median over the runs, with its 95 % interval. "
        "p: of Wilcoxon's signed-rank test, adjusted for all comparisons. Seen: the smallest difference that "
        "would be found with a probability of 80 %. Equal: runs that end with the same loss, bit for bit."
    )
    head = ("task", "activation", "dtype", "loss", "difference [95 %]", "adjusted p", "seen", "equal")
    return _table(title, text, head, rows)


def kernel_table(found: Sequence[UnitComparison]) -> Section:
    """One row for each kernel and dtype: the largest difference of all tasks."""
    rows = []
    kernels = [each for each in found if each.question == "kernel"]
    for name, dtype in dict.fromkeys((each.unit, each.dtype) for each in kernels):
        these = [each for each in kernels if (each.unit, each.dtype) == (name, dtype)]
        worst = max(these, key=lambda each: abs(each.difference.median) / each.loss)
        rows.append((
            name, dtype, f"{sum(each.significant for each in these)} of {len(these)}",
            f"{worst.difference.median / worst.loss:+.2g}, {worst.task}", f"{min(each.adjusted for each in these):.2g}",
            NONE if worst.seen is None else f"{worst.seen / worst.loss:.2g}",
            f"{sum(each.equal for each in these)} of {sum(each.runs for each in these)}",
            str(sum(each.diverged[0] for each in these)),
        ))  # fmt: skip
    head = (
        *("kernel", "dtype", "tasks that differ", "largest difference / loss", "smallest adjusted p"),
        *("seen there / loss", "equal runs", "diverged runs"),
    )
    return _table(
        "Faulty kernels in training", "Beside the same function correctly rounded, over all tasks.", head, rows
    )


def loss_table(study: Study, dtype: str) -> Section:
    """Median loss, and wrong decisions, of every activation and task in one dtype."""
    tasks = study.plan.trained
    chosen = study.trainings[study.trainings["dtype"] == dtype]
    middle = chosen.groupby(["unit", "task"])[["loss", "error"]].median()
    rows = []
    for name in study.plan.units:
        if dtype in UNITS[name].dtypes:
            cells = [middle.loc[name, task] for task in tasks]
            rows.append((name, *(_loss_cell(cell["loss"], cell["error"]) for cell in cells)))
    text = f"Medians of {study.plan.runs} runs in {dtype}: cross-entropy or mean squared error; wrong decisions."
    return _table("Losses on the test part", text, ("activation", *tasks), rows)


def _loss_cell(loss: float, error: float) -> str:
    return number_text(loss, 4) + ("" if math.isnan(error) else f" ({100 * error:.1f} %)")


def dtype_served_table(study: Study) -> Section:
    """What a dtype alone does to the outputs of a network."""
    rows = []
    scales = study.networks.set_index("task")
    for row in study.served[study.served["target"] == EXACT].itertuples():
        network = scales.loc[row.task]
        is_classes = not math.isnan(network["margin_median"])
        rows.append((
            row.task, row.dtype,
            number_text(row.rms / network["output_std"]), number_text(row.largest / network["output_std"]),
            f"{row.changed} of {int(network['examples'])}" if is_classes else NONE,
            f"{row.texts_changed} of {TEXTS}" if row.task == TEXT else NONE,
            number_text(network["margin_least"] / network["output_std"]) if is_classes else NONE,
        ))  # fmt: skip
    text = (
        "A network trained in float64, served in the dtype with gelu correctly rounded, beside itself in float64. "
        "Differences of outputs are divided by their standard deviation; margin: the least distance between "
        "the two largest outputs of an example, likewise. Decisions change only where a difference reaches half of it."
    )
    head = ("task", "dtype", "difference, rms", "largest", "other decisions", "other texts", "least margin")
    return _table("What a dtype costs in use", text, head, rows)


def kernel_served_table(study: Study) -> Section:
    """One row for each kernel, the worst of each function first; a column for each dtype."""
    served, dtypes = study.served, [d for d in study.plan.dtypes if d in set(study.served["dtype"])]
    scale = study.networks.set_index("task")["output_std"]
    groups = served.assign(share=served["kernel_rms"] / served["task"].map(scale)).groupby(
        ["target", "dtype"], sort=False
    )
    found = groups.agg({"share": "max", "kernel_changed": "sum", "kernel_texts_changed": "sum"})
    worst = found["kernel_changed"].groupby("target", sort=False).max()
    function = served.drop_duplicates("target").set_index("target")["function"]
    ordered = sorted(function.index, key=lambda target: (SERVED.index(function[target]), -worst[target]))
    rows = [
        (target, function[target], *(_served_cell(found, target, dtype) for dtype in dtypes))
        for target in ordered
        if target != EXACT
    ]
    text = (
        "Beside the same network and dtype with gelu correctly rounded, with which it was trained. Three numbers: the "
        "largest root mean square of all tasks, over the standard deviation of the outputs; "
        f"other decisions of {_decided(study)}; other texts of {TEXTS}."
    )
    return _table("What a kernel costs in use", text, ("kernel", "function", *dtypes), rows)


def _served_cell(found: pd.DataFrame, target: str, dtype: str) -> str:
    if (target, dtype) not in found.index:
        return ""
    cell = found.loc[(target, dtype)]
    return f"{cell['share']:.2g}; {int(cell['kernel_changed'])}; {int(cell['kernel_texts_changed'])}"


def rate_table(study: Study) -> Section:
    """The learning rates that were chosen."""
    best = study.tuning.fillna(math.inf).groupby(["task", "unit"], sort=False)["validation"].idxmin()
    chosen = study.tuning.loc[best].set_index(["unit", "task"])["rate"]
    units = list(dict.fromkeys(study.tuning["unit"]))
    rows = [(name, *(f"{chosen[name, task]:g}" for task in study.plan.trained)) for name in units]
    rates = ", ".join(f"{rate:g}" for rate in dict.fromkeys(study.tuning["rate"]))
    text = (
        f"Of {rates}, the one with the smallest median validation loss, in {len(TUNING_RUNS)} runs in float64 "
        "that are not compared. Approximations have the rate of gelu, and kernels and the other dtypes that of their "
        "function, so that nothing else differs."
    )
    return _table("Learning rates", text, ("activation", *study.plan.trained), rows)


# ---- data ----------------------------------------------------------------------------------------


def document(study: Study, found: Sequence[UnitComparison]) -> dict[str, Any]:
    """The study for `--json`: numbers that are not finite are null."""
    frames = {name: getattr(study, name) for name in ("tuning", "trainings", "curves", "networks", "served")}
    return {
        "plan": asdict(study.plan),
        **study.origin,
        "conclusions": conclusions(study, found),
        "comparisons": [_plain(_flat(each)) for each in found],
        **{name: [_plain(row) for row in frame.to_dict("records")] for name, frame in frames.items()},
    }


def comparison_frame(found: Sequence[UnitComparison]) -> pd.DataFrame:
    return pd.DataFrame([_flat(each) for each in found])


def _flat(each: UnitComparison) -> dict[str, Any]:
    row = asdict(each)
    median, low, high = row.pop("difference")
    diverged, baseline_diverged = row.pop("diverged")
    return {
        **row,
        **{"difference": median, "difference_low": low, "difference_high": high, "significant": each.significant},
        **{"diverged": diverged, "baseline_diverged": baseline_diverged},
    }


def _plain(row: dict[Any, Any]) -> dict[str, Any]:
    return {str(key): None if isinstance(v, float) and not math.isfinite(v) else v for key, v in row.items()}
