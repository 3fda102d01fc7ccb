/* One rounding per operation: what the formulas of gelu.h, gelu_tanh.h, gelu_sigmoid.h and silu.h are written in.

   The includer of those headers chooses the arithmetic by four macros:
     T         C type that carries a value: float or double
     ROUND(v)  v rounded to the format: float and double have rounded already, so v itself
     LIBM(name)  the C library's function for T: name##f or name
     NAME(f)   f with a suffix of its own for each arithmetic
   and what becomes of each formula, by two:
     PART(name, v, ...)                  a function of T v that the formulas below it call
     KERNEL(function, form, note, ...)   a kernel: the function of T x whose body is "..."
   The formulas themselves have no include guard: kernels.h includes them once for each arithmetic.

   float16 and bfloat16 are carried in a float. For + - * / that is the format's own arithmetic: float has
   24 >= 2p + 2 bits (p = 11 and 8), so rounding to float and then to the format equals rounding once (Figueroa 1995;
   tests/kernels/test_kernels.py checks it against fractions.Fraction, subnormal results included). A transcendental is the
   float function, rounded. Compile with -ffp-contract=off (nvcc: -fmad=false): a*b + c must round twice. */
#ifndef GELU_VERIFY_ARITHMETIC_H
#define GELU_VERIFY_ARITHMETIC_H

#define ADD(a, b) ROUND((a) + (b))
#define SUB(a, b) ROUND((a) - (b))
#define MUL(a, b) ROUND((a) * (b))
#define DIV(a, b) ROUND((a) / (b))
#define ERF(v) ROUND(LIBM(erf)(v))
#define ERFC(v) ROUND(LIBM(erfc)(v))
#define EXP(v) ROUND(LIBM(exp)(v))
#define TANH(v) ROUND(LIBM(tanh)(v))
#define ABS(v) LIBM(fabs)(v)
#define COPYSIGN(a, b) LIBM(copysign)(a, b)

#define CONSTANT(v) ROUND((T)(v))
#define HALF CONSTANT(0x1p-1)
#define ONE CONSTANT(0x1p+0)
#define TWO CONSTANT(0x1p+1)
#define SQRT_HALF CONSTANT(0x1.6a09e667f3bcdp-1)        /* sqrt(1/2) */
#define SQRT_2_OVER_PI CONSTANT(0x1.9884533d43651p-1)   /* sqrt(2/pi) */
#define TWO_OVER_SQRT_PI CONSTANT(0x1.20dd750429b6dp+0) /* 2/sqrt(pi) */
#define INV_SQRT_2PI CONSTANT(0x1.9884533d43651p-2)     /* 1/sqrt(2*pi) */
#define CUBE CONSTANT(0x1.6e4e26d4801f7p-5)             /* 0.044715: the x^3 term of gelu_tanh */
#define THREE_CUBE CONSTANT(0x1.12ba9d1f60179p-3)       /* 3*0.044715 */
#define SLOPE CONSTANT(0x1.b3b645a1cac08p+0)            /* 1.702: the slope of gelu_sigmoid */

#endif
