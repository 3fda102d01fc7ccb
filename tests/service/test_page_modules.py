"""The page's JavaScript modules: each import names an export of a file that is there, and no two import each other."""

import re
from pathlib import Path

from layers import cycle
from repository import ROOT

from gelu_verify.records.grades import GRADES
from gelu_verify.service.tables import catalogue

PAGE = ROOT / "gelu_verify" / "service" / "page"
IMPORT = re.compile(r'^import (?:\* as \w+|\{([^}]*)\}) from "\./(\w+\.js)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:function|const|let) (\w+)", re.MULTILINE)


def imports(folder: Path) -> dict[str, dict[str, list[str]]]:
    """For each module the modules that it imports, and the names that it takes from them."""
    found = {}
    for path in sorted(folder.glob("*.js")):
        text = path.read_text(encoding="utf-8")
        assert len(IMPORT.findall(text)) == len(re.findall(r"^import [*{]|\bimport\(\"", text, re.MULTILINE)), path.name
        found[path.name] = {other: re.findall(r"\w+", names) for names, other in IMPORT.findall(text)}
    return found


def test_modules_do_not_import_each_other():
    edges = {name: set(others) for name, others in imports(PAGE).items()}
    assert edges["app.js"]
    assert cycle(edges) == []


def test_imported_names_are_exported():
    for name, others in imports(PAGE).items():
        for other, names in others.items():
            exported = set(EXPORT.findall((PAGE / other).read_text(encoding="utf-8")))
            assert set(names) <= exported, f"{name} imports {set(names) - exported} from {other}"


def test_a_cycle_of_two_modules_is_found(tmp_path):
    (tmp_path / "a.js").write_text('import { b } from "./b.js";\nexport const a = 1;\n')
    (tmp_path / "b.js").write_text('import * as a from "./a.js";\nexport const b = 1;\n')
    assert cycle({name: set(others) for name, others in imports(tmp_path).items()}) == ["a.js", "b.js"]


def test_every_grade_and_mark_reaches_the_page():
    """In the catalogue that it is given: it has no list of its own."""
    found = catalogue(static=False)
    assert found["grades"] == {name: each.title for name, each in GRADES.items()}
    assert set(found["marks"]) == {"=", ">="}
