"""The switches by which a library is limited to an instruction-set level, and what it was seen to have chosen.

A family, or a kind of what users name, declares its own as `SWITCHES`; where there are none, `NO_SWITCH` may say why.
They are environment variables, which libraries read once: each level needs a process of its own.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..isa import LEVELS

# Variables that hold several settings: what the user has set stays, and what separates it from ours.
_APPENDED = {"GLIBC_TUNABLES": ":", "XLA_FLAGS": " "}
# The mathematical functions of glibc have variants for FMA and for AVX; none uses AVX-512.
_LIBM = {"sse4_2": {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-FMA4"}}
_FEATURES = {
    "AVX2": (1, 1, 5),
    "FMA": (0, 2, 12),
    "AVX": (0, 2, 28),
}  # leaf and register of CPUID as glibc has them, bit


@dataclass(frozen=True, eq=False)
class Switches:
    """`levels`: the variables that limit the library to each level that it has; `seen()`: what it has chosen in this
    process, by component, in its own words. Without it nobody can tell whether a switch acts."""

    levels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    seen: Callable[[], Mapping[str, str]] | None = None

    def variables(self, level: str) -> dict[str, str]:
        """Environment variables for a level, with those of the C library, which every library calls."""
        return {**self.levels[level], **_LIBM.get(level, {})} if level else {}

    @cached_property
    def observed(self) -> Mapping[str, str]:
        """What was chosen in this process; empty where it cannot be seen."""
        try:
            found = dict(self.seen()) if self.seen else {}
        except Exception:  # noqa: BLE001 - a framework of an unknown version: what it chose is not seen
            return {}
        return {**found, **libm()} if found else {}


def libm() -> dict[str, str]:
    """By which features glibc chooses its mathematical functions; empty of another C library."""
    if not sys.platform.startswith("linux"):
        return {}
    try:
        leaf = ctypes.CDLL(None).__x86_get_cpuid_feature_leaf
    except AttributeError:  # before glibc 2.33, or another processor
        return {}
    leaf.restype = ctypes.POINTER(ctypes.c_uint32)
    leaf.argtypes = (ctypes.c_uint,)
    active = 4  # registers as the processor has them, then as far as they are used
    on = [name for name, (which, at, bit) in _FEATURES.items() if leaf(which)[active + at] >> bit & 1]
    return {"libm": " ".join(on) or "SSE2"}


LIBM = Switches({level: {} for level in ("sse4_2", "avx2")}, libm)  # of code that has no switch of its own


def added_to(environment: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """`variables` as a process gets them; one that holds several settings keeps what the environment has."""
    found = {}
    for name, value in variables.items():
        before = environment.get(name)
        found[name] = f"{before}{_APPENDED[name]}{value}" if before and name in _APPENDED else value
    return found


def of_all(every: Mapping[str, Switches]) -> Switches:
    """The switches of all those libraries at once; what is seen is that of those that are loaded."""

    def seen() -> dict[str, str]:
        loaded = (each for name, each in every.items() if name in sys.modules)
        return {component: words for each in loaded for component, words in each.observed.items()} or libm()

    levels: dict[str, dict[str, str]] = {}
    for level in LEVELS:
        levels[level] = {}
        for each in every.values():
            levels[level] |= _limiting(each, level)
    return Switches(levels, seen)


def _limiting(switches: Switches, level: str) -> Mapping[str, str]:
    """What keeps a library at or below a level; nothing where it has none that high."""
    ranks = list(LEVELS)
    below = [each for each in switches.levels if ranks.index(each) <= ranks.index(level)]
    if not any(ranks.index(each) > ranks.index(level) for each in switches.levels) and level not in switches.levels:
        return {}
    return switches.levels[max(below, key=ranks.index)] if below else {}
