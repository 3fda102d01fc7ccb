"""A kernel of a PTX file, as Triton and nvcc write them: "kernel.ptx:gelu_kernel", executed on the CPU."""

from __future__ import annotations

from .base import Kind, of_a_file, when_named

KIND = Kind(
    name="PTX file",
    syntax={"kernel.ptx:symbol": "a kernel of a PTX file, of Triton or nvcc, executed on the CPU"},
    pattern=of_a_file("ptx", "symbol"),
    load=when_named("_ptx_source"),
    options=frozenset({"call", "approximations"}),
    devices=("ptx",),
)
