"""What the executor finds in a kernel, in words: kind, kernel, block, lane, line."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from .memory import AddressedMemory

# src/ptx/types.h: enum kind. Words by which `gpu/faults.py` knows the kind; those of CUDA where it has the same.
KINDS = {
    1: "an illegal memory access was encountered: out of bounds",
    2: "misaligned address",
    3: "unwritten memory is read",
    4: "data race on shared memory",
    5: "divergent barrier",
    6: "a lane that is not a member of its mask",
    7: "a lane that does not take part is read",
    8: "the kernel executed a trap: unspecified launch failure",
    9: "device-side assert triggered",
    10: "an illegal memory access was encountered: read-only memory is written",
}
OUT_OF_BOUNDS, UNWRITTEN, RACE, DIVERGENT, INACTIVE, ASSERTED = 1, 3, 4, 5, 7, 9
GLOBAL, SHARED = 1, 2
SPACES = ("generic", "global", "shared", "local", "parameter")
NO_SITE = 0xFFFFFFFF


class Fault(ctypes.Structure):
    """src/ptx/types.h: struct fault"""

    _fields_ = (
        *((name, ctypes.c_uint32) for name in ("kind", "site", "other_site", "other")),
        ("block", ctypes.c_uint32 * 3),
        *((name, ctypes.c_uint32) for name in ("lane", "size", "space")),
        ("address", ctypes.c_uint64),
        ("text", ctypes.c_char * 512),
    )


@dataclass(frozen=True)
class LaunchFault:
    """A fault of a launch: what is needed to tell it."""

    fault: Fault
    kernel: str
    block: tuple[int, int, int]  # threads of a block
    sites: tuple[tuple[str, str], ...]

    def message(self, memory: AddressedMemory) -> str:
        f = self.fault
        opcode, place = self.sites[f.site]
        where = f"kernel {self.kernel}, block ({', '.join(map(str, f.block))}), {self._lane(f.lane)}, {place}: {opcode}"
        return f"{KINDS[f.kind]}: {where}{self._what(memory)}"

    def _lane(self, index: int) -> str:
        x, y = self.block[:2]
        if self.block[1:] == (1, 1):
            return f"thread {index} (lane {index % 32} of warp {index // 32})"
        thread = index % x, index // x % y, index // x // y
        return f"thread ({', '.join(map(str, thread))}) (lane {index % 32} of warp {index // 32})"

    def _other(self) -> str:
        f = self.fault
        if f.other_site == NO_SITE:
            return f"{self._lane(f.other)} has ended"
        opcode, place = self.sites[f.other_site]
        who = "several threads" if f.other == NO_SITE else self._lane(f.other)
        return f"{who} at {place}: {opcode}"

    def _what(self, memory: AddressedMemory) -> str:
        f = self.fault
        if f.kind == DIVERGENT:
            return f"; {self._other()}"
        if f.kind == RACE:
            return f" of {f.size} bytes at {f.address:#x}, against {self._other()}, with no barrier between them"
        if f.kind == INACTIVE:
            return f"; it is {self._lane(f.other)}"
        if f.kind == ASSERTED:
            return f": {f.text.decode(errors='replace')}"
        if not f.size:
            return ""
        text = f" of {f.size} bytes at {f.address:#x} in {SPACES[f.space]} memory"
        if f.kind == UNWRITTEN and f.space == SHARED:
            text += ", which no thread has written yet: is a barrier missing?"
        if f.kind == OUT_OF_BOUNDS and f.space == GLOBAL and (near := memory.nearest(f.address)):
            first, size = near
            side = (
                f"{f.address - first - size} bytes after" if f.address >= first else f"{first - f.address} bytes before"
            )
            inside = first <= f.address < first + size
            text += f", which crosses the end of {size} bytes" if inside else f", {side} {size} bytes at {first:#x}"
        return text
