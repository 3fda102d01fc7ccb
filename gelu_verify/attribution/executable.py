"""A formula as code that runs: C, compiled here, or the array operations of the library that a target belongs to."""

from __future__ import annotations

import ctypes
import operator
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from ..errors import MissingMeasurement
from ..formats import get_format, numpy_dtype
from ..targets.kinds._compiler import Compiler
from .evaluation import constant_bits
from .expression import Node, nodes

FLAGS = "-O2 -ffp-contract=off -fno-math-errno"
_SHARED, _LIBRARIES = ("-shared", "-fPIC"), ("-lm",)
_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_IN_C = {"erf", "erfc", "exp", "tanh", "fma"}


@dataclass(frozen=True)
class Executable:
    """A formula that runs; `how` says in what ("C", "torch"), `seconds(x_bits)` gives results and their time."""

    how: str
    seconds: Callable[[np.ndarray], tuple[np.ndarray, float]]


def in_c(root: Node, working: str, dtype: str) -> Executable:
    """A loop in C, float32 or float64; MissingMeasurement without a compiler, or for what C has not."""
    if get_format(dtype).width == 16 or not _able(root, _IN_C):
        raise MissingMeasurement(f"no C code for this formula in {dtype}")
    compiler = Compiler.found("C", "CC", "cc", "gcc", "clang")
    built = compiler.library("rewrite.c", c_text(root, working, dtype), "rewrite", FLAGS, _SHARED, _LIBRARIES)
    call = ctypes.CDLL(built.library).rewrite
    call.restype, call.argtypes = None, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]

    def seconds(x_bits: np.ndarray) -> tuple[np.ndarray, float]:
        y_bits = np.zeros_like(x_bits)
        start = time.perf_counter()
        call(x_bits.ctypes.data, y_bits.ctypes.data, len(x_bits))
        return y_bits, time.perf_counter() - start

    return Executable("C", seconds)


def c_text(root: Node, working: str, dtype: str) -> str:
    """A function `rewrite(x, y, n)` in C, one operation a line."""
    real = {"float32": "float", "float64": "double"}
    inner, suffix = real[working], "f" if working == "float32" else ""
    names, lines = {node: f"v{at}" for at, node in enumerate(nodes(root))}, []
    for node, name in names.items():
        arguments = [names[each] for each in node.arguments]
        lines.append(f"{inner} {name} = {_in_c(node, arguments, working, suffix)};")
    body = "\n        ".join(lines)
    return (
        "#include <math.h>\n#include <stddef.h>\n"
        f"void rewrite(const {real[dtype]} *X, {real[dtype]} *Y, size_t n)\n{{\n"
        f"    for (size_t i = 0; i < n; i++) {{\n        {inner} x = X[i];\n        {body}\n"
        f"        Y[i] = ({real[dtype]}){names[root]};\n    }}\n}}\n"
    )


def _in_c(node: Node, arguments: list[str], working: str, suffix: str) -> str:
    if node.operation == "x":
        return "x"
    if node.constant is not None:
        return _constant(node, working).hex() + suffix
    if node.operation in _INFIX:
        return f" {_INFIX[node.operation]} ".join(arguments)
    if node.operation == "select":
        return "{} < 0 ? {} : {}".format(*arguments)
    return {"neg": "-{}", "abs": f"fabs{suffix}({{}})"}.get(
        node.operation, f"{node.operation}{suffix}({', '.join('{}' for _ in arguments)})"
    ).format(*arguments)


def in_arrays(root: Node, working: str, dtype: str, library: str) -> Executable:
    """Array operations of torch, or of NumPy and SciPy; MissingMeasurement for what these have not."""
    calls: dict[str, Any]
    if library == "torch":
        load, store, module, where = _torch(working, dtype)
        calls = {name: getattr(module, name) for name in ("erf", "erfc", "exp", "tanh", "abs", "sigmoid")}
    else:
        scipy = import_module("scipy.special")
        where, inner = np.where, numpy_dtype(working)
        calls = {name: getattr(scipy, name) for name in ("erf", "erfc")}
        calls |= {"exp": np.exp, "tanh": np.tanh, "abs": np.abs, "sigmoid": scipy.expit}

        def load(bits: np.ndarray) -> Any:
            return bits.view(numpy_dtype(dtype)).astype(inner)

        def store(y: Any) -> np.ndarray:
            return np.asarray(y).astype(numpy_dtype(dtype)).view(get_format(dtype).uint)

    if not _able(root, calls):
        raise MissingMeasurement(f"{library} cannot compute this formula")

    def seconds(x_bits: np.ndarray) -> tuple[np.ndarray, float]:
        start = time.perf_counter()
        with np.errstate(all="ignore"):
            y_bits = store(_computed(root, load(x_bits), working, calls, where))
        return y_bits, time.perf_counter() - start

    return Executable(library, seconds)


def _torch(working: str, dtype: str) -> tuple[Any, Any, Any, Any]:
    torch = import_module("torch")
    uint = get_format(dtype).uint

    def load(bits: np.ndarray) -> Any:
        signed = torch.from_numpy(bits.view(f"i{bits.itemsize}").copy())
        return signed.view(getattr(torch, dtype)).to(getattr(torch, working))

    def store(y: Any) -> np.ndarray:
        width = getattr(torch, f"int{get_format(dtype).width}")
        found: np.ndarray = y.to(getattr(torch, dtype)).view(width).numpy().view(uint)
        return found

    return load, store, torch, torch.where


def _computed(root: Node, x: Any, working: str, calls: dict[str, Any], where: Any) -> Any:
    found: dict[Node, Any] = {}
    for node in nodes(root):
        a = [found[each] for each in node.arguments]
        if node.operation == "x":
            found[node] = x
        elif node.constant is not None:
            found[node] = _constant(node, working)  # a Python float: the arrays keep their dtype
        elif node.operation in _INFIX:
            found[node] = _INFIX_CALLS[node.operation](*a)
        elif node.operation == "neg":
            found[node] = -a[0]
        elif node.operation == "select":
            found[node] = where(a[0] < 0, *(each if hasattr(each, "dtype") else x * 0 + each for each in a[1:]))
        else:
            found[node] = calls[node.operation](*a)
    return found[root]


_INFIX_CALLS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}


def _constant(node: Node, working: str) -> float:
    assert node.constant is not None
    fmt = get_format(working)
    return float(fmt.fraction(constant_bits(node.constant, fmt)))


def _able(root: Node, calls: Any) -> bool:
    plain = {*_INFIX, "neg", "abs", "select", "x", "constant"}
    return all(node.operation in plain or node.operation in calls for node in nodes(root))
