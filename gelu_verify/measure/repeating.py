"""How a callable of this process can be measured again: a command where another process finds it, else a call."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..calling import is_literal
from ..records.result import Record
from ..targets.callable_target import CallableTarget
from ..targets.python_sources import file_of, is_local
from .request import Request


def repeated_call(request: Request, target: CallableTarget, record: Record) -> str:
    """How the result of a callable that was given as an object can be had again: a command that can be pasted in the
    working folder; where no command can say it, the call."""
    compute = request.targets[0]
    name = command_name(compute) if callable(compute) else None
    if name is None or not all(map(is_literal, request.kwargs.values())):
        return _call_text(request, record)
    words = shlex.split(record.repeat)
    words[2] = name
    found = target.arrays.name  # by trying; another process has imported other libraries, and may find another kind
    words += ["--array", found] if found != "numpy" and not (request.array or request.compile) else []
    return shlex.join(words) + request.further_options


def command_name(compute: Callable[..., Any]) -> str | None:
    """What `gelu-verify run`, started in the working folder, finds a callable by; None for lambdas, objects and what
    else only this process has."""
    name, module = getattr(compute, "__qualname__", ""), sys.modules.get(getattr(compute, "__module__", None) or "")
    if not name or module is None or _attribute(module, name) is not compute:
        return None
    file = file_of(module)
    if file is None:
        return None if module.__name__ == "__main__" else f"{module.__name__}:{name}"
    if not is_local(file) or file.suffix != ".py":
        return f"{module.__name__}:{name}"
    here = Path.cwd().resolve()
    path = file.relative_to(here) if file.is_relative_to(here) else file
    dotted = path.with_suffix("").parts
    is_found_by_name = ".".join(dotted[:-1] if dotted[-1] == "__init__" else dotted) == module.__name__
    in_package = (file.parent / "__init__.py").is_file()
    if is_found_by_name or (in_package and module.__name__ != "__main__"):
        return f"{module.__name__}:{name}"
    return f"{path if os.sep in str(path) else f'.{os.sep}{path}'}:{name}"


def _attribute(module: Any, path: str) -> Any:
    found = module
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def _call_text(request: Request, record: Record) -> str:
    """The call of `verify` that measures it again, in Python: of a name of a notebook or script, else of some f."""
    name = getattr(request.targets[0], "__qualname__", "")
    has_name = bool(name) and _attribute(sys.modules["__main__"], name) is request.targets[0]
    given: dict[str, Any] = {"plan": record.plan, "seed": record.seed}
    words = shlex.split(record.repeat)
    given |= {"budget": words[words.index("--budget") + 1]} if "--budget" in words else {}
    given |= {"ranges": list(record.ranges)} if record.ranges else {}
    given |= {"length": request.length} if request.length else {}
    given |= request.call_options
    given |= {"policy": request.policy} if request.policy != "limit" else {}
    arguments = [
        name if has_name else "f",
        repr(record.function),
        repr(record.dtype),
        *(f"{key}={each!r}" for key, each in given.items()),
    ]
    return f"gelu_verify.verify({', '.join(arguments)})" + ("" if has_name else f"  # f: {record.target}")
