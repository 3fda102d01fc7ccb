"""Any Python callable as a target: "module:function" or "path/file.py:function"."""

from __future__ import annotations

import ast
import functools
import importlib.util
import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from hashlib import sha256
from importlib import import_module
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Any

from .. import functions
from ..calling import Calling
from ..errors import TargetUnavailable, UsageError
from ..fenv import in_default_environment, left
from ..formats import DTYPES, get_format
from ..interrupts import is_from_user
from .arrays import ArrayKind, compilers, kind_of_module
from .base import first_line
from .call_line import CallLine, CallUnsaid, line_of
from .callable_target import IF_IT_WRITES, CallableTarget
from .contract import is_demanding
from .detection import (
    Detection,
    Trial,
    computes_in_float32,
    demand_found,
    failure_of,
    likeliest_first,
    own_kind,
    shape_taken,
    takes_other_lengths,
    trial,
)
from .files_read import FileWatch, digest_of, digests, read_by, watching
from .fixed_shapes import parsed_shape
from .importing import framework, quiet, unread_file
from .probing import leave_out
from .python_floats import NUMBERS, any_kind
from .python_sources import (
    SourceLoader,
    file_of,
    import_from_source,
    is_local,
    libraries_imported,
    release_of,
    source_hash,
    sources,
)
from .returned import option_found


@in_default_environment
def load_callable(name: str, function: str, dtype: str | None, calling: Calling) -> CallableTarget:
    """The callable `name`, imported, as a target; see `callable_target`.

    Raises
    ------
    UsageError
        No such file, module or attribute; it cannot be imported; it is not callable, or not by `f(x)` where `call`
        says nothing else.
    """
    kwargs, array = calling.kwargs, calling.array
    for kind_name in filter(None, (array, calling.compile)):
        any_kind(kind_name)
    with watching() as watch:
        module, source, path = module_of_callable(name)
        environment = _left_by_import(module)
        compute, of_instance = attribute(name, module, path, kwargs)
        if not (array or calling.compile or _is_path(source) or own_kind(compute)):  # torch.special:ndtr says builtins
            array = kind.name if (kind := kind_of_module(source)) else None
        said = {**calling.call_options, "kwargs": {} if of_instance else kwargs, "array": array}
        target = callable_target(compute, function, dtype, name=name, **said)
    note = target.note + (f", a method of an instance made with {_text(kwargs)}" if of_instance and kwargs else "")
    if environment is not None:
        note += f", in the floating-point environment that its import leaves: {' and '.join(environment[1])}"
    note += "" if _is_path(source) else _where(source, module)
    version, files = version_of(module, watch)
    return replace(target, version=version, files=files, note=note, environment=environment)


def module_of_callable(name: str) -> tuple[ModuleType, str, str]:
    """The module of "module:function" or "path/file.py:function", imported, and both parts of the name."""
    source, _, path = name.rpartition(":")
    if not source or not path:
        raise UsageError(f"{name!r} does not name a callable (accepted: module:function, path/file.py:function)")
    return _load_file(Path(source)) if _is_path(source) else _import(source, name), source, path


_environments: dict[str, tuple[bytes, list[str]]] = {}  # by module, because a second import leaves nothing


def _left_by_import(module: ModuleType) -> tuple[bytes, list[str]] | None:
    """The floating-point environment that importing it left, where that is not the default one; ours is that again.

    Who uses the module computes in it too, as after `torch.set_flush_denormal(True)` in its first lines.
    """
    if (found := left()) is not None:
        _environments[module.__name__] = found
    return _environments.get(module.__name__)


@in_default_environment
def callable_target(
    compute: Callable[..., Any],
    function: str = "gelu",
    dtype: str | None = None,
    *,
    name: str | None = None,
    **calling: Any,
) -> CallableTarget:
    """A Python callable as a target that claims to compute `function`.

    Parameters
    ----------
    calling : fields of `Calling`. Default of `array`: that of `compile`, of the package that it comes from, of its
        annotation, else the first that it takes; `kwargs` of a class are those that its instance is made with
    dtype : its only one; default: all in which it takes an array of ordinary numbers and returns one of the same dtype
        (in which it returns another one is said, as of a library), or all four when it takes none, so that what it
        raises is seen
    """
    title = name or f"{getattr(compute, '__module__', None)}:{getattr(compute, '__qualname__', type(compute).__name__)}"
    _refuse_parts_of_autograd(title, compute)
    asked = Calling(**calling)
    _refuse_other_parameters(title, function, asked.kwargs)
    compile, shape, device = asked.compile, asked.shape, asked.device
    line = CallLine.parsed(asked.call) if asked.call else None
    called, made_with = ready(title, compute, asked.kwargs, line)
    second = functions.second_of(function)
    try:
        line = line or line_of(title, called, second)
    except CallUnsaid as unsaid:
        form = "f()" if inspect.isclass(compute) and not inspect.isclass(called) else "f"  # an instance of f
        lines = [form + text.removeprefix("f") for text in unsaid.lines]
        built = functools.partial(callable_target, compute, function, dtype, name=title)
        option = _line_found(lines, lambda text: built(**{**calling, "call": text}))
        raise UsageError(f"{unsaid}, such as {option}") from None
    compute = called
    if line and line.second not in ("", second):
        raise UsageError(f"{title} is called as {line.text!r}, and {function} has no second input {line.second}")
    target = CallableTarget(
        name=title,
        function=function,
        dtypes=(dtype,) if dtype else DTYPES,
        arrays=any_kind("numpy"),
        compute=compute,
        line=line,
        second=line.second if line else "",
        one_second=bool(line and line.takes_one_second),
        if_it_writes="" if line else IF_IT_WRITES,
        dimensions=parsed_shape(shape) if shape else (None,),
    )
    chosen = asked.array or compile
    detection = Detection(target, device)
    if chosen:
        kind = _importable(any_kind(chosen))
        kind = kind.on(device) if device else kind
    else:
        kind = detection.kind()
    if compile and compile != kind.name:
        raise UsageError(f"--compile {compile} compiles for {compile} arrays, not for {kind.name} ones (--array)")
    if line and "grad" in line.names:
        kind.gradient(compute)
    if shape and kind.name in NUMBERS:
        raise UsageError(f"--shape {shape!r} is for arrays that have one, not for --array {kind.name}")
    parts = [_TITLES.get(kind.name, f"called with {kind.name} arrays")]
    parts[0] += f" of shape {shape}" if shape else ""
    parts[0] += f" on {device}" if device else ""
    parts[0] += f" and {made_with}" if made_with else ""
    parts += [line.note()] if line else []
    target = replace(
        target,
        note=", ".join(parts),
        arrays=_importable(kind),
        compiles_per_length=kind.compiles_per_length,
    )
    tries = {name: made for name in likeliest_first(target.dtypes) if (made := trial(target, name))}
    if line and not asked.call and "y" in line.names:
        _ask_where_nothing_is_written(target, tries)
    if offered := option_found(target, tries):
        raise UsageError(f"{title} {offered[0]}: give {offered[1]}, or another")
    found = {name: tries[name] for name in DTYPES if name in tries}
    if kind.name in NUMBERS:  # of which dtype they are only the results say
        found = {name: made for name, made in found.items() if made.bits}
    if kind.name in NUMBERS and {"float32", "float64"} <= found.keys() and computes_in_float32(target):
        leave_out(f"{title} float64", "not tested: its results are float32 numbers")
        del found["float64"]
    if any(made.bits for made in found.values()):
        for name in [name for name, made in found.items() if made.another]:
            leave_out(f"{title} {name}", f"not tested: {found.pop(name).another}")
    if not (shape or kind.name in NUMBERS or (found and is_demanding())):
        takes = takes_other_lengths(target, found) if found else bool(detection.outputs)
        for each in () if takes else (kind, *([] if chosen or found else detection.others(kind))):
            _ask_for_form(title, replace(target, arrays=each), in_shapes=not found)
    tried = {name: detection.outputs.get((kind.name, name), ()) for name in DTYPES}
    outputs = {name: bits + (found[name].bits if name in found else ()) for name, bits in tried.items()}
    target = replace(target, dtypes=tuple(found) or target.dtypes, probe_outputs={} if compile else outputs)
    return _compiled(target, kind) if compile else target


def _line_found(lines: Sequence[str], built: Callable[[str], CallableTarget]) -> str:
    """The option with which it returns a number, or is asked about further; else the likeliest, and what came of it."""
    came = ""
    for text in lines:
        try:
            target = built(text)
        except UsageError:
            return f"--call {text!r}"
        if any(not get_format(dtype).is_nan(each) for dtype, bits in target.probe_outputs.items() for each in bits):
            return f"--call {text!r}"
        came = came or failure_of(target) or f"{target.name} returned no number"
    return f"--call {lines[0]!r}, but {came}"


def _ask_where_nothing_is_written(target: CallableTarget, tries: Mapping[str, Trial]) -> None:
    """UsageError where its names alone say which array is the output, and it returns another and leaves that one."""
    if tries and all(made.wrote_nothing and made.result[0] is not None for made in tries.values()):
        raise UsageError(
            f"{target.name}, called as {target.line.text if target.line else ''}, returns a result and writes nothing "
            "to y: --call says what it takes, such as 'f(dy, x)'; what a forward pass returned cannot be given"
        )


def _ask_for_form(title: str, target: CallableTarget, in_shapes: bool) -> None:
    """UsageError with the option, where it takes such arrays of other lengths, places or shapes."""
    if not is_demanding() and (demanded := demand_found(target, target.dtypes)).demands:
        option = f"--shape '({demanded.exactly},)'" if demanded.exactly else f"--contract {demanded.text!r}"
        what = f"give {option}, or another"
        if demanded.exactly and demanded.text:
            what = "no option says both; name a function that copies its array"
        raise UsageError(f"{title} works {demanded.note}: {what}")
    if in_shapes and (text := shape_taken(target, target.dtypes)):
        what = f"takes no array of one dimension, but those of shape {text}"
        raise UsageError(f"{title} {what}: give --shape {text!r}, or another")


_ARRAYS = ("x", "y", "dy", "g", "b", "xg", "gx")  # of a call line
_TITLES = {
    "scalar": "called with one Python float at a time",
    "list": "called with lists of Python floats",
    "array": "called with array.array",
    "memoryview": "called with memoryview",
}


def ready(
    name: str, compute: Callable[..., Any], kwargs: Mapping[str, Any], line: CallLine | None
) -> tuple[Callable[..., Any], str]:
    """What a call line's f is, and the keyword arguments as text; a class is made an instance, unless a line does."""
    text = _text(kwargs)
    is_made = line is None or _gives_arrays(line)
    if is_made and inspect.isclass(compute) and any("__call__" in vars(each) for each in compute.__mro__):
        bound = _instance(name, compute, kwargs)
    else:
        bound = functools.partial(compute, **kwargs) if kwargs else compute
    return bound, text


def _gives_arrays(line: CallLine) -> bool:
    """Whether f itself is given arrays, as in `f(x)[0]`, and not what it makes, as in `f(dim=1)(x)`."""
    calls = (each for each in ast.walk(ast.parse(line.text)) if isinstance(each, ast.Call))
    of_f = [each for each in calls if isinstance(each.func, ast.Name) and each.func.id == "f"]
    return any(isinstance(each, ast.Name) and each.id in _ARRAYS for call in of_f for each in ast.walk(call))


def _refuse_parts_of_autograd(title: str, compute: Callable[..., Any]) -> None:
    """UsageError for a torch.autograd.Function, which is called by `apply`, and for its forward and backward."""
    name = ""
    if inspect.isclass(compute) and any(each.__module__ == "torch.autograd.function" for each in compute.__mro__):
        name = title
    elif inspect.isfunction(compute) and next(iter(inspect.signature(compute).parameters), "") == "ctx":
        name = title.rpartition(".")[0]
    if name:
        raise UsageError(
            f"{title} is of a torch.autograd.Function: name {name}.apply, and its gradient by --call 'grad(f)(x)'"
        )


_OTHER_NAMES = {"negative_slope": "slope"}  # of parameters of functions, as torch and others have them


def _refuse_other_parameters(title: str, function: str, kwargs: Mapping[str, Any]) -> None:
    """UsageError where it is called with a parameter of its function, and would be judged with another value."""
    values = functions.get_function(function).values
    for key, given in kwargs.items():
        name = _OTHER_NAMES.get(key, key)
        if name in values and type(given) in (int, float) and isfinite(given) and given != float(values[name]):
            meant = functions.named(function, {name: repr(given)})
            raise UsageError(
                f"{title} is called with {key}={given!r}, and would be judged as {function} with {name} = "
                f"{float(values[name]):g}: --function '{meant}' says what it computes"
            )


def _text(kwargs: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in kwargs.items())


def _instance(name: str, owner: type, kwargs: Mapping[str, Any]) -> Any:
    try:
        with quiet():
            return owner(**kwargs)
    except BaseException as error:  # the user's code: whatever it raises is named
        if is_from_user(error):
            raise
        reason = f"{type(error).__name__}: {first_line(error)}"
        raise UsageError(
            f"{name}: no instance of {owner.__qualname__} can be made: {reason} (--kwarg gives its arguments)"
        ) from error


def _compiled(target: CallableTarget, kind: ArrayKind) -> CallableTarget:
    if not kind.compiler:
        raise UsageError(f"{kind.name} compiles nothing (accepted by --compile: {', '.join(compilers())})")
    note = f"{target.note}, compiled by {kind.compiler}"
    with quiet():
        return replace(target, compute=kind.compiled(target.compute), note=note)


def _is_path(source: str) -> bool:
    return source.endswith(".py") or os.sep in source or "/" in source


def _load_file(path: Path) -> ModuleType:
    """Run a Python file as a module of its own; its folder can be imported from, as when it is run as a script."""
    if not path.is_file():
        raise UsageError(f"no such file: {path}")
    path = path.resolve()
    plain = re.sub(r"\W", "_", path.stem)  # a dot would make it a module of a package
    name = f"{plain}_{sha256(os.fsencode(path)).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path, loader=SourceLoader(name, str(path)))
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file (accepted: path/file.py:function)")
    import_from_source()
    _append_to_path(path.parent)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look a class up by its module
    try:
        with quiet():
            spec.loader.exec_module(module)
    except BaseException as error:  # the user's code: whatever it raises is named
        del sys.modules[name]
        if is_from_user(error):
            raise
        raise _not_imported(str(path), error) from error
    return module


def _import(source: str, name: str) -> ModuleType:
    import_from_source()
    _append_to_path(Path.cwd())
    try:
        with quiet():
            return import_module(source)
    except ModuleNotFoundError as error:
        if error.name and (source == error.name or source.startswith(f"{error.name}.")):
            reason = f"no module named {error.name!r} (a file is given as path/file.py:function)"
            raise unread_file(name) or UsageError(reason) from None
        raise _not_imported(f"module {source!r}", error) from error
    except BaseException as error:  # the user's code: whatever it raises is named
        if is_from_user(error):
            raise
        raise _not_imported(f"module {source!r}", error) from error


def _not_imported(what: str, error: BaseException) -> UsageError:
    return UsageError(f"{what} cannot be imported: {type(error).__name__}: {first_line(error)}")


def _append_to_path(folder: Path) -> None:
    """Let `folder` be imported from, after everything that is installed."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def attribute(name: str, module: ModuleType, path: str, kwargs: Mapping[str, Any]) -> tuple[Callable[..., Any], bool]:
    """What the path names; whether it is a method of an instance that was made with the keyword arguments."""
    found: Any = module
    of_instance = False
    for part in path.split("."):
        owner = found
        try:
            found = getattr(owner, part)
        except AttributeError:
            named = f"{name.rpartition(':')[0]!r}" if owner is module else f"{owner!r}"
            close = get_close_matches(part, [each for each in dir(owner) if not each.startswith("_")], 3)
            hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
            raise UsageError(f"{named} has no attribute {part!r} (in {name!r}){hint}") from None
        if inspect.isclass(owner) and _is_method(owner, part):
            found, of_instance = getattr(_instance(name, owner, kwargs), part), True
    if not callable(found):
        raise UsageError(f"{name!r} is {type(found).__name__}, not callable")
    return found, of_instance


def _is_method(owner: type, name: str) -> bool:
    """Whether it is a function of a class that takes an instance and an input; of compiled code the first is `self`."""
    function: Any = inspect.getattr_static(owner, name)
    if isinstance(function, staticmethod | classmethod) or not inspect.isroutine(function):
        return False
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except ValueError:
        return False
    if not inspect.isfunction(function) and parameters[:1] and parameters[0].name != "self":
        return False
    needed = [p for p in parameters if p.default is p.empty]
    return len([p for p in needed if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]) >= 2


def _where(source: str, module: ModuleType) -> str:
    """The file that a module name stands for, where that is the user's, or not what lies in the working folder."""
    file, here = file_of(module), Path.cwd()
    if file is None:
        return ""
    if is_local(file):
        return f", from {file.relative_to(here) if file.is_relative_to(here) else file}"
    beside = here / source.partition(".")[0]
    hidden = [path for path in (beside.with_suffix(".py"), beside / "__init__.py") if path.is_file()]
    return f", from {file}, not from {hidden[0].relative_to(here)}" if hidden else ""


def _importable(kind: ArrayKind) -> ArrayKind:
    """`kind`, when its library is there."""
    try:
        framework(kind.roots[0])
    except TargetUnavailable as reason:
        raise UsageError(f"array kind {kind.name!r} cannot be used: {reason}") from None
    return kind


def version_of(module: ModuleType, watch: FileWatch) -> tuple[str, dict[str, str]]:
    """Of a library, its name and version; of the user's own code, those of the libraries that it imports, its own
    version, and a hash of its files, with these.

    They are its source and that of local modules that it imports, and what these read, as `watch` knows since it was
    loaded.
    """
    root = module.__name__.partition(".")[0]
    if root in sys.stdlib_module_names:
        return f"Python {sys.version.split()[0]}", {}
    file, version = file_of(module), release_of(root)
    if file is None or not (is_local(file) or (root == module.__name__ and not version)):
        return f"{root} {version}" if version else "", {}
    code = sources(module)
    own, files = source_hash(module), digests(code, file.parent)
    if read := digests(read_by(code, file, watch), file.parent):
        own, files = digest_of({"": own, **read}), files | read
    used = (f"{name} {release_of(name)}" for name in libraries_imported(code))
    return ", ".join(filter(None, (*used, version, own))), files
