"""What pytest loads by itself: `--gelu-verify-report DIR` makes a report of what `assert_gelu_accurate` measured.

Nothing else of the package is imported before it is needed: every test session of an environment loads this file.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .records.result import Result

_PARTS = ".parts"  # of DIR: the runs of the workers of pytest-xdist


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gelu-verify")
    group.addoption(
        "--gelu-verify-report",
        metavar="DIR",
        help="write a report of all that assert_gelu_accurate measures: page, tables, run; an earlier one is replaced",
    )


def pytest_configure(config: pytest.Config) -> None:
    if folder := config.getoption("--gelu-verify-report"):
        config.pluginmanager.register(Reporter(config, Path(folder).absolute()), "gelu-verify-reporter")


class Reporter:
    """Collects the results of this process; the one that started the others makes the report."""

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        from . import testing

        self._config, self._folder = config, folder
        self._results: list[Result] = []
        self._worker: str | None = getattr(config, "workerinput", {}).get("workerid")
        testing.collected = self._results.append
        if self._worker is None:
            shutil.rmtree(folder / _PARTS, ignore_errors=True)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        from . import testing

        testing.collected = None
        if self._results:
            self._store()
        if self._worker is None:
            self._report()

    def _store(self) -> None:
        from .machine import provenance
        from .runs.store import write_run

        first = self._results[0].record
        families = {result.record.family for result in self._results}
        place = self._folder / _PARTS / (self._worker or f"main-{os.getpid()}")
        command = " ".join(["pytest", *map(str, self._config.invocation_params.args)])
        write_run(
            _last_of_each(self._results), place, command=command, seed=first.seed, plan=first.plan, absent={},
            facts=provenance(families),
        )  # fmt: skip

    def _report(self) -> None:
        from .report import write_report
        from .runs.store import read_run

        parts = sorted((self._folder / _PARTS).glob("*/manifest.json"))
        if parts:
            write_report([read_run(part.parent) for part in parts], self._folder)
            print(f"\ngelu-verify report: {self._folder / 'index.html'}", file=sys.stderr)


def _last_of_each(results: list[Any]) -> list[Any]:
    """A test that is repeated has one result."""
    return list({(result.record.key, result.record.plan, result.record.ranges): result for result in results}.values())
