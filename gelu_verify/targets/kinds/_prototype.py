"""How a C function is called, said by its prototype: "void f(size_t n, float *y, const float *x, int exact=1)".

The names of the parameters say what each is: `x` the input, `y` the output, `n` the number of values, `bytes` their
size, `dy` the gradient of the result, of a backward pass; any other has its value behind it. `_calling.py` makes the C
function that calls it like that. Behind it may follow what else is agreed between the function and who calls it:
`Contract`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ...errors import UsageError
from ..contract import NOTHING, Contract
from .base import Asked, claimed_by, dtype_of

EXAMPLE = "void f(size_t bytes, const float *x, float *y, const void *params=NULL)"
ROLES = (
    "x is the input, y the output, n the number of values, bytes their size, dy the gradient of the result; "
    "any other needs a value: params=NULL"
)
GIVEN = ("x", "y", "n", "bytes", "dy")
_PROTOTYPE = re.compile(
    r"\s*(?P<result>[\w\s*:<>]*[\s*])(?P<name>[A-Za-z_]\w*)\s*\((?P<parameters>.*)\)(?P<also>[^()]*)", re.DOTALL
)
_PARAMETER = re.compile(r"(?P<type>.*[\s*&])(?P<name>[A-Za-z_]\w*)\s*(?P<array>\[\s*\w*\s*\])?", re.DOTALL)
_RESTRICT = re.compile(r"\b(__)?restrict(__)?\b")
AGREED = "'; oob_reads=16', '; multiple_of=16', '; at_least=8', '; aligned=64' behind it"
OF_VALUES = "it takes one value"
RESTRICTED = "its pointers are declared restrict"
_DTYPES = {"float": "float32", "double": "float64", "_Float16": "float16", "__fp16": "float16", "__bf16": "bfloat16"}
VECTORS = {  # element, how many of them, what the caller must be compiled for
    "__m128": ("float", 4, ""),
    "__m128d": ("double", 2, ""),
    "__m256": ("float", 8, "avx"),
    "__m256d": ("double", 4, "avx"),
    "__m512": ("float", 16, "avx512f"),
    "__m512d": ("double", 8, "avx512f"),
    "float32x4_t": ("float", 4, ""),
    "float64x2_t": ("double", 2, ""),
}


@dataclass(frozen=True)
class CParameter:
    """One parameter: its type and name, and its value where it is none of GIVEN."""

    type: str
    name: str
    value: str = ""

    @property
    def base(self) -> str:
        """The type without pointers and qualifiers."""
        return " ".join(word for word in self.type.replace("*", " ").split() if word not in ("const", "volatile"))


@dataclass(frozen=True)
class Prototype:
    """A function as its caller sees it, and what is agreed between them."""

    text: str
    result: str
    parameters: tuple[CParameter, ...]
    contract: Contract = NOTHING

    @classmethod
    def parsed(cls, text: str, symbol: str) -> Prototype:
        """What `--call` says of `symbol`; UsageError where that is not a prototype, or leaves something open."""
        text = " ".join(text.split())
        found = _PROTOTYPE.fullmatch(text)
        contract = _contract(found["also"]) if found else None
        if not found or contract is None:
            raise UsageError(f"--call {text!r} is not a C prototype (accepted: {EXAMPLE!r}, {AGREED})")
        if found["name"] not in ("f", symbol.rpartition("::")[2].partition("<")[0]):
            raise UsageError(f"--call declares {found['name']!r}, but {symbol!r} is tested (f stands for any function)")
        parameters = tuple(_parameter(text, each) for each in _separated(found["parameters"]))
        prototype = cls(text, " ".join(found["result"].split()), parameters, contract)
        if wrong := prototype._wrong():
            raise UsageError(f"--call {text!r} {wrong}")
        return prototype

    def _wrong(self) -> str:
        """Why nothing can be called like that; empty where it can."""
        names = [each.name for each in self.parameters]
        if len(set(names)) < len(names):
            return "has two parameters of one name"
        if not {"x", "y"} & set(names):
            return f"has no input ({ROLES})"
        if "long double" in self.data.type:
            return "computes in long double, which is not one of the formats"
        if self.contract.oob_reads and (not self.is_array or self.in_place):
            return "reads beyond no input: that needs an x and a y that are pointers"
        if self.contract.demands and not self.is_array:
            return "demands something of arrays, but takes none: that needs an x or a y that is a pointer"
        if self.contract.wrong:
            return self.contract.wrong
        sized = {"n", "bytes"} & set(names)
        if not self.is_array:
            fits = self.result == self.data.base and "x" in names and not ("y" in names or sized)
            if gradient := self.named("dy"):
                fits = fits and gradient.type == self.data.type and self.data.base not in VECTORS
            return "" if fits else "takes a value: it must return the same type, and have x, but no y, n or bytes"
        data = [each for each in self.parameters if each.name in ("x", "y", "dy")]
        if any(each.type.count("*") != 1 or each.base != self.data.base for each in data):
            return f"needs x and y{', and dy,' * ('dy' in names)} as pointers to the same type"
        if "const" in self.output.type.split():
            return f"has no output, because {self.output.name} is const ({ROLES})"
        return "" if sized else f"says nowhere how many values there are ({ROLES})"

    def named(self, name: str) -> CParameter | None:
        """The parameter of that name."""
        return next((each for each in self.parameters if each.name == name), None)

    @cached_property
    def data(self) -> CParameter:
        """The input; where there is none, the output, which has it."""
        data = self.named("x") or self.named("y")
        assert data is not None
        return data

    @cached_property
    def output(self) -> CParameter:
        """The output; where there is none, the input, which becomes it."""
        return self.named("y") or self.data

    @property
    def is_array(self) -> bool:
        """Whether it takes all values at once."""
        return "*" in self.data.type

    @property
    def in_place(self) -> bool:
        """Whether its results replace its input."""
        return self.is_array and self.data.name == self.output.name

    @property
    def apart(self) -> str:
        """Why its results cannot replace its input where it is called with two arrays; empty where they can."""
        if not self.is_array:
            return OF_VALUES
        if self.in_place:
            return "its results replace its input in every call"
        if self.contract.oob_reads:
            return "it reads beyond its input"
        return RESTRICTED if _RESTRICT.search(self.text) else ""

    @property
    def note(self) -> str:
        """How it is called, in words."""
        called = self.text.partition(";")[0].strip()
        return ", ".join(filter(None, (f"called as {called}", "in place" * self.in_place, self.contract.note)))

    def dtype(self, name: str, symbol: str, asked: Asked) -> str:
        """What it computes in: by the type of x, else as the name or the user says."""
        base = self.data.base
        dtype = _DTYPES.get(VECTORS[base][0] if base in VECTORS else base)
        if dtype is None:
            return dtype_of(name, symbol, asked)
        if claimed_by(symbol)[1] not in (None, dtype):
            raise UsageError(f"{name} says {claimed_by(symbol)[1]} by its name, but --call says {base}")
        return dtype

    def pointer(self, name: str = "") -> str:
        """The declaration of a pointer to such a function; its type without a name."""
        return f"{self.result} (*{name})({', '.join(each.type for each in self.parameters)})"


def _contract(also: str) -> Contract | None:
    """What follows a prototype; None where that is something else, or said twice."""
    return Contract.parsed(also) if not also.strip() or also.lstrip().startswith(";") else None


def _separated(parameters: str) -> Iterator[str]:
    """At the commas that are in no brackets."""
    depth, start = 0, 0
    for at, character in enumerate(parameters):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            yield parameters[start:at]
            start = at + 1
    yield parameters[start:]


def parameters_of(declared: str) -> tuple[CParameter, ...] | None:
    """The parameters of a declaration in a source; None where one has no name, or is no type and name."""
    found = [_PARAMETER.fullmatch(_RESTRICT.sub("", each).strip()) for each in _separated(declared)]
    if not all(found):
        return None
    types = ((" ".join(each["type"].split()) + " *" * bool(each["array"]), each["name"]) for each in found if each)
    return tuple(CParameter(*each) for each in types)


def _parameter(text: str, declared: str) -> CParameter:
    declaration, equals, value = declared.partition("=")
    found = _PARAMETER.fullmatch(_RESTRICT.sub("", declaration).strip())
    if found is None or bool(equals and value.strip()) == (found["name"] in GIVEN):
        raise UsageError(f"--call {text!r}: parameter {declared.strip()!r} cannot be used ({ROLES})")
    return CParameter(" ".join(found["type"].split()) + " *" * bool(found["array"]), found["name"], value.strip())
