# cython: boundscheck=False, wraparound=False
"""The re-implementations of src/published/: their list, and a door for arrays of bits."""

cdef extern from "published/published.h":
    pass

include "kernel_table.pxi"
