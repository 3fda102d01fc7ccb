"""Stand-ins for the CUDA libraries that a wheel is linked with, so that its code for the CPU loads without them.

PyPI's torch for Linux is linked with CUDA's libraries, some 3 GB, of which the functions for the CPU call nothing. A
stub has every symbol that the wheel asks for, in the version that it asks for; each returns an error of CUDA.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from ..errors import MissingMeasurement

_OF_CUDA = re.compile(r"lib(cu|nccl|nv)[\w-]*\.so")
_SYMBOL = re.compile(
    r"(cu[A-Z]|cublas|cudnn|cufft|curand|cusolver|cusparse|nccl|nvrtc|nvtx|cupti|cuda|__cuda|cufile|cuFile|"
    r"nvml|nvshmem|nvJit|__nvJit)"
)
_NEEDED = re.compile(r"\(NEEDED\).*\[(.*)\]")
_NO_DEVICE = 100  # cudaErrorNoDevice


def stub_missing_libraries(environment: Path) -> None:
    """Write a stub of each CUDA library that a shared library of the environment needs and that is not there."""
    for folder in environment.glob("lib/python*/site-packages/*/lib"):
        _stub(sorted(folder.glob("*.so*")), folder)


def _stub(libraries: list[Path], folder: Path) -> None:
    needed = {name for path in libraries for name in _NEEDED.findall(_output("readelf", "-d", path))}
    missing = sorted(name for name in needed if _OF_CUDA.match(name) and not (folder / name).exists())
    if not missing:
        return
    symbols = [_output("nm", "-D", path).split("\n") for path in libraries]
    wanted = {line.split()[-1].partition("@")[0] for lines in symbols for line in lines if " U " in line}
    has = {line.split()[-1].partition("@")[0] for lines in symbols for line in lines if line[:1] not in ("", " ")}
    source = "".join(map(_function, sorted(name for name in wanted - has if _SYMBOL.match(name))))
    versions = dict(pair for path in libraries for pair in _versions(_output("readelf", "-VW", path)))
    for name in missing:
        _compile(folder / name, source, versions.get(name, ""))


def _function(symbol: str) -> str:
    returns = "void *" if symbol.startswith("__cuda") else "int "
    return f"{returns}{symbol}(void) {{ return {'block' if symbol.startswith('__cuda') else _NO_DEVICE}; }}\n"


def _versions(listed: str) -> Iterable[tuple[str, str]]:
    """(library, version of its symbols) that a library needs."""
    library = ""
    for line in listed.splitlines():
        if match := re.search(r"File: (\S+)", line):
            library = match[1]
        elif library and (match := re.search(r"Name: (\S+)\s+Flags", line)):
            yield library, match[1]
    return


def _compile(library: Path, source: str, version: str) -> None:
    script = library.with_suffix(".map")
    options = []
    if version:
        script.write_text(f"{version} {{ global: *; }};\n")
        options = [f"-Wl,--version-script={script}"]
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise MissingMeasurement("a C compiler is needed for stand-ins of the CUDA libraries that this wheel needs")
    words = [compiler, "-O0", "-w", "-shared", "-fPIC", *options, f"-Wl,-soname,{library.name}", "-x", "c", "-"]
    text = f"static long block[64];\n{source}"
    done = subprocess.run([*words, "-o", str(library)], input=text, text=True, capture_output=True, check=False)
    if done.returncode:
        raise MissingMeasurement(f"a stand-in of {library.name} does not compile: {done.stderr.strip()[:200]}")


def _output(program: str, option: str, file: Path) -> str:
    try:
        return subprocess.run(
            [program, option, str(file)], capture_output=True, text=True, errors="replace", check=False
        ).stdout
    except FileNotFoundError:
        raise MissingMeasurement(
            f"{program} (binutils) is needed for stand-ins of the CUDA libraries of this wheel"
        ) from None
