"""Outputs that two runs did not keep, asked for again: what each revision gives at the inputs that show a change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from ..formats import get_format
from ..judge.changes import Verdict
from ..judge.sides import Change, ChangeWitness
from ..records.asking import BY_CALL
from ..runs.bucket_files import read_columns
from ..runs.store import Run
from .comparison import Comparison, ResultComparison

_ASKED: tuple[Verdict, ...] = ("worse", "mixed", "better", "changed")
_RESULTS, _INPUTS = 4, 32  # that are asked again: a run each, of so many inputs

Outputs = Mapping[str, str]  # bits of x: bits of the output
Ask = Callable[[ResultComparison, list[str]], Outputs]  # measures some inputs of a result, at one revision


def completed(found: Comparison, at_old: Ask, at_new: Ask) -> Comparison:
    """The comparison with the outputs that its witnesses lack, of the first results that changed."""
    asked = [each for each in found.results if each.verdict in _ASKED][:_RESULTS]
    done = {each.key: _completed(each, at_old, at_new) for each in asked}
    return replace(found, results=tuple(done.get(each.key, each) for each in found.results))


def _completed(result: ResultComparison, at_old: Ask, at_new: Ask) -> ResultComparison:
    shown = [change.witness for change in result.changes if change.witness and not _depends_on_call(change)]
    outputs = {side: _asked(result, shown, side, ask) for side, ask in (("old", at_old), ("new", at_new))}
    return replace(result, changes=tuple(_filled(change, outputs) for change in result.changes))


def _asked(result: ResultComparison, shown: list[ChangeWitness], side: str, ask: Ask) -> Outputs:
    """Outputs of a side that were not kept; none where those that were kept are others in this call."""
    kept = {each.x_bits: bits for each in shown if (bits := getattr(each, f"{side}_bits")) is not None}
    wanted = list(dict.fromkeys(each.x_bits for each in shown if each.x_bits not in kept))[:_INPUTS]
    outputs = ask(result, [*wanted, *list(kept)[:_INPUTS]]) if wanted else {}
    return {} if any(kept.get(x, got) != got for x, got in outputs.items()) else outputs


def _depends_on_call(change: Change) -> bool:
    return change.what == "check" and change.where in BY_CALL


def _filled(change: Change, outputs: Mapping[str, Outputs]) -> Change:
    witness = change.witness
    if witness is None or _depends_on_call(change):
        return change
    old, new = (getattr(witness, f"{side}_bits") or outputs[side].get(witness.x_bits) for side in ("old", "new"))
    return replace(change, witness=ChangeWitness(witness.x_bits, old, new, witness.want_bits))


def outputs_of(run: Run, inputs: Iterable[str]) -> Outputs:
    """The outputs of a run of few inputs: of each bucket that has one."""
    if run.results[0].buckets is None:
        return {}
    fmt, table = get_format(run.results[0].dtype), read_columns(run.buckets(0))
    columns = [table[name].tolist() for name in ("n", "max_error_x", "max_error_got")]
    kept = {fmt.bits_text(x): fmt.bits_text(got) for n, x, got in zip(*columns, strict=True) if n == 1}
    return {x: kept[x] for x in inputs if x in kept}
