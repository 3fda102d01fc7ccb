"""The releases of a library that can be installed here: those of a package index, or of a folder of wheels."""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from packaging import utils
from packaging.specifiers import SpecifierSet
from packaging.tags import compatible_tags, cpython_tags
from packaging.version import Version

from ..errors import MissingMeasurement, UsageError

PYPI = "https://pypi.org/simple"
Files = Iterable[tuple[str, Mapping[str, Any]]]  # names, and what the index says of each
_JSON = "application/vnd.pypi.simple.v1+json"  # PEP 691


@dataclass(frozen=True)
class Release:
    """One release. `released`: the day and second of its first file, as the index says it, `complete`: of its last one
    that can be installed here; empty where it does not. `missing`: why it cannot be installed here."""

    version: str
    released: str = ""
    missing: str = ""
    complete: str = ""

    @property
    def day(self) -> str:
        return self.released[:10]


def of_index(distribution: str, python: Sequence[int] = sys.version_info[:3]) -> list[Release]:
    """All releases that the package index has, the oldest first; `python`: version of the one to install them for.

    Raises MissingMeasurement where the index cannot be asked, or has no such project.
    """
    index = os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("PIP_INDEX_URL") or PYPI
    address = f"{index.rstrip('/')}/{utils.canonicalize_name(distribution)}/"
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers={"Accept": _JSON}), timeout=60) as answer:
            files = [(each["filename"], each) for each in json.loads(answer.read())["files"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise MissingMeasurement(f"{address} does not say which releases there are: {error}") from error
    return _releases(files, python)


def of_folder(distribution: str, folder: Path, python: Sequence[int] = sys.version_info[:3]) -> list[Release]:
    """Those of which a folder has a wheel or a source archive, the oldest first."""
    name = utils.canonicalize_name(distribution)
    files = [each for each in sorted(folder.iterdir()) if each.suffix == ".whl" or each.name.endswith(".tar.gz")]
    of_it = [each for each in files if utils.canonicalize_name(each.name.split("-")[0]) == name]
    found = _releases([(each.name, {}) for each in of_it], python)
    if not found:
        raise UsageError(f"{folder} has no wheel of {distribution}")
    return found


def _releases(files: Files, python: Sequence[int]) -> list[Release]:
    found: dict[Any, Release] = {}
    for version, released, missing in _described(files, python):
        complete = "" if missing else released
        before = found.setdefault(Version(version), Release(version, released, missing, complete))
        first = min(filter(None, (before.released, released)), default="")
        last = max(before.complete, complete)
        found[Version(version)] = replace(before, released=first, missing=before.missing and missing, complete=last)
    return [found[version] for version in sorted(found) if not version.is_prerelease]


def _described(files: Files, python: Sequence[int]) -> Iterator[tuple[str, str, str]]:
    """(version, when it came, why it cannot be installed) of each file that says its version."""
    here = frozenset(cpython_tags(python[:2])) | frozenset(compatible_tags(python[:2], f"cp{python[0]}{python[1]}"))
    for name, facts in files:
        try:
            if name.endswith(".whl"):
                _, version, _, tags = utils.parse_wheel_filename(name)
                missing = "" if tags & here else "no wheel for this Python and system"
            elif name.endswith(".tar.gz"):
                _, version = utils.parse_sdist_filename(name)
                missing = "" if not facts else "no wheel, only sources"
            else:
                continue
            needs = SpecifierSet(facts.get("requires-python") or "")
        except ValueError:  # of before the rules for names
            continue
        if not needs.contains(".".join(map(str, python))):
            missing = f"it needs Python {facts['requires-python']}"
        if facts.get("yanked"):
            why = facts["yanked"] if isinstance(facts["yanked"], str) else ""
            missing = f"withdrawn{f': {why}' if why else ''}"
        yield str(version), str(facts.get("upload-time") or "")[:19], missing


def chosen(releases: Iterable[Release], first: str | None, last: str | None, most: int | None) -> list[Release]:
    """Those from `first` to `last`; `most`: evenly among those that can be installed, both ends in.

    Raises UsageError where that leaves none.
    """
    try:
        low, high = (None if text is None else Version(text) for text in (first, last))
    except ValueError as error:
        raise UsageError(f"{error} (accepted: a version as 2.3.1)") from error
    found = [
        each
        for each in releases
        if (low is None or Version(each.version) >= low) and (high is None or Version(each.version) <= high)
    ]
    if all(each.missing for each in found):
        why = "; ".join(dict.fromkeys(each.missing for each in found)) or "there is none; pre-releases are left out"
        why = "the first is the later one" if low and high and low > high else why
        raise UsageError(f"no release from {first or 'the first'} to {last or 'the last'} can be installed here: {why}")
    if most is None:
        return found
    usable = [each for each in found if not each.missing]
    if most >= len(usable):
        return usable
    places = {round(at * (len(usable) - 1) / max(most - 1, 1)) for at in range(most)} if most > 1 else {len(usable) - 1}
    return [usable[place] for place in sorted(places)]


def key_of(version: str) -> Any:
    """By which versions are sorted."""
    return Version(version)
