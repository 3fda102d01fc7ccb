"""Outputs by which the kernels of a study are known: what was finished with other ones is not used."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from ..inputs.plans import make_plan
from ..measure.identity import ProbeOutputs, another
from ..measure.kept import Kept
from ..work.journal import Facts, Journal
from .units import UNITS, targets

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


def changed(journal: Journal) -> str:
    """Why what is finished is of another implementation, in words; empty where nothing is."""
    before = ((key, Kept(journal, key).outputs()) for key in kernels())
    return next(filter(None, (another(key, found[0], _outputs(key)) for key, found in before if found)), "")


def begin(journal: Journal) -> None:
    """Keep the outputs of all kernels, unless that was done."""
    for key in kernels():
        kept = Kept(journal, key)
        if not kept.outputs():
            kept.add_outputs(_outputs(key))
