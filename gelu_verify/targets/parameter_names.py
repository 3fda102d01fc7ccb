"""What the name of a parameter says of it, in C, C++, CUDA and Python: the input, the output, a gradient, a count."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal

Role = Literal["x", "y", "dy", "dx", "n", "bytes", ""]

_IN = "x|xs|in|inp|inputs?|src|source|from|arg"
_OUT = "y|ys|out|outp|outputs?|dst|dest|destination|res|results?|ret|to"
_COUNT = (
    "n|len|length|count|cnt|num|numel|ne|nelem|nelems|nelements|elements|elems|size|sz|total|vl"
    "|(?:n|num|nb|number|total)_?(?:of_)?(?:el|elem|elems|elements?|items|values|count|size)"
    "|(?:el|elem|element|total|data|array|vec|vector|tensor|input|in)_?(?:cnt|count|num|len|length|size)"
)
_GRAD = "grads?|gradients?|diff"
_NAMES: dict[Role, str] = {  # of a name in lower case with underscores between its words
    "dy": rf"d_?(?:y|out|outp|outputs?|res|dst)|g_?(?:y|o)|d_?l_?d_?y|(?:{_GRAD})_?(?:{_OUT})|(?:{_OUT})_?(?:{_GRAD})"
    "|upstream|top_diff|incoming_grad(?:ient)?",
    "dx": rf"d_?(?:x|in|inp|inputs?|src)|g_?(?:x|i)|d_?l_?d_?x|(?:{_GRAD})_?(?:{_IN})|(?:{_IN})_?(?:{_GRAD})"
    "|bottom_diff",
    "x": rf"[vp]?(?:{_IN})|(?:{_IN})_?(?:data|values?|tensor|arr|array|buf|buffer|vec|vector)",
    "y": rf"[vp]?(?:{_OUT})|(?:{_OUT})_?(?:data|values?|tensor|arr|array|buf|buffer|vec|vector)",
    "n": _COUNT,
    "bytes": r"n_?bytes|bytes|byte_?(?:count|size|len|length)|(?:size|len|length|count)_?(?:in_?)?bytes|num_bytes",
}
_PATTERNS = {role: re.compile(rf"(?:{pattern})") for role, pattern in _NAMES.items()}
_ROWS = re.compile(r"(?:(?:n|num)_?)?(?:rows?|batch(?:es)?|tokens)|m")
_DECORATION = re.compile(r"^(?:p|ptr|dev|device|host|h|g|gm|global|m|the|my|const)_(?=.)|_(?:p|ptr|pt|dev|device|d)$")
OF_SECOND = {"g": "g", "b": "b", "bias": "b"}  # names of a second input; gate may be either factor
_ADDED = {"bias", "shift", "offset", "offsets", "off", "offx", "offy", "zero", "zp", "delta", "eps", "epsilon"}
_FACTORS = {"scale", "rel", "factor", "gain", "mul", "ratio"}
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


def words_of(name: str) -> list[str]:
    """`["fast", "gelu", "2"]` of fastGelu2 and of fast_gelu_2."""
    return [each.lower() for each in _WORDS.findall(name)]


def is_added(name: str) -> bool:
    """Whether that is added to something, so that 0 changes nothing, where a factor that changes nothing is 1."""
    return not _ADDED.isdisjoint(words_of(name)) and not is_factor(name)


def is_factor(name: str) -> bool:
    """Whether something is multiplied by that."""
    return not _FACTORS.isdisjoint(words_of(name))


@cache
def role_of(name: str) -> Role:
    """What a parameter of that name is; empty where its name says nothing of that, or two things (`x_out`)."""
    text = "_".join(words_of(name))
    text = re.sub(r"(?:_?\d+)+$", "", text) or text
    while (plain := _DECORATION.sub("", text)) != text:
        text = plain
    found: list[Role] = [role for role, pattern in _PATTERNS.items() if pattern.fullmatch(text)]
    if found:
        return found[0]
    words = text.split("_")
    ends: set[Role] = {role for role in ("x", "y") for word in words if _PATTERNS[role].fullmatch(word)}
    return ends.pop() if len(ends) == 1 and not set(words) & _OTHER else ""


# Words of parameters that are neither input nor output, whatever else their name says: in_stride, x_scale, out_bias.
_OTHER = {
    *("stride", "strides", "step", "scale", "scales", "zero", "point", "min", "max", "ld", "inc", "offset", "offsets"),
    *("shape", "dim", "dims", "channel", "channels", "height", "width", "rows", "cols", "row", "col", "type", "dtype"),
    *("weight", "weights", "bias", "mask", "gate", "up", "residual", "mean", "var", "gamma", "beta", "alpha", "index"),
    *("indices", "size", "len", "count", "num", "grad", "diff", "tmp", "temp", "work", "workspace", "scratch", "inv"),
    *("features", "slope", "place", "inplace", "idx", "id", "layout", "desc", "format", "batch", "other", "second"),
}


def counts_rows(name: str) -> bool:
    """Whether a whole number of that name counts rows, where arrays are made of them."""
    return bool(_ROWS.fullmatch("_".join(words_of(name))))


def roles_of(names: Sequence[str]) -> list[Role]:
    """Of several pointers: where all begin with `d_` as CUDA's examples have it, that says device, not derivative."""
    if names and all(name.startswith(("d_", "D_")) for name in names):
        names = [name[2:] for name in names]
    return [role_of(name) for name in names]
