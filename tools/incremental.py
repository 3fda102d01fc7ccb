"""Steps of a build, each run again when its command or the content of a file that it reads has changed, and only then.

Beside its output a step leaves a record, OUTPUT.made: its command, and a hash of each file. Times are not compared: a
fresh clone, another branch and a restored `build/` are all judged by what they contain.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path


def make(
    output: Path,
    command: list[str],
    run: Callable[[], object],
    dependencies: Path,
    releases: Mapping[str, str],
    version: str,
) -> bool:
    """Whether `run()`, which writes `output` and its depfile `dependencies`, was necessary, and so was called.

    `version`: what the program says of itself. `releases`: {folder: name and version} of what may be installed in
    another place the next time, Cython's own files for example; of files in such a folder only that name is compared.
    """
    asked = {"command": [_named(word, releases) for word in command], "version": version}
    record = output.with_name(f"{output.name}.made")
    if _is_made(record, asked):
        return False
    output.parent.mkdir(parents=True, exist_ok=True)
    record.unlink(missing_ok=True)
    start = time.time_ns()
    run()
    read = [path for path in prerequisites(dependencies.read_text()) if _named(path, releases) == path]
    if all(Path(path).stat().st_mtime_ns < start for path in read):  # else it may have changed since it was read
        record.write_text(json.dumps({**asked, "files": {path: digest(Path(path)) for path in [*read, str(output)]}}))
    return True


def _is_made(record: Path, asked: dict[str, object]) -> bool:
    try:
        made = json.loads(record.read_text())
    except (FileNotFoundError, ValueError):
        return False
    files = made.pop("files")
    return made == asked and all(digest(Path(path)) == value for path, value in files.items())


def _named(text: str, releases: Mapping[str, str]) -> str:
    for folder, name in releases.items():
        text = text.replace(folder, name)
    return text


def prerequisites(depfile: str) -> list[str]:
    """The files of a rule of make, as compilers and Cython write them."""
    _, _, files = depfile.replace("\\\n", " ").partition(": ")
    return [re.sub(r"\\(.)", r"\1", path).replace("$$", "$") for path in re.findall(r"(?:\\.|\S)+", files)]


def digest(path: Path) -> str | None:
    """Hash of a file; None where there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return _digest(path, status.st_mtime_ns, status.st_size)


@functools.cache
def _digest(path: Path, mtime_ns: int, size: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def version(*compiler: str) -> str:
    """What a compiler says about itself."""
    return subprocess.run([*compiler, "--version"], check=True, capture_output=True, text=True).stdout
