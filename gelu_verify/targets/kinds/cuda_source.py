"""A kernel or a function of the device of a CUDA source, compiled here: "kernel.cu:gelu"; a host function: ":host"."""

from __future__ import annotations

from .base import Kind, of_a_file, when_named

KIND = Kind(
    name="CUDA source",
    syntax={
        "kernel.cu:symbol": "a kernel, or a __device__ function of one value; its declaration says how it is called",
        "kernel.cu:symbol --device ptx": "the same on a machine without a GPU: nvcc's PTX executed on the CPU",
        "kernel.cu:symbol:host": "a host function of device pointers that launches it",
    },
    pattern=of_a_file("cu|cuh|h|hh|hpp|hxx", "symbol", "call"),
    load=when_named("_cuda_source"),
    options=frozenset({"cflags", "call", "approximations"}),
    devices=("cuda", "ptx"),
)
