"""In a process of the service: the inputs of a plan, and the record of a run that judges uploaded outputs.

It is the same sweep that tests a target on this machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from ..errors import Unanswered, UsageError
from ..formats import get_format, ordinals
from ..inputs.plans import Plan, make_plan
from ..records.serialize import to_json
from ..runs.bucket_files import parquet_of
from ..targets.base import Target
from ..work.observer import Observer
from .input_files import read_outputs
from .problems import not_found


def inputs(plan: str, function: str, dtype: str, seed: int, most: int | None = None) -> bytes:
    """All inputs of a plan as little-endian bits, in ascending order.

    Raises
    ------
    Problem : 404 the dtype has no plan of that name, or one of more than `most` inputs
    """
    made = _made(plan, function, dtype, seed, most)
    x = np.concatenate([chunk.x_bits() for chunk in made.chunks])
    return x.astype(get_format(dtype).uint.newbyteorder("<"), copy=False).tobytes()


def _made(name: str, function: str, dtype: str, seed: int, most: int | None) -> Plan:
    try:
        plan = make_plan(name, function, dtype, seed)
    except UsageError as error:
        raise not_found(str(error)) from None
    if most is not None and plan.size > most:
        raise not_found(
            f"plan {name} in {dtype} has {plan.size} inputs (accepted over HTTP: up to {most}): "
            "install gelu-verify to verify it"
        )
    return plan


@dataclass(frozen=True, kw_only=True)
class Uploaded(Target):
    """Outputs that were computed elsewhere, for the inputs with the ascending ordinals `inputs`."""

    inputs: np.ndarray
    outputs: np.ndarray

    def load(self, dtype: str, x_bits: np.ndarray) -> Any:
        """Positions of the inputs in the file."""
        fmt = get_format(dtype)
        wanted = ordinals(fmt, x_bits)
        position = np.minimum(np.searchsorted(self.inputs, wanted), len(self.inputs) - 1)
        absent = np.flatnonzero(self.inputs[position] != wanted)
        if len(absent):
            raise Unanswered(
                f"the upload has outputs for its plan only, not for {fmt.bits_text(int(x_bits[absent[0]]))}"
            )
        return position

    def call(self, loaded: Any) -> Any:
        return self.outputs[loaded]

    def store(self, dtype: str, loaded: Any, result: np.ndarray) -> np.ndarray:
        return result


class _Counting(Observer):
    """Tells how many inputs are done."""

    def __init__(self, tell: Callable[[int], None]) -> None:
        self._tell = tell

    def advance(self, steps: int) -> None:
        self._tell(steps)


def judged(
    content: bytes, plan: str, function: str, dtype: str, seed: int, name: str, tell: Callable[[int], None]
) -> tuple[list[Any], bytes]:
    """In a process: the record of a run that judges a file of outputs, the size of its table; the table, then its file.

    `tell` is told of inputs that are done.
    """
    from ..measure.parts import Part, packed  # imports all checks: a tenth of the startup time
    from ..measure.request import Request
    from ..measure.run import measure_one

    fmt = get_format(dtype)
    little = fmt.uint.newbyteorder("<")
    x = np.frombuffer(inputs(plan, function, dtype, seed), little).astype(fmt.uint)
    y = read_outputs(content, fmt, x)
    digest = sha256(y.astype(little).tobytes()).hexdigest()
    target = Uploaded(
        name=f"upload.{name}", function=function, dtypes=(dtype,), note="uploaded results",
        version=f"sha256:{digest[:12]}", safe_in_threads=True, inputs=ordinals(fmt, x), outputs=y,
    )  # fmt: skip
    request = Request(
        targets=(target,), functions=(function,), dtypes=(dtype,), plan=plan, seed=seed, budget=0, workers=1,
        repeat=repeat_of(plan, function, dtype, seed),
    )  # fmt: skip
    result = measure_one(request, _Counting(tell))
    table = b"" if result.table is None else packed(Part(0, 0, result.table))
    file = b"" if result.table is None else parquet_of(result.table, result.record)
    return [to_json(result.record), len(table)], table + file


def repeat_of(plan: str, function: str, dtype: str, seed: int) -> str:
    """How to repeat it."""
    return f"post the same bits to /v1/verify?function={function}&dtype={dtype}&plan={plan}&seed={seed}"
