"""An attribution in blocks: which step adds the error, region by region, and what each operation costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..attribution.ladder import flush_text, stored_text
from ..formats import get_format, to_float64
from ..functions.regions import REGIONS
from ..show.document import Block, Definitions, Heading, Inline, Items, Marked, Section, Text, TextTable
from ..show.terminal import in_ascii, lines_of
from ..truth.correctly_rounded import FUNCTIONS as CORRECTLY_ROUNDED
from . import text

Row = Mapping[str, Any]

OPERATIONS = 8  # the costliest; all of them are in the JSON and the CSV
_ROUNDED = 0.99  # of the informative results: from there on they are said to be correctly rounded
_CELL = 10
_NAMES = {"stored": "as stored", "known": "own code"}
_TEXTS = {
    "constants": "constants: rounding them",
    "formula": "formula: its operations, each correctly rounded",
    "flushing": "flushing: subnormals taken as zero",
    "blocks": "building blocks: the library's erf, tanh, exp, ...",
    "known": "own code: what {known} does otherwise",
    "rest": "unexplained: order of operations, fused or private code",
}
NEAR = 0.9  # of the results that distinguish formulas: a kernel of ours that reproduces fewer is not named
WIDTH = 84
WORTH_SAYING = 1.0  # ULP: below, the conditioning explains nothing
ALIKE = 4  # names of kernels with the same bits


def attribution_lines(record: Row) -> Iterator[str]:
    """The lines, in 84 columns of plain ASCII."""
    name = " ".join(filter(None, (record["target"], record["function"], record["dtype"], record["version"])))
    sections = [Section(name, facts(record)), *sections_of(record)]
    parts = [[section] if section.title else section.blocks for section in sections]
    for part in parts:
        yield from in_ascii([*lines_of(part, WIDTH)]).splitlines()
        yield ""
    yield f"repeat: {record['repeat']}"


def sections_of(record: Row, on_page: bool = False) -> Iterator[Section]:
    """Section by section; a page has the bits of each input, all operations, and of each step more than its name."""
    yield Section("", list(_regions(record, on_page)))
    if record["pieces"]:
        yield _pieces(record, on_page)
    if not is_known(record) and not on_page:
        return
    yield _worst(record, on_page)
    if record["operations"]:
        yield _operations(record, on_page)
    if record["rewrites"]:
        run = record["rewrites"][0]["run"]
        title = f"rewrites, in {run}: the largest error, and the time beside that of the target"
        yield Section(title, [Items(list(_rewrites(record)))])


def facts(record: Row, on_page: bool = False) -> list[Block]:
    """What computes the results, as far as that is known, and the largest errors."""
    known = is_known(record)
    texts = ["\n".join(known_lines(record))]
    if not known:
        texts.append(f"{unexplained_text(record)}\nso its formula, constants and building blocks remain unknown")
    return [
        Items(list(filter(None, texts))),
        Definitions([*(_head(record, on_page) if known or on_page else ()), *_errors(record)]),
    ]


def _regions(record: Row, on_page: bool) -> Iterator[Block]:
    """The largest error of each step, region by region; empty columns are left out."""
    known, bound, regions = is_known(record), record["bound"] or "", record["regions"]
    columns: list[Heading | str] = ["largest ULP", *(Heading(row["region"], is_number=True) for row in regions)]
    columns += [Heading("all x", is_number=True, is_optional=True), Heading("zero too early, from", is_optional=True)]
    rows: list[list[Inline]] = []
    for rung in record["rungs"] if known or on_page else record["rungs"][-1:]:
        name = _NAMES.get(rung["name"], rung["name"])
        zero = Marked(text.short_value(record["dtype"], rung["zero_from"]), "bad") if rung["zero_from"] else "never"
        cells = [_ulp(record, row["max_ulp"]) for row in rung["regions"]]
        overall = (f"{bound}{_ulp(record, rung['max_ulp'])}", zero) if on_page else ("", "")
        rows.append([rung["title"] if on_page else name, *cells, *overall])
    rows.append(["half ULP in x", *(_ulp(record, row["input_ulp"]) for row in regions), "", ""])
    if known or on_page:
        worst = [*(row["worst"] for row in regions), record["worst"]]
        causes = [_cause(record, each["main"]) if each else "-" for each in worst]
        rows.append(["main cause", *causes[:-1], causes[-1] if on_page else "", ""])
    yield TextTable(columns, rows, "largest error of each step by region")
    yield Items(list(condition_lines(record)))


def _ulp(record: Row, size: float | None) -> str:
    return text.ulp_text(size, record["bound"]).replace(text.NONE, "-")


def _x(record: Row, bits: str, on_page: bool) -> Inline:
    value = text.short_value(record["dtype"], bits)
    return (f"{value} ", Marked(bits, "code")) if on_page else value


def condition_lines(record: Row) -> Iterator[str]:
    """What the row "half ULP in x" says, and what it does not."""
    largest = max((row["input_ulp"] for row in record["regions"] if row["input_ulp"] is not None), default=0.0)
    if largest < WORTH_SAYING:
        return
    computed = record["computes" if is_known(record) else "function"]
    compensated = f", as kernels.{computed}_cr does" if computed in CORRECTLY_ROUNDED else ""
    yield (
        "half ULP in x: what half an ULP of error in x, or in a rounded argument such as x*sqrt(1/2), becomes; x is"
        f" exact, so code that carries the rounding error of its argument avoids it{compensated}"
    )


def _rewrites(record: Row) -> Iterator[Inline]:
    """What could be written instead, each measured: the largest error before and after, and the time."""
    sign = "" if record["bound"] == "=" else ">="
    for row in record["rewrites"]:
        before, after = (f"{sign}{text.ulp_text(row[key], record['bound'])}" for key in ("before_ulp", "after_ulp"))
        gain = f"{row['guilty']}: {row['rewrite']}: {before} -> {after} ULP, {time_text(row['time'])}"
        yield f"{gain}\n  ", Marked(row["formula"], "code")


def time_text(ratio: float | None) -> str:
    """A ratio of times, for people."""
    if ratio is None:
        return "time not measured"
    if ratio >= 2:
        return f"{ratio:.1f} times as slow"
    if ratio <= 0.5:
        return f"{1 / ratio:.1f} times as fast"
    return f"{abs(ratio - 1):.0%} {'slower' if ratio >= 1 else 'faster'}".replace("%", " %")


def _pieces(record: Row, on_page: bool) -> Section:
    """What explains the results in each piece of x, where no one thing does everywhere."""
    numbers = (Heading(name, is_number=True) for name in ("from", "to", "inputs", "ULP"))
    rows = [
        (
            *(_x(record, row[end], on_page) for end in ("from", "to")),
            *(text.share_text(row["share"]), _ulp(record, row["max_ulp"])),
            "unknown" if row["main"] is None else _cause(record, row["main"]),
            piece_text(row),
        )
        for row in record["pieces"]
    ]
    title = "pieces of x, and what gives the measured bits there:"
    return Section(title, [TextTable([*numbers, "main cause", Heading("what", is_long=True)], rows, "pieces of x")])


def piece_text(row: Row) -> str:
    """What explains one piece, and how much of it where that is not all."""
    return row["what"] if row["agreement"] in (None, 1.0) else f"{row['what']} ({text.share_text(row['agreement'])})"


def _cause(record: Row, source: str) -> str:
    """A source of error in less than a cell; building blocks by name."""
    if source == "blocks":
        names = ", ".join(record["blocks"])
        return names if len(names) < _CELL else "blocks"
    return {"rest": "unknown", "known": "own code"}.get(source, source)


def _head(record: Row, on_page: bool) -> Iterator[tuple[str, Inline]]:
    surely = record["explained"] or record["chosen"] != "found"
    form = Marked(f" ({record['form']})" if on_page else "", "soft")
    yield "formula" if surely else "nearest", (Marked(record["formula"], "code"), form)
    rounding = "every operation rounded" if record["working"] == record["dtype"] else "rounded once at the end"
    flushing = f", {flush_text(record['flush'])}" if record["flush"] else ""
    yield "computed", f"in {record['working']}, {rounding}{flushing}"
    if record["constants"]:
        yield "constants", ", ".join(stored_text(*pair) for pair in record["constants"].items())
    if record["blocks"]:
        yield "blocks", ", ".join(record["blocks"].values())
    if is_known(record) and (explained := explained_text(record)):
        yield "evidence", explained
    same, seed = text.share_text(record["agreement"]), f", seed {record['seed']}" if on_page else ""
    yield "agreement", f"the measured bits at {same} of {record['n']:,} inputs (plan {record['plan']}{seed})"


def source_texts(record: Row) -> dict[str, str]:
    """What each source of this target's error is called: without flushing and own code where it has none."""
    steps = {rung["source"] for rung in record["rungs"]}
    name = record["known"]["name"] if record["known"] else ""
    return {
        source: words.format(known=name)
        for source, words in _TEXTS.items()
        if source in steps or source not in ("flushing", "known")
    }


def is_known(record: Row) -> bool:
    """Whether the formula is established: described, given by the user, or explained by the results."""
    return bool(record["explained"]) or record["chosen"] != "found" or reproduced(record)


def reproduced(record: Row) -> bool:
    """Whether a kernel of ours gives the measured bits at every input that was compared."""
    return record["known"] is not None and record["known"]["differing"] == 0


def known_lines(record: Row) -> Iterator[str]:
    """Which kernel of ours gives the measured bits, and what it computes; nothing where none is near."""
    known = record["known"]
    if known is None or not (reproduced(record) or known["explains"] >= max(record["explains"], NEAR)):
        return
    name = " ".join(filter(None, (known["name"], known["how"])))
    if reproduced(record):
        yield f"bit for bit {name}, on {known['n']:,} inputs"
    else:
        first = known["first"]
        x, got, other = (text.short_value(record["dtype"], first[key]) for key in ("x_bits", "got_bits", "known_bits"))
        yield f"the bits of {name} on all but {known['differing']:,} of {known['n']:,} inputs; the first of these,"
        yield f"  x = {x} ({first['x_bits']}), gives {got}, not {other}"
    yield f"  {known['formula']}"
    if known["source"]:
        yield f"  {known['source']}"
    if known["alike"]:
        more = len(known["alike"]) - ALIKE
        names = [*known["alike"][:ALIKE], *([f"{more} more"] if more > 0 else [])]
        yield f"  the same bits: {', '.join(names)}"


def explained_text(record: Row) -> str:
    """The evidence that the target computes this formula; empty where its own description says so."""
    if record["chosen"] == "described":
        return ""
    share = text.share_text(record["explains"])
    if not is_known(record) or (reproduced(record) and not record["explained"]):
        return unexplained_text(record)
    if record["chosen"] == "asked":
        verdict = "" if record["explained"] else ", so it does not explain them"
        return f"given by --form; it reproduces {share} of the results that distinguish formulas{verdict}"
    also = f"; {', '.join(record['alike'])} would explain them as well" if record["alike"] else ""
    return f"found from the results: it reproduces {share} of those that distinguish formulas{also}"


def unexplained_text(record: Row) -> str:
    """What is known where no form explains the results."""
    share = text.share_text(record["explains"])
    known = f"no known formula reproduces more than {share} of the results that distinguish formulas"
    return f"{known}; nearest: {record['form']}"


def _errors(record: Row) -> Iterator[tuple[str, Inline]]:
    if record["rounded"] >= max(record["explains"], _ROUNDED):
        share = text.share_text(record["rounded"])
        yield "results", f"{share} of those are correctly rounded, so they do not distinguish formulas"
    if is_known(record) and record["computes"] != record["function"]:
        other = record["computes"]
        yield "computes", f"{other}, not {record['function']}: the errors in the table are against {other}"
    for row in record["errors"]:
        if row["max_ulp"] is None:
            continue
        size = text.ulp_text(row["max_ulp"], record["bound"])
        where = text.short_value(record["dtype"], row["x_bits"])
        own = row["function"] in (record["function"], record["computes"])
        role = "against" if own else "as an approximation of"
        yield "error", f"{size} ULP {role} {row['function']}, at x = {where} in {_region(record, row)}"


def _region(record: Row, row: Row) -> str:
    """Name of the region that an input lies in."""
    fmt = get_format(record["dtype"])
    x = float(to_float64(fmt, np.array([int(row["x_bits"], 16)], fmt.uint))[0])
    return next(
        region.name
        for region in REGIONS
        if (region.lower is None or x >= region.lower) and (region.upper is None or x < region.upper)
    )


def _worst(record: Row, on_page: bool) -> Section:
    worst = record["worst"]
    if worst is None:
        return Section("no finite error was measured", [])
    at = f"{text.short_value(record['dtype'], worst['x_bits'])} ({worst['x_bits']})"
    right = f"The correct result is {text.value_text(record['dtype'], worst['want_bits'])} ({worst['want_bits']})"
    rows = [
        (f"{worst[source]:+.4g}", (cause, Marked("  <- main cause" if source == worst["main"] else "", "bold")))
        for source, cause in source_texts(record).items()
    ]
    return Section(
        f"at the largest error, x = {at}: {worst['error']:+.4g} ULP, the sum of",
        [Text(right if on_page else "", "lead"), TextTable([Heading("ULP", is_number=True), "source"], rows)],
    )


def _operations(record: Row, on_page: bool) -> Section:
    """The costliest first."""
    numbers = [Heading(name, is_number=True) for name in ("ULP", "amplified", "at x")]
    at_worst = Heading("at the largest error", is_number=True, is_optional=True)
    rows = [
        (
            f"{row['max_ulp']:.3g}",
            "-" if row["amplification"] is None else f"{row['amplification']:.3g}",
            _x(record, row["x_bits"], on_page),
            text.number_text(row["at_worst"], signed=True) if on_page else "",
            Marked(f"{row['name']} = {row['operation']}" if row["name"] else row["operation"], "code"),
        )
        for row in record["operations"][: None if on_page else OPERATIONS]
    ]
    title = "cost of each operation: the error that rounding it alone causes, to first order"
    return Section(title, [TextTable([*numbers, at_worst, "operation"], rows, "operations")])
