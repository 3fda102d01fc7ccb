"""`attribute`: a target's error, taken apart on a plan's inputs."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..errors import UsageError
from ..formats import differ, get_format, is_zero, to_float64
from ..functions.regions import REGIONS
from ..inputs.plans import Plan, make_plan
from ..targets import Target
from ..truth.values import judge, zero_threshold
from .conditioning import from_input
from .expression import text
from .known import Candidate, Known, known, nearest_candidates
from .ladder import KNOWN, MEASURED, SOURCES, Ladder, Model, Rung, climb, flush_text, regions, worst_by_region
from .models import forms_for, model_of, with_flushing
from .pieces import Explanation, limits, pieces_of
from .rewrites import proposals
from .search import SIBLINGS, Choice, Sample, explaining_regions, informative_sample, rounded_correctly, searched

MOST = 1 << 20  # inputs: more would not fit into memory, node by node
NEAR = 0.5  # of the results that distinguish formulas: from there on, flushing is looked for
EXACT = 1000  # inputs at which exact arithmetic is done, beside the worst ones

Record = dict[str, Any]


@dataclass(frozen=True)
class Attribution:
    """The ladder of one target in one dtype; `record` is the JSON object of docs/json.md.

    `asked` is what the user gave of form, working, stored and blocks; `choice` says how the form was chosen, and how
    well it explains the results; `known` is the kernel of ours that reproduces most of them, and
    `pieces` are what explains them piece by piece of x, where nothing explains all; `rewrites` were measured beside it.
    """

    target: Target
    plan: Plan
    ladder: Ladder
    asked: Mapping[str, Any]
    choice: Choice
    known: Known | None
    pieces: Sequence[Record]
    rewrites: Sequence[Record]

    @property
    def function(self) -> str:
        """What it is taken to compute, which errors are judged by; `target.function` is what it says."""
        return self.ladder.model.form.function

    @property
    def dtype(self) -> str:
        return self.ladder.dtype

    @cached_property
    def worst(self) -> int | None:
        """Index of the input with the largest finite measured error."""
        return worst_of(self.ladder)

    @cached_property
    def agreement(self) -> float:
        """Share of the inputs at which the model gives the very bits that were measured."""
        model = next(rung for rung in reversed(self.ladder.rungs) if rung.name not in (KNOWN, MEASURED))
        return float(np.mean(_bits(model) == _bits(self.ladder.rungs[-1])))

    @cached_property
    def record(self) -> Record:
        ladder, model = self.ladder, self.ladder.model
        place = regions(self.dtype, ladder.x_bits)
        return {
            "target": self.target.name,
            "family": self.target.family,
            "function": self.target.function,
            "computes": self.function,
            "dtype": self.dtype,
            "version": self.target.version,
            "chosen": self.choice.how,
            "explained": self.choice.explains,
            "explains": self.choice.agreement,
            "rounded": self.choice.rounded,
            "alike": list(self.choice.alike),
            "known": None if self.known is None else self.known.record(),
            "form": model.form.name,
            "formula": model.form.text,
            "working": model.working,
            "constants": dict(model.stored),
            "flush": model.flush or None,
            "blocks": {name: block.title for name, block in model.blocks.items()},
            "plan": self.plan.name,
            "seed": self.plan.seed,
            "n": len(ladder.x_bits),
            "bound": "=" if self.plan.exhaustive else ">=",
            "agreement": self.agreement,
            "errors": list(self._errors()),
            "rungs": [self._rung(rung, place) for rung in ladder.rungs],
            "worst": self._parts(self.worst),
            "regions": self._regions(place),
            "operations": list(self._operations()),
            "pieces": list(self.pieces),
            "rewrites": list(self.rewrites),
            "repeat": self.repeat,
        }

    @property
    def repeat(self) -> str:
        command = ["gelu-verify", "attribute", self.target.name]
        command += ["--function", self.target.function, "--dtype", self.dtype]
        for option in ("form", "working"):
            command += [f"--{option}", self.asked[option]] if self.asked[option] else []
        command += ["--plan", self.plan.name, "--seed", str(self.plan.seed)]
        command += ["--length", str(self.plan.length)] if self.plan.length else []
        for option, name in (("--constant", "stored"), ("--block", "blocks")):
            command += [word for pair in (self.asked[name] or {}).items() for word in (option, "=".join(pair))]
        return shlex.join(command)

    def _errors(self) -> Iterator[Record]:
        """The largest error as what it says, as what it computes, and as the function that both approximate."""
        x, got = self.ladder.x_bits, _bits(self.ladder.rungs[-1])
        claimed, base = self.target.function, "gelu_grad" if self.function.endswith("_grad") else "gelu"
        approximated = [base] if claimed.removesuffix("_grad") in SIBLINGS else []
        for function in dict.fromkeys([claimed, self.function, *approximated]):
            size = np.abs(judge(function, self.dtype, x, got).error)
            yield {"function": function, **self._point(_worst(size), size, self.ladder.rungs[-1])}

    def _rung(self, rung: Rung, place: np.ndarray) -> Record:
        size = np.abs(rung.error)
        found = worst_by_region(np.where(np.isfinite(size), size, np.nan), place)
        return {
            "name": rung.name,
            "title": rung.title,
            "source": rung.source,
            "n": int(np.count_nonzero(~np.isnan(size))),
            "nonfinite": int(np.count_nonzero(np.isinf(size))),
            **self._point(_worst(size), size, rung),
            "zero_from": self._zero_from(rung),
            "regions": [
                {"region": region.name, **self._point(at, size, rung)}
                for region, at in zip(REGIONS, found, strict=True)
            ],
        }

    def _point(self, at: int | None, size: np.ndarray, rung: Rung) -> Record:
        fmt = get_format(self.dtype)
        if at is None:
            return {"max_ulp": None, "x_bits": None, "got_bits": None}
        got = None if rung.got_bits is None else fmt.bits_text(int(rung.got_bits[at]))
        return {"max_ulp": float(size[at]), "x_bits": fmt.bits_text(int(self.ladder.x_bits[at])), "got_bits": got}

    def _zero_from(self, rung: Rung) -> str | None:
        """Bits of the x nearest to zero, below -1, that gives zero although the reference is not zero."""
        if rung.got_bits is None or zero_threshold(self.function, self.dtype) is None:
            return None
        fmt, ladder = get_format(self.dtype), self.ladder
        early = is_zero(fmt, rung.got_bits) & ~is_zero(fmt, ladder.want_bits)
        found = np.flatnonzero(early & (to_float64(fmt, ladder.x_bits) < -1))
        return fmt.bits_text(int(ladder.x_bits[found[-1]])) if len(found) else None

    def _parts(self, at: int | None) -> Record | None:
        """What each source adds at one input, in ULP; `main` is the largest."""
        if at is None:
            return None
        ladder, fmt = self.ladder, get_format(self.dtype)
        added = ladder.added(at)
        if not all(np.isfinite(list(added.values()))):
            return None
        return {
            "x_bits": fmt.bits_text(int(ladder.x_bits[at])),
            "want_bits": fmt.bits_text(int(ladder.want_bits[at])),
            "error": float(ladder.rungs[-1].error[at]),
            **added,
            "main": max(SOURCES, key=lambda source: abs(added[source])),
        }

    def _regions(self, place: np.ndarray) -> list[Record]:
        size = np.abs(self.ladder.rungs[-1].error)
        found = worst_by_region(np.where(np.isfinite(size), size, np.nan), place)
        counts = np.bincount(place, minlength=len(REGIONS))
        cost = worst_by_region(conditions := from_input(self.function, self.dtype, self.ladder.x_bits), place)
        return [
            {
                "region": region.name,
                "n": int(counts[index]),
                "worst": self._parts(at),
                "input_ulp": None if cost[index] is None else float(conditions[cost[index]]),
            }
            for index, (region, at) in enumerate(zip(REGIONS, found, strict=True))
        ]

    def _operations(self) -> list[Record]:
        """What the rounding of each operation costs, the worst first; those that cost nothing are left out."""
        fmt, records = get_format(self.dtype), []
        for share in self.ladder.operations:
            at = int(np.argmax(np.abs(share.error)))
            if share.error[at] == 0:
                continue
            grown = float(share.amplification[at])
            records.append(
                {
                    "operation": f"rounding to {self.dtype}" if share.node is None else text(share.node),
                    "name": "" if share.node is None else share.node.name,
                    "max_ulp": float(abs(share.error[at])),
                    "x_bits": fmt.bits_text(int(self.ladder.x_bits[at])),
                    "amplification": grown if np.isfinite(grown) else None,
                    "at_worst": None if self.worst is None else float(share.error[self.worst]),
                }
            )
        return sorted(records, key=lambda record: -record["max_ulp"])


def attribute(
    target: Target, dtype: str, plan: str = "default", seed: int = 0, *, length: int | None = None,
    form: str | None = None, working: str | None = None, constants: Mapping[str, str] | None = None,
    blocks: Mapping[str, str] | None = None,
) -> Attribution:  # fmt: skip
    """Take the error of `target` in `dtype` apart.

    Parameters
    ----------
    plan, seed, length : which inputs, see `gelu-verify list`, and how many in each call
    form : name of the formula; default: what a library's description says, else what explains the results best
    working : dtype that every operation is rounded to; default: the one that explains them best
    constants : {text of a constant: the decimal that the target has instead}; default: as above, of those in use
    blocks : {building block: "libm", "exact" or a target's name}; default: what the target's own family has

    Raises
    ------
    UsageError : an unknown name, a function without a form, too many inputs
    TargetFailure : the target, or a building block, failed

    Examples
    --------
    >>> from gelu_verify.targets import select
    >>> (target,), _ = select(["kernels.gelu_erf"])
    >>> attribute(target, "float16").record["worst"]["main"]
    'formula'
    """
    chosen = make_plan(plan, target.function, dtype, seed, length=length)
    if chosen.size > MOST:
        raise UsageError(f"plan {plan} has {chosen.size:,} inputs of {dtype} (attribute takes up to {MOST:,})")
    chunks = [chunk.x_bits() for chunk in chosen.chunks]
    measured = np.concatenate([target.evaluate_in_calls(dtype, x, length) for x in chunks])
    x_bits = np.concatenate(chunks)
    asked: Record = {"form": form, "working": working, "stored": constants, "blocks": blocks}
    sample = informative_sample(target.function, dtype, x_bits, measured)
    choice, ours = _choice(target, sample, x_bits, measured, asked), known(target, sample, x_bits, measured)
    above = None
    if ours is not None and ours.explains and ours.agreement > choice.agreement:
        above = f"as {ours.name}", ours.bits[: len(x_bits)]
    ladder = climb(choice.model, dtype, x_bits, measured, EXACT, above)
    pieces = _pieces(target, dtype, ladder, choice, ours)
    told = choice.explains or choice.how != "found" or (ours is not None and ours.exact)
    rewrites = proposals(target, dtype, ladder, worst_of(ladder)) if told else []
    return Attribution(target, chosen, ladder, asked, choice, ours, pieces, rewrites)


def _pieces(target: Target, dtype: str, ladder: Ladder, choice: Choice, ours: Known | None) -> list[Record]:
    """Where one explanation does not give all results: the pieces of x, each with its own."""
    x, got, model = ladder.x_bits, _bits(ladder.rungs[-1]), ladder.model
    if (ours is not None and ours.exact) or not differ(get_format(dtype), model.bits(dtype, x), got).any():
        return []
    sample = Sample(dtype, x, got, np.arange(len(x)))

    def kernels(candidates: Iterable[Candidate]) -> list[Explanation]:
        return [Explanation(each.text(dtype), "kernel", partial(each.bits, dtype)) for each in candidates]

    def formulas(models: Iterable[Model]) -> list[Explanation]:
        return [Explanation(model_text(each), "formula", partial(each.bits, dtype), each) for each in models]

    def more(inside: slice) -> list[Explanation]:
        piece = informative_sample(model.form.function, dtype, x[inside], got[inside])
        return formulas(explaining_regions(target, piece)) + kernels(nearest_candidates(target, piece))

    models = [model, *([] if choice.explains else explaining_regions(target, sample))]
    ours_too = [] if ours is None else [ours.candidate, *ours.others]
    able = formulas(models) + limits(model.form.function, dtype) + kernels(ours_too)
    return pieces_of(target, dtype, model.form.function, x, got, able, more, choice.explains)


def _choice(target: Target, sample: Sample, x_bits: np.ndarray, measured: np.ndarray, asked: Record) -> Choice:
    """By the target's own description, where it is a library's; else by what explains the results best."""
    dtype = sample.dtype
    description = f"{target.form}; {target.note}"
    own = target.family == "callable" or not (
        asked["form"] or forms_for(target.name, target.function, description, target.form)
    )
    if own:
        model, alike = searched(target, sample, **asked)
    else:
        model, alike = model_of(target, dtype, x_bits, measured, **asked), ()
    how = "asked" if asked["form"] else "found" if own else "described"
    if sample.agreement(model.bits(dtype, sample.x)) >= NEAR:  # of another formula, small results say nothing
        model = with_flushing(model, dtype, x_bits, measured)
    agreement = sample.agreement(model.bits(dtype, sample.x))
    return Choice(model, how, agreement, rounded_correctly(target.function, sample), alike)


def model_text(model: Model) -> str:
    """A formula, the dtype that it is computed in, and what is flushed, in one line."""
    return f"{model.form.text}, in {model.working}" + (f", {flush_text(model.flush)}" if model.flush else "")


def worst_of(ladder: Ladder) -> int | None:
    """Index of the input with the largest finite measured error."""
    return _worst(np.abs(ladder.rungs[-1].error))


def _worst(size: np.ndarray) -> int | None:
    finite = np.where(np.isfinite(size), size, -1.0)
    at = int(np.argmax(finite))
    return at if finite[at] >= 0 else None


def _bits(rung: Rung) -> np.ndarray:
    assert rung.got_bits is not None
    return rung.got_bits
