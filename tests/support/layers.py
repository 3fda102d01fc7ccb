"""The layers of the package, the lowest first: a module imports only from layers below its own.

`tests/test_layers.py` holds the imports against this list; `python tests/support/layers.py` writes the table of
docs/architecture.md from it.
"""

from __future__ import annotations

import ast
from pathlib import Path

from repository import ROOT

PACKAGE = ROOT / "gelu_verify"
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- layers: written by `python tests/support/layers.py` -->\n", "<!-- /layers -->\n"
# Modules and folders of a layer, which do not import each other.
LAYERS = [
    ["errors", "fenv", "interrupts", "atomic_files", "commands", "timing", "current_test"],
    ["paths", "parsing", "formats", "plugins"],
    ["own_faults", "arrays", "calling", "functions", "ptx"],
    ["gpu"],
    ["machine"],
    ["isa", "work"],
    ["truth"],
    ["inputs", "kernels", "facts", "ufunc"],
    ["targets", "buckets", "torch"],
    ["records"],
    ["isolation", "checks", "attribution", "speed", "show"],
    ["measure", "stochastic"],
    ["runs", "study", "judge"],
    ["compare", "search"],
    ["gate", "versions"],
    ["report", "export"],
    ["service", "verification", "ci"],
    ["cli", "testing"],
    ["pytest_plugin"],
]
NATIVE = {  # folders of src/; its cython/ has the extension modules of all
    "fenv": ["fenv"],
    "truth": ["math", "truth", "tables", "enclosure", "cr", "arrays", "carried"],
    "ptx": ["ptx"],
    "kernels": ["kernels", "parameters", "published", "cuda"],
    "targets": ["targets"],
    "buckets": ["buckets"],
    "isolation": ["isolation"],
    "measure": ["cuda"],
    "search": ["search"],
    "stochastic": ["stochastic"],
    "export": ["export"],
}
INTERFACES = ("__init__", "__main__")  # they stand for all layers


def described(name: str) -> str:
    """The first sentence of the docstring of a module or a package."""
    path = PACKAGE / f"{name}.py" if (PACKAGE / f"{name}.py").exists() else PACKAGE / name / "__init__.py"
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].rstrip(".")


def table() -> str:
    """The table of docs/architecture.md."""
    lines = ["| layer | module or folder | what it is | native code |", "|---|---|---|---|"]
    for level, names in enumerate(LAYERS):
        for name in names:
            place = f"{name}.py" if (PACKAGE / f"{name}.py").exists() else f"{name}/"
            native = ", ".join(f"`src/{folder}/`" for folder in NATIVE.get(name, ()))
            lines.append(f"| {level} | `{place}` | {described(name)} | {native} |")
    return "\n".join(lines) + "\n"


def page() -> str:
    """docs/architecture.md with the table of today."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


def sources(package: Path = PACKAGE) -> dict[str, Path]:
    """Path of each module, by its name within the package; "" is the package itself."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(package: Path = PACKAGE) -> dict[str, set[str]]:
    """For each module the modules of the package that it imports, anywhere in it and for type checking too."""
    modules = sources(package)
    return {name: set(_imported(name, path, modules)) for name, path in modules.items()}


def _imported(module: str, path: Path, modules: dict[str, Path]) -> list[str]:
    home = [part for part in module.split(".") if part]
    home = home if path.name == "__init__.py" else home[:-1]
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = home[: len(home) - node.level + 1] if node.level else None
            outer = (node.module or "").split(".") if node.module else []
            if base is None:
                if outer[:1] != ["gelu_verify"]:
                    continue
                base, outer = [], outer[1:]
            for alias in node.names:
                full, short = ".".join([*base, *outer, alias.name]), ".".join([*base, *outer])
                found.append(full if full in modules else short)
        elif isinstance(node, ast.Import):
            found += [a.name.partition(".")[2] for a in node.names if a.name.partition(".")[0] == "gelu_verify"]
    return [name for name in found if name in modules and name != module]


def cycle(edges: dict[str, set[str]]) -> list[str]:
    """Nodes of one cycle, in order; empty where there is none."""
    done: set[str] = set()

    def search(node: str, path: list[str]) -> list[str]:
        if node in path:
            return path[path.index(node) :]
        if node in done:
            return []
        for other in sorted(edges.get(node, ())):
            if found := search(other, [*path, node]):
                return found
        done.add(node)
        return []

    return next((found for node in sorted(edges) if (found := search(node, []))), [])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
