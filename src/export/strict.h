/* Compiled with -ffast-math and the like these headers would give wrong results, or none for NaN: that is an error. */
#ifndef GV_STRICT_H
#define GV_STRICT_H
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(__NO_SIGNED_ZEROS__) || defined(__USE_FAST_MATH__) || defined(_M_FP_FAST)
#error "gelu_verify.h: compile without -ffast-math, -Ofast, -funsafe-math-optimizations, --use_fast_math"
#endif
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "gelu_verify.h: compile without -ffinite-math-only"
#endif
#endif
