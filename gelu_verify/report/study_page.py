"""A study as a document; and its tables as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ..show.chart import Chart
from ..show.document import Block, Definitions, Details, Document, Figures, Inline, Items, Section, Text
from ..show.html import page
from ..study.questions import Answer
from ..study.store import FRAMES
from ..study.study import Study
from ..study.tasks import SOURCES
from ..study.units import UNITS
from .files import replace_files
from .study_charts import activation_changes, curves, gradients, kernel_changes, noise, shifts
from .study_tables import (
    TITLES,
    answer_table,
    dtype_served_table,
    kernel_served_table,
    kernel_table,
    layer_table,
    learned_table,
    loss_table,
    noise_table,
    rate_table,
    speed_table,
    variant_table,
)
from .study_text import answer_frame, conclusions

_CURVES = "Medians of all runs; the band: quartiles of gelu. After its end, a training keeps its smallest loss."
_FILLED = "A filled point: both sets show the difference. Bars: intervals of 95 %, cut off at the edge."
_SERVED = "Each network is trained once, in float64 with exact gelu, and served with every kernel in every dtype."


def write_report(study: Study, found: Sequence[Answer], out: Path) -> list[Path]:
    """Write index.html and one CSV file for each table into `out`."""
    frames = {"answers": answer_frame(found), **{name: getattr(study, name) for name in FRAMES}}
    tables: dict[str, str | bytes] = {f"{name}.csv": frame.to_csv(index=False) for name, frame in frames.items()}
    return replace_files({"index.html": page(study_document(study, found)), **tables}, out)


def study_document(study: Study, found: Sequence[Answer]) -> Document:
    """What was found, first in sentences."""
    headline, *said = conclusions(study, found) or ["Nothing was trained."]
    blocks: list[Block] = [
        Items(said),
        Section(TITLES["activation"], list(_activations(study, found))),
        Section(
            TITLES["kernel"],
            [Text(_FILLED, "lead"), _drawn([kernel_changes(found)]), *answer_table(found, ["kernel"]).blocks,
             Details("By dtype", kernel_table(study).blocks)],
        ),
        answer_table(found, ["dtype"]),
        Section(TITLES["training"], [variant_table(study), *answer_table(found, ["training"]).blocks]),
        Section(TITLES["noise"], [_drawn([noise(study, "digits")]), *noise_table(study).blocks,
                                  *answer_table(found, ["noise"]).blocks]),
        Section(TITLES["gradient"], list(_inside(study, found))),
        Section("Networks in use", list(_in_use(study))),
        Section("How it was done", list(_how(study))),
    ]  # fmt: skip
    return Document(title="what precision costs a network", headline=headline, blocks=blocks)


def _activations(study: Study, found: Sequence[Answer]) -> Iterator[Block]:
    tasks = list(dict.fromkeys(each.question.where for each in found if each.question.topic == "activation"))
    yield Text(_FILLED, "lead")
    yield _drawn(activation_changes(found).values())
    yield loss_table(study)
    yield Details("All comparisons", answer_table(found, ["activation"]).blocks)
    yield Section("Learning curves", [Text(_CURVES, "lead"), _drawn(curves(study, task) for task in tasks)])
    yield speed_table(study)
    yield answer_table(found, ["speed"])
    yield learned_table(study)


def _inside(study: Study, found: Sequence[Answer]) -> Iterator[Block]:
    yield _drawn([gradients(study, "digits_16_layers")])
    yield from answer_table(found, ["gradient", "dead", "normal"]).blocks
    yield Details("Layer by layer", layer_table(study).blocks)


def _in_use(study: Study) -> Iterator[Block]:
    charts = [shifts(study, task) for task in reversed(study.plan.served)]
    table = kernel_served_table(study)
    yield Text(_SERVED, "lead")
    yield dtype_served_table(study)
    yield Section(
        table.title,
        [
            Text("A filled point: decisions change.", "note"),
            _drawn(charts[:1]),
            Details("The other tasks", [_drawn(charts[1:])]),
            Details("All kernels", table.blocks),
        ],
    )


def _how(study: Study) -> Iterator[Block]:
    plan, origin = study.plan, study.origin
    yield Definitions([(name, _task(name)) for name in plan.tasks])
    yield Definitions([(name, UNITS[name].note) for name in plan.units])
    yield rate_table(study)
    versions = ", ".join(f"{name} {version}" for name, version in origin["versions"].items())
    pairs: list[tuple[str, Inline]] = [
        ("seed", str(plan.seed)),
        ("runs", f"two sets of {plan.runs} of each activation, kernel, dtype and task"),
        ("versions", versions),
        ("cost", "{jobs} jobs, {processor_seconds} s of a processor".format(**origin["cost"])),
        ("processor", str(origin["machine"].get("cpu", ""))),
        ("data", ", ".join(f"{task} {digest}" for task, digest in origin["data"].items())),
    ]
    yield Definitions(pairs)


def _task(name: str) -> str:
    network = SOURCES[name].network
    layers = ", ".join(map(str, network.hidden))
    return (
        f"{SOURCES[name].text}; hidden layers of {layers}; batches of {network.batch}; at most {network.epochs} "
        f"epochs, ended {network.patience} after the smallest validation loss"
    )


def _drawn(charts: Iterable[Chart | None]) -> Figures:
    return Figures([chart for chart in charts if chart])
