"""What a stored run says of itself beside its results: the keys of `manifest.json`, declared as a result's are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from .fields import Count, Matching, Positive, Sha256, Size, about
from .result import Record

Time = Annotated[str, Matching(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "a time as 2026-09-21T10:12:13Z")]
Date = Annotated[str, Matching(r"\d{4}-\d\d-\d\d", "a date")]
Commit = Annotated[str, Matching("[0-9a-f]{7,64}", "a commit")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The machine that a run was measured on."""

    cpu: str = field(metadata=about("the processor", omitted=True))
    architecture: str = field(metadata=about('its instruction set: `"x86_64"`', omitted=True))
    os: str = field(metadata=about("the operating system", omitted=True))
    python: str = field(metadata=about("version of Python", omitted=True))
    compiler: str = field(metadata=about("the C compiler of our kernels", omitted=True))
    libm: str = field(metadata=about("the C library with its mathematical functions", omitted=True))
    isa: tuple[str, ...] = field(metadata=about("the instruction-set levels that it has", omitted=True))
    switches: Mapping[str, str] = field(metadata=about("environment variables that limit a library", omitted=True))
    cores: Positive = field(metadata=about("cores that the process may use", omitted=True))
    caches: Mapping[str, Count] = field(metadata=about("bytes of each level of cache", omitted=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Git:
    """The checkout that gelu-verify ran from."""

    commit: Commit = field(metadata=about("its commit"))
    dirty: bool = field(metadata=about("whether files differed from it"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedOn:
    """Of a committed run: when and on what it was measured."""

    date: Date = field(metadata=about("the day"))
    device: str = field(metadata=about("the GPU with its CUDA, or the processor"))
    condensed: bool = field(metadata=about("whether it has the numbers of the published matrix only", omitted=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A machine that judged inputs."""

    host: str = field(metadata=about("its name"))
    cpu: str = field(metadata=about("the processor"))
    isa: str = field(metadata=about("the highest instruction-set level"))
    core_seconds: Size = field(metadata=about("how long its cores judged, all together"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Executor:
    """Where other processes judged."""

    name: str = field(metadata=about("which executor"))
    workers: tuple[Worker, ...] = field(metadata=about("the machines"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A stored run: `manifest.json`."""

    schema: Positive = field(metadata=about("number of the schema, 2"))
    command: str = field(metadata=about("the command that made it"))
    created: Time = field(metadata=about("when it was finished"))
    seed: Count = field(metadata=about("seed of its inputs"))
    plan: str = field(metadata=about("name of their plan"))
    versions: Mapping[str, str] = field(metadata=about("versions of gelu-verify and of the libraries"))
    machine: Machine = field(metadata=about("the machine"))
    device: Mapping[str, str] | None = field(
        metadata=about(
            "the GPU as its driver tells: name, driver, CUDA, nvcc, clocks, power limit",
            null="without one",
            omitted=True,
        )
    )
    git: Git | None = field(metadata=about("the checkout that it ran from", null="where there is none"))
    copy_bytes_per_s: Size | None = field(
        metadata=about("how fast the machine copies memory, in bytes a second", null="where that was not measured")
    )
    absent: Mapping[str, str] = field(metadata=about("`{family: why it was not measured}`"))
    recorded: RecordedOn = field(metadata=about("of a committed run, when and on what it was measured", omitted=True))
    executor: Executor = field(metadata=about("where other processes judged", omitted=True))
    results: tuple[Record, ...] = field(metadata=about("the results; those of a condensed run have few of the keys"))
    content_sha256: Sha256 = field(metadata=about("sha256 of all bytes before the comma in front of it", omitted=True))
