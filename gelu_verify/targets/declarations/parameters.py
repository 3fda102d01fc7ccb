"""A function's parameters, as a source declares them or as `--call` says them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import prod

from ..names import claimed_by

CALLABLE = "gelu_verify_callable"  # of what has no address of its own: objects with operator()
_DTYPES = {
    **{"float": "float32", "double": "float64"},
    **dict.fromkeys(("_Float16", "__fp16", "__half", "half", "std::float16_t"), "float16"),
    **dict.fromkeys(("__bf16", "__nv_bfloat16", "nv_bfloat16", "std::bfloat16_t"), "bfloat16"),
}
CUDA_TYPES = {"float16": "__half", "bfloat16": "__nv_bfloat16", "float32": "float", "float64": "double"}
VECTORS = {  # element, how many of them, what the caller must be compiled for
    "__m128": ("float", 4, ""),
    "__m128d": ("double", 2, ""),
    "__m256": ("float", 8, "avx"),
    "__m256d": ("double", 4, "avx"),
    "__m512": ("float", 16, "avx512f"),
    "__m512d": ("double", 8, "avx512f"),
    "float32x4_t": ("float", 4, ""),
    "float64x2_t": ("double", 2, ""),
    "float2": ("float", 2, ""),
    "float4": ("float", 4, ""),
    "double2": ("double", 2, ""),
    **dict.fromkeys(("__half2", "half2"), ("__half", 2, "")),
    **dict.fromkeys(("__nv_bfloat162", "nv_bfloat162"), ("__nv_bfloat16", 2, "")),
}
_ROWS = re.compile(r"\(\*\)(?=\[)|\[\d*\]")  # of a pointer to them: float (*)[8]
_QUALIFIERS = re.compile(r"\b(?:const|volatile|struct|union)\b|\b(?:__)?restrict(?:__)?\b")


@dataclass(frozen=True)
class CParameter:
    """One parameter: its type and name, and its value where it is none of GIVEN; `canonical`: the type without names
    that a source gives to types, where one has been read; `shape`: of an array that is declared with its size, as
    float x[2][8], 0 where that is open, as in x[][8]."""

    type: str
    name: str
    value: str = ""
    canonical: str = ""
    shape: tuple[int, ...] = ()

    @property
    def base(self) -> str:
        """The type without pointers and qualifiers."""
        return plain_type(self.type)

    @property
    def size(self) -> int:
        """Values of an array that is declared with their number; 0 of any other."""
        return prod(self.shape) if self.shape else 0

    @property
    def is_function(self) -> bool:
        """Whether it points to a function."""
        return "(*)(" in (self.canonical or self.type)

    @property
    def shown(self) -> str:
        """The declaration."""
        if not self.shape:
            return f"{self.type} {self.name}".strip().replace("* ", "*")
        of = re.split(r" \(?\*", self.type)[0]
        return f"{of} {self.name}" + "".join(f"[{n or ''}]" for n in self.shape)

    @property
    def element(self) -> str:
        """What the base is a name of."""
        return plain_type(self.canonical or self.type)

    @property
    def vector(self) -> str:
        """The vector of `VECTORS` that its values, or what it points to, are; empty for others."""
        return next((each for each in (self.base, self.element) if each in VECTORS), "")

    @property
    def points_to(self) -> str:
        """The number whose address it is given, n or bytes: by its name, or as its value "&n" says; empty for none."""
        number = self.value.removeprefix("&") if self.value.startswith("&") else self.name
        return number if self.pointers == 1 and number in ("n", "bytes") else ""

    @property
    def pointers(self) -> int:
        """How many of its asterisks it has."""
        return (self.canonical or self.type).count("*")

    @property
    def is_const(self) -> bool:
        """Whether what it points to cannot be written to."""
        return bool(re.search(r"\bconst\b", (self.canonical or self.type).partition("*")[0]))

    @property
    def dtype(self) -> str | None:
        """What it is an array, a value or a vector of, as far as its type says so."""
        known = _DTYPES.get(VECTORS[self.vector][0] if self.vector else self.element) or _DTYPES.get(self.base)
        return known or (claimed_by(self.base.removesuffix("_t").lower())[1] if self.base != self.element else None)


def is_data(text: str) -> bool:
    """Whether that is a type of a format, or a vector of one."""
    return plain_type(text) in _DTYPES or plain_type(text) in VECTORS


def plain_type(text: str) -> str:
    """A type without pointers and qualifiers."""
    return " ".join(_QUALIFIERS.sub(" ", _ROWS.sub("", text).replace("*", " ").replace("&", " ")).split())


def array_type(of: str, sizes: list[int]) -> tuple[str, tuple[int, ...]]:
    """The type of a parameter that is an array of these dimensions, 0 where open: in C a pointer, to rows if there are
    two; and its shape, empty where nothing is said."""
    rows = "".join(f"[{n or ''}]" for n in sizes[1:])
    typed = f"{of} (*){rows}" if rows else of + " *" * bool(sizes)
    return typed, tuple(sizes) if any(sizes) else ()


@dataclass(frozen=True)
class Declared:
    """A function as a source declares it.

    `symbol` names it in the source, `callee` where it is called, with `before` ahead of that; `template`: what is to be
    said before it is one; `space`: "global" or "device" of CUDA; `launch`: grid and block, where they are known;
    `body`: its text after preprocessing, empty where it is only declared; `returned`: the result as `canonical` has it;
    `around`: the declaration of the function that this one, which is ours, calls.
    """

    symbol: str
    result: str
    parameters: tuple[CParameter, ...]
    restricted: bool = False
    template: tuple[str, ...] = ()
    space: str = ""
    body: str = ""
    before: str = ""
    callee: str = ""
    launch: str = ""
    returned: str = ""
    around: str = ""

    @property
    def shown(self) -> str:
        """The declaration in one line."""
        given = ", ".join(each.shown for each in self.parameters)
        return f"{self.result} {self.symbol}({given})".replace("* ", "*")

    def of_an_object(self, owner: str, method: str = "") -> Declared:
        """A function that makes an object of a class and calls it, or its method."""
        names = [f"gv_{i}" for i in range(len(self.parameters))]
        given = ", ".join(f"{each.type} {name}" for each, name in zip(self.parameters, names, strict=True))
        called = f"{owner}{{}}{f'.{method}' * bool(method)}({', '.join(names)})"
        space = "__device__ " * (self.space == "device")
        before = f"static {space}{self.result} {CALLABLE}({given}) {{ return {called}; }}\n"
        named = f"{owner}::{method}" if method else owner
        return replace(self, symbol=named, before=before, callee=CALLABLE)
