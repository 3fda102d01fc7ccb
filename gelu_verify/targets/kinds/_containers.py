"""C++ functions of std::vector, std::valarray and std::span, called with arrays: by a function around them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ._parameters import CALLABLE, CParameter, Declared, is_data

_CONTAINER = re.compile(
    r"(?P<const>const )?std::(?:\w+::)*(?P<kind>vector|valarray|span)<(?P<values>const )?(?P<element>[\w:]+)[^<>]*"
    r"(?:<[^<>]*>)?>(?P<by> ?&{0,2})"
)
# 1, which is no success, where the size is another one
_AROUND = """static int {name}({given})
{{
{made}    {result}{callee}({passed});
{back}    return 0;
}}
"""
_MADE = {
    "vector": "    std::vector<{element}> gv_{i}({pointer}, {pointer} + {n});\n",
    "valarray": "    std::valarray<{element}> gv_{i}({pointer}, {n});\n",
    "span": "    std::span<{values}{element}> gv_{i}({pointer}, {n});\n",
}
_BACK = """    if ((__SIZE_TYPE__)gv_{i}.size() != {n})
        return 1;
    if (__builtin_memcmp({pointer}, &gv_{i}[0], {n} * sizeof({element})))
        __builtin_memcpy({pointer}, &gv_{i}[0], {n} * sizeof({element}));
"""


@dataclass(frozen=True)
class _Container:
    kind: str
    element: str
    is_const: bool
    is_moved: bool

    @classmethod
    def of(cls, *types: str) -> _Container | None:
        """What a type is, by one of its names; None of anything else."""
        found = next(filter(None, map(_CONTAINER.fullmatch, types)), None)
        if found is None or not is_data(found["element"]):
            return None
        is_value = "&" not in found["by"] and found["kind"] != "span"  # changing a copy changes nothing
        is_moved = found["by"].strip() == "&&"
        is_const = bool(found["values"] if found["kind"] == "span" else found["const"] or is_value or is_moved)
        return cls(found["kind"], found["element"], is_const, is_moved)

    def text(self, form: str, i: str, pointer: str, n: str) -> str:
        values = "const " * self.is_const
        return form.format(i=i, pointer=pointer, n=n, element=self.element, values=values)


def as_arrays(declared: Declared) -> Declared:
    """The function around one of containers, of pointers and n; what takes or returns none stays as it is."""
    found = [_Container.of(each.type, each.canonical) for each in declared.parameters]
    returned = _Container.of(declared.result, declared.returned)
    if not any(found) or not (returned or any(each and not each.is_const for each in found)):
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
        parameters.append(CParameter(f"{'const ' * container.is_const}{container.element} *", name))
        made += container.text(_MADE[container.kind], str(i), name, n)
        passed.append(f"std::move(gv_{i})" if container.is_moved else f"gv_{i}")
        if not container.is_const and container.kind != "span":
            back += container.text(_BACK, str(i), name, n)
    if returned:
        parameters.append(CParameter(f"{returned.element} *", y))
        back += returned.text(_BACK, "y", y, n)
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
