"""`runs`: list, remove, export and import stored runs."""

from __future__ import annotations

import datetime
import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import UsageError
from .options import SIZE, Typed, check_apart, whole_number
from .program import say, warn

if TYPE_CHECKING:
    from ..runs.folder import RunFolder

_DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "y": 365.25}
_MOST_RUNS = 1 << 30


def _age(option: str, text: str) -> datetime.timedelta:
    """A length of time: 12h, 30d, 8w, 1y."""
    match = re.fullmatch(r"([0-9]{1,6})([hdwy])", text)
    if not match or float(match[1]) * _DAYS[match[2]] > 365_000:
        raise UsageError(f"{option} {text[:40]!r} is not an age (accepted: 12h, 30d, 8w, 1y)")
    return datetime.timedelta(days=float(match[1]) * _DAYS[match[2]])


_FOLDER = click.option("--runs", "root", type=click.Path(path_type=Path), default=Path("reports"), show_default=True,
                       metavar="DIR", help="Folder of the runs.")  # fmt: skip


@click.group(name="runs")
def runs() -> None:
    """List, remove, export and import stored runs.

    list shows the runs in reports/ and how large they are, prune removes old ones, export makes one file of some, and
    import reads it back.
    """


@runs.command(name="list")
@_FOLDER
@click.option("--recorded", type=click.Path(path_type=Path), metavar="DIR",
              help="Folder of recorded runs; default data/runs.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print only JSON on stdout.")
def list_runs(root: Path, recorded: Path | None, as_json: bool) -> None:
    """List stored runs, the oldest first, with their sizes; and recorded runs."""
    from ..runs.committed import default_root
    from ..runs.folder import entries

    found, committed = entries(root), entries(recorded or default_root())
    total = sum(each.size for each in found)
    if as_json:
        every = {"runs": [_object(each) for each in found], "recorded": [_object(each) for each in committed]}
        click.echo(json.dumps({**every, "size": total}, indent=1, allow_nan=False))
        return
    width = shutil.get_terminal_size().columns
    for each in found:
        for line in _lines(each, width):
            say(line)
    count = sum(each.is_run for each in found)
    say(f"{count} run{'' if count == 1 else 's'} in {root}: {size_text(total)}")
    if committed:
        names = ", ".join(f"{each.path.name} ({size_text(each.size)})" for each in committed)
        say(f"recorded runs: {names}")


def _object(entry: RunFolder) -> dict[str, Any]:
    return {
        "name": entry.path.name, "created": entry.created or None, "command": entry.command or None,
        "plan": entry.plan or None, "seed": entry.seed if entry.is_run else None,
        "results": entry.results if entry.is_run else None, "size": entry.size,
        "grades": None if entry.grades is None else {grade or "none": n for grade, n in entry.grades.items()},
        "latest": entry.is_latest, "problem": entry.problem or None,
    }  # fmt: skip


def _lines(entry: RunFolder, width: int) -> Iterator[str]:
    from ..show.terminal import shortened

    if not entry.is_run:
        yield f"{'-':16}  {size_text(entry.size):>8}  {entry.path.name}: {entry.problem}"
        return
    mark = " (latest)" if entry.is_latest else " (recorded)" if entry.committed else ""
    date = entry.created.replace("T", " ")[:16]
    what = f"{entry.results} result{'' if entry.results == 1 else 's'}, plan {entry.plan}, seed {entry.seed}"
    yield f"{date}  {size_text(entry.size):>8}  {entry.path.name}{mark}: {what}"
    yield f"{'':28}{shortened(_grades(entry.grades or {}), width - 28)}"
    yield f"{'':28}{shortened(entry.command, width - 28)}"


def _grades(counts: Mapping[Any, int]) -> str:
    """How many results have which grade, the worst first."""
    from ..records.grades import GRADES

    named = [f"{counts[grade]} {GRADES[grade].title}" for grade in reversed(GRADES) if counts.get(grade)]
    return ", ".join([*named, *([f"{counts[None]} without a grade"] if counts.get(None) else [])])


def size_text(size: int) -> str:
    """864 KB, 36.1 MB: in units of 1024 bytes."""
    for unit, bytes_ in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if size >= bytes_:
            return f"{size / bytes_:.3g} {unit}" if size < 1000 * bytes_ else f"{size / bytes_:.0f} {unit}"
    return f"{size} B"


@runs.command()
@_FOLDER
@click.option("--keep", type=whole_number(0, _MOST_RUNS), metavar="N", help="Keep at most the N newest runs.")
@click.option(
    "--older-than", type=Typed("age", _age), metavar="AGE", help="Remove runs that are older: 12h, 30d, 8w, 1y."
)
@click.option("--max-size", type=SIZE, metavar="SIZE",
              help="Remove the oldest runs until all together are not larger: 500M, 1G.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only print what would be removed.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def prune(
    root: Path, keep: int | None, older_than: datetime.timedelta | None, max_size: int | None, dry_run: bool, yes: bool
) -> None:
    """Remove stored runs that are over a limit, the oldest first.

    Each limit that is given is met. What is never removed: the run that latest names, recorded runs, runs that git has,
    runs that a process uses or writes, and folders that are not runs or hold anything else.
    """
    from ..atomic_files import remove_abandoned
    from ..report.columns import FILES
    from ..runs.folder import PruneLimits, entries, protected, remove, surplus

    if keep is None and older_than is None and max_size is None:
        raise UsageError("nothing to remove: give a limit (accepted: --keep 10, --older-than 30d, --max-size 1G)")
    check_apart("--dry-run", "--yes")
    limits, now = PruneLimits(keep, older_than, max_size), datetime.datetime.now(datetime.UTC)
    chosen, staying = surplus(entries(root), limits, now, lambda each: protected(each, FILES))
    for each, reason in staying:
        say(f"kept {each.path.name} ({size_text(each.size)}): {reason}")
    total = sum(each.size for each in chosen)
    if not chosen:
        say("no run is to be removed")
        return
    if not dry_run and not yes:
        _ask(chosen, total)
    for each in chosen:
        done = "would remove" if dry_run else "removed" if remove(each) else "kept, because it is in use:"
        say(f"{done} {each.path.name} ({size_text(each.size)})")
    if not dry_run:
        remove_abandoned(root)
    left = sum(each.size for each in entries(root)) - (total if dry_run else 0)
    say(f"{root} {'would have' if dry_run else 'has'} {size_text(left)} then")


def _ask(chosen: list[RunFolder], total: int) -> None:
    """Whether to remove; UsageError where nobody can answer."""
    if not sys.stdin.isatty():
        raise UsageError(f"{len(chosen)} runs would be removed: say --yes (or --dry-run to see which)")
    for each in chosen:
        say(f"{each.path.name} ({size_text(each.size)}): {each.command}", err=True)
    if not click.confirm(f"Remove {len(chosen)} runs ({size_text(total)})?", err=True):
        raise click.exceptions.Exit(0)


@runs.command()
@click.argument("names", nargs=-1, metavar="[RUN]...")
@_FOLDER
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True, metavar="FILE",
              help="The archive: NAME.zip or NAME.tar.zst.")  # fmt: skip
def export(names: tuple[str, ...], root: Path, out: Path) -> None:
    """Make one file of stored runs, without their reports. The default is latest.

    RUN is named as in compare. The same runs give the same bytes.
    """
    from ..atomic_files import in_use
    from ..runs.archive import export_runs, suffix_of
    from ..runs.integrity import verified
    from ..runs.references import find_run
    from ..runs.store import read_run

    suffix_of(out)
    places = [find_run(name, root) for name in dict.fromkeys(names or ("latest",))]
    with in_use(*places):
        size = export_runs([verified(read_run(place)) for place in places], out)
    say(f"written: {out} ({len(places)} run{'' if len(places) == 1 else 's'}, {size_text(size)})")


@runs.command(name="import")
@click.argument("archives", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@_FOLDER
def import_(archives: tuple[Path, ...], root: Path) -> None:
    """Read runs from files that runs export made, and check them as every stored run is."""
    from ..runs.archive import import_runs

    for archive in archives:
        added, there = import_runs(archive, root)
        for place in added:
            say(f"imported: {place}")
        for place in there:
            warn(f"{place} is there already, and is the same run")
