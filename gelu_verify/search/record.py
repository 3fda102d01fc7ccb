"""What a search found, as one frozen record: the object of docs/search.md."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ..calling import OPTIONS
from ..errors import OracleError
from ..formats import Format
from ..functions import get_function
from ..measure.minimize import narrowed
from ..measure.request import Request
from ..records.fields import Count, Line, Name, Size, Ulp, about
from ..records.parts import FunctionName, Witness
from ..records.result import DtypeName
from ..targets import Target
from ..truth.oracle import judge_exactly
from ..work.executors import Pool
from .batches import INPUTS, Source
from .search import Ended
from .state import State, WorstInput

SHOWN = 16  # places
_AGREE = 2.0**-20  # ULP, and of an error: what the judge may be off, and more


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """Inputs whose outputs are worse than any error in ULP."""

    count: Count = field(metadata=about("how often one was met; an input that was drawn twice counts twice"))
    witness: Witness = field(metadata=about("the one nearest to zero"))


@dataclass(frozen=True, slots=True)
class SearchPlace:
    """One of the worst inputs, the worst of its 2^-8 of a binade."""

    ulp: Ulp = field(metadata=about("its error in ULP, without a sign"))
    witness: Witness = field(metadata=about("input, output and correctly rounded value"))
    found_by: Source = field(
        metadata=about(
            "what tried it: `seeds` (plan, landmarks, hard cases, worst inputs of others), `binades`, `uniform`, "
            "`intervals` (split where errors are large), `jumps` (split where the mean error jumps), `short numbers`, "
            "`descent` (neighbours of the worst), `ties` (where the exact value is near a midpoint), "
            "`every input` (one after the other: dtypes of 32 bits and less)"
        )
    )
    found_after: Count = field(metadata=about("number of inputs that had been tried, with its batch"))


@dataclass(frozen=True, slots=True)
class SearchWorker:
    """A machine whose workers answered."""

    host: Name = field(metadata=about("its name"))
    cpu: Line = field(metadata=about("its processor"))
    isa: Line = field(metadata=about("its instruction sets"))
    core_seconds: Size = field(metadata=about("how long its cores were at work"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRecord:
    """The worst input that was found, and how it was looked for."""

    target: Name = field(metadata=about("name of the implementation"))
    family: Name = field(metadata=about("what it belongs to"))
    function: FunctionName = field(metadata=about("what it was judged as"))
    dtype: DtypeName = field(metadata=about("in which dtype"))
    form: str = field(metadata=about("how it computes"))
    note: str = field(metadata=about("how it is called"))
    version: str = field(metadata=about("version of the library, or hash of the source"))
    seed: Count = field(metadata=about("seed of all random numbers"))
    bound: Literal["=", ">="] = field(
        metadata=about('`"="` every finite input was tried; `">="` the largest error among those that were')
    )
    bound_kind: Literal["exhaustive", "searched"] = field(metadata=about("the same in a word"))
    ended: Literal["budget", "complete", "interrupted", "failure"] = field(
        metadata=about("why it ended: the budget was spent, every input was tried, Ctrl-C, or the target failed")
    )
    evaluations: Count = field(metadata=about("how many inputs were tried; one that was drawn twice counts twice"))
    seconds: Size = field(metadata=about("how long it took, of all parts of a search that was resumed"))
    rounds: Count = field(metadata=about("rounds that were completed"))
    intervals: Count = field(metadata=about("how many intervals were looked at"))
    evaluations_by: Mapping[str, Count] = field(metadata=about("`{found_by: evaluations}`"))
    seeds: Count = field(metadata=about("how many worst inputs of other implementations it started from"))
    worst: Literal["not finite", "wrong sign", "error"] | None = field(
        metadata=about(
            "what the worst outcome is: a NaN or infinity where a finite value is due, or a number where none is "
            "(outside of the domain, at a pole), a wrong sign, else an error",
            null="where nothing was scored",
        )
    )
    max_ulp: Ulp | None = field(
        metadata=about("largest error in ULP of all outputs that are finite", null="where nothing was scored")
    )
    witness: Witness | None = field(metadata=about("the input with that error", null="where nothing was scored"))
    repeated: bool | None = field(
        metadata=about(
            "whether the target gave the same output for it when it was called with that input alone",
            null="where it could not be called",
        )
    )
    nonfinite: SearchOutcome | None = field(
        metadata=about(
            "NaN and infinities where a finite value is due, and numbers where none is", null="where none was met"
        )
    )
    wrong_sign: SearchOutcome | None = field(
        metadata=about("outputs of the wrong sign", null="where none was met, and where the function changes its sign")
    )
    places: tuple[SearchPlace, ...] = field(metadata=about(f"the worst inputs of {SHOWN} places, the worst first"))
    repeat: Line = field(metadata=about("the command that repeats the search, by its evaluations"))
    repeat_witness: Line | None = field(
        metadata=about("the command that measures the worst input alone", null="where nothing was scored")
    )
    workers: tuple[SearchWorker, ...] | None = field(
        metadata=about("the machines that took part", null="where these were threads of one process")
    )
    failure: Line | None = field(
        metadata=about("how the target failed, which ended the search", null="where it did not")
    )
    failure_kind: Line | None = field(metadata=about("one of the kinds of docs/json.md", null="where it did not"))
    failure_range: Line | None = field(
        metadata=about(
            '`"A:B"` as `run --bits` takes it: the smallest range found that shows it', null="where it did not"
        )
    )


def record_of(target: Target, state: State, ended: Ended, request: Request, pool: Pool | None = None) -> SearchRecord:
    """The record of a search; the worst input is asked again, of the target and of the oracle.

    Raises
    ------
    OracleError : the oracle judges it differently
    """
    asked, fmt, place = state.asked, state.fmt, state.worst
    failure = narrowed(target, fmt, ended.failure) if ended.failure else None
    complete = ended.why == "complete"
    nonfinite = _outcome(fmt, state.counts[0], state.nonfinite)
    wrong_sign = _outcome(fmt, state.counts[1], state.wrong_sign)
    ranges = (
        [fmt.bits_text(bits) for bits in (failure.first_bits, failure.last_bits) if bits is not None] if failure else []
    )
    found = sorted(state.places.values(), key=lambda each: (-each.error, each.evaluation))
    worst = nonfinite or wrong_sign
    shown = worst.witness if worst else _witness(fmt, place) if place else None
    return SearchRecord(
        target=target.name, family=target.family, function=asked.function, dtype=asked.dtype,
        form=target.form, note=target.note, version=target.version, seed=asked.seed,
        bound="=" if complete else ">=", bound_kind="exhaustive" if complete else "searched",
        ended=ended.why, evaluations=state.evaluations, seconds=round(ended.seconds, 3), rounds=state.rounds,
        intervals=state.looked_at, evaluations_by=dict(state.of_source), seeds=len(asked.seeds),
        worst="not finite" if nonfinite else "wrong sign" if wrong_sign else "error" if place else None,
        max_ulp=place.error if place else None, witness=_witness(fmt, place) if place else None,
        repeated=_is_repeated(target, state, place) if place and failure is None else None,
        nonfinite=nonfinite, wrong_sign=wrong_sign,
        places=tuple(
            SearchPlace(each.error, _witness(fmt, each), each.source, each.evaluation) for each in found[:SHOWN]
        ),
        repeat=_command("search", target, state, request, _words(state, more=INPUTS if failure else 0)),
        repeat_witness=_command("run", target, state, request, ["--bits", shown.x_bits]) if shown else None,
        workers=None if pool is None else tuple(SearchWorker(**each) for each in pool.described()),
        failure=str(failure) if failure else None,
        failure_kind=(failure.kind or "exception") if failure else None,
        failure_range=":".join(ranges) or None,
    )  # fmt: skip


def _words(state: State, more: int = 0) -> list[str]:
    """What decides all that a search tries; `more`: inputs behind the last that was answered."""
    words = ["--evaluations", str(state.evaluations + more), "--seed", str(state.asked.seed)]
    return words if state.asked.seeds else [*words, "--no-seeds"]


def _command(name: str, target: Target, state: State, request: Request, words: list[str]) -> str:
    asked = state.asked
    line = ["gelu-verify", name, target.name, "--function", asked.function, "--dtype", asked.dtype, *words]
    line += OPTIONS["length"].words(request.length)
    return request.repeated(shlex.join(line), target.family == "callable")


def _witness(fmt: Format, place: WorstInput) -> Witness:
    return Witness(*map(fmt.bits_text, (place.x, place.got, place.want)))


def _outcome(fmt: Format, count: int, row: tuple[int, int, int] | None) -> SearchOutcome | None:
    return SearchOutcome(count, Witness(*map(fmt.bits_text, row))) if row else None


def _is_repeated(target: Target, state: State, place: WorstInput) -> bool:
    """Whether the target gives that output again, to this input alone; OracleError where the oracle disagrees."""
    fmt, entry = state.fmt, get_function(state.asked.function)
    want, error, _ = judge_exactly(entry, fmt, place.x, place.got)
    if want != place.want or not abs(abs(error) - place.error) <= _AGREE * max(1.0, place.error):
        x = fmt.bits_text(place.x)
        raise OracleError(f"{entry.name} at {x}: {place.error} ULP in the search, {abs(error)} ULP by the oracle")
    return int(target.evaluate(fmt.name, np.array([place.x], fmt.uint))[0]) == place.got
