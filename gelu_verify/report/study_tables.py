"""Tables of a study, for its page and for docs/study.md."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from ..show.document import Inline, Items, Marked, Section, Text, TextTable
from ..study.inference import EXACT, SERVED, TEXTS
from ..study.inside import DEAD, FROM_NORMAL
from ..study.questions import QUANTITIES, Answer, Topic, kernel_shares
from ..study.rates import HIGHEST, LOWEST, rate_of
from ..study.statistics import shift
from ..study.study import DTYPE, SETS, VARIED, Study
from ..study.tasks import DATA_SETS, TEXT, VARIANTS
from ..study.units import FUNCTIONS, LEARNED
from .study_text import change_text, decided
from .text import NONE, number_text

TITLES: dict[Topic, str] = {
    "activation": "Activations beside gelu",
    "kernel": "Approximations and kernels beside their function",
    "dtype": "gelu in a dtype beside gelu in float64",
    "training": "gelu, trained in other ways",
    "noise": "Noise on the inputs",
    "speed": "Speed of convergence",
    "gradient": "Inside the networks",
}
_CHANGES = (
    "For each of the two sets of runs: the change with its interval of 95 %, and in how many runs the quantity is "
    "lower. p: of the signed-rank test, adjusted for all questions of the study, in each set. Claimed: where both are "
    "at most 0.05 and the directions agree."
)
_LAYERS = ("digits", "digits_batch_norm", "digits_16_layers")


def _table(title: str, text: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Section:
    """A table under its title, with what it says; empty without rows."""
    named: list[list[Inline]] = [[Marked(name, "breakable"), *cells] for name, *cells in rows]
    return Section(title, [Text(text, "note"), TextTable(head, named, title)] if rows else [Items([])])


def answer_table(found: Sequence[Answer], topics: Sequence[Topic]) -> Section:
    """Every question of some topics, under the title of the first."""
    rows = []
    for each in found:
        question = each.question
        if question.topic in topics:
            compared = f"{question.subject} beside {question.beside}"
            quantity = [QUANTITIES[question.topic]] if len(topics) > 1 else []
            of_sets = [f"{change_text(question.topic, of.change)}; {of.lower} of {of.runs}" for of in each.sets]
            p = ", ".join(f"{of.adjusted:.2g}" for of in each.sets)
            claim = {-1: "lower", 0: NONE, 1: "higher"}[each.direction]
            rows.append((compared, *quantity, question.where or "all data sets", *of_sets, p, claim))
    quantity = ["quantity"] if len(topics) > 1 else []
    head = ("compared", *quantity, "where", "first set", "second set", "adjusted p", "claimed")
    return _table(TITLES[topics[0]], _CHANGES, head, rows)


def loss_table(study: Study) -> Section:
    """Median loss, and wrong decisions, of every activation on every data set, in one dtype."""
    tasks = [task for task in DATA_SETS if task in study.plan.tasks]
    names = [unit.name for unit in FUNCTIONS if unit.name in study.plan.units]
    return _losses(study, "Losses on the test part", tasks, names)


def variant_table(study: Study) -> Section:
    """The same where digits are learned in another way."""
    tasks = [task for task in ("digits", *VARIANTS) if task in study.plan.tasks]
    names = [name for name in VARIED if name in study.plan.units]
    return _losses(study, "Digits, learned in other ways", tasks, names)


def _losses(study: Study, title: str, tasks: Sequence[str], names: Sequence[str]) -> Section:
    rows = []
    for name in names if tasks else ():
        middle = study.functions[study.functions["unit"] == name].groupby("task")[["loss", "error"]].median()
        cells = [middle.loc[task] for task in tasks]
        rows.append((name, *(_loss_cell(cell["loss"], cell["error"]) for cell in cells)))
    text = (
        f"Medians of {len(SETS) * study.plan.runs} runs in {DTYPE}, both sets together: cross-entropy or mean squared "
        "error; wrong decisions."
    )
    return _table(title, text, ("activation", *tasks), rows)


def _loss_cell(loss: float, error: float) -> str:
    return number_text(loss, 4) + ("" if math.isnan(error) else f" ({100 * error:.1f} %)")


def kernel_table(study: Study) -> Section:
    """What was not tested: kernels dtype by dtype, over all data sets."""
    rows = []
    for name, dtype, of_sets in kernel_shares(study):
        changes = [change_text("kernel", shift(each)) for each in of_sets]
        ours = study.kernels[(study.kernels["unit"] == name) & (study.kernels["dtype"] == dtype)]
        rows.append((name, dtype, *changes, f"{int(ours['diverged'].sum())} of {len(ours)}"))
    text = (
        "Not tested: the changes of the test loss by dtype, means over all data sets. Diverged: trainings with a "
        "validation loss that is not finite; such a network is used as it was at its smallest one."
    )
    return _table("By dtype", text, ("kernel", "dtype", "first set", "second set", "diverged"), rows)


def noise_table(study: Study) -> Section:
    """Wrong decisions and loss under noise."""
    frame = study.noise[study.noise["task"] == "digits"] if len(study.noise) else study.noise
    if frame.empty:
        return _table("Noise", "", (), [])
    clean = study.functions[study.functions["task"] == "digits"].assign(amount=0.0)
    middle = pd.concat([frame, clean]).groupby(["unit", "amount"])[["loss", "error"]].median()
    amounts = sorted({amount for _, amount in middle.index})
    names = [unit.name for unit in FUNCTIONS if (unit.name, 0.0) in middle.index]
    rows = [(name, *(_loss_cell(*middle.loc[(name, amount)]) for amount in amounts)) for name in names]
    text = (
        "digits: median loss on the test part and wrong decisions with uniform noise on [-a, a] added to each input, "
        "which has a standard deviation of 1."
    )
    return _table("Digits under noise", text, ("activation", *(f"a = {amount:g}" for amount in amounts)), rows)


def layer_table(study: Study) -> Section:
    """Gradients, pre-activations and dead units by layer."""
    frame = study.layers[study.layers["task"].isin(_LAYERS)] if len(study.layers) else study.layers
    rows = []
    for (task, unit, layer), part in frame.groupby(["task", "unit", "layer"], sort=False) if len(frame) else ():
        if unit in VARIED and (task != "digits_16_layers" or layer in (1, 8, 16)):
            of = part.median(numeric_only=True)
            spread = " ".join(number_text(of[name], 2) for name in ("q05", "q25", "q50", "q75", "q95"))
            rows.append((
                task, unit, str(layer), number_text(of["gradient_first"], 2), number_text(of["gradient"], 2), spread,
                number_text(of["normal"], 2), f"{100 * part['dead'].mean():.2g} %",
            ))  # fmt: skip
    text = (
        "Medians of all runs, over all training examples. Gradient: root mean square of the derivatives of an "
        "example's loss by the outputs of the linear layer, before and after the training. Pre-activations: quantiles "
        "at 5, 25, 50, 75 and 95 %. Normal: the largest distance of the distribution function of a unit from that of a "
        f"normal law with its mean and deviation; it is {FROM_NORMAL:g}/sqrt(n) for n normal numbers, so 0.02 for the "
        f"training part of digits. Dead (a mean): units whose slope is below {DEAD:g} for all training examples."
    )
    head = ("task", "activation", "layer", "gradient before", "after", "pre-activations", "normal", "dead")
    return _table("Layer by layer", text, head, rows)


def learned_table(study: Study) -> Section:
    """The mu and sigma that were learned."""
    frame = study.layers[study.layers["unit"] == LEARNED] if len(study.layers) else study.layers
    rows = []
    for (task, layer), part in frame.groupby(["task", "layer"], sort=False) if len(frame) else ():
        cells = []
        for name in ("mu", "sigma"):
            low, middle, high = part[name].quantile([0.05, 0.5, 0.95])
            cells.append(f"{number_text(middle)} [{number_text(low)}, {number_text(high)}]")
        rows.append((task, str(layer), *cells))
    text = "Of gelu_learned, at the smallest validation loss: medians of all runs, and quantiles at 5 and 95 %."
    return _table("Learned mu and sigma", text, ("task", "layer", "mu", "sigma"), rows)


def speed_table(study: Study) -> Section:
    """Epochs until the smallest validation loss."""
    tasks = [task for task in (*DATA_SETS, *VARIANTS) if task in study.plan.tasks]
    rows = []
    if len(study.functions):
        middle = study.functions.groupby(["unit", "task"])["epoch"].median()
        for name in dict.fromkeys(study.functions["unit"]):
            cells = [f"{middle[name, task]:g}" if (name, task) in middle.index else "" for task in tasks]
            rows.append((name, *cells))
    text = "Medians of all runs, each at its own best rate."
    return _table("Epochs until the smallest validation loss", text, ("activation", *tasks), rows)


def dtype_served_table(study: Study) -> Section:
    """What a dtype alone does to the outputs of the networks."""
    rows = []
    exact = _scaled(study)[lambda frame: frame["target"] == EXACT]
    for (task, dtype), part in exact.groupby(["task", "dtype"], sort=False):
        is_classes = part["margin_median"].notna().all()
        rows.append((
            task, dtype, number_text(part["rms"].max()), number_text(part["largest"].max()),
            f"{part['changed'].sum()} of {part['examples'].sum()}" if is_classes else NONE,
            f"{part['texts_changed'].sum()} of {TEXTS * len(part)}" if task == TEXT else NONE,
            number_text(part["margin_least"].min()) if is_classes else NONE,
        ))  # fmt: skip
    text = (
        "Two networks of each task, one of each set, trained in float64 and served in the dtype with gelu correctly "
        "rounded, beside themselves in float64. Differences of outputs, the larger of the two, are divided by the "
        "standard deviation of the outputs; margin: the least distance between the two largest outputs of an example, "
        "likewise. Decisions change only where a difference reaches half of it."
    )
    head = ("task", "dtype", "difference, rms", "largest", "other decisions", "other texts", "least margin")
    return _table("What a dtype costs in use", text, head, rows)


def kernel_served_table(study: Study) -> Section:
    """One row for each kernel, the worst of each function first; a column for each dtype."""
    served, dtypes = _scaled(study), [d for d in study.plan.dtypes if d in set(study.served["dtype"])]
    found = served.groupby(["target", "dtype"], sort=False).agg(
        {"kernel_rms": "max", "kernel_changed": "sum", "kernel_texts_changed": "sum"}
    )
    worst = found["kernel_changed"].groupby("target", sort=False).max()
    function = served.drop_duplicates("target").set_index("target")["function"]
    ordered = sorted(function.index, key=lambda target: (SERVED.index(function[target]), -worst[target]))
    rows = [
        (target, function[target], *(_served_cell(found, target, dtype) for dtype in dtypes))
        for target in ordered
        if target != EXACT
    ]
    texts = TEXTS * int((study.networks["task"] == TEXT).sum())
    text = (
        "Beside the same networks and dtype with gelu correctly rounded, with which they were trained. Three numbers: "
        "the largest root mean square of all networks, over the standard deviation of the outputs; "
        f"other decisions of {decided(study)}; other texts of {texts}."
    )
    return _table("What a kernel costs in use", text, ("kernel", "function", *dtypes), rows)


def _scaled(study: Study) -> pd.DataFrame:
    """`served` with the fields of its networks, and differences over the standard deviation of the outputs."""
    found = study.served.merge(study.networks, on=["set", "run", "task"], how="left", validate="many_to_one")
    for name in ("rms", "largest", "kernel_rms", "kernel_largest", "margin_least"):
        found[name] /= found["output_std"]
    return found


def _served_cell(found: pd.DataFrame, target: str, dtype: str) -> str:
    if (target, dtype) not in found.index:
        return ""
    cell = found.loc[(target, dtype)]
    return f"{cell['kernel_rms']:.2g}; {int(cell['kernel_changed'])}; {int(cell['kernel_texts_changed'])}"


def rate_table(study: Study) -> Section:
    """The learning rates that were best."""
    tasks = [task for task in study.plan.tasks if task in set(study.functions.get("task", ()))]
    rows = []
    for name in dict.fromkeys(study.functions.get("unit", ())):
        ours = study.functions[study.functions["unit"] == name].groupby("task")["rate"]
        low, middle, high = (ours.quantile(q, interpolation="higher") for q in (0.0, 0.5, 1.0))
        cells = [
            f"{middle[task]:g} ({low[task]:g} to {high[task]:g})" if task in middle.index else "" for task in tasks
        ]
        rows.append((name, *cells))
    text = (
        "Each run has the rate with the smallest validation loss in its own split: of powers of sqrt(10), three at "
        "first, and more on the side where the best one is the last, until it has neighbours on both sides "
        f"(between {rate_of(LOWEST):g} and {rate_of(HIGHEST):g}). Medians of all runs, and the range."
    )
    return _table("Learning rates", text, ("activation", *tasks), rows)
