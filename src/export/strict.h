/* Compiled with -ffast-math, for x87 and the like these headers would give wrong results, or none for NaN: an error. */
#ifndef GV_STRICT_H
#define GV_STRICT_H
#include <float.h>
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(__NO_SIGNED_ZEROS__) || defined(__USE_FAST_MATH__) || defined(_M_FP_FAST)
#error "gelu_verify.h: compile without -ffast-math, -Ofast, -funsafe-math-optimizations, --use_fast_math"
#endif
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "gelu_verify.h: compile without -ffinite-math-only"
#endif
#if defined(FLT_EVAL_METHOD) && (FLT_EVAL_METHOD < 0 || FLT_EVAL_METHOD == 1 || FLT_EVAL_METHOD == 2)
#error "gelu_verify.h: float and double are evaluated with more precision: on x86, compile with -msse2 -mfpmath=sse"
#endif
#endif
