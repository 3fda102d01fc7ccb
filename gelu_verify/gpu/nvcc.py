"""NVIDIA's compiler: where it is, and a cache of compiled sources, by content, flags and architecture."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ..atomic_files import made_once
from ..errors import TargetUnavailable, UsageError
from ..paths import cache_folder, resource

TOOLKIT = "/usr/local/cuda/bin/nvcc"  # where NVIDIA installs it, often outside PATH
ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100")  # that every source must compile for
STRICT = ("-Werror", "all-warnings")
_BUILD = re.compile(r"^// build(?: (?P<suffix>\S+))?:(?P<flags>.*)$", re.MULTILINE)
_INCLUDE = re.compile(r'^#\s*include "([^"]+)"', re.MULTILINE)
# The place of a line, which does not change its content.
_LINE_MARKER = re.compile(r'^#(line)? ?\d+ ".*\n', re.MULTILINE)
_PLACE = re.compile(
    rb"^\s*\.(?:file|loc)\s.*\n|^\s*\.section\s+\.debug\w*\s*\{[^}]*\}"
    rb"|(?<=_INTERNAL_)[0-9a-f]{8}|(?<=_GLOBAL__N__)[0-9a-f]{8}|(?<=around_)[0-9a-f]{16}",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Build:
    """One way in which a source of src/cuda is compiled; its kernels' names end with `suffix`."""

    source: Path
    suffix: str
    flags: tuple[str, ...]

    @property
    def options(self) -> tuple[str, ...]:
        """All flags, as nvcc takes them."""
        return (*self.flags, f'-DGV_SUFFIX="{self.suffix}"', f"-I{resource('src')}")


def builds(folder: str = "src/cuda") -> list[Build]:
    """Every build of every source of a folder, as the sources themselves say."""
    return [
        Build(source, match["suffix"] or "", tuple(shlex.split(match["flags"])))
        for source in sorted(resource(folder).glob("*.cu"))
        for match in _BUILD.finditer(source.read_text(encoding="utf-8"))
    ]


def places() -> Iterator[str]:
    """Where nvcc may be: in PATH, in NVIDIA's folder, in the wheels that PyPI has (`nvidia-cuda-nvcc`)."""
    yield from ("nvcc", TOOLKIT)
    spec = find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        yield from map(str, sorted(Path(folder).glob("*/bin/nvcc")))


def command() -> list[str]:
    """The command: $NVCC, or the first that is found; TargetUnavailable where there is none."""
    named = shlex.split(os.environ.get("NVCC", ""))
    for words in [named] if named else [[place] for place in places()]:
        if path := shutil.which(words[0]):
            return [path, *words[1:]]
    raise TargetUnavailable("nvcc is not installed (pip install 'gelu-verify[nvcc]', or $NVCC)")


def release() -> str:
    """The compiler's version, "13.0.88"; TargetUnavailable where there is none."""
    printed = subprocess.run([*command(), "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"release [\d.]+, V([\d.]+)", printed)
    return found[1] if found else "of an unknown version"


def compiled(source: Path, flags: Sequence[str], architectures: Sequence[str]) -> Path:
    """A fatbin of `source` with code for these architectures, from the cache or compiled now.

    The source with all that it includes names it there, with the flags, and the compiler's version.

    Raises
    ------
    TargetUnavailable
        There is no nvcc.
    UsageError
        It does not compile, or nvcc does not know an architecture: the first error.
    """
    return _cached(source, flags, ["-fatbin", *code_for(architectures), "-O3"], "fatbin", keep_lines=False)


def ptx_of(source: Path, flags: Sequence[str], architecture: str) -> Path:
    """The PTX of `source` for an architecture, with the lines that it comes from; otherwise as `compiled`."""
    return _cached(source, flags, ["-ptx", f"-arch={architecture}", "-lineinfo", "-O3"], "ptx", keep_lines=True)


def content_of(ptx: Path) -> str:
    """`sha256:` and twelve digits of PTX without what says in which folders and lines its source was."""
    return f"sha256:{hashlib.sha256(_PLACE.sub(b'', ptx.read_bytes())).hexdigest()[:12]}"


def _cached(source: Path, flags: Sequence[str], options: Sequence[str], suffix: str, *, keep_lines: bool) -> Path:
    nvcc = command()
    version = _run(source, [*nvcc, "--version"])
    preprocessed = _run(source, [*nvcc, "-E", str(source), *flags])
    digest = hashlib.sha256()
    for part in (preprocessed if keep_lines else _LINE_MARKER.sub("", preprocessed), version, *flags, *options):
        digest.update(part.encode() + b"\0")
    place = cache_folder() / f"{digest.hexdigest()[:32]}.{suffix}"
    return made_once(place, lambda made: _run(source, [*nvcc, *options, *flags, str(source), "-o", str(made)]))


def code_for(architectures: Sequence[str]) -> list[str]:
    """Options by which the output has code for each architecture."""
    return [
        f"-gencode=arch={architecture.replace('sm_', 'compute_')},code={architecture}" for architecture in architectures
    ]


def _run(source: Path, words: Sequence[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        first = next((line for line in lines if "error" in line or "fatal" in line), (lines or ["no message"])[0])
        raise UsageError(f"nvcc does not compile {source.name}: {first}")
    return done.stdout


def source_hash(source: Path) -> str:
    """Of a source of src/cuda and all of src/ that it includes."""
    pending, included_already = [source], {source}
    digest = hashlib.sha256()
    while pending:
        text = (path := pending.pop()).read_text(encoding="utf-8")
        digest.update(text.encode())
        for name in _INCLUDE.findall(text):
            included = next(place for place in (path.parent / name, resource("src") / name) if place.exists())
            if (header := included.resolve()) not in included_already:
                included_already.add(header)
                pending.append(header)
    return digest.hexdigest()[:12]


def sources_hash(folder: str = "src/cuda") -> str:
    """Of all sources that have builds: a target has one for each dtype, and its version is that of all."""
    sources = sorted({build.source for build in builds(folder)})
    return hashlib.sha256("".join(map(source_hash, sources)).encode()).hexdigest()[:12]
