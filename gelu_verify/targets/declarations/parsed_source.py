"""How a function is declared in a source file of C, C++ or CUDA, as libclang reads it.

The user's compiler preprocesses the file with the user's flags, so that macros, search paths and conditions are its
own; libclang then parses what the compiler would. Errors in what surrounds the function (another compiler's
extensions, types of a library that is not here) do no harm. libclang is a dependency of this package and not an extra:
without it nothing is known of a source, and it is one wheel, for every platform, that needs no LLVM. pycparser reads
no C++; tree-sitter resolves neither typedefs nor templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from ...errors import MissingMeasurement, UsageError
from .parameters import VECTORS, CParameter, Declared, array_type

PROBE = "gelu_verify_probe"
_KEEP_GOING, _SKIP_BODIES = 0x200, 0x40  # CXTranslationUnit_...
_FUNCTIONS = ("FUNCTION_DECL", "FUNCTION_TEMPLATE")
_LINKAGE = ("LINKAGE_SPEC", "UNEXPOSED_DECL")
_ENUM = 106  # CXType_Enum
_POINTER = 101  # CXType_Pointer
_SIZED = 112  # CXType_ConstantArray; the bindings have no name for some other types
_ARRAYS = (_SIZED, 114, 115, 116)
_CLASSES = ("STRUCT_DECL", "CLASS_DECL", "CLASS_TEMPLATE")
_BODY_OR_END = re.compile(rb"[{;]")
_VECTOR = re.compile(
    r"(?:const )?__attribute__\(\(__vector_size__\((?P<lanes>\d+) \* sizeof\(\w+\)\)\)\) (?P<element>\w+)(?: const)?"
)
_VECTOR_NAMES = {VECTORS[name][:2]: name for name in reversed(VECTORS)}  # the first of those that are alike
_LITERAL = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[{}]')


@dataclass(frozen=True)
class ParsedSource:
    """A preprocessed file that has been parsed."""

    file: str
    text: bytes
    unit: Any

    @classmethod
    def parsed(cls, file: str, text: str, flags: Sequence[str], cpp: bool) -> ParsedSource:
        """`file` as the user calls it; `text` is what the compiler's preprocessor makes of it."""
        standard = [each for each in flags if each.startswith("-std=")] or ["-std=gnu++20"] * cpp
        words = ["-x", "c++-cpp-output" if cpp else "cpp-output", *standard, "-w", "-ferror-limit=0"]
        clang = _clang()
        name = "preprocessed.i"
        try:
            unit = clang.Index.create().parse(name, words, [(name, text)], _KEEP_GOING | _SKIP_BODIES)
        except clang.TranslationUnitLoadError:
            raise UsageError(f"libclang does not read {file} (accepted: C, C++ and CUDA)") from None
        return cls(file, text.encode(), unit)

    def functions(self, symbol: str) -> list[Declared]:
        """Those that `symbol` may mean, definitions before declarations: in every namespace where it names none."""
        plain = re.sub(r"<.*", "", symbol)
        found: dict[str, tuple[str, Any]] = {}
        for name, cursor in self._named(plain):
            key = cursor.get_usr()
            if key not in found or (self._body_at(cursor) >= 0 > self._body_at(found[key][1])):
                found[key] = name, cursor
        exact = {key: each for key, each in found.items() if each[0] == plain} or found
        return [self._declared(name, cursor) for name, cursor in exact.values()]

    def has_variable(self, name: str) -> bool:
        """Whether it has one of that name, in no namespace."""
        top = self.unit.cursor.get_children()
        return any(_kind(each) == "VAR_DECL" and each.spelling == name for each in top)

    def names(self) -> list[str]:
        """The functions that the file itself defines."""
        defined = (each for each in self._all(self.unit.cursor, "") if self._body_at(each[1]) >= 0)
        return list(dict.fromkeys(name for name, cursor in defined if not cursor.location.is_in_system_header))

    def probed(self) -> Declared | None:
        """What the probe at the end of the text takes the address of."""
        for cursor in self.unit.cursor.get_children():
            if cursor.spelling == PROBE:
                for each in cursor.walk_preorder():
                    if _kind(each) == "DECL_REF_EXPR" and each.referenced is not None:
                        return self._declared(each.referenced.spelling, each.referenced, of_template=True)
        return None

    def scopes_of(self, name: str) -> list[str]:
        """The namespaces in which there is something of that name: "my::ns::"."""
        return [f"{scope}::" for scope in self._scopes_of(self.unit.cursor, name) if scope]

    def _scopes_of(self, scope: Any, name: str, prefix: str = "") -> Iterator[str]:
        for cursor in scope.get_children():
            if cursor.spelling == name and prefix:
                yield prefix
            if _kind(cursor) == "NAMESPACE" and not cursor.location.is_in_system_header:
                inner = "" if not cursor.spelling or cursor.is_anonymous() else cursor.spelling
                yield from self._scopes_of(cursor, name, "::".join(filter(None, (prefix, inner))))

    def _named(self, plain: str) -> Iterator[tuple[str, Any]]:
        last = plain.rpartition("::")[2]
        for name, cursor in self._all(self.unit.cursor, "", last):
            if name == plain or name.endswith(f"::{plain}"):
                yield name, cursor

    def _all(self, scope: Any, prefix: str, last: str = "") -> Iterator[tuple[str, Any]]:
        """The functions of a scope, of all namespaces and classes in it, with their names there."""
        for cursor in scope.get_children():
            kind, name = _kind(cursor), cursor.spelling
            if kind in _FUNCTIONS:
                if last in ("", name):
                    yield prefix + name, cursor
            elif kind in _LINKAGE:
                yield from self._all(cursor, prefix, last)
            elif cursor.location.is_in_system_header:
                continue
            elif kind == "NAMESPACE":
                inner = "" if not name or cursor.is_anonymous() else f"{name}::"
                yield from self._all(cursor, prefix + inner, last)
            elif kind in _CLASSES and last and (kind == "CLASS_TEMPLATE" or "<" not in cursor.displayname):
                for member in cursor.get_children():
                    if _kind(member) != "CXX_METHOD":
                        continue
                    if member.spelling == "operator()" and name == last:
                        yield prefix + name, member
                    elif member.spelling == last and kind != "CLASS_TEMPLATE":
                        yield f"{prefix}{name}::{last}", member

    def _declared(self, name: str, cursor: Any, of_template: bool = False) -> Declared:
        of_class = cursor.semantic_parent if _kind(cursor) == "CXX_METHOD" else None
        template = cursor if _kind(cursor) == "FUNCTION_TEMPLATE" else of_class
        arguments = [each for each in cursor.get_children() if _kind(each) == "PARM_DECL"]
        parameters = tuple(map(self._parameter, list(cursor.get_arguments()) or arguments))
        if cursor.type.is_function_variadic():
            raise UsageError(f"{name!r} in {self.file} takes any number of arguments (...), which cannot be tested")
        result = cursor.result_type
        if of_template:  # whose own names for its types are known in it alone
            parameters, result = tuple(replace(p, type=p.canonical) for p in parameters), result.get_canonical()
        space = {each.spelling for each in cursor.get_children() if _kind(each) == "ANNOTATE_ATTR"}
        made = Declared(
            symbol=name,
            result=result.spelling,
            returned=result.get_canonical().spelling,
            parameters=parameters,
            restricted=any("restrict" in each.type for each in parameters),
            template=_open(template) if template is not None and "TEMPLATE" in _kind(template) else (),
            space="global" if "global" in space else "device" if "device" in space else "",
            body=self._body(cursor),
            callee=name,
        )
        if of_class is None or cursor.is_static_method() or made.template:
            return made
        method = cursor.spelling
        return (
            made.of_an_object(name) if method == "operator()" else made.of_an_object(name.rpartition("::")[0], method)
        )

    def _parameter(self, cursor: Any) -> CParameter:
        typed = cursor.type
        words = " ".join(each.spelling for each in cursor.get_tokens()) if any(cursor.get_children()) else ""
        default = words.partition(" = ")[2]
        typed, sizes = _values_of(typed)
        canonical = typed.get_canonical().spelling
        if found := _VECTOR.fullmatch(canonical):
            canonical = _VECTOR_NAMES.get((found["element"], int(found["lanes"])), typed.spelling)
        if typed.get_canonical()._kind_id == _ENUM:
            canonical = f"enum {typed.spelling}"
        spelled, shape = array_type(typed.spelling, sizes)
        return CParameter(spelled, cursor.spelling, default, array_type(canonical, sizes)[0], shape)

    def _body(self, cursor: Any) -> str:
        start, depth = self._body_at(cursor), 0
        text = self.text[start:].decode(errors="replace") if start >= 0 else ""
        for each in _LITERAL.finditer(text):
            depth += {"{": 1, "}": -1}.get(each[0], 0)
            if not depth:
                return text[: each.end()]
        return ""

    def _body_at(self, cursor: Any) -> int:
        """Where the body begins, which libclang has skipped; -1 of a declaration without one."""
        end = cursor.extent.end.offset
        found = _BODY_OR_END.search(self.text, end)
        return found.start() if found and found[0] == b"{" else -1


def _values_of(typed: Any) -> tuple[Any, list[int]]:
    """Type of the values of an array, and its dimensions, 0 where open: of float x[], x[2][8], (*x)[8]."""
    sizes = []
    if typed._kind_id == _POINTER and typed.get_pointee()._kind_id in _ARRAYS:
        sizes, typed = [0], typed.get_pointee()
    while typed._kind_id in _ARRAYS:
        sizes.append(typed.element_count if typed._kind_id == _SIZED else 0)
        typed = typed.element_type
    return typed, sizes


def _open(template: Any) -> tuple[str, ...]:
    """The parameters of a template that have no default: "typename T", "int N"."""
    kinds = ("TEMPLATE_TYPE_PARAMETER", "TEMPLATE_NON_TYPE_PARAMETER", "TEMPLATE_TEMPLATE_PARAMETER")
    words = (
        [token.spelling for token in each.get_tokens()] for each in template.get_children() if _kind(each) in kinds
    )
    return tuple(" ".join(each) for each in words if "=" not in each)


def _kind(cursor: Any) -> str:
    """The kind of a node; empty for one that the bindings have no name of."""
    try:
        return str(cursor.kind.name)
    except ValueError:
        return ""


def _clang() -> Any:
    why = "libclang, which reads declarations, cannot be used (pip install libclang)"
    try:
        cindex = import_module("clang.cindex")
    except ImportError as error:
        raise MissingMeasurement(f"{why}: {error}") from None
    try:
        cindex.conf.lib  # noqa: B018 - loads the library
    except cindex.LibclangError as error:
        raise MissingMeasurement(f"{why}: {error}") from None
    return cindex
