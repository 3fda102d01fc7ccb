"""Which input of an ONNX model takes x, the values of its other inputs, and which output is tested.

f(x)                        its only input, its only output
f(x, alpha=0.5)["z"]        alpha is a constant; the output z, also by its index
f(data=x)[1]                the input that takes x, by its name
f(**{"input.1": x})         the same where the name is none of Python's
f(x, g), f(A=x, bias=b)     one more input takes the second input of swiglu, of bias_gelu
f(packed(x, g))             its only input takes both, on its last axis
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from ...errors import UsageError, one_of
from ...formats import get_format
from ..call_line import SECOND, Packings
from ..fixed_shapes import Dimensions, batches_for
from ..onnx_format import ELEMENTS, OnnxValue, Signature

_INTEGERS = {2: "u1", 3: "i1", 5: "i2", 6: "i4", 7: "i8", 9: "?"}  # TensorProto.DataType -> NumPy


@dataclass(frozen=True)
class Tensor:
    """An input or output that is a float array."""

    name: str
    element: int
    dimensions: Dimensions

    @property
    def dtype(self) -> str:
        return ELEMENTS[self.element]

    def shape_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Its shape where the input is of `shape`: the same, or another one of as many values that it declares."""
        if 0 in self.dimensions:
            return shape
        declared = batches_for(self.dimensions, prod(shape))
        return declared.shape if len(self.dimensions) != len(shape) and declared.size == prod(shape) else shape


@dataclass(frozen=True, eq=False)
class PortConstant:
    """What another input is given; `value` as the user wrote it; `axes`: of each axis that is as long as one of x,
    which one that is."""

    name: str
    element: int
    data: np.ndarray  # bits, for floats
    value: Any
    axes: dict[int, int]

    def beside(self, shape: tuple[int, ...]) -> np.ndarray:
        """The array that it is given where x is of that shape."""
        own = [shape[self.axes[i]] if i in self.axes else size for i, size in enumerate(self.data.shape)]
        return np.require(np.broadcast_to(self.data, own), requirements=["C", "W"])


@dataclass(frozen=True)
class Ports:
    """The input that takes x, the output that is tested, and the input that takes `second`: g or b; or how that of x
    takes both (`packing`: "packed", "x", "g"), which is of the shape of one of them here."""

    x: Tensor
    y: Tensor
    beside: Tensor | None = None
    second: str = ""
    packing: tuple[str, ...] = ()

    @property
    def one_second(self) -> bool:
        """Whether it takes the same values of the second input for each row of x."""
        return self.beside is not None and len(self.beside.dimensions) != len(self.x.dimensions)

    def note(self, model: Signature, constants: tuple[PortConstant, ...]) -> str:
        """What there was to choose."""
        parts = [f"x is {self.x.name}"] if len(model.inputs) > 1 else []
        parts += [f"{self.second} is {self.beside.name}"] if self.beside else []
        parts += ["as f({}({}, {}))".format(*self.packing)] if self.packing else []
        parts += [f"{each.name}={each.value!r}" for each in constants]
        parts += [f"the output {self.y.name}"] if len(model.outputs) > 1 else []
        if None not in self.x.dimensions:
            parts.append(f"in batches of shape {list(self.x.dimensions)}")
        return "".join(f", {part}" for part in parts)


def ports_of(
    file: str, model: Signature, call: str | None, kwargs: Mapping[str, Any]
) -> tuple[Ports, tuple[PortConstant, ...]]:
    """The input, the output and the constants; UsageError where that is not certain, or of no float dtype."""
    line = _CallText.parsed(call) if call else _CallText({}, {}, ("x",), None)
    given = {**kwargs, **line.constants}
    inputs = {value.name: value for value in model.inputs}
    for name in (*given, *line.arrays.values()):
        if name not in inputs:
            raise one_of(f"input of {file}", name, list(inputs))
    free = [name for name in inputs if name not in given and name not in line.arrays.values()]
    if len(free) == len(line.ordered):
        line.arrays.update(zip(line.ordered, free, strict=True))
    second = next((name for name in SECOND if name in line.arrays), "")
    if not inputs:
        raise UsageError(f"{file} has no input: its outputs are constants")
    if len(free) != len(line.ordered) or "x" not in line.arrays:
        names = ", ".join(inputs)
        if len(inputs) == 1:
            both = "--call 'f(packed(x, g))' says that it holds both, 'f(interleaved(x, g))' that it does in turns"
            raise UsageError(
                f"{file} has one input ({names}), and --call {call!r} names another number of them: {both}"
            )
        raise UsageError(
            f"{file} has {len(inputs)} inputs ({names}); accepted is a model of one input that is not given a value: "
            "--kwarg NAME=V gives one, --call 'f(NAME=x, OTHER=V)' says which takes x, 'f(x, g)' that one takes g, "
            "'f(packed(x, g))' that one takes both"
        )
    x, y = inputs[line.arrays["x"]], _output(file, model, line.output)
    beside = [inputs[line.arrays[second]]] if second else []
    if x.element not in ELEMENTS:
        raise UsageError(f"{file} takes {x.dtype} (accepted: {', '.join(ELEMENTS.values())})")
    if y.element != x.element:
        raise UsageError(f"{file} takes {x.dtype} and gives {y.dtype}; accepted is one dtype for both")
    if beside and beside[0].element != x.element:
        raise UsageError(f"{file} takes x as {x.dtype} and {second} as {beside[0].dtype}; accepted is one dtype")
    if x.shape is not None and 0 in x.shape:
        raise UsageError(f"the input {x.name} of {file} is of the shape {list(x.shape)}, which holds no values")
    tensors = [Tensor(v.name, v.element, (None,) if v.shape is None else v.shape) for v in (x, y, *beside)]
    if line.packing:
        second = next(each for each in line.packing[1:] if each != "x")
        tensors[0] = _halved(file, tensors[0])
    ports = Ports(tensors[0], tensors[1], tensors[2] if beside else None, second, line.packing)
    return ports, tuple(_constant(file, inputs[name], value, x) for name, value in given.items())


def _halved(file: str, x: Tensor) -> Tensor:
    """The input of one of the two that it takes, in rows that are as long as they may be."""
    *others, last = x.dimensions
    if last is None:
        return replace(x, dimensions=(*(each or 1 for each in others), None))
    if last % 2:
        raise UsageError(f"the input {x.name} of {file} has {last} values in a row, and cannot hold two inputs")
    return replace(x, dimensions=(*others, last // 2))


def _output(file: str, model: Signature, which: str | int | None) -> OnnxValue:
    names = [value.name for value in model.outputs]
    if which is None and len(names) != 1:
        raise UsageError(
            f"{file} has {len(names)} outputs ({', '.join(names)}); accepted is one: --call 'f(x)[\"NAME\"]' says which"
        )
    if isinstance(which, str) and which not in names:
        raise one_of(f"output of {file}", which, names)
    if isinstance(which, int) and not 0 <= which < len(names):
        raise UsageError(f"{file} has no output {which} (accepted: 0 to {len(names) - 1})")
    return model.outputs[names.index(which) if isinstance(which, str) else which or 0]


def _constant(file: str, value: OnnxValue, given: Any, x: OnnxValue) -> PortConstant:
    """`given` in the dtype and shape of that input; a number fills it. A free dimension is 1, or is that of x of its
    name."""
    where = f"the input {value.name} of {file}"
    try:
        numbers = np.array(given, dtype=object)
        filled = np.broadcast_to(numbers, _shape(value, numbers))
        if value.element in ELEMENTS:
            fmt = get_format(ELEMENTS[value.element])
            data = np.array([fmt.round(Fraction(n)) for n in filled.ravel()], fmt.uint)
        else:
            data = filled.ravel().astype(_INTEGERS[value.element])
            if data.tolist() != filled.ravel().tolist():
                raise ValueError
    except (ValueError, TypeError, KeyError, OverflowError):
        raise UsageError(f"{where} is {value.dtype} of shape {_text(value)}; {given!r} is not") from None
    named = {size: i for i, size in enumerate(x.sizes) if size and x.shape and x.shape[i] is None}
    axes = {i: named[size] for i, size in enumerate(value.sizes) if size in named}
    if any(filled.shape[i] != 1 for i in axes):
        raise UsageError(f"{where} is as long as x ({', '.join(value.sizes)}); {given!r} is not (accepted: one number)")
    return PortConstant(value.name, value.element, data.reshape(filled.shape), given, axes)


def _shape(value: OnnxValue, numbers: np.ndarray) -> tuple[int, ...]:
    if value.shape is None:
        return numbers.shape
    own = (1,) * (len(value.shape) - numbers.ndim) + numbers.shape
    return tuple(there if size is None else size for size, there in zip(value.shape, own, strict=True))


def _text(value: OnnxValue) -> str:
    return "any" if value.shape is None else str(["n" if size is None else size for size in value.shape])


@dataclass(frozen=True)
class _CallText:
    """A parsed `--call`: constants by the input's name, the inputs that take x and a second input, by these; those of
    them that have no name, in their order; the output; how x holds both."""

    constants: dict[str, Any]
    arrays: dict[str, str]
    ordered: tuple[str, ...]
    output: str | int | None
    packing: tuple[str, ...] = ()

    @classmethod
    def parsed(cls, text: str) -> _CallText:
        try:
            packings = Packings()
            call = packings.visit(ast.parse(text.strip(), mode="eval").body)
            output, whole = None, dict.fromkeys(packings.found, "x")
            if isinstance(call, ast.Subscript):
                output, call = ast.literal_eval(call.slice), call.value
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "f"):
                raise ValueError
            named, given = dict(_arguments(call)), [each.id if isinstance(each, ast.Name) else "" for each in call.args]
            arrays = {value.id: name for name, value in named.items() if isinstance(value, ast.Name)}
            constants = {name: ast.literal_eval(value) for name, value in named.items() if name not in arrays.values()}
            arrays = {whole.get(key, key): name for key, name in arrays.items()}
            ordered = tuple(whole.get(key, key) for key in given)
            taken = sorted([*arrays, *ordered])
            two = [] if whole else [sorted(["x", second]) for second in SECOND]
            if packings.wrong or taken not in [["x"], *two]:
                raise ValueError
            if not isinstance(output, str | int | None) or isinstance(output, bool):
                raise ValueError
        except (ValueError, SyntaxError):
            accepted = 'f(x, alpha=0.5)["z"], f(data=x)[1], f(x, g), f(packed(x, g))'
            raise UsageError(f"--call {text!r} cannot be used for a model (accepted: {accepted})") from None
        return cls(constants, arrays, ordered, output, *packings.found.values())


def _arguments(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """The keyword arguments of a call, those of `**{...}` too."""
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield keyword.arg, keyword.value
        elif isinstance(keyword.value, ast.Dict):
            for key, value in zip(keyword.value.keys, keyword.value.values, strict=True):
                yield str(ast.literal_eval(key)) if key is not None else "", value
        else:
            raise ValueError
