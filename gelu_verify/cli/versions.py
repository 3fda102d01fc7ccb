"""`versions`: how accurate each release of a library is; and `upgrade`: what another release would change."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import click

from ..errors import MissingMeasurement, UsageError
from ..versions import HERE
from .forms import show, takes_form
from .options import Several, whole_number
from .program import MISSING, OVER_BUDGET, say, stdout_for_results, warn
from .terminal import SCREEN

if TYPE_CHECKING:
    from ..show.terminal import Line
    from ..versions.bisect import FirstChange
    from ..versions.changes import ReleaseStep
    from ..versions.libraries import Way
    from ..versions.releases import Release
    from ..versions.sources import ReleaseSource
    from ..versions.store import History

ALL = "all"  # libraries that are known
_SHOWN = 6  # changes of a release


@click.command()
@click.argument("library")
@click.option("--from", "first", metavar="A", help="The first release, or commit; default: the oldest.")
@click.option("--to", "last", metavar="B", help="The last one; default: the newest.")
@click.option("--releases", "most", type=whole_number(1, 1000), metavar="N", help="So many of them, evenly.")
@click.option("--newer", is_flag=True, help="Only those that are newer than what is kept in --out.")
@click.option("--isa", "levels", cls=Several, metavar="L,L", help="Limit the library to instruction-set level L; all: "
              "each that it and this processor have. Default: the processor's own.")  # fmt: skip
@click.option("--target", "targets", multiple=True, metavar="NAME", help="Only these paths of a known library "
              "(torch.gelu); or functions of a package (module:function), or files of a checkout.")  # fmt: skip
@click.option("--function", "functions", cls=Several, metavar="F,F", help="Only these functions.")
@click.option("--dtype", "dtypes", cls=Several, metavar="D,D", help="Only these dtypes.")
@click.option("--array", type=click.Choice(["numpy", "torch"]), default="numpy", show_default=True,
              help="Which arrays the functions of a package take.")  # fmt: skip
@click.option("--find-links", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR",
              help="Take releases, and all they need, from the wheels in DIR; no network.")  # fmt: skip
@click.option("--python", default=sys.executable, metavar="P", help="Python of the environments; default: this one.")
@click.option("--bisect", is_flag=True, help="Find the first release at which the only result that is meant changed.")
@click.option("-x", "--input", "x", metavar="X", help="With --bisect: its value at X, a number or bits.")
@click.option("--workers", type=whole_number(1, 64), default=1, show_default=True, help="Releases at a time.")
@click.option("--again", is_flag=True, help="Measure also what was measured before.")
@click.option("--out", type=click.Path(path_type=Path), default=Path(HERE), show_default=True, metavar="DIR",
              help="Where what is measured is kept.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def versions(
    library: str, first: str | None, last: str | None, most: int | None, newer: bool, levels: tuple[str, ...],
    targets: tuple[str, ...], functions: tuple[str, ...], dtypes: tuple[str, ...], array: str,
    find_links: Path | None, python: str, bisect: bool, x: str | None, workers: int, again: bool, out: Path,
    as_json: bool,
) -> None:  # fmt: skip
    """Measure releases of a LIBRARY, each in a new environment, and say at which one something changed.

    LIBRARY is one whose paths are known (torch, jax, onnxruntime ...; all: each of them), any other package of the
    index, or the folder of a git checkout, whose commits are measured: gelu-verify versions . --from v1.0 --target
    ops.py:gelu. Environments are made by uv, or pip where uv is missing. What is measured is kept, and not measured
    again: after an interrupt, type the same command.
    """
    from ..versions.libraries import LIBRARIES

    several = sorted(LIBRARIES) if library == ALL else []
    if several and (first or last or targets or find_links or bisect or as_json):
        raise UsageError(f"{ALL} takes no --from, --to, --target, --find-links, --bisect or --json: name one library")
    for name in several or [library]:
        source = _source(name, targets, functions, dtypes, array, find_links, python, first, last)
        source.measurer.levels = _levels(name, levels, several)
        releases = _releases(name, source, first, last, most, newer, out)
        if bisect:
            _print_bisection(source, releases, x, as_json)
            return
        if x is not None:
            raise UsageError("--input is for --bisect")
        if not releases:
            say(f"{source.name} has no release that is newer than what is kept in {out}", err=True)
            continue
        _measure(source, releases, workers, again, out)
        _print_history(_of_these(out, source.name, releases), {way.key for way in source.measurer.ways}, as_json)


def _releases(
    name: str, source: ReleaseSource, first: str | None, last: str | None, most: int | None, newer: bool, out: Path
) -> list[Release]:
    """Those that are meant."""
    from ..versions.releases import chosen, key_of
    from ..versions.store import read_history

    found = list(source.releases) if _is_checkout(name) else chosen(source.releases, first, last, None)
    if newer and (kept := read_history(out, source.name).releases):
        newest = key_of(kept[-1].version)
        found = [each for each in found if key_of(each.version) > newest]
    return found if most is None or not found else chosen(found, None, None, most)


def _measure(source: ReleaseSource, releases: Sequence[Release], workers: int, again: bool, out: Path) -> None:
    """Those that were not measured before; each is kept as soon as it is there."""
    from ..report.versions_text import counted
    from ..versions.measuring import own_level
    from ..versions.store import keep, read_history

    history, measurer = read_history(out, source.name), source.measurer
    known, lock, number = measurer.known, Lock(), 0
    known.update(history.outputs)
    asked, levels = {way.key for way in measurer.ways}, [level or own_level() for level in measurer.levels]
    have = {each.version for each in history.releases if not again and each.has(asked, levels)}
    todo = [each for each in releases if each.version not in have]

    def measure(release: Release) -> None:
        nonlocal number
        found = measurer.measured(release)
        with lock:
            number += 1
            digests = {digest for of in found.results.values() for digest in of.values()}
            keep(out, source.name, found, [known[digest] for digest in digests])
            text = found.failure or counted(sum(map(len, found.results.values())), "result")
            say(f"{number}/{len(todo)} {source.name} {release.version}: {text}", err=True)

    with stdout_for_results(), ThreadPoolExecutor(workers) as pool:
        try:
            list(pool.map(measure, todo))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _of_these(out: Path, name: str, releases: Sequence[Release]) -> History:
    from ..versions.store import read_history

    wanted = {each.version for each in releases}
    history = read_history(out, name)
    return replace(history, releases=tuple(each for each in history.releases if each.version in wanted))


def _is_checkout(library: str) -> bool:
    return "/" in library or library in (".", "..") or (Path(library) / ".git").exists()


def _source(
    library: str, targets: tuple[str, ...], functions: tuple[str, ...], dtypes: tuple[str, ...], array: str,
    find_links: Path | None, python: str, first: str | None, last: str | None,
) -> ReleaseSource:  # fmt: skip
    from ..formats import DTYPES
    from ..functions import get_function
    from ..versions.environments import Installer
    from ..versions.libraries import LIBRARIES
    from ..versions.sources import of_checkout, of_library, of_package

    for dtype in dtypes:
        if dtype not in DTYPES:
            raise UsageError(f"unknown dtype {dtype!r} (accepted: {', '.join(DTYPES)})")
    wanted = [get_function(function).name for function in functions]
    installer = Installer(python, find_links)
    if _is_checkout(library):
        what = (targets, wanted, dtypes or ("float32",), array)
        return of_checkout(Path(library), *what, installer, first, last)
    if library not in LIBRARIES or any(":" in target for target in targets):
        return of_package(library, targets, wanted, dtypes or ("float32",), array, installer)
    source = of_library(library, installer)

    def is_meant(way: Way) -> bool:
        asked = ((targets, way.target), (wanted, way.function), (dtypes, way.dtype))
        return all(not names or name in names for names, name in asked)

    ways = [way for way in source.measurer.ways if is_meant(way)]
    if not ways:
        names = ", ".join(sorted({way.target for way in source.measurer.ways}))
        raise UsageError(f"no path of {library} is meant by these options (accepted targets: {names})")
    source.measurer.ways = ways
    return source


def _levels(name: str, asked: tuple[str, ...], several: Sequence[str]) -> Sequence[str]:
    """Those that were asked for; "" is the processor's own, also of one among several that has no switch."""
    from ..isa import check_level, runnable
    from ..targets import no_switch, switches_of
    from ..versions.libraries import LIBRARIES

    if not asked:
        return ("",)
    switches = switches_of(name) if name in LIBRARIES else None
    if switches is None:
        if several:
            return ("",)
        reason = no_switch(name) if name in LIBRARIES else "there is no switch for instruction-set levels"
        raise UsageError(f"--isa: of {name} {reason}")
    if "all" in asked:
        return [level for level in reversed(runnable()) if level in switches.levels]
    if several:
        return [level for level in asked if level in switches.levels and level in runnable()] or ("",)
    for level in asked:
        check_level(level)
        if level not in switches.levels:
            raise UsageError(f"{name} has no switch for {level} (accepted: {', '.join(switches.levels)}, all)")
    return asked


# ---- what is printed -------------------------------------------------------------------------------


def _print_history(history: History, asked: set[str], as_json: bool) -> None:
    """What is kept of releases; MissingMeasurement where none of them has anything of what was asked."""
    if as_json:
        from ..records.serialize import to_json
        from ..versions.timeline import timeline

        click.echo(json.dumps(to_json(timeline(history)), indent=1, allow_nan=False))
    else:
        from ..show.terminal import write
        from ..versions.changes import steps

        width = shutil.get_terminal_size().columns
        write([line for step in steps(history) for line in _step_lines(step, asked, width)], sys.stdout)
    if not any(asked & each.results.keys() for each in history.releases):
        raise MissingMeasurement(f"no release of {history.library} could be measured")


def _step_lines(step: ReleaseStep, asked: set[str], width: int) -> Iterator[Line]:
    """A release, and the first of what changed at it."""
    from ..report.comparison_text import WORDS, title
    from ..report.versions_text import counted, dated
    from ..show.terminal import labelled

    release, changed = step.release, step.changed
    if release.failure:
        yield from labelled(dated(release), "dim", release.failure, width)
        return
    count = counted(sum(map(len, release.results.values())), "result")
    same = len(step.changes) - len(changed)
    text = count if step.before is None else f"{counted(same, 'result')}, the same bit for bit"
    if changed:
        text = f"{len(changed)} changed, {same} the same"
    yield from labelled(dated(release), "bold" if changed or step.before is None else "dim", text, width)
    for each in changed[:_SHOWN]:
        found = replace(each.found, target=f"{each.found.target} ({each.level})")
        yield from labelled(f"  {WORDS[each.verdict]}", "", title(found), width)
    for key in sorted(asked & release.absent.keys()):
        yield from labelled("  none", "dim", f"{key}: {release.absent[key]}", width)
    if len(changed) > _SHOWN:
        yield [(f"  and {len(changed) - _SHOWN} more (gelu-verify upgrade; --json)", "dim")]


def _print_bisection(source: ReleaseSource, releases: Sequence[Release], x: str | None, as_json: bool) -> None:
    from ..versions.bisect import UNMEASURED

    found, outcomes = _bisected(source, releases, x)
    if as_json:
        from ..records.serialize import to_json

        click.echo(json.dumps(to_json(found) if found else None, indent=1))
        return
    if found is None:
        first, last = (version for version, text in outcomes.items() if not text.startswith(UNMEASURED))
        say(f"{first} and {last} give the same; what lies between was not looked at")
        for version, text in outcomes.items():
            if text.startswith(UNMEASURED):
                say(f"{version} {text}")
        return
    say(f"first changed: {source.name} {found.first_changed} ({found.after}); {found.last_same} gave {found.before}")
    if found.skipped:
        say(f"between them, and not to be measured: {', '.join(found.skipped)}")


def _bisected(
    source: ReleaseSource, releases: Sequence[Release], x: str | None
) -> tuple[FirstChange | None, dict[str, str]]:
    """The change, and what each release gave that was asked."""
    from ..formats import get_format
    from ..versions.bisect import UNMEASURED, first_change

    ways = source.measurer.ways
    if len(ways) != 1 or len(source.measurer.levels) != 1:
        keys = ", ".join(way.key for way in ways[:4])
        raise UsageError(
            f"--bisect needs one result, not {len(ways)} ({keys}{' ...' * (len(ways) > 4)}): add --target, --function, "
            "--dtype, at most one --isa"
        )
    (way,), (level,) = ways, source.measurer.levels
    bits = None if x is None else get_format(way.dtype).parse(x)
    outcomes = dict[str, str]()

    def outcome(release: Release) -> str:
        if release.missing:
            text = f"{UNMEASURED}{release.missing}"
        elif bits is not None:
            text = source.measurer.output(release, way, level, bits)
        else:
            measured = source.measurer.measured(release)
            given = measured.results.get(way.key, {})
            text = next(iter(given.values()), f"{UNMEASURED}{measured.failure or measured.absent.get(way.key, '')}")
        say(f"{source.name} {release.version}: {text}", err=True)
        outcomes[release.version] = text
        return text

    with stdout_for_results():
        return first_change(releases, outcome), outcomes


# ---- upgrade ---------------------------------------------------------------------------------------


@click.command()
@click.argument("library")
@click.argument("old", required=False)
@click.argument("new", required=False)
@click.option("--isa", "level", metavar="L", help="At instruction-set level L; default: the highest that this "
              "processor and both releases have.")  # fmt: skip
@click.option("--target", "targets", multiple=True, metavar="NAME", help="Only this path; may be repeated.")
@click.option("--function", "functions", cls=Several, metavar="F,F", help="Only these functions.")
@click.option("--dtype", "dtypes", cls=Several, metavar="D,D", help="Only these dtypes.")
@click.option("--fail-on", type=click.Choice(["worse", "change"]), help="Exit with 1 if something is worse, or "
              "anything changed; with 3 if that is not known.")  # fmt: skip
@takes_form(text="text: one screen, the worst first.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write that form to FILE; default: print it.")  # fmt: skip
@click.option("--details", is_flag=True, help="Print every change, whatever the height.")
def upgrade(
    library: str, old: str | None, new: str | None, level: str | None, targets: tuple[str, ...],
    functions: tuple[str, ...], dtypes: tuple[str, ...], fail_on: str | None, form: str, out: Path | None,
    details: bool,
) -> None:  # fmt: skip
    """Say what an upgrade of LIBRARY from release OLD to NEW changes, from what is recorded: nothing is measured.

    OLD is by default the release that is installed, NEW the newest one on record; 2.8 is the last recorded 2.8.x.
    Records come with gelu-verify; `gelu-verify versions` adds to them, in reports/versions.
    """
    from ..compare.runs import decisive
    from ..report.comparison import LEFT_OUT, comparison_document
    from ..versions.changes import upgrade as compared
    from ..versions.recorded import history_of, level_of, release_of
    from .comparison import comparison_lines

    history = history_of(library)
    first, second = release_of(history, old, is_old=True), release_of(history, new, is_old=False)
    found = compared(history, first, second, level_of(history, (first, second), level))
    kept = tuple(
        each
        for each in found.results
        if all(
            not names or name in names
            for names, name in ((targets, each.target), (functions, each.function), (dtypes, each.dtype))
        )
    )
    if not kept:
        raise UsageError(f"nothing on record is meant by these options (targets: {_names(found.results)})")
    found = replace(found, results=kept)
    show(
        found,
        form,
        out,
        lines=lambda width: comparison_lines(found, width=width, height=SCREEN, details=details),
        document=comparison_document,
        left_out=LEFT_OUT,
    )
    over, missing = decisive(found, fail_on)
    if fail_on and (over or missing):
        warn(f"--fail-on {fail_on}: {_names(over or missing)}")
        sys.exit(OVER_BUDGET if over else MISSING)


def _names(results: Sequence[Any]) -> str:
    names = list(dict.fromkeys(each.target for each in results))
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
