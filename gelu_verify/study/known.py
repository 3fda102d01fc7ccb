"""Outputs by which the kernels of a study are known: what was finished with other ones is not used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from ..atomic_files import replace_file
from ..errors import ResultsError
from ..inputs.plans import make_plan
from ..measure.identity import ProbeOutputs, another
from ..work.journal import Facts, contents, sealed
from .units import UNITS, targets

FILE = "implementations"
_OUTPUTS = "outputs of "  # begins the name of a fact


@cache
def _outputs(key: str) -> ProbeOutputs:
    """Of a kernel in a dtype, by "name/dtype", in this process."""
    name, dtype = key.split("/")
    target = targets()[name]
    return ProbeOutputs.of(target, make_plan("quick", target.function, dtype))


def kernels() -> list[str]:
    """All that any study may train or serve with, as "name/dtype"."""
    names = {name for unit in UNITS.values() for name in (unit.forward, unit.backward) if name in targets()}
    return [f"{name}/{dtype}" for name in sorted(names) for dtype in targets()[name].dtypes]


def outputs_of(keys: Iterable[str]) -> Facts:
    """A digest of the outputs of each, as facts."""
    return {_OUTPUTS + key: _outputs(key).digest for key in keys}


def same_outputs(there: Facts) -> Facts:
    """Those facts of another process that are of outputs, as they are in this one."""
    return outputs_of(name.removeprefix(_OUTPUTS) for name in there if name.startswith(_OUTPUTS))


def keep(folder: Path, keys: Iterable[str], warn: Callable[[str], object]) -> None:
    """Keep the outputs in a folder; said by name where they are not those that are there: all is computed anew."""
    path, found = folder / FILE, {key: _outputs(key) for key in keys}
    there = contents(path)
    rows = there.records if there else {}
    before = {key: ProbeOutputs.unpacked(rows[key][0][1]) for key in found if key in rows}
    reasons = (another(key, before[key], found[key]) for key in before)
    if reason := next(filter(None, reasons), ""):
        warn(f"what is finished in {folder} is of another implementation and is computed anew: {reason}")
    records = [(key, 0, outputs.packed()) for key, outputs in found.items()]
    try:
        replace_file(path, sealed({}, records), flush=True)
    except OSError as error:
        raise ResultsError(f"cannot write {error.filename}: {error.strerror}") from None
