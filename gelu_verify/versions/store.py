"""What was measured of releases: one small file for each, and one for each library with the different outputs.

A path of a release has, at each instruction-set level, a digest of all its outputs. What these are worth is kept once
for each digest, whichever releases gave them: equal releases are seen to be equal without numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..atomic_files import claimed, replace_file
from ..buckets.bins import FLOOR, layout
from ..errors import ResultsError
from ..functions.regions import INTERVALS, REGIONS
from ..isa import at_level, split_level
from ..paths import resource
from ..records.parts import IntervalErrors, RegionErrors
from ..records.result import Record
from ..records.serialize import record_from_json, to_json
from .releases import key_of

SCHEMA = 1
OUTPUTS = "outputs.json"
CURVE, STEPS = 4, 4  # bins of a curve in each binade (`buckets.bins.layout`), and steps of an error in each octave
FINITE = INTERVALS[1:-1]
_KEYS = (
    *("target", "family", "function", "dtype", "form", "expression", "version", "plan", "seed", "n", "bound"),
    *("inputs_sha256", "max_ulp", "witness", "nonfinite", "zero_sign", "zero_from"),
    *("p99_ulp", "max_abs_error", "mean_bits", "correctly_rounded", "faithful", "grade", "grade_bound", "sentence"),
    *("conventions", "accurate_range", "failure", "failure_kind", "variant", "computes_in"),
)  # of a record; `checks` and `findings` are of those that failed, `regions` and `intervals` their largest errors
_LISTED = ("checks", "findings", "regions", "intervals")


@dataclass(frozen=True)
class KeptOutput:
    """What a path gives, and what that is worth.

    Parameters
    ----------
    digest : of all outputs, by which releases name it
    record : as a result is stored, without much of it (`lacking`)
    intervals : digest of the outputs in each interval of x
    curve : of each bin of `layout(dtype, CURVE)`, log2 of the largest |E| in steps of 1/4, rounded up; None where it
        has no inputs
    """

    digest: str
    record: Record
    intervals: Mapping[str, str]
    curve: tuple[int | None, ...]


def output_of(
    digest: str, record: Record, buckets: Mapping[str, np.ndarray], intervals: Mapping[str, str]
) -> KeptOutput:
    """An output with its curve, from the columns `bucket` and `max_error` of its bucket table."""
    bins = layout(record.dtype, CURVE)
    place = np.searchsorted(bins.edges, buckets["bucket"].astype(np.int64), side="right") - 1
    inside = (place >= 0) & (place < bins.size)
    largest = np.full(bins.size, np.nan)
    np.fmax.at(largest, place[inside], buckets["max_error"][inside].astype(np.float64))
    curve = tuple(None if math.isnan(error) else _step(error) for error in largest.tolist())
    return KeptOutput(digest, record, intervals, curve)


def _step(error: float) -> int:
    return max(math.ceil(STEPS * math.log2(error)), STEPS * FLOOR) if error else STEPS * FLOOR


@dataclass(frozen=True, kw_only=True)
class MeasuredRelease:
    """One release. `results`: by target/function/dtype and level, the digest of the outputs; `absent`: why a path has
    none, or has none at a level ("torch.gelu/gelu/bfloat16@avx2"); `failure`: why there is nothing at all."""

    version: str
    measured: str  # day
    released: str = ""  # day; empty where nobody says
    python: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    failure: str = ""

    def has(self, keys: Iterable[str], levels: Collection[str]) -> bool:
        """Whether all of these were measured at all levels, or could not be."""
        return not self.failure and all(
            key in self.absent or level in self.results.get(key, ()) or at_level(key, level) in self.absent
            for key in keys
            for level in levels
        )

    def with_other(self, other: MeasuredRelease) -> MeasuredRelease:
        """The same, with what only `other` has. A failure of all that was asked of one is none of the other."""
        if any(each.failure and not each.absent for each in (self, other)) or (self.failure and other.failure):
            return other if self.failure and not other.failure else self
        results = {
            key: {**other.results.get(key, {}), **self.results.get(key, {})} for key in {*self.results, *other.results}
        }
        every = {**other.absent, **self.absent}
        absent = {key: why for key, why in every.items() if not _is_there(key, results)}
        return replace(self, results=results, absent=absent, failure="")


@dataclass(frozen=True)
class History:
    """The releases of one library, the oldest first, and the outputs that they name."""

    library: str
    releases: tuple[MeasuredRelease, ...]
    outputs: Mapping[str, KeptOutput]

    def release(self, version: str) -> MeasuredRelease | None:
        """None where it was not measured."""
        return next((each for each in self.releases if each.version == version), None)

    def output(self, release: MeasuredRelease, key: str, level: str) -> KeptOutput | None:
        """What a path of a release gives at a level; None where it was not measured."""
        digest = release.results.get(key, {}).get(level)
        if digest is not None and digest not in self.outputs:
            raise ResultsError(f"{self.library} {release.version} names an output that is not kept: {digest} ({key})")
        return None if digest is None else self.outputs[digest]

    @property
    def keys(self) -> list[str]:
        """target/function/dtype of everything measured in any release."""
        return sorted({key for each in self.releases for key in each.results})

    @property
    def levels(self) -> list[str]:
        """Instruction-set levels of any release."""
        return sorted({level for each in self.releases for of in each.results.values() for level in of})


def default_root() -> Path:
    """data/versions, of the installed package or of the checkout."""
    return resource("data/versions")


def libraries_in(root: Path) -> list[str]:
    """Those of which anything is kept."""
    return sorted(each.parent.name for each in root.glob(f"*/{OUTPUTS}"))


def read_history(root: Path, library: str) -> History:
    """ResultsError where a file is none that this version reads; an empty history where there are none."""
    folder = root / library
    outputs: Mapping[str, KeptOutput] = {}
    if (folder / OUTPUTS).exists():
        outputs = _Outputs(_read(folder / OUTPUTS)["outputs"])
    files = [each for each in folder.glob("*.json") if each.name != OUTPUTS]
    releases = [_release(each) for each in files]
    return History(library, tuple(sorted(releases, key=lambda each: key_of(each.version))), outputs)


def _is_there(name: str, results: Mapping[str, Mapping[str, str]]) -> bool:
    """Whether a path, or a path at a level, has results."""
    key, level = split_level(name)
    return level in results.get(key, ()) if level else key in results


class _Outputs(Mapping[str, KeptOutput]):
    """Outputs of a file, each made when it is first asked for."""

    def __init__(self, entries: Mapping[str, Mapping[str, Any]]) -> None:
        self._entries = entries
        self._made: dict[str, KeptOutput] = {}

    def __getitem__(self, digest: str) -> KeptOutput:
        if digest not in self._made:
            self._made[digest] = _output(digest, self._entries[digest])
        return self._made[digest]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def keep(root: Path, library: str, release: MeasuredRelease, outputs: Iterable[KeptOutput]) -> None:
    """Add a release, or what is new of it, and the outputs that no other had; each file is replaced at once."""
    root.mkdir(parents=True, exist_ok=True)
    with claimed(root / library, wait=True):
        _keep(root / library, release, outputs)


def _keep(folder: Path, release: MeasuredRelease, outputs: Iterable[KeptOutput]) -> None:
    if (before := folder / f"{release.version}.json").exists():
        release = release.with_other(_release(before))
    path = folder / OUTPUTS
    known = _read(path)["outputs"] if path.exists() else {}
    known |= {each.digest: _entry(each) for each in outputs}
    lines = ",\n".join(f"{_text(digest)}: {_text(entry)}" for digest, entry in sorted(known.items()))
    _write(path, f'{{"schema": {SCHEMA}, "outputs": {{\n{lines}\n}}}}\n')
    document = {"schema": SCHEMA, **{name: value for name, value in asdict(release).items() if value}}
    document["absent"] = _by_reason(release.absent)
    head, results = document, {key: dict(sorted(of.items())) for key, of in sorted(document.pop("results", {}).items())}
    body = ",\n".join(f"{_text(key)}: {_text(of)}" for key, of in results.items())
    _write(folder / f"{release.version}.json", f'{_text(head)[:-1]}, "results": {{\n{body}\n}}}}\n')


def _by_reason(absent: Mapping[str, str]) -> dict[str, list[str]]:
    """The same, each reason once."""
    return {why: sorted(key for key in absent if absent[key] == why) for why in sorted({*absent.values()})}


def _write(path: Path, text: str) -> None:
    try:
        replace_file(path, text.encode())
    except OSError as error:
        raise ResultsError(f"cannot write {path}: {error.strerror}") from error


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["schema"] != SCHEMA:
            raise ResultsError(f"{path} has schema {document['schema']!r} (accepted: {SCHEMA})")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultsError(f"cannot read {path}: {type(error).__name__}: {error}") from error
    return dict(document)


def _release(path: Path) -> MeasuredRelease:
    """ResultsError where it is none, or another one than its name says."""
    document = _read(path)
    names = {each.name for each in fields(MeasuredRelease)}
    try:
        absent = {key: why for why, keys in document.get("absent", {}).items() for key in keys}
        found = MeasuredRelease(**{name: each for name, each in document.items() if name in names} | {"absent": absent})
        key_of(found.version)
        if found.version != path.stem:
            raise ValueError(f"it is of {found.version}")
        if not all(isinstance(each, dict) for each in (found.results, *found.results.values())):
            raise TypeError(f"its results are {found.results}")
    except (AttributeError, TypeError, ValueError) as error:
        raise ResultsError(f"{path} is no measured release: {type(error).__name__}: {error}") from error
    return found


# ---- an output -------------------------------------------------------------------------------------


def _entry(output: KeptOutput) -> dict[str, Any]:
    record = output.record
    whole = to_json(record)
    found = {key: whole[key] for key in _KEYS if whole.get(key) is not None}
    found["checks"] = sorted(record.failed_checks)
    found["findings"] = {name: whole["findings"][name] for name in record.failed_checks if name in whole["findings"]}
    found["regions"] = [_number(part.max_ulp) for part in record.regions or ()]
    errors = {part.interval: part.max_ulp for part in record.intervals or ()}
    found["intervals"] = [_number(errors.get(name)) for name in FINITE]
    return {**found, "digests": [output.intervals.get(name) for name in INTERVALS], "curve": list(output.curve)}


def _number(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def _output(digest: str, entry: Mapping[str, Any]) -> KeptOutput:
    try:
        digests = dict(zip(INTERVALS, entry["digests"], strict=True))
        document = {key: value for key, value in entry.items() if key in _KEYS}
        record = replace(
            record_from_json({"note": "", "repeat": "", **document, "bits_sha256": digest}),
            checks=dict.fromkeys(entry["checks"], "fail"),
            findings=record_from_json({"note": "", "repeat": "", **document, "findings": entry["findings"]}).findings,
            regions=tuple(
                RegionErrors(region.name, None, value, None)
                for region, value in zip(REGIONS, entry["regions"], strict=False)
            ),
            intervals=tuple(
                IntervalErrors(name, 0, 0, 0, value, None, None, None)
                for name, value in zip(FINITE, entry["intervals"], strict=True)
                if value is not None
            ),
        )
        lacking = record.lacking - {*_LISTED, *_KEYS, "bits_sha256"}
        named = {name: each for name, each in digests.items() if each}
        return KeptOutput(digest, replace(record, lacking=lacking), named, tuple(entry["curve"]))
    except (KeyError, TypeError, ValueError) as error:
        raise ResultsError(f"the output {digest} is none: {type(error).__name__}: {error}") from error
