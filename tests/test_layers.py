"""A layer imports only from layers below it, and no two modules import each other."""

import ast

import pytest
from layers import INTERFACES, LAYERS, NATIVE, PAGE, cycle, imports, page, sources
from repository import ROOT

LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


@pytest.fixture(scope="module")
def edges():
    """What each module imports."""
    return imports()


def top(module):
    return module.partition(".")[0]


def upward(edges, level):
    """Imports that do not go to a lower layer, but within a folder."""
    return [
        f"{module} (layer {level[top(module)]}) imports {other} (layer {level[top(other)]})"
        for module, others in edges.items()
        for other in sorted(others)
        if other and top(module) in level and top(other) != top(module) and level[top(other)] >= level[top(module)]
    ]


def test_every_module_has_a_layer(edges):
    names = {top(module) or "__init__" for module in edges} - set(INTERFACES)
    assert names == set(LEVEL)
    assert len(LEVEL) == sum(map(len, LAYERS))


def test_imports_go_downward(edges):
    assert not upward(edges, LEVEL)


def test_no_modules_import_each_other(edges):
    assert not cycle({module: others - {""} for module, others in edges.items() if module})


def test_no_two_public_classes_have_one_name():
    places = {}
    for module, path in sources().items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(module)
    assert not {name: found for name, found in places.items() if len(found) > 1}


def test_errors_imports_nothing_of_the_package(edges):
    assert not edges["errors"]


def test_every_folder_of_native_code_is_somebodys():
    folders = {path.name for path in (ROOT / "src").iterdir() if path.is_dir()}
    assert {folder for each in NATIVE.values() for folder in each} == folders - {"cython"}


def test_the_page_has_the_table_of_the_layers():
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python tests/support/layers.py"


@pytest.mark.parametrize(
    ("place", "source", "expected"),
    [
        ("checks/bad.py", "from ..report import page", "report.page"),
        ("checks/bad.py", "from gelu_verify.report import page", "report.page"),
        ("checks/bad.py", "import gelu_verify.report.page", "report.page"),
        ("checks/bad.py", "def f():\n    from .. import formats\n", "formats"),
        ("checks/__init__.py", "from .bad import x", "checks.bad"),
    ],
)
def test_an_import_is_seen_wherever_it_stands(tmp_path, place, source, expected):
    for path in ("formats.py", "report/page.py", "checks/bad.py", "checks/__init__.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("")
    (tmp_path / place).write_text(source)
    module = next(name for name, path in sources(tmp_path).items() if path == tmp_path / place)
    assert imports(tmp_path)[module] == {expected}
    if expected == "report.page":
        assert upward(imports(tmp_path), {"formats": 0, "checks": 1, "report": 2, "": 3})


def test_cycles_are_found():
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a", "b", "c"]
    assert cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
