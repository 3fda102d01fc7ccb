"""What is asked of a verification, checked."""

from __future__ import annotations

from dataclasses import dataclass

from ..calling import OPTIONS, Calling
from ..errors import UsageError, one_of
from ..formats import DTYPES
from ..isolation.limits import MEMORY, Limits
from ..parsing import real, whole
from ..targets.kinds import kind_of
from ..targets.kinds.python import KIND as PYTHON
from .maps import LAWS, Map
from .named import NAMED

LARGEST_SEED = (1 << 31) - 1  # some 2^24 more are used, and some libraries take 32 bits
FALSE_ALARM, BIAS, POWER = 1e-6, 1e-4, 0.999
TAKEN = ("kwargs", "array", "call", "time_limit", "memory_limit", "isolate")  # of `Calling`
MIN_BITS = 20  # float32 uniforms have 23 or 24, or more near zero


@dataclass(frozen=True, kw_only=True)
class MapRequest(Calling):
    """Arguments of `verify`; `map` "" is what the name of the target says.

    `false_alarm`: with at most this probability a correct target fails. Correct are probabilities within 2^-`min_bits`
    of those of the map, as a comparison with uniforms of so many bits has them. `bias`: the smallest error of a
    probability, in one region of x, that is found with the probability `power`: it decides how many samples are drawn.
    """

    target: str
    map: str = ""
    dtype: str = "float32"
    rate: float = 0.5
    scaled: bool | None = None
    seed: int = 0
    false_alarm: float = FALSE_ALARM
    bias: float = BIAS
    power: float = POWER
    min_bits: int = MIN_BITS
    seeded: bool = True
    keep_going: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for option in OPTIONS.values():
            if option.name not in TAKEN and option.is_said(getattr(self, option.name)):
                accepted = ", ".join(OPTIONS[name].typed for name in TAKEN)
                raise UsageError(f"{option.typed} is not for a random map (accepted: {accepted})")
        _ = self.limits  # refuses what is not a limit
        if self.target not in NAMED and kind_of(self.target) is not PYTHON:
            accepted = f"{', '.join(NAMED)}, module:function, path/file.py:function"
            raise UsageError(f"{self.target!r} names no random function (accepted: {accepted})")
        if self.dtype not in DTYPES:
            raise one_of("dtype", self.dtype, list(DTYPES))
        whole("seed", self.seed, 0, LARGEST_SEED)
        real("the false-alarm rate", self.false_alarm, 1e-12, 0.5)
        real("bias", self.bias, 1e-6, 0.1)
        real("power", self.power, 0.5, 0.999999)
        whole("min_bits", self.min_bits, 4, 128)
        if 2 * self.tolerance > self.bias:
            raise UsageError(f"bias {self.bias:g} cannot be told from a comparison of {self.min_bits} bits (accepted: "
                             f"{2 * self.tolerance:g} and more, or more --min-bits)")  # fmt: skip
        self.judged_as()

    @property
    def limits(self) -> Limits:
        """Time and memory of a call."""
        return Limits(self.time_limit, MEMORY if self.memory_limit is None else self.memory_limit)

    @property
    def tolerance(self) -> float:
        """How far a probability may be off."""
        return 2.0**-self.min_bits

    def judged_as(self) -> Map:
        """The map that the target claims to be."""
        named = NAMED.get(self.target)
        name = self.map or (named.map if named else _in_name(self.target))
        scaled = self.scaled if self.scaled is not None else (named.scaled if named else True)
        return Map(name, self.rate, scaled)


def _in_name(target: str) -> str:
    """The longest name of a map that the name of a function ends in; `gelu` where there is none."""
    function = target.rpartition(":")[2].lower()
    return max((name for name in LAWS if name in function), key=len, default="gelu")
