"""Where releases come from: a package index, a folder of wheels, or the commits of a git checkout."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from packaging.utils import canonicalize_name
from packaging.version import Version

from ..compare.measuring import measured_at
from ..compare.revisions import Repository
from ..errors import GeluVerifyError, UsageError
from ..inputs.special import SPECIALS
from ..records.result import Record
from ..runs.bucket_files import read_columns
from ..runs.store import Run
from .bisect import UNMEASURED
from .environments import CannotBeInstalled, Installed, Installer
from .libraries import LIBRARIES, Way, get_library, ways_of_package
from .measuring import PLAN, Installing, ReleaseMeasurer, failed, own_level
from .releases import Release, of_folder, of_index
from .store import KeptOutput, MeasuredRelease, output_of

_MODULE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")  # module:function, where it is no file


class Measurer(Protocol):
    """What measures a release; `known`: outputs by their digest, those that it finds come to it."""

    ways: Sequence[Way]
    levels: Sequence[str]
    known: dict[str, KeptOutput]

    def measured(self, release: Release) -> MeasuredRelease: ...

    def output(self, release: Release, way: Way, level: str, x_bits: int) -> str: ...


@dataclass(frozen=True)
class ReleaseSource:
    """Releases under a name, and what measures them."""

    name: str
    releases: Sequence[Release]
    measurer: Measurer


def of_library(name: str, installer: Installer) -> ReleaseSource:
    """A library whose paths are known."""
    library = get_library(name)

    @contextmanager
    def install(release: Release) -> Iterator[Installed]:
        requirements, alone = library.to_install(release.version)
        with installer.environment(requirements, release.complete, alone, library.besides) as installed:
            check_installed(installed, library.distribution, release.version)
            yield installed

    measurer = ReleaseMeasurer(
        name, name, install, list(library.ways()), compiles_per_length=library.compiles_per_length
    )
    return ReleaseSource(name, _releases(library.distribution, installer), measurer)


def of_package(
    name: str, targets: Sequence[str], functions: Sequence[str], dtypes: Sequence[str], array: str, installer: Installer
) -> ReleaseSource:
    """Functions of somebody's own package, `module:function`, on arrays of NumPy or torch."""

    @contextmanager
    def install(release: Release) -> Iterator[Installed]:
        with installer.environment([f"{name}=={release.version}"], release.complete) as installed:
            check_installed(installed, name, release.version)
            yield installed

    return ReleaseSource(
        name, _releases(name, installer), _of_package(name, install, targets, functions, dtypes, array)
    )


def of_checkout(
    folder: Path, targets: Sequence[str], functions: Sequence[str], dtypes: Sequence[str], array: str,
    installer: Installer, first: str | None, last: str | None,
) -> ReleaseSource:  # fmt: skip
    """Commits: of a package, which is installed from each, or of files, which are measured as `compare` does."""
    repository = Repository.around(folder)
    releases = commits(repository, first, last)
    name = repository.top.name
    if not all(_MODULE.fullmatch(target) and not (folder / target.partition(":")[0]).exists() for target in targets):
        named = [repository.relative(target) for target in targets]
        return ReleaseSource(name, releases, _Files(repository, named, functions, dtypes))

    @contextmanager
    def install(release: Release) -> Iterator[Installed]:
        revision = repository.revision(commit_of(release.version))
        with (
            repository.checked_out(revision) as (place, _),
            installer.environment([str(place)], release.released) as installed,
        ):
            yield installed

    return ReleaseSource(name, releases, _of_package(name, install, targets, functions, dtypes, array))


def check_installed(installed: Installed, distribution: str, version: str) -> None:
    """CannotBeInstalled where another release is there: what was named is what runs."""
    found = {canonicalize_name(name): each for name, each in installed.packages.items()}
    there = found.get(canonicalize_name(distribution))
    if there is None or Version(version) not in (Version(there), Version(Version(there).public)):
        raise CannotBeInstalled(f"{there or 'nothing'} was installed in the place of {distribution} {version}")


def _releases(distribution: str, installer: Installer) -> list[Release]:
    python = installer.python_version
    if installer.find_links:
        return of_folder(distribution, installer.find_links, python)
    return of_index(distribution, python)


def _of_package(
    name: str, install: Installing, targets: Sequence[str], functions: Sequence[str], dtypes: Sequence[str], array: str
) -> ReleaseMeasurer:
    if not targets or not all(":" in target for target in targets):
        watched = ", ".join(sorted(LIBRARIES))
        raise UsageError(f"say which function of {name} to call: --target module:function (known without: {watched})")
    adapter = "package-torch" if array == "torch" else "package"
    ways = [way for target in targets for way in ways_of_package(target, functions, dtypes, array)]
    return ReleaseMeasurer(name, adapter, install, ways)


@dataclass
class _Files:
    """Files of a repository, each commit in a folder of its own."""

    repository: Repository
    targets: Sequence[str]
    functions: Sequence[str]
    dtypes: Sequence[str]

    def __post_init__(self) -> None:
        self.known: dict[str, KeptOutput] = {}
        self.levels: Sequence[str] = ("",)
        self.ways: Sequence[Way] = [
            way for target in self.targets for way in ways_of_package(target, self.functions, self.dtypes)
        ]

    def measured(self, release: Release) -> MeasuredRelease:
        try:
            with TemporaryDirectory(prefix="gelu-verify-commit-") as folder:
                run = self._run(release, self.targets, ["--plan", PLAN, "--budget", "0"], Path(folder) / "run")
                results = {record.key: self._kept(run, at, record) for at, record in enumerate(run.results)}
        except GeluVerifyError as error:
            return failed(release, str(error).removeprefix(f"at {release.version}: "))
        absent = {record.key: record.failure or "" for record in run.results if results[record.key] is None}
        found = {key: {own_level(): digest} for key, digest in results.items() if digest}
        if not found:
            return failed(release, next(iter(absent.values()), "nothing was measured"))
        return replace(failed(release, ""), results=found, absent=absent)

    def _kept(self, run: Run, at: int, record: Record) -> str | None:
        if record.buckets is None or record.bits_sha256 is None:
            return None
        output = output_of(record.bits_sha256[:16], record, read_columns(run.buckets(at)), {})
        self.known[output.digest] = output
        return output.digest

    def output(self, release: Release, way: Way, level: str, x_bits: int) -> str:
        with TemporaryDirectory(prefix="gelu-verify-commit-") as folder:
            try:
                run = self._run(release, [way.target], ["--bits", hex(x_bits)], Path(folder) / "run")
            except GeluVerifyError as error:
                return f"{UNMEASURED}{error}"
            (record,) = run.results
            given = (record.witness, *(record.findings.get(check) for check in SPECIALS))
            outputs = (each.got_bits for each in given if each and each.x_bits and int(each.x_bits, 16) == x_bits)
            return next(filter(None, outputs), None) or f"{UNMEASURED}{record.failure or 'no output'}"

    def _run(self, release: Release, targets: Sequence[str], inputs: Sequence[str], out: Path) -> Run:
        revision = self.repository.revision(commit_of(release.version))
        words = [*inputs, "--throughput", "none", *(w for f in self.functions for w in ("--function", f))]
        words += [word for dtype in self.dtypes for word in ("--dtype", dtype)]
        with self.repository.checked_out(revision) as (place, variables):
            there = [target for target in targets if self.repository.has(target, place)]
            if not there:
                raise UsageError(f"it has no file of {', '.join(targets)}")
            return measured_at(place, variables, [*words, "--", *there], out, release.version)


def commits(repository: Repository, first: str | None, last: str | None) -> list[Release]:
    """The commits from `first` (default: the oldest) to `last` (default: HEAD), along first parents, the oldest first.

    A version is the number of commits up to one, and the beginning of its name: "128+g1a2b3c4d5e6f".

    Raises UsageError where there is no such revision.
    """
    end = repository.revision(last or "HEAD").commit or ""
    start = repository.revision(first).commit if first else None
    listed = repository.history(end, start)
    before = repository.count(end) - len(listed)
    return [Release(f"{before + at}+g{commit[:12]}", moment) for at, (commit, moment) in enumerate(listed, 1)]


def commit_of(version: str) -> str:
    """The name of the commit that a version is of."""
    return version.partition("+g")[2]
