"""Instruction-set levels: what a processor needs for each, and which one a library's name for its choice stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .errors import MissingMeasurement, one_of
from .machine import flags

_AVX512 = ("avx512f", "avx512bw", "avx512dq", "avx512vl")
# Level -> flags of /proc/cpuinfo, the lowest first; each level of x86-64 includes the one before it.
LEVELS = {
    "neon": ("asimd",),
    "sse4_2": ("sse4_2",),
    "avx2": ("avx2", "fma"),
    "avx512": _AVX512,
    "avx512_bf16": (*_AVX512, "avx512_bf16"),
    "avx512_fp16": (*_AVX512, "avx512_fp16"),
    "amx": ("amx_tile", "amx_bf16"),
}
# What libraries call a level: oneDNN "avx512_core_bf16", ATen "AVX2", NumPy "X86_V3", "ASIMD", LLVM "+avx512f",
# glibc "FMA".
_CALLED = {
    "amx": "amx",
    "avx512_fp16": "avx512_?(core_)?fp16",
    "avx512_bf16": "avx512_?(core_)?bf16",
    "avx512": r"avx-?512|x86[-_](64[-_])?v4",
    "avx2": r"avx2|x86[-_](64[-_])?v3|fma",
    "neon": "neon|asimd",
}


def runnable() -> list[str]:
    """The levels that this processor has, the highest first."""
    has = flags()
    return [level for level in reversed(LEVELS) if has.issuperset(LEVELS[level])]


def level_of_machine(machine: Mapping[str, Any]) -> str:
    """The highest level of the processor in a manifest; where it has none, its architecture, if that is there."""
    has, otherwise = set(machine.get("isa", ())), str(machine.get("architecture", "unknown architecture"))
    return next((level for level in reversed(LEVELS) if has.issuperset(LEVELS[level])), otherwise)


def check_level(level: str) -> None:
    """UsageError for a name that is none, MissingMeasurement for a level that this processor lacks."""
    if level not in LEVELS:
        raise one_of("instruction-set level", level, list(LEVELS))
    if lacking := [flag for flag in LEVELS[level] if flag not in flags()]:
        raise MissingMeasurement(f"this processor cannot run {level}: it lacks {', '.join(lacking)}")


def level_of(called: str) -> str:
    """The highest level that a library's own words speak of; "sse4_2" where they speak of none."""
    found = (level for level, pattern in _CALLED.items() if re.search(pattern, called.lower()))
    return next(found, "sse4_2")


def split_level(name: str) -> tuple[str, str]:
    """("torch.gelu", "avx2") of "torch.gelu@avx2"; no level where the name does not end in one.

    What follows an @ in the name of a file or a command may be anything; after that of a family it is a level.
    """
    stem, at, level = name.rpartition("@")
    if (at and level in LEVELS) or re.fullmatch(r"\w+(\.[\w-]+)?@\w+", name):
        return stem, level
    return name, ""


def at_level(name: str, level: str) -> str:
    """The name of a target, or of a family, at a level."""
    return f"{name}@{level}" if level else name
