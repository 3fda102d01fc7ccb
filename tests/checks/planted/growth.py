"""Implementations with a fault that the check `growth` must catch, each with a dtype."""

import mmap

from mutants import faulty

KEPT = []


def leaking(nbytes):
    """Every call keeps so many bytes: new pages, whatever memory this process has used and freed before."""

    def keep(dtype, x, y):
        KEPT.append(mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        KEPT[-1].write(b"1" * nbytes)
        return y

    return keep


MUTANTS = [(faulty("relu", leaking(1 << 18)), "float32")]
