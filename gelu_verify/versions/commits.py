"""Commits of a git repository as releases of what lies in it."""

from __future__ import annotations

from ..compare.revisions import Repository
from .releases import Release


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
