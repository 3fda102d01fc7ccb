"""How a function of C, C++ or CUDA is called: "void f(size_t n, float *y, const float *x, int exact=1)".

The names of the parameters say what each is: `x` the input, `y` the output, `n` the number of values, `bytes` their
size, `dy` the gradient of the result, of a backward pass, `g` or `b` the second input of a function that has one (of
swiglu, of bias_gelu), `xg` or `gx` one array of both, one after the other; any other has its value behind it. The types
may be left out where a declaration has them (`parsed_source.py`, which `roles.py` makes a prototype of):
"f(n, y, x, exact=1)".
`targets/kinds/_calling.py` makes the C function that calls it so, `targets/kinds/_cuda_call.py` the kernel and the
launch. Behind it may follow what else is agreed between the function and who calls it: `Contract`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import lcm
from typing import Any

from ...errors import UsageError
from ...formats import get_format
from ..call_line import SECOND
from ..contract import NOTHING, Contract
from ..kinds.base import Asked, dtype_of, function_of
from ..names import claimed_by
from .parameters import CParameter, Declared, array_type, plain_type

EXAMPLE = "void f(size_t bytes, const float *x, float *y, const void *params=NULL)"
ROLES = (
    "x is the input, y the output, n the number of values, bytes their size, dy the gradient of the result, g or b the "
    "second input of swiglu or bias_gelu, xg both in one array; any other needs a value: params=NULL"
)
PACKED = tuple(name for second in SECOND for name in (f"x{second}", f"{second}x"))
BESIDE = ("dy", *SECOND, *PACKED)  # what a call takes beside x and y: one of them
GIVEN = ("x", "y", "n", "bytes", *BESIDE)
ADDED_TO = "zeros"  # of y: it is zero before a call, which adds to it
HELD = ("dy", *SECOND)  # of y: it holds that before a call, which replaces it
ZEROS = re.compile(r"zeros\((\d+|bytes)\)")  # the address of so many bytes that are 0
SPARE = 64  # values: zeros(bytes) are as many as x has, and so many more, as of parameters that are no array
WIDEST = 8  # bytes of each of them: scratch memory may be of a wider type than x
_PROTOTYPE = re.compile(
    r"\s*(?P<result>[\w\s*:<>&,]*[\s*&])??(?P<name>[A-Za-z_]\w*)\s*(?:<<<(?P<launch>.+?)>>>\s*)?"
    r"\((?P<parameters>.*)\)(?P<also>[^()]*)",
    re.DOTALL,
)
_PARAMETER = re.compile(
    r"(?:(?P<type>[\w\s:<>,*&]*[\s*&]))?(?P<name>[A-Za-z_]\w*)\s*(?P<array>(?:\[\s*\w*\s*\])*)", re.DOTALL
)
_RESTRICT = re.compile(r"\b(__)?restrict(__)?\b")
_IN_VALUES = re.compile(r"(?<![\w.>\"'])(?:n|bytes|x|y|dy)\b")
_SIZES = re.compile(r"\b(?:n|bytes)\b")
_COUNTS = re.compile(
    r"(?:(?P<times>[1-9]\d*)\s*\*\s*)?(?P<what>n|bytes)(?:\s*\*\s*(?P<by>[1-9]\d*)|\s*/\s*(?P<over>[1-9]\d*))?"
)
AGREED = "'; oob_reads=16', '; multiple_of=16', '; at_least=8', '; exactly=8', '; aligned=64' behind it"
EXACTLY = "'; exactly=8' behind it where it always takes as many"
_HELD_BY = {  # the largest count of a type in which the length of an array may not be
    name: 2**width - 1
    for width, names in {
        7: ("signed char", "int8_t", "char"),
        8: ("unsigned char", "uint8_t"),
        15: ("short", "int16_t"),
        16: ("unsigned short", "uint16_t"),
    }.items()
    for name in names
}
_WIDER = {"float": ("double",), **dict.fromkeys(("_Float16", "__fp16", "__bf16"), ("float", "double"))}
OF_VALUES = "it takes one value"
RESTRICTED = "its pointers are declared restrict"


@dataclass(frozen=True)
class Prototype:
    """A function as its caller sees it, and what is agreed between them.

    `launch`: grid, block and bytes of shared memory of a kernel; `restricted`: its arrays must not overlap; `said`:
    what its parameters were taken for, and by what, where nobody said it.
    """

    text: str
    result: str
    parameters: tuple[CParameter, ...]
    contract: Contract = NOTHING
    launch: str = ""
    restricted: bool = False
    said: str = ""

    @classmethod
    def parsed(cls, text: str, symbol: str, declared: Declared | None = None) -> Prototype:
        """What `--call` says of `symbol`; UsageError where that is not a prototype, or leaves something open.

        Of what is `declared` in a source the types may be left out, and are the declared ones of any NULL.
        """
        text = " ".join(text.split())
        found = _PROTOTYPE.fullmatch(text)
        contract = _contract(found["also"]) if found else None
        typed = found is not None and bool((found["result"] or "").strip())
        if not found or contract is None or not (typed or declared):
            needed = f"; {symbol!r} has no declaration here, so the types are needed" if found and not typed else ""
            raise UsageError(f"--call {text!r} is not a C prototype (accepted: {EXAMPLE!r}, {AGREED}{needed})")
        if found["name"] not in ("f", symbol.rpartition("::")[2].partition("<")[0]):
            raise UsageError(f"--call declares {found['name']!r}, but {symbol!r} is tested (f stands for any function)")
        each = [part.strip() for part in separated(found["parameters"])]
        theirs: Sequence[CParameter | None] = declared.parameters if declared else [None] * len(each)
        left_out = [parameter for parameter in theirs[len(each) :] if parameter]
        if len(each) > len(theirs) or not all(parameter.value for parameter in left_out):
            assert declared is not None
            raise UsageError(f"--call {text!r} has {len(each)} parameters, but it is declared {declared.shown}")
        said = (_parameter(text, *pair) for pair in zip(each, theirs))  # noqa: B905 - defaults are left out
        given = tuple(_with_own_name(parameter, place) for place, parameter in enumerate((*said, *left_out)))
        if contract.exactly is None:
            contract = replace(contract, exactly=said_number(given, found["launch"] or ""))
        prototype = cls(
            text,
            " ".join((found["result"] or "").split()) or (declared.result if declared else ""),
            given,
            contract,
            (found["launch"] or "").strip(),
            bool(_RESTRICT.search(text)) or bool(declared and declared.restricted),
        )
        if wrong := prototype.wrong():
            raise UsageError(f"--call {text!r} {wrong}")
        return prototype

    def wrong(self) -> str:
        """Why nothing can be called like that; empty where it can."""
        names = [each.name for each in self.parameters]
        if len(set(names)) < len(names):
            return "has two parameters of one name"
        if not {"x", "y"} & set(names):
            return f"has no input ({ROLES})"
        if len(self._beside) > 1:
            return f"takes {' and '.join(self._beside)}: one of them can be given"
        if "long double" in self.data.type:
            return "computes in long double, which is not one of the formats"
        if self.one_second and self.launch:
            return f"takes {self.second} by value, which a kernel cannot here (accepted: a pointer)"
        if self.contract.oob_reads and (not self.is_array or self.in_place):
            return "reads beyond no input: that needs an x and a y that are pointers"
        if self.contract.demands and not self.is_array:
            return "demands something of arrays, but takes none: that needs an x or a y that is a pointer"
        if any(each.points_to and each.element == "void" for each in self.parameters):
            return "points to a number of no type (accepted: size_t n, const int *n)"
        if not self.is_array and any(each.value == "zeros(bytes)" for each in self.parameters):
            return "takes a value, and bytes are those of an array (accepted: a number, as in zeros(8))"
        return self.contract.wrong or (self._wrong_arrays(set(names)) if self.is_array else self._wrong_value(names))

    def _wrong_value(self, names: list[str]) -> str:
        fits = plain_type(self.result) == self.data.base and "x" in names and not {"y", "n", "bytes"} & set(names)
        if beside := self.named(self.beside):
            if fits and not self._holds(beside):
                return f"takes {beside.name} as {beside.type}, {self._no_value}"
            fits = fits and not self.data.vector
        return "" if fits else "takes a value: it must return the same type, and have x, but no y, n or bytes"

    def _holds(self, beside: CParameter) -> bool:
        """Whether a parameter that is a value has every value of the data: it is of that type, or of a wider one."""
        is_wider = self.second and beside.element in _WIDER.get(self.data.element, ())
        return bool(beside.base == self.data.base or is_wider)

    @property
    def _no_value(self) -> str:
        return f"which does not have every {self.data.base} (accepted: {self.data.base}, or a wider type)"

    def _wrong_arrays(self, names: set[str]) -> str:
        data = [each for each in self.parameters if each.name in ("x", "y", self.beside)]
        if self.one_second:
            beside = next(each for each in data if each.name == self.second)
            if not self._holds(beside):
                return f"takes {beside.name} as {beside.type}, {self._no_value}"
            data.remove(beside)
        if any(each.pointers != 1 or each.element != self.data.element for each in data):
            also = f", and {self.beside}," * bool(self.beside)
            return f"needs x and y{also} as pointers to the same type"
        if self.output.is_const:
            return f"has no output, because {self.output.name} is const ({ROLES})"
        exactly, aligned = self.contract.exactly, self.contract.aligned
        itemsize = get_format(self.data.dtype).width // 8 if self.data.dtype else 2
        if exactly and exactly * itemsize % aligned:
            return f"demands {exactly} values at once and addresses that are multiples of {aligned}: both cannot be"
        if self.most(itemsize) and self.most(itemsize, 2) < self.contract.at_least > 1:
            return f"demands {self.contract.text}, and its count does not hold two such numbers"
        sized = exactly or _passes_number(self.parameters, self.launch)
        return "" if sized else f"says nowhere how many values there are ({ROLES}; {EXACTLY})"

    def named(self, name: str) -> CParameter | None:
        """The parameter of that name."""
        return next((each for each in self.parameters if each.name == name), None)

    @property
    def _beside(self) -> list[str]:
        named = [each.name for each in self.parameters if each.name in BESIDE and not each.value]
        return named + [each.value for each in self.parameters if each.name == "y" and each.value in HELD]

    @cached_property
    def beside(self) -> str:
        """What it takes beside x and y; empty for nothing."""
        return next(iter(self._beside), "")

    @property
    def second(self) -> str:
        """The second input that it takes; empty for none."""
        return self.beside.replace("x", "") if self.beside != "dy" else ""

    @property
    def one_second(self) -> bool:
        """Whether it takes one value of it for all of an array."""
        found = self.named(self.second)
        return found is not None and self.is_array and not found.pointers

    @cached_property
    def data(self) -> CParameter:
        """The input; where there is none, the output, which has it."""
        data = self.named("x") or next(filter(None, map(self.named, PACKED)), None) or self.named("y")
        assert data is not None
        return data

    @cached_property
    def output(self) -> CParameter:
        """The output; where there is none, the input, which becomes it."""
        return self.named("y") or self.data

    @property
    def is_array(self) -> bool:
        """Whether it takes all values at once."""
        return self.data.pointers > 0

    @property
    def in_place(self) -> bool:
        """Whether its results replace its input."""
        return self.is_array and self.data.name == self.output.name

    @property
    def is_added_to(self) -> bool:
        """Whether it adds its results to what the output is, which is zero before it."""
        return self.is_array and not self.in_place and self.output.value == ADDED_TO

    @property
    def replaced(self) -> str:
        """What its output holds before a call, which replaces it: "dy", or the second input; empty for nothing."""
        return self.output.value if self.is_array and not self.in_place and self.output.value in HELD else ""

    def most(self, itemsize: int, parts: int = 1) -> int:
        """Of how many values the types of its counts hold the number, or one of so many parts of it; 0 where that is
        of as many as there can be."""
        if not self.is_array or self.data.name in PACKED:
            return 0
        step = lcm(self.contract.multiple_of, max(self.contract.aligned // itemsize, 1))
        found = [held for each in self.parameters if (held := _held(each, itemsize))]
        return min(found, default=0) // parts // step * step

    def lengths(self, n: int, itemsize: int) -> Iterator[int]:
        """Of the calls in which it gets n values: the last is not left with fewer than are demanded."""
        most, half, least = self.most(itemsize), self.most(itemsize, 2), self.contract.at_least
        while n:
            taken = n if not most or n <= most else half if n < most + least else most
            yield taken
            n -= taken

    def at_once(self, itemsize: int) -> str:
        """That it is called with so many at most, in words."""
        most = self.most(itemsize)
        return f"with at most {most:,} values at once, whose number its type holds" if most else ""

    @property
    def apart(self) -> str:
        """Why its results cannot replace its input where it is called with two arrays; empty where they can."""
        if not self.is_array:
            return OF_VALUES
        if self.in_place:
            return "its results replace its input in every call"
        if self.is_added_to:
            return "it adds to its output"
        if self.replaced:
            return f"its output holds {self.replaced} before a call"
        if self.contract.oob_reads:
            return "it reads beyond its input"
        return RESTRICTED if self.restricted else ""

    @property
    def called(self) -> str:
        """How it is called, in words."""
        called = self.text.partition(";")[0].strip()
        return ", ".join(filter(None, (f"called as {called}", self.said, "in place" * self.in_place)))

    @property
    def note(self) -> str:
        """The same, and what is agreed."""
        return ", ".join(filter(None, (self.called, self.contract.note)))

    def dtype(self, name: str, symbol: str, asked: Asked) -> str:
        """What it computes in: by the type of x, else as the name or the user says."""
        dtype = self.data.dtype
        if dtype is None:
            return dtype_of(name, symbol, asked)
        if claimed_by(symbol)[1] not in (None, dtype):
            raise UsageError(f"{name} says {claimed_by(symbol)[1]} by its name, but is declared with {self.data.base}")
        return dtype

    def pointer(self, name: str = "") -> str:
        """The declaration of a pointer to such a function; its type without a name."""
        return f"{self.result} (*{name})({', '.join(each.type for each in self.parameters)})"

    def argument(self, parameter: CParameter, itemsize: int, names: Mapping[str, str]) -> str:
        """The value that was said of a parameter, in C; `names`: what x, y, dy and n in it are there."""
        known = {**names, "bytes": f"({names['n']} * {itemsize})"}
        return _IN_VALUES.sub(lambda each: known.get(each[0], each[0]), parameter.value)


def _held(parameter: CParameter, itemsize: int) -> int:
    """How many values a parameter of a narrow type can count; 0 of any other."""
    text = parameter.points_to or (parameter.value or parameter.name) * (not parameter.pointers)
    found = _COUNTS.fullmatch(text) if parameter.element in _HELD_BY else None
    if found is None:
        return 0
    times, over = (int(number or 1) for number in (found["times"] or found["by"], found["over"]))
    held: int = _HELD_BY[parameter.element]
    return held // (itemsize if found["what"] == "bytes" else 1) // times * over


def _passes_number(parameters: Sequence[CParameter], launch: str) -> bool:
    """Whether the number of values is passed to it."""
    values = (launch, *(each.value for each in parameters))
    used = any(_SIZES.search(value) and not ZEROS.fullmatch(value) for value in values)
    return used or any(each.name in ("n", "bytes") for each in parameters)


def said_number(parameters: Sequence[CParameter], launch: str = "") -> int | None:
    """The number of values of each of its arrays, where it is declared, as in float x[8], and not passed."""
    given = [each for each in parameters if each.name in ("x", "y", *BESIDE) and each.value in ("", ADDED_TO, *HELD)]
    arrays = [each.size for each in given if each.pointers]
    return None if _passes_number(parameters, launch) or len(set(arrays)) != 1 else arrays[0] or None


def target_fields(prototype: Prototype, symbol: str, asked: Asked) -> dict[str, Any]:
    """The fields of a target that say what it computes, and of what; of the `symbol` without namespaces."""
    function = function_of(symbol, asked, prototype.beside == "dy", prototype.second)
    takes = {name: getattr(prototype, name) for name in ("beside", "second", "one_second")}
    return {"function": function, **takes}


def _contract(also: str) -> Contract | None:
    """What follows a prototype; None where that is something else, or said twice."""
    return Contract.parsed(also) if not also.strip() or also.lstrip().startswith(";") else None


def separated(parameters: str) -> Iterator[str]:
    """At the commas that are in no brackets."""
    depth, start = 0, 0
    for at, character in enumerate(parameters):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            yield parameters[start:at]
            start = at + 1
    yield parameters[start:]


def said_parameters(call: str) -> list[tuple[str, str]]:
    """Types, without spaces, and names of a line's parameters; empty where it says none."""
    found = _PROTOTYPE.fullmatch(" ".join(call.split()))
    parts = (each.partition("=")[0].strip() for each in separated(found["parameters"])) if found else ()
    read = [_PARAMETER.fullmatch(_RESTRICT.sub("", each).strip()) for each in parts]
    return [(_typed(each)[0].replace(" ", ""), each["name"]) if each else ("", "") for each in read]


_VALUE = re.compile(r"NULL|nullptr|true|false|[^A-Za-z_].*|.*[-+*/(].*", re.DOTALL)  # and no name
_NO_ADDRESS = re.compile(rf"NULL|nullptr|0|{ZEROS.pattern}")


def _parameter(text: str, said: str, declared: CParameter | None) -> CParameter:
    """What a line says of a parameter, with what is declared of it where there is a declaration."""
    declaration, equals, value = said.partition("=")
    value = value.strip()
    found = _PARAMETER.fullmatch(_RESTRICT.sub("", declaration).strip())
    if declared and not equals and (not found or found["name"] not in GIVEN) and _VALUE.fullmatch(said):
        return replace(declared, value=said)  # as in a call: f(bytes, x, y, NULL)
    fits = found and (found["name"] not in GIVEN or found["name"] in BESIDE[1:] if value else found["name"] in GIVEN)
    fits = fits or (found and found["name"] == "y" and value in (ADDED_TO, *HELD))
    if not fits or not found or not (found["type"] or declared):
        raise UsageError(f"--call {text!r}: parameter {said!r} cannot be used ({ROLES})")
    typed, shape = _typed(found)
    if declared and (not found["type"] or _NO_ADDRESS.fullmatch(value)):
        return replace(declared, name=found["name"], value=value)
    canonical = declared.canonical if declared and plain_type(typed) == declared.base else ""
    return CParameter(typed, found["name"], value, canonical, shape)


def _with_own_name(parameter: CParameter, place: int) -> CParameter:
    """The same where it has a value of its own, and is declared by a name that stands for one of GIVEN."""
    is_output = parameter.name == "y" and parameter.value in (ADDED_TO, *HELD)
    is_free = not parameter.value or is_output or parameter.name in BESIDE[1:]
    return parameter if is_free else replace(parameter, name=own_name(parameter.name, place))


def own_name(name: str, place: int) -> str:
    """What a parameter is called in a line that gives it a value."""
    return f"p{place + 1}" if name in ("", *GIVEN) else name


def _typed(found: re.Match[str]) -> tuple[str, tuple[int, ...]]:
    """The type of a parameter of a line, and its shape."""
    sizes = [int(n) if n.isdecimal() else 0 for n in re.findall(r"\[\s*(\w*)\s*\]", found["array"])]
    return array_type(" ".join((found["type"] or "").split()), sizes)
