"""What decides results beside the request: code, builds of libraries, interpreter, C library, processor, switches.

Two processes whose facts are the same may share one measurement. `PROCESSOR` names those that say what a library may
choose its code by: between machines where only they differ, outputs decide. Outputs decide as well whether what was
kept is of the implementation that is there now, because no version can say that for certain: `ProbeOutputs`.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from .. import plugins
from ..arrays import distinct
from ..errors import TargetFailure
from ..formats import differ, from_ordinals, get_format, is_nan, texts_apart, value_text
from ..inputs.plans import Plan, make_plan
from ..isolation.target import PROBE
from ..machine import FAMILIES, PACKAGES, machine, versions
from ..targets import Target
from ..targets.extra_outputs import Differences, ExtraOutputs, collecting, differences
from ..work.journal import Facts
from ..work.packing import compressed, uncompressed
from .parts import differences_of, places_of

PROCESSOR = ("processor", "instruction sets")
LATER = ("report", "service", "cli", "ci", "gate", "compare", "__pycache__")  # folders of code that changes no result
QUICK = "quick"  # plan that probe inputs are taken from: some of every region
FEW, MANY = PROBE, 1 << 14  # probe inputs: where the same machine goes on, and between machines
CALLS, MOST_CALLS = 2, 16  # with them; the most are made where two are not the same


def identity(families: Iterable[str]) -> Facts:
    """The facts of this process, and of the libraries of those families of targets."""
    here = machine()
    packages = [*PACKAGES, *(name for family in sorted(set(families)) for name in FAMILIES.get(family, (family,)))]
    return {
        **{f"version of {name}": text for name, text in versions(packages).items()},
        **{f"version of {name}": text for name, text in plugins.versions().items()},
        **{f"build of {name}": text for name in dict.fromkeys(packages) if (text := build_of(name))},
        "code of gelu-verify": code_sha256(),
        "Python": f"{here['python']} ({here['compiler']})",
        "system": f"{platform.system()} {here['architecture']}",
        "C library": here["libm"],
        "switches": " ".join(f"{name}={value}" for name, value in sorted(here["switches"].items())),
        "processor": here["cpu"],
        "instruction sets": " ".join(here["isa"]),
    }


@cache
def build_of(package: str) -> str:
    """Digest of the list of all files of an installed package with their checksums; empty where it has none."""
    try:
        record = importlib.metadata.distribution(package).read_text("RECORD")
    except importlib.metadata.PackageNotFoundError:
        return ""
    lines = sorted(
        line for line in (record or "").splitlines() if ".dist-info/" not in line and "__pycache__" not in line
    )
    return f"sha256:{hashlib.sha256(chr(10).join(lines).encode()).hexdigest()[:16]}" if lines else ""


@cache
def code_sha256() -> str:
    """Digest of the code of this package that decides results, compiled code included."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in LATER)
        for name in sorted(files):
            if name.endswith((".py", ".so", ".pyd")):
                path = Path(folder) / name
                digest.update(f"{path.relative_to(root)}\n".encode() + hashlib.sha256(path.read_bytes()).digest())
    return f"sha256:{digest.hexdigest()[:16]}"


def worker_facts() -> dict[str, str]:
    """What a manifest says of the machine that a worker runs on."""
    here = machine()
    return {"host": socket.gethostname(), "cpu": here["cpu"], "isa": " ".join(here["isa"])}


def implementation(target: Target) -> Facts:
    """By what an implementation is named: the files that it reads, one by one, and the version."""
    files = {f"{name}, which {target.name} reads,": digest for name, digest in target.files.items()}
    return {**files, f"the version of {target.name}": target.version}


# ---- outputs by which an implementation is known -------------------------------------------------


@dataclass(frozen=True)
class ProbeOutputs:
    """What a target returned for the inputs `x` (bits, shape (n,)) in some calls (bits, shape (calls, n)).

    `length`: of the calls, where the plan gives it. `differences`: what else was seen in these calls. `failure`: how a
    call failed; there are no outputs then.
    """

    dtype: str
    x: np.ndarray
    outputs: np.ndarray
    length: int | None = None
    differences: tuple[Differences, ...] = ()
    failure: str = ""

    @classmethod
    def of(cls, target: Target, plan: Plan, count: int = FEW) -> ProbeOutputs:
        """Of `count` inputs at most, of every region of a plan's function, or of the plan where it is of ranges."""
        return cls._called(target, plan.dtype, _spread(plan, count), plan.length)

    def again(self, target: Target) -> ProbeOutputs:
        """What a target returns for the same inputs."""
        return self._called(target, self.dtype, self.x, self.length)

    @classmethod
    def _called(cls, target: Target, dtype: str, x: np.ndarray, length: int | None) -> ProbeOutputs:
        outputs, fmt, found = list[np.ndarray](), get_format(dtype), list[Differences]()
        try:
            with collecting() as found:
                while len(outputs) < CALLS or (differ(fmt, outputs[0], outputs[1]).any() and len(outputs) < MOST_CALLS):
                    outputs.append(target.evaluate_in_calls(dtype, x, length))
        except TargetFailure as failure:
            return cls(dtype, x, np.empty((0, len(x)), x.dtype), length, tuple(found), failure.kind or str(failure))
        return cls(dtype, x, np.array(outputs), length, tuple(found))

    @property
    def steady(self) -> np.ndarray:
        """Of each input, whether all calls returned the same (bool, shape (n,)); of NaN any payload is the same."""
        if self.failure:
            return np.zeros(len(self.x), bool)
        fmt = get_format(self.dtype)
        found: np.ndarray = ~np.any([differ(fmt, self.outputs[0], other) for other in self.outputs[1:]], axis=0)
        return found

    @property
    def digest(self) -> str:
        """The same for equal outputs where these do not vary, and for these inputs; of NaN any payload is the same."""
        fmt, steady = get_format(self.dtype), self.steady
        known = self.outputs[0][steady] if steady.any() else self.x[:0]
        plain = np.where(is_nan(fmt, known), fmt.uint.type(fmt.nan), known)
        content = b"".join(each.tobytes() for each in (self.x, steady, plain))
        return f"sha256:{hashlib.sha256(content + self.failure.encode()).hexdigest()[:16]}"

    def add_to(self, others: ExtraOutputs) -> None:
        """Have all of it judged."""
        if self.failure:
            return
        fmt, where = get_format(self.dtype), f"at index {{}} in a call of {self.length or len(self.x)}"
        others.add_call(self.x, self.outputs[0], where)
        others.differences += self.differences
        for count, other in enumerate(self.outputs[1:], 2):
            others.differences += differences(
                fmt, self.x, self.outputs[0], other, (where, f"{where}, made {count} times")
            )

    def packed(self) -> bytes:
        """The bytes that `unpacked` reads."""
        arrays = {"x": self.x, "outputs": self.outputs}
        fields = {
            "dtype": self.dtype,
            "length": self.length,
            "failure": self.failure,
            "where": places_of(self.differences, arrays),
        }
        return compressed(fields, arrays)

    @classmethod
    def unpacked(cls, content: bytes) -> ProbeOutputs:
        """What `packed` wrote."""
        fields, arrays = uncompressed(content)
        found = differences_of(fields["where"], arrays)
        return cls(fields["dtype"], arrays["x"], arrays["outputs"], fields["length"], found, fields["failure"])


def another(name: str, there: ProbeOutputs, here: ProbeOutputs) -> str:
    """Why an implementation is not the one that gave the outputs `there`, in words; empty where nothing says so.

    Where outputs vary from call to call, an input may by chance seem not to vary: fewer changes than inputs that vary
    say nothing.
    """
    fmt = get_format(there.dtype)
    if there.failure != here.failure:
        fails = [f"fails ({each.failure})" if each.failure else "does not fail" for each in (there, here)]
        return f"{name} {fails[0]} there and {fails[1]} here"
    known, changed = _compared(there, here)
    if len(changed) <= len(known) - np.count_nonzero(known):
        return ""
    at = changed[0]
    x = value_text(fmt, int(there.x[at]), 9)
    outputs = texts_apart(fmt, int(there.outputs[0][at]), int(here.outputs[0][at]))
    more = f" (and at {len(changed) - 1} more of {np.count_nonzero(known)} inputs)" if len(changed) > 1 else ""
    return f"{name} returned {outputs[0]} for x = {x} there and returns {outputs[1]} here{more}"


def only_by_version(name: str, there: ProbeOutputs, here: ProbeOutputs) -> str:
    """What to say where outputs do not tell implementations apart; empty where they do."""
    known, changed = _compared(there, here)
    varying = len(known) - np.count_nonzero(known)
    if here.failure:
        why = f"it fails ({here.failure})"
    elif len(changed) or varying > len(known) / 10:
        why = f"{varying} of {len(known)} vary from call to call"
    else:
        return ""
    return f"{name} cannot be identified by its outputs ({why}): that it is the same rests on its version alone"


def _compared(there: ProbeOutputs, here: ProbeOutputs) -> tuple[np.ndarray, np.ndarray]:
    """Which inputs have one output in all calls on either side; at which of them it is another one (indices)."""
    known = there.steady & here.steady
    if not known.any():
        return known, np.empty(0, np.int64)
    return known, np.flatnonzero(known & differ(get_format(there.dtype), there.outputs[0], here.outputs[0]))


def _spread(plan: Plan, count: int) -> np.ndarray:
    """So many inputs at most, evenly among all of the quick plan, or of a plan of ranges."""
    chosen = plan if plan.spans is not None else make_plan(QUICK, plan.function, plan.dtype)
    at = distinct(np.linspace(0, chosen.size - 1, min(count, chosen.size)).astype(np.int64))
    return np.concatenate(list(_taken(chosen, at)))


def _taken(plan: Plan, at: np.ndarray) -> Iterator[np.ndarray]:
    """The inputs at those places of a plan."""
    start = 0
    for chunk in plan.chunks:
        inside = at[(at >= start) & (at < start + chunk.size)] - start
        start += chunk.size
        if len(inside):
            ordinals = chunk.first + inside if chunk.explicit is None else chunk.explicit[inside]
            yield from_ordinals(get_format(plan.dtype), ordinals)
