"""C headers as syntax trees: what is proved is the text that the compiler sees, not a copy of it."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from pathlib import Path

import pcpp
from pycparser import c_ast, c_parser

SUFFIX = "_PROVED"  # of names that headers form with GV_TYPED; taken off again
ROOT = Path(__file__).parents[2]
TYPES = (
    "typedef unsigned long uint64_t; typedef unsigned uint32_t; typedef unsigned short uint16_t; typedef long int64_t;"
    "typedef unsigned long size_t;\n"
)


class _Preprocessor(pcpp.Preprocessor):
    """Leaves headers of the system and pragmas out."""

    def __init__(self, folder: Path, macros: Mapping[str, str]) -> None:
        super().__init__()
        self.add_path(str(folder))
        for name, value in {"UINT64_C(x)": "x##UL", "INT64_C(x)": "x##L", **macros}.items():
            self.define(f"{name} {value}")

    def on_include_not_found(self, is_malformed, is_system_include, curdir, includepath):
        if not is_system_include:
            raise FileNotFoundError(includepath)
        raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)

    def on_comment(self, tok):
        return False


class Source:
    """The functions and tables of some headers and what they include.

    Parameters
    ----------
    headers : paths below src/, or C text that ends in a newline.
    root : the checkout, or a copy of it.
    macros : what the compiler would be told with -D.
    """

    def __init__(self, *headers: str, root: Path = ROOT, macros: Mapping[str, str] | None = None) -> None:
        folder = root / "src"
        text = "".join(h if h.endswith("\n") else f'#include "{h}"\n' for h in headers)
        preprocessor = _Preprocessor(folder, macros or {})
        preprocessor.parse(text)
        out = io.StringIO()
        preprocessor.write(out)
        self.text = out.getvalue()
        code = re.sub(rf"^#.*$|_Pragma\(.*?\)|{SUFFIX}\b", "", TYPES + out.getvalue(), flags=re.MULTILINE)
        self.functions: dict[str, c_ast.FuncDef] = {}
        self.variables: dict[str, c_ast.Decl] = {}
        self.structures: dict[str, list[tuple[str, str]]] = {}
        self.enumerators: dict[str, int] = {}
        for item in c_parser.CParser().parse(code).ext:
            self._enter(item)

    def _enter(self, item: c_ast.Node) -> None:
        if isinstance(item, c_ast.FuncDef):
            self.functions[item.decl.name] = item
        elif isinstance(item, c_ast.Typedef) and isinstance(item.type.type, c_ast.Struct):
            members = item.type.type.decls or []
            self.structures[item.name] = [(m.name, type_name(m.type)) for m in members]
        elif isinstance(enum := _enum_of(item), c_ast.Enum):
            self.enumerators |= {e.name: place for place, e in enumerate(enum.values.enumerators)}
        elif isinstance(item, c_ast.Decl) and item.init is not None:
            self.variables[item.name] = item


def _enum_of(item: c_ast.Node) -> c_ast.Node | None:
    return item.type.type if isinstance(item, c_ast.Typedef) else getattr(item, "type", None)


def type_name(node: c_ast.Node) -> str:
    """`double` of a declaration, `double[]` of an array, `double*` of a pointer."""
    if isinstance(node, c_ast.ArrayDecl):
        return f"{type_name(node.type)}[]"
    if isinstance(node, c_ast.PtrDecl):
        return f"{type_name(node.type)}*"
    inner = node.type
    if isinstance(inner, c_ast.IdentifierType):
        return " ".join(inner.names)
    return getattr(inner, "name", "") or "struct"


def number(text: str) -> int | float:
    """A C literal; a float rounded as the compiler rounds it."""
    text = text.rstrip("uUlL")
    if "0x" in text and "p" in text:
        return float.fromhex(text.rstrip("fF"))
    if text.startswith(("0x", "0X")):
        return int(text, 16)
    if set(text) <= set("0123456789"):
        return int(text)
    return float(text.rstrip("fF"))
