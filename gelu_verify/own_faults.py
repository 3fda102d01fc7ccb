"""Faults of this package while it judges an implementation: reported as ours, and all else of the result stands.

Nothing is said of the implementation where we fail. `GELU_VERIFY_FAULTS=raise` in the environment has the exception
itself, with its traceback, instead of a line: our tests run so.
"""

from __future__ import annotations

import os
import traceback
from pathlib import Path

from . import plugins
from .errors import GeluVerifyError, OracleError, message_of

SWITCH = "GELU_VERIFY_FAULTS"
KIND = "verifier"  # of a "failure" that is not the implementation's
_PACKAGE = Path(__file__).parent
_READING = ("targets/declarations/", "ptx/")  # they read sources, and call nothing of them, but for these:
_EXECUTING = {"ptx/executor.py", "ptx/faults.py", "ptx/memory.py"}
_CALLING = ("targets", "kernels", "gpu", "ptx", "speed", "stochastic")  # folders that call somebody else's code


class OwnFault(Exception):
    """A fault of ours in the process of an implementation: its message is the line of `fault_line` there.

    `of_a_plugin`: it is that of another distribution, which adds to this package."""

    def __init__(self, line: str, of_a_plugin: bool = False) -> None:
        super().__init__(line)
        self.of_a_plugin = of_a_plugin


def is_ours(error: BaseException) -> bool:
    """Whether our code alone raised it, or that of a plugin. Where we call somebody else's, their function may be in C,
    which has no frame: a name that is missing there is ours all the same."""
    frames = [Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, OwnFault):
        return True
    if not isinstance(error, Exception) or isinstance(error, OSError | MemoryError | GeluVerifyError):
        return False
    if plugins.raiser_of(error):
        return True
    if not frames or any(not each.is_relative_to(_PACKAGE) for each in frames):
        return False
    last = frames[-1].relative_to(_PACKAGE).as_posix()
    if isinstance(error, NameError) or (last.startswith(_READING) and last not in _EXECUTING):
        return True
    return not any(each.relative_to(_PACKAGE).parts[0] in _CALLING for each in frames)


def is_of_a_plugin(error: BaseException) -> bool:
    """Whether the code of another distribution that adds to this package raised it."""
    return error.of_a_plugin if isinstance(error, OwnFault) else plugins.raiser_of(error) is not None


class guarded:
    """A context: adds a line to `faults` where our code raises what it never should; `what` is unknown then.

    What a user may see (`GeluVerifyError`) passes, but for an oracle that proves nothing.
    """

    def __init__(self, what: str, faults: list[str]) -> None:
        self._what, self._faults = what, faults

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        is_meant = isinstance(error, GeluVerifyError) and not isinstance(error, OracleError)
        if not isinstance(error, Exception) or is_meant:
            return False
        if os.environ.get(SWITCH) == "raise" and not is_of_a_plugin(error):
            return False
        self._faults.append(fault_line(self._what, error))
        return True


def fault_line(what: str, error: BaseException) -> str:
    """What failed, how, and where in our files: all that a report of the fault needs, in one line."""
    if isinstance(error, OwnFault):
        return str(error)
    if plugin := plugins.raiser_of(error):
        return f"{plugin} {plugins.reason_of(error)}: its fault, and nothing is said of the implementation"
    message = " ".join(message_of(error).split())
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(_PACKAGE) and frame.filename != __file__]
    places = [f"{Path(frame.filename).relative_to(_PACKAGE)}:{frame.lineno}" for frame in ours]
    where = f" ({' > '.join(places)})" if places else ""
    return f"gelu-verify's {what} failed: {type(error).__name__}: {message}{where}: please report"
