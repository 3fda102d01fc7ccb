"""Which function of a source a name means: overloads, templates, namespaces, objects that are called."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from ...errors import UsageError
from ..kinds.base import Asked
from ..names import claimed_by
from .parameters import CParameter, Declared
from .parsed_source import PROBE, ParsedSource
from .prototype import said_parameters
from .roles import is_end, prototype_of

_LISTED = 8  # functions that a message lists at most
_LAST = "gelu_verify_named"


def included(source: Path, symbol: str) -> str:
    """A file to be preprocessed: the user's, and the name in a last line, which may be that of a macro."""
    return f'#include "{source}"\n{_LAST} {symbol}\n'


@dataclass(frozen=True)
class SourceText:
    """A source file as its compiler's preprocessor has it; `types`: what a template is made for, by dtype; `names`:
    what stands for a name that is a macro's."""

    file: str
    text: str
    flags: Sequence[str]
    cpp: bool
    types: Mapping[str, str]
    names: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, file: str, text: str, flags: Sequence[str], cpp: bool, types: Mapping[str, str], symbol: str
    ) -> SourceText:
        """Of what a preprocessor makes of `included`: a name that a macro stands for is what that says."""
        text, _, name = text.rpartition(_LAST)
        name = " ".join(name.split())
        return cls(file, text, flags, cpp, types, {symbol: name} if re.fullmatch(r"[\w:]+", name) else {})

    def declared(self, symbol: str, asked: Asked) -> Declared | None:
        """The declaration of the function that is meant; None where there is none of that name.

        UsageError where there are several, or a template of which the types are open.
        """
        if "<" in symbol:
            first = re.split("<|::", symbol)[0]
            scopes = ["", *dict.fromkeys(self._parsed.scopes_of(first))]
            return next(filter(None, (self._instance(scope + symbol) for scope in scopes)), None)
        found = self._parsed.functions(self.names.get(symbol, symbol))
        if len(found) > 1:
            found = [self._chosen(found, symbol, asked)]
        if not found or not found[0].template:
            return found[0] if found else None
        return self._instance(self._specialized(found[0], symbol, asked))

    def no_function(self, symbol: str, exported: Sequence[str] = ()) -> UsageError:
        """There is none of that name; a variable may be."""
        source = self._parsed
        if source.has_variable(symbol):
            return UsageError(f"{symbol!r} in {self.file} is a variable, not a function")
        names = list(dict.fromkeys([*source.names(), *(each for each in exported if not each.startswith("_Z"))]))
        near = difflib.get_close_matches(symbol, names, n=_LISTED, cutoff=0.5)
        there = ", ".join(list(dict.fromkeys([*near, *names]))[:_LISTED])
        return UsageError(f"no function {symbol!r} in {self.file}" + (f" (it has {there})" if there else ""))

    @cached_property
    def _parsed(self) -> ParsedSource:
        return self._with("")

    def _with(self, more: str) -> ParsedSource:
        return ParsedSource.parsed(self.file, self.text + more, self.flags, self.cpp)

    def _instance(self, symbol: str) -> Declared | None:
        """What a template is for the types that its name says: a function, or an object with operator()."""
        first = symbol[symbol.index("<") + 1 :].removesuffix(">").split(",")[0]
        called = f"{symbol}{{}}({first}{{}})"  # of several operators the one of one value
        for probe in (f"&{symbol}", called):
            found = self._with(f"\nauto {PROBE} = {probe};\n").probed()
            if found and probe == called:
                return found.of_an_object(symbol)
            if found and found.before:  # a method, of an object
                return found.of_an_object(*symbol.rsplit("::", 1))
            if found:
                return replace(found, symbol=symbol, callee=symbol)
        return None

    def _chosen(self, found: Sequence[Declared], symbol: str, asked: Asked) -> Declared:
        """The one overload that can be called as is asked."""
        fit = [each for each in found if _fits(each, self.file, asked)]
        fit = [each for each in fit if not each.template] or fit
        by_name = asked.dtype or claimed_by(symbol)[1]
        if len(fit) > 1 and by_name:
            fit = [each for each in fit if any(p.dtype == by_name for p in each.parameters)] or fit
        if len(fit) != 1:
            shown = "; ".join(each.shown for each in found)
            raise UsageError(
                f"{symbol!r} in {self.file} is overloaded ({shown}): --dtype, or --call with the types, says which"
            )
        return fit[0]

    def _specialized(self, template: Declared, symbol: str, asked: Asked) -> str:
        """Its name with the one type that is open; UsageError where more is."""
        said = {name: CParameter(typed, name).dtype for typed, name in said_parameters(asked.call or "")}
        dtype = asked.dtype or claimed_by(symbol)[1] or said.get("x") or said.get("y")
        iterators = _iterators(template)
        example = ", ".join(iterators.get(each.split()[-1]) or _argument(each, template) for each in template.template)
        what = f"{symbol!r} in {self.file} is a template of {', '.join(template.template)}"
        if iterators or len(template.template) > 1 or not _is_type(template.template[0], template):
            raise UsageError(f"{what}: name what it is made for, such as '{self.file}:{symbol}<{example}>'")
        if dtype is None:
            raise UsageError(f"{what}: --dtype says for which type, or its name, such as '{self.file}:{symbol}<float>'")
        return f"{template.symbol}<{self.types[dtype]}>"


def _iterators(template: Declared) -> dict[str, str]:
    """Pointers for the types of which two values are the ends of x, and for the others that it takes as they are."""
    types = [each.type for each in template.parameters]
    ends = {one.type for one, other in pairwise(template.parameters) if one.type == other.type and is_end(other.name)}
    if not ends & {each.split()[-1] for each in template.template}:
        return {}
    return {each: "const float *" if each in ends and {*types} - ends else "float *" for each in types}


def _argument(parameter: str, template: Declared) -> str:
    """An argument that a parameter of a template may have; NAME of one that is a function, or a template."""
    if _is_type(parameter, template):
        return "float"
    return "NAME" if re.search(r"\(|^template\b", parameter) else "true" if parameter.startswith("bool") else "4"


def _is_type(parameter: str, template: Declared) -> bool:
    """Whether it stands for a type, also one of a concept: `std::floating_point T`."""
    if parameter.startswith(("class", "typename")):
        return True
    return any(parameter.split()[-1] in re.findall(r"\w+", each.type) for each in template.parameters)


def _fits(declared: Declared, file: str, asked: Asked) -> bool:
    """Whether it can be called as is asked, or, where nothing is, by itself."""
    if asked.call is None:
        try:
            return bool(declared.template or prototype_of(declared, file))
        except UsageError:
            return False
    said = said_parameters(asked.call)
    pairs = list(zip(said, declared.parameters, strict=False))
    return len(said) == len(declared.parameters) and (
        bool(declared.template) or all(not typed or typed == each.type.replace(" ", "") for (typed, _), each in pairs)
    )
