"""A study as a document; and its tables as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ..show.chart import Chart
from ..show.document import Block, Definitions, Details, Document, Figures, Inline, Items, Section, Text
from ..show.html import page
from ..study.comparisons import UnitComparison
from ..study.study import Study
from ..study.tasks import SOURCES
from ..study.units import UNITS
from .files import replace_files
from .study_charts import curves, differences, shifts
from .study_text import (
    comparison_frame,
    comparison_table,
    conclusions,
    dtype_served_table,
    kernel_served_table,
    loss_table,
    rate_table,
)

SHOWN = "float32"  # the dtype of what is shown for one only
_CURVES = "Median loss on the test part over the runs, and its 95 % interval (bootstrap)."
_KERNELS = (
    "The size of the difference, on a logarithmic axis. A filled point is a significant difference; the bar of the "
    "same colour is the smallest difference that these runs would have found with a probability of 80 %."
)
_SERVED = "Each network is trained once, in float64 with exact gelu, and served with every kernel in every dtype."


def write_report(study: Study, found: Sequence[UnitComparison], out: Path) -> list[Path]:
    """Write index.html and one CSV file for each table into `out`."""
    frames = {
        "comparisons": comparison_frame(found),
        **{name: getattr(study, name) for name in ("tuning", "trainings", "curves", "networks", "served")},
    }
    tables: dict[str, str | bytes] = {f"{name}.csv": frame.to_csv(index=False) for name, frame in frames.items()}
    return replace_files({"index.html": page(study_document(study, found)), **tables}, out)


def study_document(study: Study, found: Sequence[UnitComparison]) -> Document:
    """What was found, first in sentences."""
    plan = study.plan
    said = conclusions(study, found)
    dtype = SHOWN if SHOWN in plan.dtypes else plan.dtypes[0]
    kernels = comparison_table(found, "kernel", "Kernels beside their function correctly rounded", plan.dtypes)
    blocks: list[Block] = [
        Items(said[1:]),
        Section(
            "Learning curves",
            [
                Text(_CURVES, "lead"),
                _drawn(curves(study, task, dtype) for task in plan.trained),
                loss_table(study, dtype),
            ],
        ),
        Section("Activations beside gelu", list(_activations(found, plan.dtypes, dtype))),
        Section(
            kernels.title,
            [
                Text(_KERNELS, "lead"),
                _drawn(differences(found, task) for task in plan.trained),
                Details("All comparisons", kernels.blocks),
            ],
        ),
        comparison_table(found, "dtype", "gelu in a dtype beside gelu in float64", plan.dtypes),
        Section("Networks in use", list(_in_use(study))),
        Section("How it was done", list(_how(study))),
    ]
    return Document(title="what precision costs a network", headline=said[0], blocks=blocks)


def _activations(found: Sequence[UnitComparison], dtypes: Sequence[str], shown: str) -> Iterator[Block]:
    for each in dtypes:
        table = comparison_table(found, "function", f"Activations beside gelu, {each}", [each])
        yield Details(f"Activations beside gelu, {each}", table.blocks, is_open=each == shown)


def _in_use(study: Study) -> Iterator[Block]:
    charts = [shifts(study, task) for task in reversed(study.plan.tasks)]
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
        ("runs", f"{plan.runs} of each activation, dtype and task"),
        ("versions", versions),
        ("processor", str(origin["machine"].get("cpu", ""))),
        ("data", ", ".join(f"{task} {digest}" for task, digest in origin["data"].items())),
    ]
    yield Definitions(pairs)


def _task(name: str) -> str:
    network = SOURCES[name].network
    layers = ", ".join(map(str, network.hidden))
    return f"{SOURCES[name].text}; hidden layers of {layers}; {network.epochs} epochs, batches of {network.batch}"


def _drawn(charts: Iterable[Chart | None]) -> Figures:
    return Figures([chart for chart in charts if chart])
