"""What is on record: the releases that come with this package, and those that were measured here beside them."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..errors import MissingMeasurement, UsageError, one_of
from ..isa import LEVELS, level_of_machine
from ..machine import machine
from . import HERE as KEPT_HERE
from .libraries import LIBRARIES
from .releases import key_of
from .store import History, MeasuredRelease, default_root, libraries_in, read_history

HERE = Path(KEPT_HERE)


def history_of(library: str) -> History:
    """All releases of a library on record; those measured here count before those that come with the package.

    Raises UsageError where there is none.
    """
    committed = _read(default_root(), library, _stamp(default_root(), library))
    own = _read(HERE.absolute(), library, _stamp(HERE, library)) if (HERE / library).is_dir() else None
    releases = {each.version: each for history in (committed, own) if history for each in history.releases}
    if not releases:
        known = sorted({*libraries_in(default_root()), *libraries_in(HERE)})
        raise one_of("library", library, known)
    outputs = ChainMap({}, dict(own.outputs) if own else {}, committed.outputs)  # type: ignore[arg-type]
    return History(library, tuple(sorted(releases.values(), key=lambda each: key_of(each.version))), outputs)


@lru_cache(maxsize=16)
def _read(root: Path, library: str, stamp: int) -> History:
    return read_history(root, library)


def _stamp(root: Path, library: str) -> int:
    """Another number after anything was kept."""
    files = (root / library).glob("*.json")
    return max((file.stat().st_mtime_ns for file in files), default=0)


def release_of(history: History, asked: str | None, is_old: bool) -> MeasuredRelease:
    """A release by its version, or by the beginning of it; without one, what is installed, or the newest.

    Raises
    ------
    MissingMeasurement : it was not measured, or nothing is installed
    """
    usable = [each for each in history.releases if not each.failure]
    if not usable:
        raise MissingMeasurement(f"no release of {history.library} could be measured")
    if asked is None and not is_old:
        return usable[-1]
    text = _installed(history.library) if asked is None else asked
    named = [each for each in usable if each.version == text or each.version.startswith(f"{text}.")]
    exact = [each for each in named if each.version == text]
    if not named:
        failure = next((each.failure for each in history.releases if each.version == text), "")
        state = f"could not be measured: {failure}" if failure else "is not on record"
        raise MissingMeasurement(
            f"{history.library} {text} {state} (on record: {', '.join(e.version for e in usable)}; to "
            f"measure it: gelu-verify versions {history.library} --from {text} --to {text})"
        )
    return (exact or named)[-1]


def _installed(library: str) -> str:
    distribution = LIBRARIES[library].distribution if library in LIBRARIES else library
    for name in (distribution, library):
        try:
            return version(name).partition("+")[0]
        except PackageNotFoundError:
            continue
    raise MissingMeasurement(f"{library} is not installed here: say from which release (upgrade {library} OLD [NEW])")


def level_of(history: History, releases: Sequence[MeasuredRelease], asked: str | None) -> str:
    """The level to compare at; UsageError where it is not on record of both."""
    sets = [{level for of in each.results.values() for level in of} for each in releases]
    both = sets[0].intersection(*sets[1:])
    if asked is not None:
        if asked not in both:
            raise UsageError(f"level {asked!r} is not on record of both (accepted: {', '.join(sorted(both))})")
        return asked
    if not both:
        raise MissingMeasurement(f"these releases of {history.library} were measured at different levels")
    ranks = list(LEVELS)
    here = level_of_machine(machine())
    limit = ranks.index(here) if here in ranks else -1
    below = [each for each in both if each in ranks and ranks.index(each) <= limit]
    return max(below or both, key=lambda each: ranks.index(each) if each in ranks else -1)
