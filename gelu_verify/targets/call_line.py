"""How a callable is called, where that is not `f(x)`: a line of Python that names f, x, y, dy and n.

    f(x, out=y)              y is an output like x; where a call names y, what is in y afterwards is the result
    f(x, inplace=True); x    the result is x itself: f gets a copy, which it may change
    f(dy, x)                 a gradient with ones as the gradient of the result
    grad(f)(x)               the gradient of f by torch, jax or tensorflow
    f(x)[0]                  one of several results
    [f(v) for v in x]        one number at a time
    rounded(f(x))            the result rounded once to the dtype, to nearest even
    f(x, g)                  g of geglu, swiglu and others, b of bias_gelu: the second input, an array like x
    f(packed(x, g))          both in one array, twice as long on its last axis: x and then g; packed(g, x)
    f(interleaved(x, g))     the same, in turn

The last expression is the result, unless y is named.
"""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, Literal, get_args, get_origin

import numpy as np

from ..errors import UsageError
from .parameter_names import OF_SECOND, is_added, role_of

_POSITIONAL = inspect.Parameter.POSITIONAL_ONLY
MEANINGS = {
    "f": "what was named",
    "x": "the input",
    "y": "an output like x",
    "dy": "ones like x",
    "n": "how many values",
    "grad": "grad(f): the gradient of f",
    "rounded": "rounded(v): v rounded once to the dtype",
    "g": "the second input of geglu, swiglu and others",
    "b": "the second input of bias_gelu and others",
    "packed": "packed(x, g): both on the last axis of one array, one after the other",
    "interleaved": "interleaved(x, g): both on the last axis, in turn",
}
SECOND = ("g", "b")
OF_A_GENERATOR = "'list(f(x))' takes all that it yields, 'next(f(x))' the first"
PACKINGS = ("packed", "interleaved")


@dataclass(frozen=True)
class CallLine:
    """A parsed `--call`. `packings`: how two arrays become one, by the name that this has in the line."""

    text: str
    names: frozenset[str]
    before: CodeType | None
    last: CodeType
    in_place: bool
    packings: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)

    @classmethod
    def parsed(cls, text: str, meanings: Mapping[str, str] = MEANINGS) -> CallLine:
        """UsageError where it is no Python expression, or uses a name without a meaning."""
        try:
            body = ast.parse(text.strip()).body
        except (SyntaxError, ValueError) as error:
            raise _unusable(text, f"{type(error).__name__}: {error.args[0]}", meanings) from None
        *before, last = body or [ast.Pass()]
        if not isinstance(last, ast.Expr) or not all(isinstance(each, ast.Expr) for each in before):
            raise _unusable(text, "it is not made of expressions", meanings)
        names = {node.id for node in ast.walk(ast.Module(body, [])) if isinstance(node, ast.Name)}
        unknown = sorted(names - meanings.keys() - set(dir(builtins)) - _bound(body))
        if unknown:
            raise _unusable(text, f"nothing is called {unknown[0]!r}", meanings)
        if not {"f", "x"} <= names:
            raise _unusable(text, "it does not call f with x", meanings)
        if len(names & set(SECOND)) > 1:
            raise _unusable(text, "it names two second inputs, g and b", meanings)
        packed = Packings()
        before, last = [packed.visit(each) for each in before], packed.visit(last)
        if packed.wrong or (names & set(PACKINGS) and "packed" in meanings and not packed.found):
            raise _unusable(text, "packed and interleaved take x and a second input", meanings)
        return cls(
            text=text.strip(),
            names=frozenset(names),
            before=compile(ast.Module(before, []), "--call", "exec") if before else None,
            last=compile(ast.Expression(last.value), "--call", "eval"),
            in_place=isinstance(last.value, ast.Name) and last.value.id == "x",
            packings=packed.found,
        )

    @property
    def second(self) -> str:
        """The second input that it names; empty for none."""
        return next((name for name in SECOND if name in self.names), "")

    @property
    def takes_one_second(self) -> bool:
        """Whether it takes one value of it: nothing but g[0]."""
        return bool(self.second) and not re.search(rf"\b{self.second}\b(?!\[0\])", self.text)

    @property
    def gives_gradient(self) -> bool:
        return bool(self.names & {"dy", "grad"})

    def run(self, values: Mapping[str, Any]) -> Any:
        """The result of the line; `values` are those of the names in MEANINGS."""
        names = dict(values)
        if self.in_place:
            names["x"] = copy.deepcopy(names["x"])
        if self.before is not None:
            exec(self.before, names)  # the user's own command line
        value = eval(self.last, names)
        return names["y"] if "y" in self.names else value

    def note(self) -> str:
        """How the call is described in a result."""
        parts = [f"as {self.text}"]
        parts += ["on a copy of x"] if self.in_place else []
        parts += ["rounded once by gelu-verify"] if "rounded" in self.names else []
        return ", ".join(parts)


class Packings(ast.NodeTransformer):
    """Replaces packed(x, g) by a name: it is made before the call, which is timed."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[str, str, str]] = {}
        self.wrong = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if not isinstance(node.func, ast.Name) or node.func.id not in PACKINGS:
            return self.generic_visit(node)
        names = [each.id for each in node.args if isinstance(each, ast.Name)]
        is_pair = len(node.args) == len(names) == 2 and any({*names} == {"x", second} for second in SECOND)
        if not is_pair or node.keywords:
            self.wrong = True
            return node
        how, (first, other) = node.func.id, names
        self.found[name := f"{how}_{first}_{other}"] = how, first, other
        return ast.copy_location(ast.Name(name, ast.Load()), node)


def joined_inputs(packing: Sequence[str], bits: Mapping[str, np.ndarray], row: int) -> np.ndarray:
    """Both inputs (bits, by name) in one array, as one of PACKINGS and their names say, in rows of so many of each."""
    how, *order = packing
    rows = [bits[each].reshape(-1, row) for each in order]
    return (np.concatenate(rows, axis=-1) if how == "packed" else np.stack(rows, axis=-1)).ravel()


def _bound(body: list[ast.stmt]) -> set[str]:
    """Names that the line itself gives a meaning: of a comprehension, a lambda."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return stored | {node.arg for node in nodes if isinstance(node, ast.arg)}


def _unusable(text: str, why: str, meanings: Mapping[str, str]) -> UsageError:
    accepted = "a Python expression of " + ", ".join(meanings)
    example = "f(x, out=y)" if "y" in meanings else "f(x, seed=seed)"
    return UsageError(f"--call {text!r} cannot be used: {why} (accepted: {accepted}; such as {example!r})")


def line_of(name: str, call: Callable[..., Any], second: str = "") -> CallLine | None:
    """How `call` is called by the names of its parameters; None where `f(x)` is right, or nothing is known. `second`:
    the second input that its function has.

    UsageError, with the line that may be right, where the names leave something open; where it is asynchronous, or a
    generator.
    """
    inner = call
    while hasattr(inner, "func"):  # functools.partial
        inner = inner.func
    function = inner if inspect.isroutine(inner) else type(inner).__call__
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise UsageError(f"{name} is asynchronous (async def); accepted is a function that returns its result")
    if inspect.isgeneratorfunction(function):
        raise UsageError(f"{name} is a generator function (yield): --call {OF_A_GENERATOR}")
    signature = signature_of(call)
    if signature is None:
        return None
    try:
        signature.bind(None)
    except TypeError as error:
        if inspect.isclass(call) and (methods := [key for key, each in vars(call).items() if _is_method(key, each)]):
            either = ", ".join(f"{name}.{each}" for each in methods)
            raise UsageError(f"{name} is a class without __call__ (its methods: {either})") from None
        return _by_names(f"{name}{signature}", [*signature.parameters.values()], error, second)
    return None


def signature_of(call: Callable[..., Any]) -> inspect.Signature | None:
    """Its own, or that in the first line of its documentation, where pybind11, nanobind and Cython write it: of that,
    annotations as text (of this module) without what is in brackets, and None for each default; of an operator of
    torch, what its schema says."""
    for each in (getattr(call, "_opoverload", None), getattr(call, "default", None), call):
        arguments = getattr(getattr(each, "_schema", None), "arguments", None)
        if arguments is not None:
            return inspect.Signature(list(map(_of_schema, arguments)))
    with suppress(ValueError, TypeError):  # much of what is written in C has none
        return _own_signature(call)
    if types := getattr(call, "argtypes", None):  # of ctypes
        return inspect.Signature([inspect.Parameter(f"arg{i}", _POSITIONAL) for i in range(len(types))])
    first = (getattr(call, "__doc__", None) or "").partition("\n")[0]
    match = re.fullmatch(rf"{re.escape(getattr(call, '__name__', ''))}\((.+)\)(?: -> .*)?", first)
    text, inner = match[1] if match else "...", 1
    text = re.sub(r"typing\.Annotated\[([\w.]+)", r"\1[", text)
    while inner:
        text, inner = re.subn(r"\[[^][]*\]", "", text)
    try:
        tree = ast.parse(f"def f({text}): ...")
        for node in ast.walk(tree):
            if isinstance(node, ast.arguments):
                node.defaults = [ast.Constant(None) for _ in node.defaults]
                node.kw_defaults = [each and ast.Constant(None) for each in node.kw_defaults]
        names: dict[str, Any] = {}
        exec(compile(ast.fix_missing_locations(tree), "<documentation>", "exec"), names)
        parameters = inspect.signature(names["f"]).parameters.values()
        is_unnamed = all(re.fullmatch(r"arg\d*", each.name) for each in parameters)  # by pybind11
        return inspect.Signature([each.replace(kind=_POSITIONAL) if is_unnamed else each for each in parameters])
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # it only looks like one
        return None


def _own_signature(call: Callable[..., Any]) -> inspect.Signature:
    """That of what it wraps (functools.wraps) only where it takes whatever it is given."""
    found, kinds = inspect.signature(call), inspect.Parameter
    with suppress(ValueError, TypeError):
        own = inspect.signature(call, follow_wrapped=False)
        takes_all = {kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD} & {each.kind for each in own.parameters.values()}
        return found if takes_all else own
    return found


def _of_schema(argument: Any) -> inspect.Parameter:
    """A parameter of an operator, as torch has registered it."""
    kind = inspect.Parameter.KEYWORD_ONLY if argument.kwarg_only else inspect.Parameter.POSITIONAL_ONLY
    default = None if argument.has_default_value() else inspect.Parameter.empty
    return inspect.Parameter(argument.name, kind, default=default)


def _is_method(name: str, member: Any) -> bool:
    """Whether a member of a class is a method that anybody may call with x."""
    return not name.startswith("_") and inspect.isfunction(member) and len(inspect.signature(member).parameters) > 1


_EXAMPLES = {
    "inplace": "False",
    "in_place": "False",
    "dim": "-1",
    "axis": "-1",
    "approximate": "'none'",
    "training": "False",
    "dtype": "x.dtype",
    "eps": "1e-05",
    **dict.fromkeys(("mask", "generator", "rng"), "None"),
}
_OF_TYPES = {
    "bool": "False",
    "int": "1",
    "str": "''",
    **dict.fromkeys(("ArrayLike", "NDArray", "ndarray", "Tensor", "Array"), "y"),
}


def _example(parameter: inspect.Parameter) -> str:
    """A value that a parameter may have: by its name, or by its annotation."""
    hint = parameter.annotation
    if get_origin(hint) is Literal:
        return repr(get_args(hint)[0])
    named = (hint if isinstance(hint, str) else getattr(hint, "__name__", "")).rpartition(".")[2]
    by_type = _OF_TYPES.get(named, "0.0" if is_added(parameter.name) else "1.0")
    return by_type if named == "bool" else _EXAMPLES.get(parameter.name, by_type)


class CallUnsaid(UsageError):
    """The names of its parameters leave open how it is called; `lines` may be right, the likeliest first."""

    def __init__(self, problem: str, lines: Sequence[str]) -> None:
        super().__init__(f"{problem}: --call says how")
        self.lines = lines


def _by_names(shown: str, parameters: list[inspect.Parameter], error: TypeError, second: str) -> CallLine:
    """The line in which each parameter that is needed is what its name says."""
    star = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [each for each in parameters if each.default is each.empty and each.kind not in star]
    problem = f"{shown} cannot be called with one argument ({error})"
    if not needed:
        raise UsageError(problem)
    roles: dict[str, str] = {each.name: role_of(each.name).replace("dx", "y") for each in needed}
    roles |= {name: second for name in roles if second and OF_SECOND.get(name) == second}
    unknown = [name for name, role in roles.items() if role not in MEANINGS]
    if "x" not in roles.values():  # the only one without a meaning, else the first
        roles[unknown[0] if unknown else needed[0].name] = "x"
    may_be_input = "n" not in roles.values() and bool({"y", "ys", "to"} & roles.keys())  # f(x, y) may return x * y
    names, parts = [*roles], [*roles.values()]
    roles = {name: "" if role in parts[:at] else role for at, (name, role) in enumerate(zip(names, parts, strict=True))}
    is_open = may_be_input or not all(roles.values())
    if second and second not in roles.values() and (free := [name for name, role in roles.items() if not role]):
        roles[free[0]] = second
    examples = [roles[each.name] or _example(each) for each in needed]
    if not is_open:
        return CallLine.parsed(_line(needed, examples, roles))
    given = [examples, [roles[each.name] or "None" for each in needed]]
    if second and second not in examples:
        given.insert(0, [{"y": second}.get(each, each) for each in examples])
    if "y" in examples:  # the output may be the first
        given.insert(1, [{"x": "y", "y": "x"}.get(each, each) for each in examples])
    if second and len(needed) == 2:
        given.append(["y", f"packed(x, {second})"])
    raise CallUnsaid(problem, [*dict.fromkeys(_line(needed, each, roles) for each in given)])


def _line(needed: list[inspect.Parameter], given: list[str], roles: Mapping[str, str]) -> str:
    """The call with these for what it needs, by name where the name alone says nothing to a reader."""
    words: list[str] = []
    for each, value in zip(reversed(needed), reversed(given), strict=True):
        can_be_keyword = not roles[each.name] and value not in ("x", "y") and all("=" in word for word in words)
        is_keyword = each.kind is each.KEYWORD_ONLY or (can_be_keyword and each.kind is not each.POSITIONAL_ONLY)
        words.insert(0, f"{each.name}={value}" if is_keyword else value)
    return f"f({', '.join(words)})"
