"""Measure the gallery and write docs/gallery.md: python tools/make_gallery.py [NAME ...] [--folder DIR] [--lock]

data/gallery/targets.toml says what is measured. Without a NAME it is all of it; archives are fetched into DIR, with
their hashes checked, by PyPI's index, npm and apt-get (whose lists are kept in DIR: nothing of the system changes).
Python packages must be those of data/gallery/requirements.txt, which `tox -e gallery` installs. `--lock` writes that
file anew: what pip resolves requirements.in to today.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import tomllib
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Mapping, Sequence
from importlib import metadata
from math import inf
from pathlib import Path
from typing import Any

from gelu_verify.gpu import nvcc
from gelu_verify.machine import flags
from gelu_verify.paths import cache_folder
from gelu_verify.show.markdown import escape
from gelu_verify.targets import families
from gelu_verify.versions.releases import PYPI

ROOT = Path(__file__).parents[1]
DATA = ROOT / "data" / "gallery"
PAGE = ROOT / "docs" / "gallery.md"
GALLERY = tomllib.loads((DATA / "targets.toml").read_text(encoding="utf-8"))
TARGETS = {each["name"]: each for each in GALLERY["targets"]}
SOURCES = GALLERY["sources"]
PINNED = dict(re.findall(r"^([\w.-]+)==(\S+)", (DATA / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE))
ALSO = ("--plan", "default", "--budget", "64buckets", "--throughput", "none", "--json")
KEPT = ("target", "function", "dtype", "grade", "grade_bound", "max_ulp", "witness", "accurate_range", "n", "sentence",
        "executed")  # fmt: skip
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
MIRROR = "http://deb.debian.org/debian"


class NotMeasured(Exception):
    """What a target needs, and where it is to be had."""


# ---- what a target needs -------------------------------------------------------------------------


def folder_of(target: Mapping[str, Any], gallery: Path) -> Path:
    """Where its command is typed, with all of its sources there; NotMeasured where something is missing."""
    for need in target.get("needs", []):
        _check(need)
    for package, version in target.get("system", {}).items():
        _check("dpkg-query")
        said = subprocess.run(
            ["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=False
        )
        if said.stdout != version:
            raise NotMeasured(f"needs Debian's {package} {version}, here is {said.stdout or 'none'}")
    if (glibc := target.get("glibc")) and platform.libc_ver() != ("glibc", glibc):
        raise NotMeasured(f"needs glibc {glibc}, here is {' '.join(platform.libc_ver())}")
    for package in target.get("packages", []):
        pinned = f"{package} {PINNED[package]} (pip install -r data/gallery/requirements.txt)"
        try:
            there = metadata.version(package)
        except metadata.PackageNotFoundError:
            raise NotMeasured(f"needs {pinned}") from None
        if there != PINNED[package]:
            raise NotMeasured(f"needs {pinned}, here is {there}")
    places = [fetched(source, gallery) for source in target.get("from", [])]
    return places[0] / target.get("folder", "") if places else gallery


def _check(need: str) -> None:
    if need == "nvcc":
        nvcc.command()
    elif need.startswith("avx"):
        if need not in flags():
            raise NotMeasured(f"needs a processor with {need}")
    elif shutil.which(need) is None:
        raise NotMeasured(f"needs {need}, which is not in PATH")


def fetched(name: str, gallery: Path) -> Path:
    """The folder of a source: its archive, fetched once and unpacked where its hash is the one that is known."""
    source, place = SOURCES[name], gallery / name
    if "git" in source:
        return _checkout(source, place)
    done = gallery / f"{name}.sha256"
    if done.exists() and done.read_text() == source["sha256"]:
        return place
    with tempfile.TemporaryDirectory(dir=gallery) as scratch:
        if "pypi" in source:
            archive = _of_pypi(source, Path(scratch))
        elif "npm" in source:
            archive = _of_npm(source, Path(scratch))
        else:
            archive = _of_debian(gallery, source, Path(scratch))
        found = hashlib.sha256(archive.read_bytes()).hexdigest()
        if found != source["sha256"]:
            raise NotMeasured(f"{archive.name} has the hash {found}, not {source['sha256']}")
        shutil.rmtree(place, ignore_errors=True)
        unpacked = Path(scratch, "unpacked")
        _unpack(archive, unpacked)
        inside = list(unpacked.iterdir())  # the one folder that an archive of sources is
        (inside[0] if len(inside) == 1 and archive.suffix != ".deb" else unpacked).rename(place)
    done.write_text(source["sha256"])
    return place


def _of_pypi(source: Mapping[str, str], folder: Path) -> Path:
    """A file of PyPI, which is not built, as pip would."""
    file = source["pypi"]
    index = os.environ.get("PIP_INDEX_URL") or PYPI
    page = f"{index.rstrip('/')}/{file.partition('-')[0].replace('_', '-').lower()}/"
    with urllib.request.urlopen(urllib.request.Request(page), timeout=60) as answer:
        links = re.findall(r'href="([^"]+)"', answer.read().decode())
    link = next((each for each in links if urllib.parse.urlparse(each).path.endswith(f"/{file}")), None)
    if link is None:
        raise NotMeasured(f"{page} has no {file}")
    with urllib.request.urlopen(urllib.parse.urljoin(page, link), timeout=600) as answer:
        (folder / file).write_bytes(answer.read())
    return folder / file


def _of_npm(source: Mapping[str, str], folder: Path) -> Path:
    """A package of npm, without those that it needs."""
    _check("npm")
    _run(["npm", "pack", "--silent", f"{source['npm']}@{source['version']}"], folder)
    return next(folder.glob("*.tgz"))


def _checkout(source: Mapping[str, str], folder: Path) -> Path:
    """What no registry has: a clone that somebody made, at the commit."""
    _check("git")
    words = ["git", "-C", str(folder), "rev-parse", "--show-toplevel", "HEAD"]
    said = subprocess.run(words, capture_output=True, text=True, check=False).stdout.splitlines()
    if said != [str(folder), source["version"]]:
        clone = f"git clone {source['git']} {folder} && git -C {folder} checkout {source['version']}"
        raise NotMeasured(f"is in no registry: {clone}")
    return folder


def _of_debian(gallery: Path, source: Mapping[str, str], folder: Path) -> Path:
    """A package of Debian, or the archive of its authors, by apt-get with lists of its own."""
    if shutil.which("apt-get") is None or not Path(KEYRING).exists():
        raise NotMeasured("needs apt-get and Debian's keyring (apt install debian-archive-keyring)")
    apt = gallery / "apt"
    if not apt.exists():
        for part in ("lists/partial", "cache/archives/partial"):
            (apt / part).mkdir(parents=True)
        suites = sorted({each["suite"] for each in SOURCES.values() if "suite" in each})
        where = [f"[signed-by={KEYRING}] {MIRROR} {suite} main\n" for suite in suites]
        (apt / "sources.list").write_text("".join(f"deb {each}deb-src {each}" for each in where))
        _apt(apt, folder, "update")
    if "debian" in source:
        _apt(apt, folder, "download", f"{source['debian'].partition('_')[0]}={source['version']}")
        return folder / source["debian"]
    _apt(apt, folder, "source", "--tar-only", f"{source['package']}={source['version']}")
    return folder / source["debian_source"]


def _apt(apt: Path, folder: Path, *words: str) -> None:
    own = {"Etc::SourceList": apt / "sources.list", "Etc::SourceParts": "-", "State": apt, "Cache": apt / "cache"}
    options = [word for name, value in own.items() for word in ("-o", f"Dir::{name}={value}")]
    _run(["apt-get", *options, "-qq", *words], folder)


def _run(words: Sequence[str], folder: Path) -> None:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotMeasured(f"{words[0]} {words[-1]}: {done.stderr.strip().splitlines()[-1]}")


def _unpack(archive: Path, folder: Path) -> None:
    folder.mkdir()
    if archive.suffix == ".deb":
        subprocess.run(["dpkg-deb", "-x", archive, folder], check=True)
    elif archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as file:
            for each in file.infolist():
                path = Path(file.extract(each, folder))
                path.chmod(path.stat().st_mode | each.external_attr >> 16 & 0o111)  # programs stay programs
    else:
        with tarfile.open(archive) as file:
            file.extractall(folder, filter="data")


# ---- measuring -----------------------------------------------------------------------------------


def environment(target: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """What a command needs: its programs, `gelu-verify` of this Python, and the flags of torch's headers."""
    own = [str((folder / target["path"]).resolve())] if "path" in target else []
    path = os.pathsep.join([*own, str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "TORCH_FLAGS": _torch_flags(), "JAX_PLATFORMS": "cpu"}


@functools.cache
def _torch_flags() -> str:
    try:
        torch = metadata.distribution("torch").locate_file("torch/include")
    except metadata.PackageNotFoundError:
        return ""
    return f"-I{torch} -I{torch}/torch/csrc/api/include -I{sysconfig.get_path('include')}"


def measured(target: Mapping[str, Any], gallery: Path) -> dict[str, Any]:
    """The one result of its command; NotMeasured where something that it needs is missing."""
    folder = folder_of(target, gallery)
    with tempfile.TemporaryDirectory() as scratch:
        command = f"{target['command']} {' '.join(ALSO)} --out {scratch}/run"
        began = time.monotonic()
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=environment(target, folder),
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.monotonic() - began
    try:
        (result,) = json.loads(done.stdout)
    except ValueError:
        raise NotMeasured(done.stderr.strip()[-500:]) from None
    second = {"second": result["second"]} if result["second"] else {}
    return {name: result[name] for name in KEPT} | second | {"seconds": round(seconds, 1)}


def adapter_lines(target: Mapping[str, Any]) -> int:
    """Lines of code, beside its name: its `--call`, and what is written into a file before."""
    return target["command"].count("--call ") + target["command"].count(" > ")


def version_of(target: Mapping[str, Any]) -> str:
    """Of what was measured: its first source, or its first package."""
    if "glibc" in target:
        return str(target["glibc"])
    if "system" in target:
        return str(*target["system"].values())
    return str(SOURCES[target["from"][0]]["version"] if "from" in target else PINNED[target["packages"][0]])


def registry_of(target: Mapping[str, Any]) -> str:
    """Where that is from, in words."""
    if "system" in target:
        return f"the system's Debian {' '.join(target['system'])}"
    if "from" not in target:
        return "the system" if "glibc" in target else f"PyPI {target['packages'][0]}"
    source = SOURCES[target["from"][0]]
    if "git" in source:
        return str(source["git"])
    if "npm" in source:
        return f"npm {source['npm']}"
    if "pypi" in source:
        return f"PyPI {re.split('-[0-9]', source['pypi'])[0]}"
    return f"Debian {source.get('package') or source['debian'].partition('_')[0]}"


# ---- the page ------------------------------------------------------------------------------------

INTRODUCTION = """\
<!-- Written by `python tools/make_gallery.py`; do not edit. -->
# Gallery

{targets} functions of {projects} projects, as their packages have them, each with the line that measures it.
{without} need no line of code, the other {with_call} one or two: a `--call`, or what is written into a file first.
Archives are fetched from PyPI, npm and Debian and known by their hashes (`data/gallery/targets.toml`,
`requirements.txt`); no code of these projects is kept here. What is in a Git repository only is not fetched: a clone at
the commit is measured. JavaScript, R, Octave, Go and Rust are named by an expression
([targets.md](targets.md#expressions-of-javascript-r-octave-go-and-rust)). Julia is missing, as neither PyPI nor npm
nor Debian has it.

    tox -e gallery

fetches, measures and checks all of it: each grade and range, and, of what can be called without gelu-verify, the values
against mpmath. What cannot be measured is skipped with its reason. `python tools/make_gallery.py NAME` does one.

`gelu-verify run` by itself finds what is installed of {families}. Anything else is named as
here. A command is typed in the folder that its archive is unpacked to, or in the folder of it that is said; `../NAME`
is another archive. TORCH_FLAGS are the flags of torch's headers (`torch.utils.cpp_extension.include_paths()`).

## Results

Measured {day} on {processor}, Python {python}, {compiler}; plan default, budget of 64
buckets. Worst: the largest error in ULP, a lower bound, as float32 and float64 are sampled; of
[two inputs](targets.md#functions-of-two-inputs) with the worst of 64 values of the second one. Seconds are those of the
whole command, on two cores that others used too. CUDA is executed on the CPU ([gpu.md](gpu.md)), with the nearest
values for approximate instructions.

| target | version | function | grade | accurate for | worst | lines | s |
|---|---|---|---|---|---:|---:|---:|
"""


def page(record: Mapping[str, Any]) -> str:
    """docs/gallery.md, of targets.toml and a measured run."""
    results, lines = record["results"], []
    for name, target in TARGETS.items():
        if name in results:
            row = results[name]
            cells = [f"{target['project']}: [{name}](#{_anchor(name)})", version_of(target)]
            cells += [f"{row['function']} {row['dtype']}", shown_grade(row)]
            cells += [shown_range(row["accurate_range"]), f"{row['max_ulp']:.3g}"]
            cells += [str(adapter_lines(target)), f"{row['seconds']:.0f}"]
            lines.append(f"| {' | '.join(cells)} |")
    found = [
        f"- {target['project']} {version_of(target)}, [{name}](#{_anchor(name)}): {escape(target['found'])}"
        for name, target in TARGETS.items()
        if "found" in target
    ]
    with_call = sum(map(bool, map(adapter_lines, TARGETS.values())))
    text = INTRODUCTION.format(
        targets=len(TARGETS), projects=len({each["project"] for each in TARGETS.values()}), with_call=with_call,
        without=len(TARGETS) - with_call, families=record["families"], **record["machine"],
    )  # fmt: skip
    text += "\n".join(lines) + "\n\n## Found\n\n" + "\n".join(found) + "\n\n## Commands\n"
    for name, target in TARGETS.items():
        row = results.get(name)
        where = f", in `{target['folder']}`" if "folder" in target else ""
        where += f", with `{target['path']}` in PATH" if "path" in target else ""
        others = "".join(f", {SOURCES[each]['version']} of {each}" for each in target.get("from", [])[1:])
        needs = f"; needs {', '.join(target['needs'])}" if "needs" in target else ""
        from_ = f"{registry_of(target)} {version_of(target)}{others}"
        text += f"\n### {name}\n\n{target['project']}: {from_}{where}{needs}.\n\n    {target['command']}\n"
        text += f"\n{escape(row['sentence'])}\n" if row else "\nNot measured.\n"
    return text


def _anchor(name: str) -> str:
    """Of its heading, as Markdown makes it."""
    return name.replace(".", "")


def shown_grade(row: Mapping[str, Any]) -> str:
    """Of a function of two inputs also the grade with the second one that changes nothing."""
    second = row.get("second")
    also = f"; {second['neutral_grade']} with {second['name']} = {second['neutral']:g}" if second else ""
    return f"{row['grade']}{also}".replace("_", " ")


def shown_range(found: Mapping[str, Any] | None) -> str:
    """Where it is within 4 ULP."""
    if found is None:
        return "-"
    low, high = ends(found)
    if (low, high) == (-inf, inf):
        return "every x"
    if -inf < low and high < inf:
        return f"{low:.3g} to {high:.3g}"
    return f"x <= {high:.3g}" if low == -inf else f"x >= {low:.3g}"


def ends(found: Mapping[str, Any] | None) -> tuple[float, float]:
    """Of an accurate range, 0 of none; infinite where nothing ends it: that is the format's largest number."""
    if found is None:
        return 0.0, 0.0
    low, high = found["low"], found["high"]
    largest = (3.3895313892515355e38, 3.4028234663852886e38, 1.7976931348623157e308)  # of bfloat16, float32, float64
    return (-inf if -low in largest else low), (inf if high in largest else high)


# ---- the program ---------------------------------------------------------------------------------


def lock() -> None:
    """requirements.txt: what pip resolves requirements.in to, with the hash of each file."""
    words = ["pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-"]
    words += ["-r", str(DATA / "requirements.in")]
    done = subprocess.run([sys.executable, "-m", *words], stdout=subprocess.PIPE, check=True)
    lines = []
    for each in json.loads(done.stdout)["install"]:
        about, archive = each["metadata"], each["download_info"]["archive_info"]
        lines.append(f"{about['name'].lower()}=={about['version']} --hash=sha256:{archive['hashes']['sha256']}\n")
    where = f"Python {platform.python_version()} on {platform.machine()}"
    first = f"# Written by `python tools/make_gallery.py --lock` with {where}; do not edit.\n"
    (DATA / "requirements.txt").write_text(first + "".join(sorted(lines)), encoding="utf-8")


def machine() -> dict[str, str]:
    """What results may depend on."""
    compiler = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    level = next((each for each in ("avx512f", "avx2") if each in flags()), "neither AVX-512 nor AVX2")
    return {
        "day": time.strftime("%Y-%m-%d"),
        "processor": f"x86-64 with {level}",
        "python": platform.python_version(),
        "compiler": compiler,
    }


def main(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *TARGETS])
    parser.add_argument("--folder", type=Path, default=cache_folder() / "gallery")
    parser.add_argument("--lock", action="store_true")
    asked = parser.parse_args(words)
    if asked.lock:
        return lock()
    asked.folder.mkdir(exist_ok=True, parents=True)
    file = DATA / "measured.json"
    record = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"results": {}}
    record |= {"machine": machine(), "families": ", ".join(families())}
    for name in asked.names or TARGETS:
        try:
            row = record["results"][name] = measured(TARGETS[name], asked.folder.resolve())
            shown = f"{row['grade']}, {shown_range(row['accurate_range'])}, {row['max_ulp']:.3g} ULP"
            print(f"{name}: {shown}, {row['seconds']} s", flush=True)
        except NotMeasured as reason:
            print(f"{name}: not measured: {reason}", flush=True)
        file.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(record), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
