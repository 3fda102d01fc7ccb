"""The C function that calls a user's function as its prototype says: compiled with a source, or alone for a library."""

from __future__ import annotations

import ctypes
import re

from ...errors import UsageError
from ...formats import get_format
from ..declarations.parameters import VECTORS, is_data
from ..declarations.prototype import SPARE, WIDEST, ZEROS, Prototype
from ._compiler import Compiler

CALL = "gelu_verify_call"
_HEADERS = {"__m": "immintrin.h", "float32x": "arm_neon.h", "float64x": "arm_neon.h"}
# The function is given as an address, so that no compiler knows which it is, and changes it to suit its caller.
_SOURCE = """
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
{headers}
static __attribute__((unused)) void gv_free(void *address) {{ __builtin_free(*(void **)address); }}
static __attribute__((unused)) long long gv_success(long long status, __SIZE_TYPE__ n, __SIZE_TYPE__ bytes)
{{
    return status == (long long)n || status == (long long)bytes ? 0 : status;
}}
#ifdef __cplusplus
extern "C"
#endif
__attribute__((visibility("default"){target})) long long
{CALL}(void *gv_function, const void *gv_x, void *gv_y, __SIZE_TYPE__ gv_n{beside})
{{
    typedef char gv_element[sizeof({T}) == {itemsize} ? 1 : -1];
    {pointer} = ({cast})gv_function;
    __SIZE_TYPE__ gv_i = 0;
    (void)gv_i;
{body}
}}
"""
_MEMORY = "    __attribute__((aligned(64))) unsigned char gv_zeros{i}[{size}] = {{0}};\n"
_MEMORY_OF_ALL = (
    "    __attribute__((cleanup(gv_free))) void *gv_zeros{i} = __builtin_calloc(gv_n + 2 * {spare}, {widest});\n"
)
_ALIGNED = "(void *)(((__SIZE_TYPE__)gv_zeros{i} + 63) / 64 * 64)"
_BY_ADDRESS = "    {T} gv_at{i} = ({T})({value});\n"  # as Fortran passes a number
_IN_PLACE = "    __builtin_memcpy(gv_y, gv_x, gv_n * {itemsize});\n"
_ADDED_TO = "    __builtin_memset(gv_y, 0, gv_n * {itemsize});\n"
_HELD = "    __builtin_memcpy(gv_y, gv_beside, gv_n * {itemsize});\n"
_OF_SO_MANY = """    long long gv_status = 0;
    const __SIZE_TYPE__ gv_all = gv_n;
    for (; !gv_status && gv_i < gv_all; gv_i += gv_n) {{
        gv_n = {n};
{before}        gv_status = {call};
        gv_x = (const {T} *)gv_x + gv_n;
        gv_y = ({T} *)gv_y + gv_n;
{beside}    }}
    return gv_status;"""
_NEXT_BESIDE = "        gv_beside = (const {T} *)gv_beside + gv_n;\n"
# The last of as many values as a narrow count holds is not left with fewer than are demanded.
_UP_TO = "gv_all - gv_i <= {most} ? gv_all - gv_i : gv_all - gv_i < {most} + {at_least} ? {half} : {most}"
_OF_A_VALUE = """    for (; gv_i < gv_n; gv_i++)
        (({T} *)gv_y)[gv_i] = {call};
    return 0;"""
_OF_A_VECTOR = """    for (; gv_i < gv_n; gv_i += {lanes}) {{
        __SIZE_TYPE__ gv_size = (gv_n - gv_i < {lanes} ? gv_n - gv_i : {lanes}) * {itemsize};
        {V} gv_v = {{0}};
        __builtin_memcpy(&gv_v, (const {T} *)gv_x + gv_i, gv_size);
        gv_v = {call};
        __builtin_memcpy(({T} *)gv_y + gv_i, &gv_v, gv_size);
    }}
    return 0;"""


def source_of(prototype: Prototype, dtype: str) -> str:
    """C, and C++, of `long long CALL(function, x, y, n)`: what the function returns of its success, 0 for good.

    What it takes beside x and y comes behind them.
    """
    base, itemsize = prototype.data.base, get_format(dtype).width // 8
    element, lanes, target = VECTORS.get(prototype.data.vector, (base, 0, ""))
    element = f"uint{8 * itemsize}_t" if element == "void" else element
    zeros = "".join(
        (_MEMORY_OF_ALL if found[1] == "bytes" else _MEMORY).format(i=i, size=found[1], widest=WIDEST, spare=SPARE)
        for i, each in enumerate(prototype.parameters)
        if (found := ZEROS.fullmatch(each.value))
    )
    call, contract, most = _call(prototype, element, itemsize), prototype.contract, prototype.most(itemsize)
    before = zeros + "".join(
        _BY_ADDRESS.format(T=each.base, i=i, value=_sizes(itemsize)[each.points_to])
        for i, each in enumerate(prototype.parameters)
        if each.points_to
    )
    filled = _IN_PLACE * prototype.in_place + _ADDED_TO * prototype.is_added_to + _HELD * bool(prototype.replaced)
    before += filled.format(itemsize=itemsize)
    if contract.exactly or most:
        n = contract.exactly or _UP_TO.format(most=most, at_least=contract.at_least, half=prototype.most(itemsize, 2))
        beside = _NEXT_BESIDE.format(T=element) * bool(prototype.beside and not prototype.one_second)
        body = _OF_SO_MANY.format(T=element, n=n, before=before, call=call, beside=beside)
    elif prototype.is_array:
        body = f"{before}    return {call};"
    else:
        form = _OF_A_VECTOR if lanes else _OF_A_VALUE
        body = zeros + form.format(T=element, V=base, lanes=lanes, itemsize=itemsize, call=call)
    return _SOURCE.format(
        CALL=CALL,
        headers="\n".join(f"#include <{file}>" for prefix, file in _HEADERS.items() if base.startswith(prefix)),
        target=f', target("{target}")' if target else "",
        T=element,
        itemsize=itemsize,
        beside=", const void *gv_beside" * bool(prototype.beside),
        pointer=prototype.pointer("gv_f"),
        cast=prototype.pointer(),
        body=body,
    )


def _sizes(itemsize: int) -> dict[str, str]:
    """What stands for the number of values, and of bytes."""
    return {"n": "gv_n", "bytes": f"gv_n * {itemsize}"}


def _call(prototype: Prototype, element: str, itemsize: int) -> str:
    """The call, as a number: 0 where the function returns nothing, true, how many values there were, a pointer or a
    value of a format."""
    x, const = ("gv_y", "") if prototype.in_place else ("gv_x", "const ")
    values = {
        "x": f"({prototype.data.type}){x}",
        "y": f"({prototype.output.type})gv_y",
        **_sizes(itemsize),
    }
    if beside := prototype.named(prototype.beside):
        at = "gv_i" if not prototype.is_array else "0"
        of_value = f"((const {element} *)gv_beside)[{at}]"
        values[beside.name] = f"({beside.type})gv_beside" if beside.pointers else of_value
    if not prototype.is_array:
        values["x"] = "gv_v" if prototype.data.vector else f"((const {element} *)gv_x)[gv_i]"
    names = {"x": f"(({const}{element} *){x})", "dy": f"((const {element} *)gv_beside)"}
    names |= {"n": "gv_n", "y": f"(({element} *)gv_y)"}
    arguments = [
        f"({each.type})" + _ALIGNED.format(i=i)
        if ZEROS.fullmatch(each.value)
        else f"({each.type})&gv_at{i}"
        if each.points_to
        else values.get(each.name) or prototype.argument(each, itemsize, names)
        for i, each in enumerate(prototype.parameters)
    ]
    call = f"gv_f({', '.join(arguments)})"
    if not prototype.is_array:
        return call
    if prototype.result in ("bool", "_Bool"):
        return f"!{call}"
    is_no_status = prototype.result == "void" or "*" in prototype.result or is_data(prototype.result)
    return f"({call}, 0)" if is_no_status else f"gv_success((long long){call}, gv_n, gv_n * {itemsize})"


def compiled(prototype: Prototype, dtype: str) -> ctypes.CDLL:
    """A library with `CALL` alone, for a function that is given by its address."""
    shown = f"--call {prototype.text!r}"
    compiler = Compiler.found("C", "CC", "cc", "gcc", "clang")
    try:
        built = compiler.library("call.c", source_of(prototype, dtype), shown, None, ["-shared", "-fPIC", "-w"])
    except UsageError as error:
        raise UsageError(re.sub(r"\S*/call\.c:\S* ", "", str(error).partition("; to see all")[0])) from None
    return ctypes.CDLL(built.library)
