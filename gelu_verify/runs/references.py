"""Runs by name: a folder, `latest`, `latest~1`, a run in `reports/`, or a committed one in `data/runs/`."""

from __future__ import annotations

import re
from pathlib import Path

from ..atomic_files import UNFINISHED
from ..errors import UsageError
from .committed import default_root
from .store import LATEST, MANIFEST, ROOT

_TIMED = re.compile(r"(\d{8}T\d{6}Z)-(\d+)")  # a run that was given no name
_EARLIER = re.compile(rf"{LATEST}(?:~(\d{{1,6}})|(~+))?")


def runs_in(root: Path) -> list[Path]:
    """Every run in `root`, by name; not one that is being written, and no link, which is a second name of one."""
    found = sorted(root.iterdir()) if root.is_dir() else []
    whole = (path for path in found if (path / MANIFEST).is_file() and not path.name.startswith(UNFINISHED))
    return [path for path in whole if not path.is_symlink()]


def _timed_runs(root: Path) -> list[Path]:
    """Those that are named by their time, the oldest first."""
    return sorted((path for path in runs_in(root) if _TIMED.fullmatch(path.name)), key=_moment)


def _moment(path: Path) -> tuple[str, int]:
    time, count = path.name.rsplit("-", 1)
    return time, int(count)


def latest(root: Path) -> Path | None:
    """The run that `latest` names, as a folder of its own; None where there is none."""
    link = root / LATEST
    if link.is_symlink():
        target = root / link.readlink()
    elif link.is_file():  # where links cannot be made
        target = root / link.read_text(encoding="utf-8").strip()
    else:
        return None
    return target if (target / MANIFEST).is_file() else None


def find_run(name: str, root: Path = ROOT, committed: Path | None = None) -> Path:
    """The folder of the run that a user named.

    `latest~1` is the run before the latest one in `root`, of those named by their time; `latest~2` the one before that.

    Raises
    ------
    UsageError : there is none of that name
    """
    if match := _EARLIER.fullmatch(name):
        return _earlier(name, int(match[1]) if match[1] else len(match[2] or ""), root)
    place = Path(name)
    if place.name == LATEST and not place.is_dir() and (found := latest(place.parent)):
        return found
    inside = [root / name, (default_root() if committed is None else committed) / name] if place.name == name else []
    for each in (place, *inside):
        if (each / MANIFEST).is_file():
            return each
    if place.exists():
        raise UsageError(f"{name} is not a stored run: it has no {MANIFEST}")
    accepted = f"a folder with {MANIFEST}, {LATEST}, {LATEST}~1, a name in {root} or data/runs"
    raise UsageError(f"no stored run {name!r} (accepted: {accepted})")


def _earlier(name: str, count: int, root: Path) -> Path:
    newest = latest(root)
    if newest is None:
        raise UsageError(f"no stored run {name!r}: {root} has no {LATEST}")
    before = [run for run in _timed_runs(root) if run.name != newest.name and not _is_later(run, newest)]
    if count > len(before):
        raise UsageError(f"no stored run {name!r}: {root} has {len(before)} before {LATEST}")
    return before[-count] if count else newest


def _is_later(run: Path, newest: Path) -> bool:
    """Whether it was stored after the one that `latest` names, which a user may have turned back."""
    return _TIMED.fullmatch(newest.name) is not None and _moment(run) > _moment(newest)
