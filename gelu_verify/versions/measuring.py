"""One release: every path of it is called, and what gives outputs that no release had before is verified."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache

import numpy as np

from ..arrays import distinct
from ..errors import TargetFailure
from ..formats import get_format, ordinals
from ..functions.regions import INTERVALS, interval_edges
from ..inputs.plans import make_plan
from ..inputs.special import POSITIONS
from ..interrupts import interrupted
from ..isa import at_level, level_of_machine, split_level
from ..machine import machine
from ..measure.next_buckets import core_buckets
from ..measure.request import Request
from ..measure.run import measure_one
from ..targets import switches_of
from .bisect import UNMEASURED
from .environments import CannotBeInstalled, Installed
from .libraries import Way
from .releases import Release
from .store import KeptOutput, MeasuredRelease, output_of
from .worker_process import ReleaseTarget, WorkerProcess

PLAN = "fixed"  # the same inputs, whatever the outputs
CORE, CORE_OF_SLOW = 2048, 256  # buckets
FAST = ("gelu", "gelu_tanh", "gelu_sigmoid", "silu")  # and their derivatives: judged in nanoseconds
REASON = 120
DIGEST, PART = 16, 8  # hexadecimal digits of a digest of all outputs, and of those of an interval
_KEPT_PACKAGES = ("numpy", "jaxlib", "ml_dtypes", "scipy", "mkl", "onednn")


def own_level() -> str:
    """The level of a process that nothing limits: that of the processor."""
    return level_of_machine(machine())


def failed(release: Release, why: str) -> MeasuredRelease:
    """A release of which nothing was measured, today."""
    return MeasuredRelease(
        version=release.version, released=release.day, measured=str(datetime.now(UTC).date()), failure=why
    )


NamedSpan = tuple[str, tuple[int, int]]  # interval of x, first and last ordinal
Installing = Callable[[Release], AbstractContextManager[Installed]]


@dataclass
class ReleaseMeasurer:
    """What is called of releases, and what is known already: `known` outputs by their digest.

    Parameters
    ----------
    name : of the library, as `versions NAME` has it
    adapter : by which the worker calls it
    install : makes the environment of a release
    levels : instruction-set levels; "": what the processor has, whatever a library chooses
    compiles_per_length : the first call of a path with a new number of inputs is slow
    """

    name: str
    adapter: str
    install: Installing
    ways: Sequence[Way]
    levels: Sequence[str] = ("",)
    known: dict[str, KeptOutput] = field(default_factory=dict)
    compiles_per_length: bool = False

    def measured(self, release: Release) -> MeasuredRelease:
        """What was found of a release; one that cannot be installed, or called at all, says why."""
        if release.missing:
            return failed(release, release.missing)
        try:
            with self.install(release) as installed:
                return self._called(release, installed)
        except CannotBeInstalled as error:
            return failed(release, str(error))

    def output(self, release: Release, way: Way, level: str, x_bits: int) -> str:
        """What a path gives for one input, in bits, at any of many places of a call, as the place may decide;
        UNMEASURED and the reason where it gives nothing."""
        if release.missing:
            return f"{UNMEASURED}{release.missing}"
        fmt = get_format(way.dtype)
        x = np.full(POSITIONS, x_bits, fmt.uint)
        y = np.empty_like(x)
        try:
            with self.install(release) as installed, self._process(installed, level) as process:
                process.ask({**way.opening, "dtype": way.dtype}, x, y)
        except (CannotBeInstalled, TargetFailure) as error:
            return f"{UNMEASURED}{error}"
        bits = [int(each) for each in distinct(y)]
        return " or ".join(dict.fromkeys("NaN" if fmt.is_nan(each) else fmt.bits_text(each) for each in bits))

    @contextmanager
    def _process(self, installed: Installed, level: str) -> Iterator[WorkerProcess]:
        switches = switches_of(self.name) if level else None
        process = WorkerProcess(installed.python, self.adapter, switches.variables(level) if switches else {})
        try:
            yield process
        finally:
            process.end()

    def _called(self, release: Release, installed: Installed) -> MeasuredRelease:
        results: dict[str, dict[str, str]] = {}
        absent: dict[str, str] = {}  # by the key at a level
        for level in self.levels:
            with self._process(installed, level) as process:
                try:
                    process.start()
                except TargetFailure as failure:  # of all paths, or of a switch that the release does not know
                    absent |= {at_level(way.key, level): _reason(failure) for way in self.ways}
                    continue
                for way in self.ways:
                    if interrupted.is_set():  # which ends processes, too: no failure of theirs
                        raise KeyboardInterrupt
                    try:
                        output = self._output(way, release, process)
                        results.setdefault(way.key, {})[level or own_level()] = output.digest
                    except TargetFailure as failure:
                        absent[at_level(way.key, level)] = _reason(failure)
        if interrupted.is_set():
            raise KeyboardInterrupt
        nowhere = {way.key for way in self.ways}.difference(results)
        absent = {key if (key := split_level(name)[0]) in nowhere else name: why for name, why in absent.items()}
        facts = machine()
        return replace(
            failed(release, "" if results else next(iter(absent.values()), "nothing of it can be called")),
            python=installed.version,
            packages=_some(installed.packages),
            machine={name: str(facts[name]) for name in ("cpu", "libm") if name in facts},
            results=results,
            absent=absent,
        )

    def _output(self, way: Way, release: Release, process: WorkerProcess) -> KeptOutput:
        """What a path gives; verified only where nothing gave the same before."""
        target = ReleaseTarget(
            name=way.target, function=way.function, dtypes=(way.dtype,), form=way.form, expression=way.expression,
            version=release.version, note="one release, in an environment of its own",
            opening=way.opening, process=process, compiles_per_length=self.compiles_per_length,
        )  # fmt: skip
        parts = _digests(target, way)
        whole = hashlib.sha256(repr((way.key, sorted(parts.items()))).encode()).hexdigest()[:DIGEST]
        if whole not in self.known:
            request = Request(
                targets=(target,), functions=(way.function,), dtypes=(way.dtype,), plan=PLAN, own="none", workers=1,
                budget=f"{_judged(way)}buckets" if _judged(way) else 0,
                repeat=f"gelu-verify versions {self.name} --from {release.version} --to {release.version}",
            )  # fmt: skip
            result = measure_one(request)
            if result.table is None:
                raise TargetFailure(result.failure or "it was not measured")
            self.known[whole] = output_of(whole, result.record, result.table.flat, parts)
        return self.known[whole]


def _reason(failure: TargetFailure) -> str:
    """In few words: ONNX Runtime says file, line and signature, others the time."""
    said = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: ", "", str(failure))
    text = re.sub(r"\[ONNXRuntimeError\] : \d+ : \w+ : |/\S+/onnxruntime/\S+:\d+ .*?\) ", "", said)
    return text if len(text) <= REASON else f"{text[:REASON]}..."


def _core(way: Way) -> int:
    """How many buckets, the nearest to 1 in size first, have all their outputs in the digest: of the library itself in
    float32, 1/16 <= |x| < 16."""
    return CORE if way.dtype == "float32" and way.is_own else 0


def _judged(way: Way) -> int:
    """How many of these are judged whole, too: of functions with a slow truth, fewer."""
    return min(_core(way), CORE if way.function.removesuffix("_grad") in FAST else CORE_OF_SLOW)


@cache
def _inputs(function: str, dtype: str, core: int) -> tuple[Sequence[np.ndarray], Sequence[NamedSpan]]:
    """Bits that are sent, in calls; and spans of ordinals that the worker makes itself, each with its interval."""
    plan = make_plan(PLAN, function, dtype)
    sent = tuple(chunk.x_bits() for chunk in plan.chunks)
    edges, spans = interval_edges(dtype), []
    buckets = np.array(sorted(core_buckets(function, dtype)[:core]), dtype=np.int64)
    place = np.searchsorted(edges, buckets, side="right") - 1
    breaks = np.flatnonzero((np.diff(buckets) != 1) | (np.diff(place) != 0)) + 1
    for part, where in zip(np.split(buckets, breaks), np.split(place, breaks), strict=True):
        if len(part):
            first, last = (int(part[0]) - 0x8000 << 16, (int(part[-1]) - 0x8000 + 1 << 16) - 1)
            spans.append((INTERVALS[int(where[0])], (first, last)))
    return sent, tuple(spans)


def _digests(target: ReleaseTarget, way: Way) -> dict[str, str]:
    """A digest of the outputs in each interval of x that has inputs."""
    sent, spans = _inputs(way.function, way.dtype, _core(way))
    fmt, edges = get_format(way.dtype), interval_edges(way.dtype)
    found = {name: hashlib.sha256() for name in INTERVALS}
    for x_bits in sent:
        y_bits = target.evaluate(way.dtype, x_bits)
        bucket = (ordinals(fmt, x_bits) >> (fmt.width - 16)) + 0x8000
        place = np.searchsorted(edges, bucket, side="right") - 1
        for index in distinct(place):
            found[INTERVALS[int(index)]].update(y_bits[place == index].tobytes())
    if spans:
        opening = {**way.opening, "dtype": way.dtype}
        digests = target.process.digests(opening, [span for _, span in spans])
        for (name, _), digest in zip(spans, digests, strict=True):
            found[name].update(digest.encode())
    empty = hashlib.sha256().digest()
    return {name: each.hexdigest()[:PART] for name, each in found.items() if each.digest() != empty}


def _some(packages: Mapping[str, str]) -> dict[str, str]:
    """Those that may decide a result."""
    kept = (name for name in sorted(packages) if name.lower().replace("-", "_") in _KEPT_PACKAGES)
    return {name: packages[name] for name in kept}
