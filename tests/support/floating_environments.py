"""Floating-point environments that a caller may be in: set through the C library, for this thread.

Run as a program, it says what every public function answers in each: `python floating_environments.py`, one line of
JSON for each environment, with a hash of each answer.
"""

import ctypes
import ctypes.util
import itertools
import platform

LIBM = ctypes.CDLL(ctypes.util.find_library("m"))
ROUNDINGS = {"down": 1, "up": 2, "to zero": 3}
X86 = platform.machine() in ("x86_64", "AMD64")


def x86_environment(rounding=0, ftz=0, daz=0, unmasked=0, precision=3):
    """The bytes that `fesetenv` takes: 28 of the x87 unit, four of the SSE unit."""
    state = (ctypes.c_ubyte * 64)()
    LIBM.fegetenv(state)
    masks = 0 if unmasked else 0x3F
    control = 0x40 | precision << 8 | rounding << 10 | masks
    mxcsr = ftz << 15 | rounding << 13 | masks << 7 | daz << 6
    state[0:2] = control.to_bytes(2, "little")
    state[4:6] = bytes(2)  # no exception was raised yet
    state[28:32] = mxcsr.to_bytes(4, "little")
    return state


def environments():
    """{name: what goes there}."""
    if not X86:
        return {f"rounds {name}": lambda mode=mode: LIBM.fesetround(mode << 22) for name, mode in ROUNDINGS.items()}
    named = {}
    for (word, rounding), ftz, daz in itertools.product({"to nearest": 0, **ROUNDINGS}.items(), (0, 1), (0, 1)):
        if rounding or ftz or daz:
            named[f"rounds {word}{', FTZ' * ftz}{', DAZ' * daz}"] = x86_environment(rounding, ftz, daz)
    named["unmasked"] = x86_environment(unmasked=1)
    named["unmasked, up, FTZ, DAZ"] = x86_environment(2, 1, 1, 1)
    named["24 bits"] = x86_environment(precision=0)
    return {name: lambda state=state: LIBM.fesetenv(state) for name, state in named.items()}


def default():
    """Back to where a thread begins."""
    if X86:
        LIBM.fesetenv(_DEFAULT)
    else:
        LIBM.fesetround(0)


_DEFAULT = x86_environment() if X86 else None
