"""Kinds of failure, from the messages of CUDA libraries.

PyCUDA, CuPy, torch and JAX each have their own exceptions; the text of cuGetErrorString is in the message of all.
"""

from __future__ import annotations

# Messages of the driver, of the executor of PTX, or of a library's allocator, and the kind of failure.
_MESSAGES = {
    "an illegal memory access was encountered": "illegal address",
    "misaligned address": "illegal address",
    "operation not supported on global/shared address space": "illegal address",
    "invalid program counter": "illegal address",
    "an illegal instruction was encountered": "instruction",
    "device-side assert triggered": "assert",
    "hardware stack error": "launch",
    "unspecified launch failure": "launch",
    "too many resources requested for launch": "launch",
    "invalid configuration argument": "launch",
    "the launch timed out and was terminated": "hang",
    "uncorrectable ECC error": "device",
    "unwritten memory is read": "unwritten read",
    "data race on shared memory": "race",
    "divergent barrier": "barrier",
    "a lane that is not a member of its mask": "lane",
    "a lane that does not take part is read": "lane",
    "not determined": "not determined",
    "CUDA_ERROR_LAUNCH_FAILED": "launch",
    "CUDA_ERROR_ILLEGAL_ADDRESS": "illegal address",
    "CUDA_ERROR_OUT_OF_MEMORY": "memory",
    "CUDA out of memory": "memory",
    "cudaErrorMemoryAllocation": "memory",
    "no kernel image is available": "architecture",
    "device kernel image is invalid": "architecture",
    "PTX JIT compilation failed": "architecture",
    "compiled with an unsupported toolchain": "architecture",
    "unsupported gpu architecture": "architecture",
}
# After these every call in the context fails with the same error: the process must end.
BROKEN = frozenset(
    {"illegal address", "instruction", "assert", "launch", "hang", "device"}
    | {"unwritten read", "race", "barrier", "lane"}
)
# Before these nothing had started: the context is as it was.
_HARMLESS = ("too many resources requested for launch", "invalid configuration argument")


def kind_of(message: str) -> str:
    """The kind of failure that a message of a CUDA library describes; empty where it describes none."""
    found = next((kind for words, kind in _MESSAGES.items() if words.lower() in message.lower()), "")
    if found:
        return found
    return "memory" if "out of memory" in message.lower() and "cu" in message.lower() else ""


def is_broken(kind: str, message: str) -> bool:
    """Whether the context in which it happened cannot be used any more."""
    return kind in BROKEN and not any(words in message for words in _HARMLESS)
