"""An attribution on a terminal: which step adds the error, region by region, and what each operation costs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..attribution.ladder import flush_text, stored_text
from ..formats import get_format, to_float64
from ..functions.regions import REGIONS
from ..truth.correctly_rounded import FUNCTIONS as CORRECTLY_ROUNDED
from . import text

Row = Mapping[str, Any]

OPERATIONS = 8  # the costliest; all of them are in the JSON and the CSV
_ROUNDED = 0.99  # of the informative results: from there on they are said to be correctly rounded
_TITLE = 14
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
    yield " ".join(filter(None, (record["target"], record["function"], record["dtype"], record["version"])))
    known = is_known(record)
    for line in known_lines(record):
        yield from _wrapped(line, 2)
    yield from _head(record) if known else _unexplained(record)
    yield from _errors(record)
    yield ""
    names = [row["region"] for row in record["regions"]]
    yield f"{'largest ULP':<{_TITLE}}" + "".join(f"{name:>{_CELL}}" for name in names)
    for rung in record["rungs"] if known else record["rungs"][-1:]:
        cells = [text.ulp_text(row["max_ulp"], record["bound"]).replace(text.NONE, "-") for row in rung["regions"]]
        yield f"{_NAMES.get(rung['name'], rung['name']):<{_TITLE}}" + "".join(f"{cell:>{_CELL}}" for cell in cells)
    cells = [text.ulp_text(row["input_ulp"], record["bound"]).replace(text.NONE, "-") for row in record["regions"]]
    yield f"{'half ULP in x':<{_TITLE}}" + "".join(f"{cell:>{_CELL}}" for cell in cells)
    for line in condition_lines(record):
        yield from _wrapped(line, 2)
    if not known:
        yield from pieces_lines(record)
        yield f"repeat: {record['repeat']}"
        return
    causes = [_cause(record, row["worst"]["main"]) if row["worst"] else "-" for row in record["regions"]]
    yield f"{'main cause':<{_TITLE}}" + "".join(f"{name:>{_CELL}}" for name in causes)
    yield from pieces_lines(record) if record["pieces"] else [""]
    yield from _worst(record)
    yield from _operations(record["dtype"], record["operations"][:OPERATIONS])
    if record["rewrites"]:
        yield f"rewrites, in {record['rewrites'][0]['run']}: the largest error, and the time beside that of the target"
        for line in rewrites_lines(record):
            yield from _wrapped(line, 2)
        yield ""
    yield f"repeat: {record['repeat']}"


def condition_lines(record: Row) -> Iterator[str]:
    """What the row "half ULP in x" says, and what it does not."""
    largest = max((row["input_ulp"] for row in record["regions"] if row["input_ulp"] is not None), default=0.0)
    if largest < WORTH_SAYING:
        return
    compensated = f", as kernels.{record['computes']}_cr does" if record["computes"] in CORRECTLY_ROUNDED else ""
    yield (
        "half ULP in x: what half an ULP of error in x, or in a rounded argument such as x*sqrt(1/2), becomes; x is"
        f" exact, so code that carries the rounding error of its argument avoids it{compensated}"
    )


def _wrapped(line: str, indent: int) -> Iterator[str]:
    """In 84 columns; what follows the first line is indented once more."""
    own = " " * (indent + len(line) - len(line.lstrip()))
    yield from textwrap.wrap(
        line.lstrip(), WIDTH, initial_indent=own, subsequent_indent=own + "  ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def rewrites_lines(record: Row) -> Iterator[str]:
    """What could be written instead, each measured: the largest error before and after, and the time."""
    for row in record["rewrites"]:
        before, after = (
            f"{'' if record['bound'] == '=' else '>='}{text.ulp_text(row[key], record['bound'])}"
            for key in ("before_ulp", "after_ulp")
        )
        yield f"{row['guilty']}: {row['rewrite']}: {before} -> {after} ULP, {time_text(row['time'])}"
        yield f"  {row['formula']}"


def time_text(ratio: float | None) -> str:
    """A ratio of times, for people."""
    if ratio is None:
        return "time not measured"
    if ratio >= 2:
        return f"{ratio:.1f} times as slow"
    if ratio <= 0.5:
        return f"{1 / ratio:.1f} times as fast"
    return f"{abs(ratio - 1):.0%} {'slower' if ratio >= 1 else 'faster'}".replace("%", " %")


def pieces_lines(record: Row) -> Iterator[str]:
    """What explains the results in each piece of x, where no one thing does everywhere."""
    if not record["pieces"]:
        return
    yield ""
    yield "pieces of x, and what gives the measured bits there:"
    yield f"  {'from':>12} {'to':>12} {'inputs':>8} {'ULP':>9}  {'main cause':<10} what"
    for row in record["pieces"]:
        ends = " ".join(f"{text.short_value(record['dtype'], row[end]):>12}" for end in ("from", "to"))
        size = text.ulp_text(row["max_ulp"], record["bound"]).replace(text.NONE, "-")
        cause = "unknown" if row["main"] is None else _cause(record, row["main"])
        yield f"  {ends} {text.share_text(row['share']):>8} {size:>9}  {cause:<10} {piece_text(row)}"
    yield ""


def piece_text(row: Row) -> str:
    """What explains one piece, and how much of it where that is not all."""
    return row["what"] if row["agreement"] in (None, 1.0) else f"{row['what']} ({text.share_text(row['agreement'])})"


def _cause(record: Row, source: str) -> str:
    """A source of error in less than a cell; building blocks by name."""
    if source == "blocks":
        names = ", ".join(record["blocks"])
        return names if len(names) < _CELL else "blocks"
    return {"rest": "unknown", "known": "own code"}.get(source, source)


def _head(record: Row) -> Iterator[str]:
    surely = record["explained"] or record["chosen"] != "found"
    yield f"  {'formula' if surely else 'nearest':<9} {record['formula']}"
    rounding = "every operation rounded" if record["working"] == record["dtype"] else "rounded once at the end"
    flushing = f", {flush_text(record['flush'])}" if record["flush"] else ""
    yield f"  computed  in {record['working']}, {rounding}{flushing}"
    if record["constants"]:
        yield "  constants " + ", ".join(stored_text(*pair) for pair in record["constants"].items())
    if record["blocks"]:
        yield "  blocks    " + ", ".join(record["blocks"].values())
    if explained := explained_text(record):
        yield from _wrapped(explained, 2)
    same = text.share_text(record["agreement"])
    yield f"  agreement the measured bits at {same} of {record['n']:,} inputs (plan {record['plan']})"


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


def _unexplained(record: Row) -> Iterator[str]:
    yield f"  {unexplained_text(record)}"
    yield "  so its formula, constants and building blocks remain unknown"


def _errors(record: Row) -> Iterator[str]:
    if record["rounded"] >= max(record["explains"], _ROUNDED):
        share = text.share_text(record["rounded"])
        yield f"  results   {share} of those are correctly rounded, so they do not distinguish formulas"
    if record["computes"] != record["function"]:
        other = record["computes"]
        yield f"  computes  {other}, not {record['function']}: the errors in the table are against {other}"
    for row in record["errors"]:
        if row["max_ulp"] is None:
            continue
        size = text.ulp_text(row["max_ulp"], record["bound"])
        where = text.short_value(record["dtype"], row["x_bits"])
        own = row["function"] in (record["function"], record["computes"])
        role = "against" if own else "as an approximation of"
        yield f"  error     {size} ULP {role} {row['function']}, at x = {where} in {_region(record, row)}"


def _region(record: Row, row: Row) -> str:
    """Name of the region that an input lies in."""
    fmt = get_format(record["dtype"])
    x = float(to_float64(fmt, np.array([int(row["x_bits"], 16)], fmt.uint))[0])
    return next(
        region.name
        for region in REGIONS
        if (region.lower is None or x >= region.lower) and (region.upper is None or x < region.upper)
    )


def _worst(record: Row) -> Iterator[str]:
    worst = record["worst"]
    if worst is None:
        yield "no finite error was measured"
        return
    at = f"{text.short_value(record['dtype'], worst['x_bits'])} ({worst['x_bits']})"
    yield f"at the largest error, x = {at}: {worst['error']:+.4g} ULP, the sum of"
    for source, cause in source_texts(record).items():
        mark = "  <- main cause" if source == worst["main"] else ""
        yield f"  {worst[source]:+12.4g}  {cause}{mark}"
    yield ""


def _operations(dtype: str, operations: Sequence[Row]) -> Iterator[str]:
    if not operations:
        return
    yield "cost of each operation: the error that rounding it alone causes, to first order"
    yield f"  {'ULP':>8}  {'amplified':>9}  {'at x':>12}  operation"
    for row in operations:
        grown = "-" if row["amplification"] is None else f"{row['amplification']:.3g}"
        name = f"{row['name']} = " if row["name"] else ""
        at = text.short_value(dtype, row["x_bits"])
        yield f"  {row['max_ulp']:8.3g}  {grown:>9}  {at:>12}  {name}{row['operation']}"
    yield ""
