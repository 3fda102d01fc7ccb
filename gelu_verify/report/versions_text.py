"""Releases of a library in words: what each path gives, what changed, how it was measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from ..compare.runs import ORDER
from ..judge.changes import Verdict
from ..records.claims import error_text, grade_text, range_text
from ..show.document import Block, Definitions, Heading, Inline, Items, Marked, Section, Text, TextTable, listed
from ..versions.overview import Libraries
from ..versions.store import MeasuredRelease
from ..versions.timeline import Timeline, TimelineChange, TimelineRelease, TimelineSeries, TimelineState
from .comparison_text import witness_text
from .text import NONE, ulp_text, value_text

MARKS: dict[Verdict, tuple[str, str]] = {  # a sign that needs no colour, and what it says
    "better": ("▲", "better"), "worse": ("▼", "worse"), "mixed": ("◆", "better in something, worse in something else"),
    "changed": ("≠", "other bits, no better and no worse"), "unknown": ("?", "other bits, and it cannot be judged"),
    "appeared": ("+", "can be called again"),
}  # fmt: skip
METHOD = (
    "Each release was installed in an environment of its own, with what was current on the day of its release, and its "
    "functions were called on the same inputs. float16 and bfloat16: every input. float32: a sample and, of the "
    "library's own calls, the digest of every output for 1/16 <= |x| < 16, of which all are judged for gelu, silu and "
    "their derivatives, 16.8 million for other functions. float64: a sample. An error of a sample is a lower bound "
    "(>=)."
)
SAME = (
    "Two releases give the same where every output that was compared has the same bits, but for those of NaN; outputs "
    "that a release before gave, too, are not judged again. Of releases between two that are listed nothing is known: "
    "what changed at a release may have changed at one of those before it (gelu-verify versions LIBRARY --bisect). A "
    "change of speed is not seen here, nor one outside of the inputs."
)
ABSENT = (
    "A path is absent where the release has no such function or refuses the dtype; the reason is what the release said."
)
_FEW = 8  # changes of one result that are not folded
_IN_TABLE = ("grade", "max_ulp", "accurate_range", "bits")  # what the table of both sides says, or the last line


def headline(found: Timeline) -> str:
    """ "torch: 17 releases, 1.13.1 (2022-12-15) to 2.13.0 (2026-07-08). 12 of 81 results of its own calls changed"."""
    return f"{found.library}: {summary(found)}"


def summary(found: Timeline) -> str:
    """The same without its name."""
    measured = found.measured
    if not measured:
        return "No release could be measured."
    own = {each.key for each in found.series if each.own}
    changes = found.own_changes
    changed = len({each.key for each in changes})
    span = " to ".join(dict.fromkeys(map(dated, (measured[0], measured[-1]))))
    latest = f", the last in {changes[0].version}" if changes else ""
    return (
        f"{counted(len(measured), 'release')}, {span}. {changed} of {counted(len(own), 'result')} of its own calls "
        f"changed{latest}."
    )


def counted(count: int, what: str) -> str:
    """ "1 release", "17 releases"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def dated(release: TimelineRelease | MeasuredRelease) -> str:
    """ "2.0.0 (2023-03-15)"."""
    return f"{release.version} ({release.released})" if release.released else release.version


def levels_text(levels: Sequence[str]) -> str:
    """ "avx2, avx512"; empty where no level was asked for."""
    return ", ".join(levels)


# ---- a state ---------------------------------------------------------------------------------------

STATE_HEAD = (
    "dtype", "releases", "level", "change", "grade", Heading("largest error, ULP", is_number=True),
    Heading("x >= -3", is_number=True), Heading("x < -3", is_number=True), "accurate for",
    Heading("zero from", is_number=True), Heading("and", is_long=True),
)  # fmt: skip


def states_table(lanes: Sequence[TimelineSeries]) -> TextTable:
    """A row for each state of a path, the newest first."""
    rows: list[list[Inline]] = [
        [
            lane.dtype, releases_text(state), levels_text(lane.levels), verdict_text(state.verdict),
            *facts(lane.dtype, state).values(),
        ]
        for lane in lanes
        for state in reversed(lane.states)
    ]  # fmt: skip
    return TextTable(STATE_HEAD, rows, f"{lanes[0].call}: {lanes[0].target}, release by release")


def releases_text(state: TimelineState) -> str:
    """ "2.0.0 to 3.0.0"."""
    return state.first if state.first == state.last else f"{state.first} to {state.last}"


def verdict_text(verdict: Verdict | None) -> Inline:
    """With its sign."""
    if verdict is None or verdict not in MARKS:
        return ""
    return Marked(f"{MARKS[verdict][0]} {verdict}", {"mixed": "bad", "worse": "bad", "better": "good"}.get(verdict, ""))


def facts(dtype: str, state: TimelineState) -> dict[str, str]:
    """What is said of a state, by the names of the rows of a change."""
    fails = f"fails {', '.join(state.failed_checks)}" if state.failed_checks else ""
    special = "; ".join(filter(None, [*state.conventions, fails]))
    return {
        "grade": grade_text(state.grade, state.grade_bound) if state.grade else NONE,
        "largest error, ULP": error_text(state.max_ulp, state.bound),
        "for x >= -3": error_text(state.body_ulp, state.bound),
        "for x < -3": error_text(state.tail_ulp, state.bound),
        "accurate for": range_text(dtype, state.accurate_range, state.bound) or NONE,
        "zero from x =": value_text(dtype, state.zero_from.x_bits if state.zero_from else None) or NONE,
        "special values, failed checks": special or NONE,
    }


def witness_text_of(dtype: str, state: TimelineState) -> str:
    """The worst input, what is returned for it and what is right."""
    found = state.witness
    if found is None:
        return NONE
    parts = {"x": found.x_bits, "got": found.got_bits, "want": found.want_bits}
    return "\n".join(f"{name} {value_text(dtype, bits)} ({bits})" for name, bits in parts.items())


# ---- a change --------------------------------------------------------------------------------------


def change_table(change: TimelineChange, old: TimelineState, new: TimelineState) -> TextTable:
    """Both sides, fact by fact; what differs stands out."""
    before, since = (
        facts(change.dtype, each) | {"worst input": witness_text_of(change.dtype, each)} for each in (old, new)
    )
    rows: list[list[Inline]] = [
        [name, before[name], since[name] if since[name] == before[name] else Marked(since[name], "bold")]
        for name in before
        if {before[name], since[name]} != {NONE}
    ]
    columns = ("what", Heading(change.before, is_long=True), Heading(change.version, is_long=True))
    return TextTable(columns, rows, f"{change.sentence}: before and since")


def change_items(change: TimelineChange) -> list[Block]:
    """Every change of it, and the input that shows it."""
    texts: list[Inline] = []
    for each in change.changes:
        if each.what in _IN_TABLE:
            continue
        shown = f"\n{witness_text(change.dtype, each.witness)}" if each.witness else ""
        mark = {"worse": "bad", "better": "good", "unknown": "warn"}.get(each.verdict, "")
        texts.append(
            (
                Marked("no better, no worse" if each.verdict == "neither" else each.verdict, mark),
                f": {each.text}{shown}",
            )
        )
    blocks = listed(texts, _FEW, "more changes")
    if change.intervals:
        blocks.append(Text(f"Other bits for x in {', '.join(change.intervals)}.", "note"))
    return blocks


def tally(changes: Sequence[TimelineChange]) -> str:
    """ "3 better, 1 worse, 4 with other bits"."""
    words: dict[Verdict, str] = {"changed": "with other bits", "mixed": "better and worse", "unknown": "not judged"}
    counts = Counter(each.verdict for each in changes)
    return ", ".join(f"{counts[name]} {words.get(name, name)}" for name in ORDER if counts[name])


def appeared_text(changes: Sequence[TimelineChange]) -> str:
    """What can be called since a release; empty where there is nothing."""
    calls: dict[str, dict[str, None]] = {}
    for each in changes:
        if each.verdict == "appeared":
            call, _, _ = each.sentence.partition(f" {each.dtype} ")
            calls.setdefault(call, {})[each.dtype] = None
    return "; ".join(f"{call} {', '.join(dtypes)}" for call, dtypes in calls.items())


def by_release(found: Timeline) -> Iterator[tuple[TimelineRelease, list[TimelineChange]]]:
    """Releases that changed anything, the newest first."""
    releases = {each.version: each for each in found.releases}
    for version, members in groupby(found.changes, key=lambda each: each.version):
        yield releases[version], [*members]


# ---- how it was measured ---------------------------------------------------------------------------


def method_blocks(found: Timeline) -> Iterator[Block]:
    """The inputs, what absent means, on what it ran, and what could not be measured."""
    yield Text(METHOD)
    yield Text(SAME)
    yield Text(ABSENT)
    machines = dict.fromkeys(", ".join(each.machine.values()) for each in found.measured if each.machine)
    days = sorted({each.measured for each in found.releases})
    pairs: list[tuple[str, Inline]] = [("measured", " to ".join(dict.fromkeys((days[0], days[-1]))))] if days else []
    pairs += [("on", "\n".join(machines))] if machines else []
    yield Definitions(pairs)
    rows = [(each.version, each.released or "", each.python, _packages(each)) for each in reversed(found.measured)]
    yield Section(
        "Environments", [TextTable(("release", "day", "Python", Heading("with", is_long=True)), rows, "environments")]
    )
    failed = failures(found)
    if failed:
        yield Section("Not measured", [Items(failed)])


def failures(found: Timeline) -> list[Inline]:
    """Releases of which nothing was measured, with their reason; those with the same one together."""
    reasons: dict[str, list[str]] = {}
    for each in found.releases:
        if each.failure is not None:
            reasons.setdefault(each.failure, []).append(dated(each))
    return [f"{', '.join(versions)}: {reason}" for reason, versions in reasons.items()]


def _packages(release: TimelineRelease) -> str:
    return ", ".join(f"{name} {version}" for name, version in release.packages.items())


# ---- all libraries ---------------------------------------------------------------------------------

LIBRARIES_HEAD = (
    "library", Heading("releases", is_number=True), "from, to", Heading("results", is_number=True),
    Heading("changed", is_number=True), Heading("broken now", is_number=True), "last change",
)  # fmt: skip
LIBRARIES_NOTE = (
    "Results: one for each path and dtype in the newest release. Changed and broken: of the library's own calls, "
    "without formulas written with its functions."
)


def libraries_rows(found: Libraries) -> list[list[Inline]]:
    """One row for each library."""
    return [
        [
            each.library, f"{each.releases}", " to ".join(dict.fromkeys(filter(None, (each.first, each.last)))) or NONE,
            f"{each.results}", f"{each.changed}", Marked(f"{each.broken}", "bad" if each.broken else ""),
            each.last_change or "none",
        ]
        for each in found.libraries
    ]  # fmt: skip


def libraries_headline(found: Libraries) -> str:
    """How many releases of how many libraries, and the newest change."""
    total = sum(each.releases for each in found.libraries)
    latest = f" The newest change: {found.changes[0].sentence}." if found.changes else ""
    names = ", ".join(each.library for each in found.libraries)
    return f"{counted(total, 'release')}{f' of {names}' if names else ''}.{latest}"


def bar_title(dtype: str, state: TimelineState) -> str:
    """All of a state in a few lines, for the pointer."""
    lines = [releases_text(state)]
    if state.verdict in MARKS:
        lines.append(MARKS[state.verdict][1])
    lines += [f"{name}: {text}" for name, text in facts(dtype, state).items() if text != NONE]
    return "\n".join(lines)


def short_error(state: TimelineState) -> str:
    """As short as a cell is."""
    text = ulp_text(state.max_ulp, state.bound, 2) if state.max_ulp is not None else ""
    return text.replace(".0e", "e")
