# cython: boundscheck=False, wraparound=False
"""The re-implementations of src/published/, listed and run on arrays of bits."""

cdef extern from "published/published.h":
    pass

include "kernel_table.pxi"
