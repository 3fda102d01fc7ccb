"""Measured releases of libraries, as the files that the service answers with: made when first asked for, and kept."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..versions.timeline import Timeline


class VersionRepository:
    """Those of a folder; None: those that the package has. What it needs is imported with the first request (1 s)."""

    def __init__(self, root: Path | None) -> None:
        self._folder = root
        self._lock = threading.Lock()
        self._timelines: dict[str, Timeline] = {}
        self._files: dict[str, Mapping[str, bytes]] = {}

    @cached_property
    def libraries(self) -> list[str]:
        """Those of which anything is kept."""
        from ..versions.store import libraries_in

        return libraries_in(self._root)

    def of_library(self, library: str, kind: str) -> bytes | None:
        """Its `html`, `json` or `csv`; None where nothing of it is kept."""
        from ..report.versions_files import library_files
        from ..versions.store import read_history

        if library not in self.libraries:
            return None
        with self._lock:
            if library not in self._files:
                self._files[library] = library_files(read_history(self._root, library), self._timeline(library))
            return self._files[library][f"{library}.{kind}"]

    def of_all(self, name: str) -> bytes:
        """A file of all libraries: `libraries.json`, `libraries.html`, `changes.atom`."""
        from ..report.versions_files import index_files

        with self._lock:
            if "" not in self._files:
                self._files[""] = index_files([self._timeline(each) for each in self.libraries])
            return self._files[""][name]

    @cached_property
    def _root(self) -> Path:
        from ..versions.store import default_root

        return self._folder or default_root()

    def _timeline(self, library: str) -> Timeline:
        from ..versions.store import read_history
        from ..versions.timeline import timeline

        if library not in self._timelines:
            self._timelines[library] = timeline(read_history(self._root, library))
        return self._timelines[library]
