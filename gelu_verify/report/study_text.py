"""What a study found, in sentences: the same ones on the page, in docs/study.md and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from ..study.inference import EXACT, TEXTS
from ..study.questions import QUANTITIES, Answer, Topic
from ..study.statistics import LEVEL, Shift
from ..study.store import FRAMES
from ..study.study import SETS, Study
from ..study.tasks import SOURCES, TEXT


def conclusions(study: Study, found: Sequence[Answer]) -> list[str]:
    """What the numbers say; the first sentence is the headline. A difference is claimed where both sets show it."""
    lines = [_verdict(study, found)] if found else []
    for topic in dict.fromkeys(each.question.topic for each in found):
        these = [each for each in found if each.question.topic == topic]
        lines += [*_claims(topic, these), *_unclaimed(topic, these)]
    return [*lines, *_trained(study), *_served(study)]


def _verdict(study: Study, found: Sequence[Answer]) -> str:
    both = sum(each.direction != 0 for each in found)
    one = sum(not each.direction and any(of.is_significant for of in each.sets) for each in found)
    line = (
        f"{both} of {len(found)} questions are answered by a difference: in both sets of {study.plan.runs} runs, in "
        f"the same direction, with p <= {LEVEL:g} by Holm's method for all {len(found)}. {one} more show one "
        "in one set only, which is not claimed."
    )
    least = 2.0 ** (1 - study.plan.runs)
    if least * len(found) <= LEVEL:
        return line
    return f"{line} So few runs cannot answer a question: the smallest p that this test gives is {least:.2g}."


def _claims(topic: Topic, these: Sequence[Answer]) -> Iterator[str]:
    """For each subject, where both sets show a difference, and how large it is in each."""
    claimed = [each for each in these if each.direction]
    for subject, beside in dict.fromkeys((each.question.subject, each.question.beside) for each in claimed):
        parts = []
        for direction, word in ((-1, "lower"), (1, "higher")):
            of = [each for each in claimed if each.question.subject == subject and each.direction == direction]
            if of:
                parts.append(f"{word} {'in ' if of[0].question.where else ''}{', '.join(map(_measured, of))}")
        yield f"{subject} beside {beside}, {QUANTITIES[topic]}: {'; '.join(parts)}."


def _measured(answer: Answer) -> str:
    """'wine (-12 % [-15, -9] and -10 % [-14, -7])'."""
    changes = " and ".join(change_text(answer.question.topic, each.change) for each in answer.sets)
    return f"{answer.question.where} ({changes})".strip()


def _unclaimed(topic: Topic, these: Sequence[Answer]) -> Iterator[str]:
    """What is not claimed, and what the intervals leave open: of activations for each task."""
    left = [each for each in these if not each.direction]
    if topic != "activation":
        parts = [_open(topic, these, left)] if left else []
    else:
        tasks = dict.fromkeys(each.question.where for each in left)
        parts = [
            f"in {task} for {_open(topic, these, [e for e in left if e.question.where == task])}" for task in tasks
        ]
    if parts:
        by_task = "" if topic == "activation" else "for "
        yield f"No difference of the {QUANTITIES[topic]} is claimed {by_task}{'; '.join(parts)}."


def _open(topic: Topic, these: Sequence[Answer], left: Sequence[Answer]) -> str:
    """'relu, elu (intervals from -9 to +12 %)'."""
    lows, highs = ([getattr(of.change, end) for each in left for of in each.sets] for end in ("low", "high"))
    names = ", ".join(each.question.subject for each in left)
    if topic == "kernel" and len(these) == len(left) > 1:
        names = f"any of {len(left)} approximations and kernels, beside what they approximate"
    if not math.isfinite(max(map(abs, (*lows, *highs)))):
        return f"{names} (intervals without an end)"
    return f"{names} (intervals from {_amount(topic, min(lows))} to {_amount(topic, max(highs))}{_unit(topic)})"


def change_text(topic: Topic, change: Shift) -> str:
    """'-12 % [-15, -9]'."""
    estimate, low, high = (_amount(topic, each) for each in change)
    return f"{estimate}{_unit(topic)} [{low}, {high}]"


def _amount(topic: Topic, value: float) -> str:
    scaled = value if topic == "normal" else 100 * value
    return f"{float(f'{scaled:.2g}'):+g}" if math.isfinite(value) else f"{value:+g}"


def _unit(topic: Topic) -> str:
    """A difference of shares is one of percentage points; a distance has no unit."""
    return {"dead": " points", "normal": ""}.get(topic, " %")


# ---- what is counted, and not tested -------------------------------------------------------------


def _trained(study: Study) -> Iterator[str]:
    trained = pd.concat([study.functions, study.kernels])
    if trained.empty:
        return
    failed = trained[trained["diverged"]].groupby(["unit", "dtype", "task"], sort=False).size()
    both = len(SETS) * study.plan.runs
    texts = [f"{count} of {both} of {unit} in {dtype} ({task})" for (unit, dtype, task), count in failed.items()]
    yield (
        f"Trainings with a validation loss of NaN or infinity: {', '.join(texts)}."
        if texts
        else "No training had a validation loss of NaN or infinity."
    )
    networks = {name: source.network for name, source in SOURCES.items()}
    of = study.functions[["epoch", "epochs"]].assign(
        limit=study.functions["task"].map({name: network.epochs for name, network in networks.items()}),
        patience=study.functions["task"].map({name: network.patience for name, network in networks.items()}),
    )
    cut = (of["epochs"] == of["limit"]) & (of["epochs"] - of["epoch"] < of["patience"])
    by_task, inside = cut.groupby(study.functions["task"]).mean(), rates_inside(study)
    yield (
        f"Of {len(cut)} trainings at their best rate, {100 * cut.mean():.1f} % were ended by the number of epochs and "
        f"not by the validation loss (most in {by_task.idxmax()}, {100 * by_task.max():.0f} %). A worse rate was tried "
        f"on both sides of {int(inside.sum())} of {len(inside)} best rates."
    )


def rates_inside(study: Study) -> pd.Series:
    """For each training of a function, whether smaller and larger rates than the best one were tried."""
    names = ["set", "task", "unit", "run"]
    best = study.functions.set_index(names)["rate"]
    tried = study.tuning.groupby(names)["rate"].agg(["min", "max"]).loc[best.index]
    return (tried["min"] < best) & (best < tried["max"])


def _served(study: Study) -> Iterator[str]:
    """What kernels do to decisions."""
    examples, texts = decided(study), TEXTS * int((study.networks["task"] == TEXT).sum()) if len(study.networks) else 0
    for dtype, rows in study.served.groupby("dtype", sort=False) if examples else ():
        base = rows[rows["target"] == EXACT]
        other = rows[rows["target"] != EXACT].groupby(["target", "function"], sort=False)["kernel_changed"].sum()
        ours = other[other.index.get_level_values("function") == "gelu"]
        of_texts = f" and {int(base['texts_changed'].sum())} of {texts} texts" if texts else ""
        worst = (
            f"Most, {int(other.max())}, are changed by {other.idxmax()[0]}."
            if other.max()
            else "Nor do those of its approximations."
        )
        yield (
            f"Served in {dtype}, not tested: the dtype alone changes {int(base['changed'].sum())} of {examples} "
            f"decisions{of_texts}; of {len(ours)} other kernels of gelu {int((ours == 0).sum())} change no further "
            f"decision. {worst}"
        )


def decided(study: Study) -> int:
    """How many decisions there are in all networks with classes that are served."""
    if study.networks.empty:
        return 0
    return int(study.networks.loc[study.networks["margin_median"].notna(), "examples"].sum())


# ---- data ----------------------------------------------------------------------------------------


def document(study: Study, found: Sequence[Answer]) -> dict[str, Any]:
    """The study for `--json`: numbers that are not finite are null."""
    return {
        "plan": asdict(study.plan),
        **study.origin,
        "conclusions": conclusions(study, found),
        "answers": [_plain(row) for row in answer_frame(found).to_dict("records")],
        **{name: [_plain(row) for row in getattr(study, name).to_dict("records")] for name in FRAMES},
    }


def answer_frame(found: Sequence[Answer]) -> pd.DataFrame:
    """A row for each question and set."""
    rows = []
    for answer in found:
        for which, each in zip(SETS, answer.sets, strict=True):
            row = asdict(each)
            change, low, high = row.pop("change")
            rows.append({
                **asdict(answer.question), "quantity": QUANTITIES[answer.question.topic], "set": which, **row,
                "change": change, "change_low": low, "change_high": high, "significant": each.is_significant,
                "claimed": answer.direction != 0,
            })  # fmt: skip
    return pd.DataFrame(rows)


def _plain(row: dict[Any, Any]) -> dict[str, Any]:
    return {str(key): None if isinstance(v, float) and not math.isfinite(v) else v for key, v in row.items()}
