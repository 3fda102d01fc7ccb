"""What the name of a function says that it computes, and in which dtype: the names that projects give to functions.

A name that is here and no function of this package is a question: nothing that says hard_swish is judged as gelu.
"""

from __future__ import annotations

import re
from functools import cache

from ..functions import FUNCTIONS
from ..functions.names import NAMES
from .parameter_names import words_of

# How a function is called that is made of another one: gelu_with_tanh, gelu_by_erf.
_TOGETHER = {
    frozenset(("gelu", "tanh")): "gelu_tanh",
    frozenset(("gelu", "sigmoid")): "gelu_sigmoid",
    frozenset(("gelu", "erf")): "gelu",
    frozenset(("gelu", "erfc")): "gelu",
    frozenset(("gelu", "normcdf")): "gelu",
    frozenset(("gelu_tanh", "tanh")): "gelu_tanh",
    frozenset(("gelu_sigmoid", "sigmoid")): "gelu_sigmoid",
    frozenset(("silu", "sigmoid")): "silu",
    frozenset(("silu", "relu")): "silu",
}
_GRADIENT = {"grad", "grads", "gradient", "backward", "bwd", "backprop", "deriv", "derivative", "prime", "vjp", "jvp"}
_LAST, _NO_GRADIENT = {"back", "dx"}, {"fall", "call", "write"}  # gelu_back, but no gelu_fall_back, nor gelu_back_end
_PREFIXES = {"v": "v:", "fast": "rough", "faster": "rough", "d": "derivative"}
# How a type is marked in a symbol: gelu_f32, gelu_tanh_bf16, xnn_f32_vgelu.
MARKS = {
    "float16": ("f16", "fp16", "half", "float16"),
    "bfloat16": ("bf16", "bfloat16"),
    "float32": ("f32", "fp32", "float", "float32"),
    "float64": ("f64", "fp64", "double", "float64"),
}
_DTYPE_OF = {mark: dtype for dtype, marks in MARKS.items() for mark in marks}
_FUNCTION_OF = {"".join(words_of(name)): function for name, (function, _) in NAMES.items()}


@cache
def symbol_of(name: str) -> str:
    """The last part of the name of a target: gelu of ops.py:gelu, of module:Class.gelu and of ./k.so:gelu:scalar."""
    return re.split("[:.]", re.sub(":(?:vector|scalar)$", "", name))[-1]


def claimed_by(symbol: str) -> tuple[str | None, str | None]:
    """Function and dtype that a symbol claims by its name: ("gelu_tanh", "float32") of my_gelu_tanh_f32.

    The function may be none of `FUNCTIONS`, or several with "and" between them; None where the name says nothing.
    """
    stem, _, mark = symbol.rpartition("_")
    if symbol in FUNCTIONS:
        return symbol, None
    if stem in FUNCTIONS and mark in _DTYPE_OF:
        return stem, _DTYPE_OF[mark]
    words = [each for word in words_of(symbol) for each in _parts(word)]
    start = words.index("v:") + 1 if "v:" in words else 0  # xnn_f32_vtanh_ukernel__avx2_expm1minus: how is behind
    functions, libm = _functions_in(words[start : start + 1] if start else words, symbol.lower())
    dtypes = {_DTYPE_OF[run] for run, places in _runs(words) if _is_mark(run, places.stop == len(words))}
    if "bfloat16" in dtypes:
        dtypes.discard("float16")  # in b-float16
    dtype = dtypes.pop() if len(dtypes) == 1 else "float32" if libm and not dtypes else None
    return _claimed(functions, words), dtype


def _claimed(functions: set[str], words: list[str]) -> str | None:
    if not functions:
        return None
    together = _TOGETHER.get(frozenset(functions), " and ".join(sorted(functions)))
    is_gradient = bool(_GRADIENT & set(words)) or (words[-1] in _LAST and words[-2] not in _NO_GRADIENT)
    return f"{together}_grad" if is_gradient and not together.endswith("_grad") else together


def _parts(word: str) -> list[str]:
    """Of vgelu, fasttanh, dgelu (a derivative): a word before the name of a function, and that."""
    for prefix, means in _PREFIXES.items():
        rest = word.removeprefix(prefix)
        if rest != word and rest in _FUNCTION_OF and word not in _FUNCTION_OF:
            return [means, rest]
    return [word]


def _is_mark(run: str, is_last: bool) -> bool:
    """f32 anywhere, but half, float and double at the end only: a double_gelu may be two."""
    return run in _DTYPE_OF and (is_last or run[-1].isdigit())


def _functions_in(words: list[str], symbol: str) -> tuple[set[str], bool]:
    """The functions whose names are runs of the words, the longest first; whether one ends in the f of libm."""
    found, taken, libm = set(), set[int](), False
    for run, places in sorted(_runs(words), key=lambda each: -len(each[0])):
        ends_in_f = run not in _FUNCTION_OF and run[:-1] in _FUNCTION_OF and run.endswith("f") and run in symbol
        name = _FUNCTION_OF.get(run[:-1] if ends_in_f else run) or ("_".join(words[i] for i in places))
        if (name in FUNCTIONS or run in _FUNCTION_OF or ends_in_f) and not taken & set(places):
            found.add(name)
            taken |= set(places)
            libm |= ends_in_f
    return found, libm


def _runs(words: list[str]) -> list[tuple[str, range]]:
    return [("".join(words[i:j]), range(i, j)) for i in range(len(words)) for j in range(i + 1, len(words) + 1)]
