"""The house stands on its floors: a lower layer never imports a higher one."""

import ast
from pathlib import Path

import pytest

import gelu_verify

PACKAGE = Path(gelu_verify.__file__).parent
# One line per floor, the lowest first; modules on one floor may import each other.
FLOORS = [
    ["errors", "environment", "confinement"],
    ["device_faults", "folders", "formats", "interrupts", "numbers", "resources"],
    ["arrays", "enclosures", "other_answers"],
    ["functions", "points", "regions"],
    ["oracle"],
    ["reference", "correctly_rounded"],
    ["lookup"],
    ["kernels"],
    ["targets"],
    ["plans", "short_calls"],
    ["bucket_table", "reduction", "settled"],
    ["summary", "tolerances"],
    ["checks"],
    ["traits"],
    ["interleaved", "narrowing"],
    ["attribution", "sweep", "device_sweep", "on_device", "devices", "machine", "throughput", "sizes"],
    ["isolation"],
    ["run_schema"],
    ["results", "comparisons"],
    ["integrity"],
    ["report", "terminal"],
    ["recorded"],
    ["budgets", "gate"],
    ["verify", "bench", "export", "remote"],
    ["service"],
    ["cli"],
]
FACES = {"__init__", "__main__"}  # doors into every floor
LEVEL = {module: level for level, floor in enumerate(FLOORS) for module in floor}


def modules():
    """(path, name of the top-level module it belongs to) of every Python file of the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        top = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if top not in FACES:
            yield path, top


def imported(path):
    """Top-level modules of this package that a file imports, anywhere in it."""
    package = ("gelu_verify", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            home = (*base, *(node.module or "").split("."))
            names = [".".join(part for part in (*home, alias.name) if part) for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "gelu_verify" and len(parts) > 1 and parts[1] in LEVEL:
                yield parts[1]


@pytest.mark.parametrize(("path", "module"), [pytest.param(*m, id=str(m[0].relative_to(PACKAGE))) for m in modules()])
def test_imports_go_downward(path, module):
    assert module in LEVEL, f"{module} has no floor: add it to FLOORS"
    upward = {other for other in imported(path) if LEVEL[other] > LEVEL[module]}
    assert not upward, f"{module} imports {', '.join(sorted(upward))}, which is above it"


def test_errors_imports_nothing_of_the_package():
    assert set(imported(PACKAGE / "errors.py")) == set()


def test_an_upward_import_is_seen(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    (tmp_path / "checks").mkdir()
    for source in ("from ..report import page", "from gelu_verify.report import x", "import gelu_verify.report"):
        (tmp_path / "checks" / "bad.py").write_text(source)
        assert list(imported(tmp_path / "checks" / "bad.py")) == ["report"]
    (tmp_path / "plans.py").write_text("def f():\n    from . import sweep\n")
    assert list(imported(tmp_path / "plans.py")) == ["sweep"]
