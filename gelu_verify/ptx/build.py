"""C++ compiled to a shared library, kept by its content, the compiler and the flags."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path

from ..atomic_files import made_once
from ..errors import TargetUnavailable, UsageError
from ..paths import cache_folder, resource

# Every operation is rounded as it is written, whatever may come of it.
STRICT = (
    *("-std=c++17", "-O2", "-ffp-contract=off", "-fno-fast-math", "-frounding-math", "-fno-strict-aliasing"),
    *("-shared", "-fPIC", "-w"),
)
FUSED = "-march=x86-64-v3"  # with an instruction for fma, which the C library computes as exactly where there is none


@cache
def compiler() -> tuple[str, ...]:
    """The C++ compiler's command and its flags: $CXX, or the first that is found; TargetUnavailable where none is."""
    named = shlex.split(os.environ.get("CXX", ""))
    path = next(filter(None, map(shutil.which, named[:1] or ("c++", "g++", "clang++"))), None)
    if path is None:
        raise TargetUnavailable("there is no C++ compiler, which executes PTX on the CPU ($CXX may name one)")
    return (path, *named[1:], *STRICT, *((FUSED,) if _has_fma() else ()))


def _has_fma() -> bool:
    if platform.machine() != "x86_64":
        return False
    flags = next((line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")), "")
    return {"avx2", "fma", "bmi2", "f16c", "movbe", "abm"} <= set(flags.split())


@cache
def _identity() -> bytes:
    """Of the compiler and of the headers."""
    command = compiler()
    digest = hashlib.sha256(shlex.join(command).encode())
    digest.update(subprocess.run([command[0], "--version"], capture_output=True, check=True).stdout)
    for header in sorted(resource("src/ptx").glob("*.h")):
        digest.update(header.read_bytes())
    return digest.digest()


def built(code: str) -> Path:
    """The library of a kernel's C++, from the cache or compiled now."""
    name = hashlib.sha256(_identity() + code.encode()).hexdigest()[:32]

    def compile_to(made: Path) -> None:
        source = made.with_name("kernel.cc")
        source.write_text(code, encoding="utf-8")
        words = [*compiler(), f"-I{resource('src/ptx')}", str(source), "-o", str(made)]
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[:200])
            raise UsageError(f"the C++ of a kernel does not compile: {first}")

    return made_once(cache_folder() / f"ptx-{name}.so", compile_to)
