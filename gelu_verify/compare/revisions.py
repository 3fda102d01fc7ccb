"""Two revisions of code in a git repository, each in a temporary folder of its own, and which of it a target names.

Only objects are read: the user's checkout, index and branches stay as they are. `git archive` is not used, because it
leaves out what the attribute `export-ignore` names.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..commands import environment
from ..errors import MissingMeasurement, UsageError
from ..targets.kinds import kind_of
from .installed import environment_of

_RANGE = re.compile(r"(?P<old>[^.\s][^\s]*?)(?P<dots>\.{2,3})(?P<new>[^./\s][^\s]*)?")
WORKING_TREE = "the working tree"
_SETTINGS = ("core.hooksPath=/dev/null", "color.ui=false", "color.grep=false")  # whatever the user's are
_PACKAGES = ("", "src")  # below which Python looks for a module


@dataclass(frozen=True)
class Revision:
    """A commit of the repository, or what lies in the working tree."""

    name: str
    commit: str | None  # None: the working tree
    folder: str | None = None  # where the user is, below the top; None: as in the working tree

    @property
    def label(self) -> str:
        """For people."""
        return self.name if self.commit is None else f"{self.name} ({self.commit[:12]})"


@dataclass(frozen=True)
class Repository:
    """The git repository that a folder lies in."""

    top: Path
    here: Path  # where the user is

    @classmethod
    def around(cls, folder: Path) -> Repository:
        """UsageError where there is none."""
        top = _git(folder, "rev-parse", "--show-toplevel")
        if not top:
            raise UsageError(f"{folder} is in a git repository without a working tree")
        return cls(Path(top).resolve(), folder.resolve())

    def range(self, text: str) -> tuple[Revision, Revision]:
        """OLD..NEW, OLD.. (to the working tree), OLD...NEW (from where NEW parted from OLD)."""
        match = _RANGE.fullmatch(text)
        assert match is not None
        old, new = match["old"], match["new"]
        second = Revision(new, self._commit(new)) if new else Revision(WORKING_TREE, None)
        first = Revision(old, self._commit(old))
        if match["dots"] == "...":
            base = _git(self.top, "merge-base", first.commit or "", second.commit or "HEAD")
            first = Revision(f"where {new or 'HEAD'} parted from {old}", base)
        return first, second

    def revision(self, name: str) -> Revision:
        """UsageError where there is none of that name."""
        return Revision(name, self._commit(name))

    def first_with(
        self, text: str, file: Path, name: str, is_one: Callable[[str], bool], beside: Sequence[str]
    ) -> Revision | None:
        """Where a file had a text first, also by another path; None where it never had it.

        Later commits only moved, restored or merged it. `is_one`: whether what a file contains is such a file, and
        does not quote it; `beside`: names of files, one of which is in the folder where the user is.
        """
        found, at, path = None, "HEAD", os.path.relpath(file.resolve(), self.top)
        from_file = os.path.relpath(self.here, file.parent.resolve())
        while commits := _git(
            self.top, "log", "-m", "--topo-order", "--format=%H", f"-S{text}", at, "--", f":(top,literal){path}"
        ):
            commit = commits.splitlines()[-1]
            found = Revision(name, commit, self._folder(commit, os.path.join(os.path.dirname(path), from_file), beside))
            for at in _git(self.top, "rev-parse", f"{commit}^@").split():
                if earlier := self._file_with(text, at, is_one):
                    path = earlier
                    break
            else:
                break
        return found

    def _file_with(self, text: str, commit: str, is_one: Callable[[str], bool]) -> str | None:
        """A file of a commit with a text in it; None where there is none that is one."""
        try:
            there = _git(self.top, "grep", "-z", "-l", "-F", "-e", text, commit, "--", ":(top)").split("\0")
        except UsageError:  # nowhere
            return None
        paths = (each.removeprefix(f"{commit}:") for each in there if each)
        return next((each for each in paths if is_one(f"{_git(self.top, 'show', f'{commit}:{each}')}\n")), None)

    def _folder(self, commit: str, path: str, beside: Sequence[str]) -> str | None:
        """A folder of a commit; None where none of the files is in it."""
        folder = os.path.normpath(path)
        names = [os.path.normpath(os.path.join(folder, name)) for name in beside]
        return folder if _git(self.top, "ls-tree", "--name-only", "--full-tree", commit, "--", *names) else None

    def history(self, last: str, first: str | None) -> list[tuple[str, str]]:
        """(commit, when it was made) along first parents, from `first` on, the oldest first."""
        words = ["log", "--first-parent", "--reverse", "--format=%H %cI", last]
        found = [(line.split()[0], line.split()[1]) for line in _git(self.top, *words).splitlines()]
        if first is None:
            return found
        places = [at for at, (commit, _) in enumerate(found) if commit == first]
        if not places:
            raise UsageError(f"{first[:12]} is not among the first parents of {last[:12]}")
        return found[places[0] :]

    def count(self, commit: str) -> int:
        """How many commits lead to one, along first parents."""
        return int(_git(self.top, "rev-list", "--first-parent", "--count", commit))

    def begins_with(self, commit: str) -> bool:
        """Whether the history that is here was cut off before that commit, which seems to have brought everything."""
        file = self.top / _git(self.top, "rev-parse", "--git-path", "shallow")
        return file.exists() and commit in file.read_text().split()

    def stages(self, file: Path) -> tuple[str | None, str | None, str | None]:
        """A file in conflict: as it was, as it is here, and as the other branch has it; None where it is not there."""
        named = os.path.relpath(file.resolve(), self.top)
        found = {
            line.split()[2]: line.split()[1] for line in _git(self.top, "ls-files", "-u", "--", named).splitlines()
        }
        base, ours, theirs = (
            _git(self.top, "cat-file", "blob", found[n]) + "\n" if n in found else None for n in "123"
        )
        return base, ours, theirs

    def _commit(self, name: str) -> str:
        try:
            return _git(self.top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        except UsageError:
            raise UsageError(f"{name!r} is not a revision of the repository in {self.top}") from None

    @contextmanager
    def checked_out(self, revision: Revision) -> Iterator[tuple[Path, dict[str, str]]]:
        """A folder with the revision in it, at the place where the user is in the working tree, and the environment
        variables with which its code finds itself."""
        if revision.commit is None:
            yield self.here, {}
            return
        with tempfile.TemporaryDirectory(prefix="gelu-verify-revision-") as folder:
            tree = Path(folder) / "tree"
            tree.mkdir()
            index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            _git(self.top, "read-tree", revision.commit, **index)
            _git(self.top, "checkout-index", "--all", f"--prefix={tree}/", **index)
            below = revision.folder or str(self.here.relative_to(self.top))
            place = tree / below
            if not place.is_dir():
                raise MissingMeasurement(f"{revision.label} has no folder {below}")
            yield place, environment_of(self.top, tree, Path(folder) / "packages")

    def relative(self, target: str) -> str:
        """The target with the path of its file relative to where the user is; UsageError where it is not in here."""
        written = self._file(target)
        if written is None:
            accepted = "kernel.c:gelu, ops.py:gelu, model.onnx: a file in the repository"
            raise UsageError(
                f"{target} is not a file in {self.top}, so its revisions cannot differ (accepted: {accepted})"
            )
        path = Path(os.path.abspath(self.here / Path(written).expanduser()))
        if not path.is_relative_to(self.top):
            raise UsageError(f"{target} is not in the repository {self.top}")
        if path.is_symlink() and not path.resolve().is_relative_to(self.top):
            raise UsageError(f"{target} is a link to something outside of the repository {self.top}")
        if not (Path(written).is_absolute() or written.startswith("~")):
            return target
        return target.replace(written, os.path.relpath(path, self.here), 1)

    def has(self, target: str, place: Path) -> bool:
        """Whether a revision, checked out at `place`, has the file of a target that is `relative`."""
        return any((place / each).exists() for each in self._candidates(target))

    def _file(self, target: str) -> str | None:
        """The file that a target names, as it is written; of a module, where it would lie."""
        candidates = self._candidates(target)
        return next(
            (each for each in candidates if (self.here / Path(each).expanduser()).exists()),
            candidates[0] if candidates else None,
        )

    def _candidates(self, target: str) -> list[str]:
        """What may be the file of a target; nothing where it is not named by a file."""
        kind = kind_of(target)
        if kind is None:
            return []
        match = kind.pattern.fullmatch(target)
        groups = match.groupdict() if match else {}
        if groups.get("file"):
            return [groups["file"]]
        if "command" in groups:  # "pipe:python3 gelu.py": a word that is a file
            words = shlex.split(groups["command"])
            return [word for word in words if (self.here / word).is_file()] or [word for word in words if "/" in word]
        if ".py" in target:
            return [re.split(r"(?<=\.py)(?::|$)", target)[0]]
        module = target.partition(":")[0].replace(".", "/")
        return [os.path.join(base, f"{module}{end}") for base in _PACKAGES for end in (".py", "/__init__.py")]


def is_range(text: str) -> bool:
    """Whether it is written as a range of revisions, and is not a file or a folder."""
    return _RANGE.fullmatch(text) is not None and not Path(text).exists()


def _git(folder: Path, *arguments: str, **variables: str) -> str:
    """What git prints; UsageError with its first line where it fails."""
    settings = (word for setting in _SETTINGS for word in ("-c", setting))
    command = ["git", "-C", str(folder), *settings, *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False,
            env={**environment(), "LC_ALL": "C", **variables},
        )  # fmt: skip
    except FileNotFoundError:
        raise MissingMeasurement("git is not installed, and revisions were to be compared") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise UsageError(f"git {arguments[0]}: {(lines or ['it failed without a word'])[0].removeprefix('fatal: ')}")
    return done.stdout.strip()
