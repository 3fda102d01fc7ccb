/* Undefines an arithmetic, so that the next can follow. */
#undef DTYPE
#undef SUFFIX
#undef ROUNDING
#undef IN_FORMAT
#undef NAME
#undef BITS
#undef T
#undef LOAD
#undef NARROW
#undef STORE
#undef ROUND
#undef LIBM
#undef FMA
