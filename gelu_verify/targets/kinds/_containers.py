"""C++ functions of std::vector, valarray, span, array and T (&)[8], called with arrays: by a function around them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import prod

from ..declarations.parameters import CALLABLE, CParameter, Declared, is_data

OTHER_SIZE = -0x73697A65  # a status: of a container that has another size than x
_CONTAINER = re.compile(
    r"(?P<const>const )?std::(?:\w+::)*(?P<kind>vector|valarray|span|array)<(?P<values>const )?(?P<element>[\w:]+)"
    r"(?:, (?P<size>\d{1,9})U?L{0,2})?[^<>]*(?:<[^<>]*>)?>(?P<by> ?&{0,2})"
)
_REFERENCE = re.compile(r"(?P<const>const )?(?P<element>[\w:]+) \(&\)(?P<sizes>(?:\[\d+\])+)")
_AROUND = """static int {name}({given})
{{
{made}    {result}{callee}({passed});
{back}    return 0;
}}
"""
_MADE = {
    "vector": "    std::vector<{element}> gv_{i}({pointer}, {pointer} + {n});\n",
    "valarray": "    std::valarray<{element}> gv_{i}({pointer}, {n});\n",
    "span": "    std::span<{values}{element}{extent}> gv_{i}({pointer}, {n});\n",
    "array": "    auto {by}gv_{i} = *({values}std::array<{element}{extent}> *){pointer};\n",
    "reference": "    auto &&gv_{i} = *({values}{element} (*){sizes}){pointer};\n",
}
_BACK = """    if ((__SIZE_TYPE__)gv_{i}.size() != {n})
        return {other_size};
    if (__builtin_memcmp({pointer}, &gv_{i}[0], {n} * sizeof({element})))
        __builtin_memcpy({pointer}, &gv_{i}[0], {n} * sizeof({element}));
"""


@dataclass(frozen=True)
class _Container:
    kind: str
    element: str
    is_const: bool
    is_moved: bool
    sizes: tuple[int, ...] = ()  # where they are a part of the type

    @classmethod
    def of(cls, *types: str) -> _Container | None:
        """What a type is, by one of its names; None of anything else."""
        found = next(filter(None, map(_CONTAINER.fullmatch, types)), None)
        array = next(filter(None, map(_REFERENCE.fullmatch, types)), None)
        if array and is_data(array["element"]):
            sizes = tuple(map(int, re.findall(r"\d+", array["sizes"])))
            return cls("reference", array["element"], bool(array["const"]), False, sizes)
        if found is None or not is_data(found["element"]):
            return None
        is_value = "&" not in found["by"] and found["kind"] != "span"  # changing a copy changes nothing
        is_moved = found["by"].strip() == "&&"
        is_const = bool(found["values"] if found["kind"] == "span" else found["const"] or is_value or is_moved)
        sizes = (int(found["size"]),) if found["size"] else ()
        return cls(found["kind"], found["element"], is_const, is_moved, sizes)

    def text(self, form: str, i: str, pointer: str, n: str) -> str:
        return form.format(
            i=i,
            pointer=pointer,
            n=prod(self.sizes) if self.sizes else n,
            element=self.element,
            values="const " * self.is_const,
            by="&&" * (not self.is_moved),
            extent="".join(f", {size}" for size in self.sizes),
            sizes="".join(f"[{size}]" for size in self.sizes),
            other_size=OTHER_SIZE,
        )

    @property
    def is_view(self) -> bool:
        """Whether what is written to it is written to the array."""
        return self.kind in ("span", "reference", "array")

    def parameter(self, name: str) -> CParameter:
        """The array that it is made of."""
        return CParameter(f"{'const ' * self.is_const}{self.element} *", name, shape=self.sizes)


def _is_appended_to(name: str, body: str) -> bool:
    """Whether the body adds elements to a vector, as it finds it."""
    own = rf"\b{re.escape(name)}\s*\)?"
    adds = re.search(rf"{own}(?:\.|->)\s*(?:push|emplace)_back\b|\b(?:back_)?inserter\s*\(\s*{own}", body)
    return bool(name and adds) and not re.search(rf"{own}(?:\.|->)\s*(?:clear|resize|assign)\b|{own}\s*=", body)


def as_arrays(declared: Declared) -> Declared:
    """The function around one of containers, of pointers and n; what takes or returns none stays as it is, or what
    takes one of any size and one of a certain size."""
    found = [_Container.of(each.type, each.canonical) for each in declared.parameters]
    returned = _Container.of(declared.result, declared.returned)
    if not any(found) or not (returned or any(each and not each.is_const for each in found)):
        return declared
    if len({bool(each.sizes) for each in (*found, returned) if each}) > 1:
        return declared
    names = [each.name or f"gv_p{i}" for i, each in enumerate(declared.parameters)]
    taken = {*names}
    y, n = ("y" if "y" not in taken else "out", "n" if "n" not in taken else "count")
    parameters, made, passed, back = [], "", [], ""
    for i, (each, container, name) in enumerate(zip(declared.parameters, found, names, strict=True)):
        if container is None:
            parameters.append(replace(each, name=name))
            passed.append(name)
            continue
        parameters.append(container.parameter(name))
        is_empty = container.kind == "vector" and not container.is_const and _is_appended_to(each.name, declared.body)
        is_empty = is_empty and sum(map(bool, found)) > 1  # and another one is the input
        made += container.text(_MADE[container.kind], str(i), name, "0" if is_empty else n)
        passed.append(f"std::move(gv_{i})" if container.is_moved else f"gv_{i}")
        if not container.is_const and not container.is_view:
            back += container.text(_BACK, str(i), name, n)
    if returned:
        parameters.append(replace(returned, is_const=False).parameter(y))
        back += returned.text(_BACK, "y", y, n)
    if not any(each and each.sizes for each in found):
        parameters.append(CParameter("unsigned long", n))
    around = _AROUND.format(
        name=f"{CALLABLE}_arrays",
        given=", ".join(f"{each.type} {each.name}" for each in parameters),
        made=made,
        result="auto &&gv_y = " * bool(returned),
        callee=declared.callee,
        passed=", ".join(passed),
        back=back,
    )
    return replace(
        declared, result="int", parameters=tuple(parameters), before=declared.before + around,
        callee=f"{CALLABLE}_arrays", body="", around=declared.shown,
    )  # fmt: skip
