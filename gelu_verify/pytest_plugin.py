"""What pytest loads by itself: fixtures, the marker `gelu_dtypes`, and `--gelu-verify-report DIR`.

Nothing heavy of the package is imported before it is needed: every test session of an environment loads this file.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from . import current_test

if TYPE_CHECKING:
    from .records.result import Result

DTYPES = ("float16", "bfloat16", "float32", "float64")
_PARTS = ".parts"  # of DIR: the runs of the workers of pytest-xdist


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gelu-verify")
    group.addoption(
        "--gelu-verify-report",
        metavar="DIR",
        help="write a report of all that assert_gelu_accurate measures: page, tables, run; an earlier one is replaced",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", f"gelu_dtypes(*dtypes): what the fixture gelu_dtype stands for; default {', '.join(DTYPES)}"
    )
    if folder := config.getoption("--gelu-verify-report"):
        config.pluginmanager.register(
            PytestReporter(config, _writable(Path(folder).absolute())), "gelu-verify-reporter"
        )


def _writable(folder: Path) -> Path:
    """The folder, or a usage error before the tests are run: afterwards what they measured would be lost."""
    there = next(each for each in (folder, *folder.parents) if each.exists())
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        raise pytest.UsageError(f"--gelu-verify-report={folder}: cannot write there (accepted: a folder, or a new one)")
    return folder


@pytest.fixture
def assert_gelu_accurate() -> Callable[..., Any]:
    """`gelu_verify.testing.assert_gelu_accurate`: an accuracy test of an implementation (docs/testing.md)."""
    from .testing import assert_gelu_accurate

    return assert_gelu_accurate


@pytest.fixture
def gelu_dtype(request: pytest.FixtureRequest) -> Any:
    """Each dtype in turn, as the marker `gelu_dtypes` lists them; default all four."""
    return request.param


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each dtype, of a test that takes `gelu_dtype`, itself or by a fixture."""
    if "gelu_dtype" not in metafunc.fixturenames or _parametrizes(metafunc, "gelu_dtype"):
        return
    marker = metafunc.definition.get_closest_marker("gelu_dtypes")
    dtypes = DTYPES if marker is None else marker.args
    if not dtypes:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: gelu_dtypes() names no dtype, so nothing is tested")
    metafunc.parametrize("gelu_dtype", dtypes, ids=[_name(dtype) for dtype in dtypes], indirect=True)


def _parametrizes(metafunc: pytest.Metafunc, name: str) -> bool:
    names = [marker.args[0] for marker in metafunc.definition.iter_markers("parametrize") if marker.args]
    return any(name in (each.replace(" ", "").split(",") if isinstance(each, str) else each) for each in names)


def _name(dtype: Any) -> str:
    if isinstance(dtype, str):
        return dtype
    from .formats import named_dtype

    return named_dtype(dtype)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A failure says how to repeat its test, from where pytest was started."""
    path, started_in = item.path, item.config.invocation_params.dir
    shown = os.path.relpath(path, started_in) if path.drive == started_in.drive else str(path)
    program, *_ = getattr(item.config, "workerinput", {}).get("mainargv", sys.argv)
    pytest = "python -m pytest" if program.endswith("__main__.py") else "pytest"
    _, colons, name = item.nodeid.partition("::")
    current_test.command = f"{pytest} {shlex.quote(f'{shown}{colons}{name}')}"
    current_test.started_in = started_in


def pytest_runtest_teardown() -> None:
    current_test.command, current_test.started_in = "", Path()


class PytestReporter:
    """Collects the results of this process; the one that started the others makes the report."""

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        from . import testing

        self._config, self._folder = config, folder
        self._results: list[Result] = []
        self._worker: str | None = getattr(config, "workerinput", {}).get("workerid")
        testing.collected = self._results.append
        if self._worker is None:
            shutil.rmtree(folder / _PARTS, ignore_errors=True)

    def pytest_sessionfinish(self) -> None:
        from . import testing

        testing.collected = None
        if self._results:
            self._store()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """In the process that started the others, when these have ended."""
        parts = sorted((self._folder / _PARTS).glob("*/manifest.json"))
        if not parts:
            terminalreporter.write_line(
                f"gelu-verify report: nothing was measured, so none was written to {self._folder}"
            )
            return
        from .report import write_report
        from .runs.store import read_run

        write_report([read_run(part.parent) for part in parts], self._folder)
        terminalreporter.write_line(f"gelu-verify report: {self._folder / 'index.html'}")

    def _store(self) -> None:
        from .machine import provenance
        from .runs.store import write_run

        first = self._results[0].record
        families = {result.record.family for result in self._results}
        place = self._folder / _PARTS / (self._worker or f"main-{os.getpid()}")
        command = " ".join(["pytest", *map(str, self._config.invocation_params.args)])
        write_run(
            _distinct(self._results), place, command=command, seed=first.seed, plan=first.plan, absent={},
            facts=provenance(families, timed=False),
        )  # fmt: skip


def _distinct(results: list[Result]) -> list[Result]:
    """A test that is repeated has one result; others of the same name (lambdas, closures) are numbered."""
    each = {(r.key, r.plan, r.ranges, r.bits_sha256, r.failure): result for result in results for r in [result.record]}
    counts: Counter[Any] = Counter()
    found = []
    for (key, *inputs, _, _), result in each.items():
        counts[key, *inputs] += 1
        number = counts[key, *inputs]
        found.append(result if number == 1 else result.updated(target=f"{result.record.target} ({number})"))
    return found
