"""What code demands of the arrays that it is called with: lengths and alignments, which every call then keeps to.

Where more values are needed than are asked for, the first inputs follow again, and their outputs are compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import TargetFailure, UsageError
from ..formats import get_format
from .base import Target
from .fixed_shapes import without_padding
from .output_memory import OutputAllocator, allocating_outputs, output_like
from .padded_memory import padded
from .wrapped import Wrapped

MOST = 1 << 16  # values, bytes
ALIGNMENTS = (1, 4, 8, 16, 32, 64, 128, 256, 4096)  # bytes: those that are tried where none is said
_ALIGNED = 16  # bytes, by NumPy
_BEYOND = 64  # alignments that can be read behind what is tried: what reads there is found when it is measured
MOST_AT_ONCE = 1 << 20  # values of an array of a declared size
_AGREED = re.compile(r"\s*(oob_reads|multiple_of|at_least|exactly|aligned)\s*=\s*(\d{1,9})\s*")


@dataclass(frozen=True)
class Contract:
    """What a function demands of who calls it, or is allowed: `oob_reads`: bytes beyond its input that it may read;
    `multiple_of`, `at_least`: of the number of values; `exactly`: that number, in each of as many calls as are needed;
    `aligned`: what the addresses of x and y are a multiple of."""

    oob_reads: int = 0
    multiple_of: int = 1
    at_least: int = 1
    exactly: int | None = None
    aligned: int = 1

    @classmethod
    def parsed(cls, text: str) -> Contract | None:
        """Of "multiple_of=16; aligned=64"; None where it is something else, or something is said twice."""
        found = [_AGREED.fullmatch(part) for part in text.split(";") if part.strip()]
        names = {each[1] for each in found if each}
        return None if len(names) < len(found) else cls(**{each[1]: int(each[2]) for each in found if each})

    def length(self, n: int) -> int:
        """The number of values that it is called with where n are asked for."""
        multiple = self.exactly or self.multiple_of
        return -(-max(n, self.at_least) // multiple) * multiple

    @property
    def demands(self) -> bool:
        """Whether not every array may be passed."""
        return self.exactly is not None or max(self.multiple_of, self.at_least, self.aligned) > 1

    @property
    def wrong(self) -> str:
        """Why no array can be like that; empty where one can."""
        if self.aligned < 1 or self.aligned & (self.aligned - 1) or not self.multiple_of or self.exactly == 0:
            return "demands what no array is (accepted: aligned=64, a power of two; multiple_of=16, from 1 on)"
        if self.exactly and max(self.multiple_of, self.at_least) > 1:
            return "demands two numbers of values (accepted: exactly=8 alone, or multiple_of=8; at_least=32)"
        if self.exactly and self.exactly > MOST_AT_ONCE:
            return f"demands more than {MOST_AT_ONCE:,} values at once"
        return f"demands more than {MOST:,}" if max(self.multiple_of, self.at_least, self.aligned) > MOST else ""

    @property
    def text(self) -> str:
        """As `--contract` has it."""
        named = {"multiple_of": self.multiple_of, "at_least": self.at_least, "aligned": self.aligned}
        return "; ".join(f"{name}={value}" for name, value in named.items() if value > 1)

    @property
    def note(self) -> str:
        """In words; empty where nothing is agreed."""
        parts = (
            (f"may read {self.oob_reads} bytes beyond its input", self.oob_reads),
            (f"only with multiples of {self.multiple_of} values", self.multiple_of > 1),
            (f"only with at least {self.at_least} values", self.at_least > 1),
            (f"only with {self.exactly} values at once", self.exactly),
            (f"only with arrays aligned to {self.aligned} bytes", self.aligned > 1),
        )
        return ", ".join(text for text, holds in parts if holds)


NOTHING = Contract()


def contract_of(text: str) -> Contract:
    """What `--contract` says."""
    found = Contract.parsed(text)
    if found is None or found.oob_reads or found.exactly or not found.demands:
        accepted = "'multiple_of=16; at_least=32; aligned=64'"
        if found and found.exactly:
            accepted = f"--shape '({found.exactly},)' for arrays of {found.exactly} values"
        raise UsageError(f"--contract {text!r} cannot be used (accepted: {accepted})")
    if found.wrong:
        raise UsageError(f"--contract {text!r} {found.wrong}")
    return found


# ---- while it is loaded ----------------------------------------------------------------------------

_loading: ContextVar[Contract] = ContextVar("contract", default=NOTHING)


def contracted(text: str | None, load: Callable[[], Sequence[Target]]) -> Sequence[Target]:
    """What is loaded, called as `--contract` says, also to see what it takes; UsageError where that cannot be used."""
    if not text:
        return load()
    contract = contract_of(text)
    with demanding(contract):
        return [Contracted.of(each, contract) for each in load()]


@contextmanager
def demanding(contract: Contract) -> Iterator[None]:
    """While what is loaded is called as that demands."""
    before = _loading.set(contract)
    try:
        yield
    finally:
        _loading.reset(before)


def is_demanding() -> bool:
    """Whether it does."""
    return _loading.get().demands


def as_demanded(x_bits: np.ndarray) -> np.ndarray:
    """Inputs of a call that is made while something is loaded; at an odd multiple of what is demanded, or of what
    NumPy's arrays are aligned to: one that needs more never has it by chance."""
    demanded = replace(_loading.get(), aligned=max(_loading.get().aligned, _ALIGNED))
    nbytes = demanded.length(x_bits.size) * x_bits.itemsize
    even = -(-nbytes // demanded.aligned) % 2 == 0
    return demanded_array(demanded, x_bits, demanded.aligned * (_BEYOND + even))


def demanded_array(contract: Contract, x_bits: np.ndarray, beyond: int = 0) -> np.ndarray:
    """With the first values again up to a length that is allowed, where it may lie; so many bytes behind it can be
    read."""
    return padded(np.resize(x_bits, contract.length(x_bits.size)), beyond, contract.aligned)[0]


# ---- a target --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ContractedCall:
    """One call: `inner` is loaded with the inputs `x_bits`, of which those of `y_bits` were asked for."""

    inner: Any
    x_bits: np.ndarray
    asked: np.ndarray
    y_bits: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Contracted(Wrapped):
    """`inner`, called as a contract demands, whatever is asked for."""

    contract: Contract

    @classmethod
    def of(cls, inner: Target, contract: Contract) -> Contracted:
        made = cls.around(inner, contract=contract)
        note = ", ".join(filter(None, (inner.note, contract.note)))
        return replace(made, note=note, version=f"{inner.version} ({contract.note})")

    @property
    def why_not_in_place(self) -> str:
        return "the arrays that it demands are copies"

    def load(self, dtype: str, x_bits: np.ndarray) -> ContractedCall:
        read, y_bits = demanded_array(self.contract, x_bits), output_like(x_bits)
        with allocating_outputs(_Demanded(self.contract, y_bits)):
            return ContractedCall(self.inner.load(dtype, read), read, x_bits, y_bits)

    def call(self, loaded: ContractedCall) -> Any:
        return super().call(loaded.inner)

    def store(self, dtype: str, loaded: ContractedCall, result: Any) -> np.ndarray:
        fmt, got = get_format(dtype), np.asarray(self.inner.store(dtype, loaded.inner, result))
        self.check_unchanged(fmt, np.resize(loaded.asked, loaded.x_bits.size), loaded.x_bits)
        if got.shape != loaded.x_bits.shape:
            message = f"{self.name} returned shape {got.shape} for an input of shape {loaded.x_bits.shape}"
            raise TargetFailure(message, "shape")
        if got.dtype != fmt.uint:
            raise TargetFailure(f"{self.name} returned {got.dtype} where {dtype} was expected", "dtype")
        loaded.y_bits[:] = without_padding(fmt, loaded.x_bits, got, loaded.asked.size)
        return loaded.y_bits


def aligned_call(target: Target, dtype: str, bits: int, n: int, aligned: int) -> None:
    """One call with `n` times that input, in arrays at a multiple of so many bytes."""
    Contracted.of(target, Contract(aligned=aligned)).timed(dtype, np.full(n, bits, get_format(dtype).uint))


@dataclass(frozen=True)
class _Demanded(OutputAllocator):
    """Outputs lie where they may, and begin with what is in `like`."""

    contract: Contract
    like: np.ndarray

    def poisoned(self, x_bits: np.ndarray) -> np.ndarray:
        return padded(np.resize(self.like, x_bits.size).astype(x_bits.dtype), 0, self.contract.aligned)[0]

    plain = poisoned
