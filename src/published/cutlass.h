/* CUTLASS: NVIDIA/cutlass include/cutlass/epilogue/thread/activation.h (BSD-3-Clause).
   fast_tanh is tanh.approx on sm_75 and later, which no CPU has, and tanhf elsewhere: here it is tanhf. */

/* In half_t, erf is a float's, but 1 + erf and both products are rounded to half. */
NATIVE(cutlass, gelu, gelu, "0.5*x*(1 + erff(x/sqrt(2)))",
    "NVIDIA/cutlass include/cutlass/epilogue/thread/activation.h, GELU<T>",
    const T root_two = CONSTANT(0x1.6a09e667f3bcdp+0); /* sqrt(2) */
    return MUL(MUL(HALF, x), ADD(ONE, ERF(DIV(x, root_two))));
)

/* "Taylor" is the tanh form. */
NATIVE(cutlass, gelu_taylor, gelu_tanh, "0.5*x*(1 + tanh(k0*x*(1 + k1*x*x)))",
    "NVIDIA/cutlass include/cutlass/epilogue/thread/activation.h, GELU_taylor<T>; fast_tanh as tanhf",
    T u = MUL(MUL(SQRT_2_OVER_PI, x), ADD(ONE, MUL(MUL(CUBE, x), x)));
    return MUL(MUL(HALF, x), ADD(ONE, TANH(u)));
)

FLOAT16(cutlass, gelu_taylor_array, gelu_tanh, "0.5*x*(1 + tanh(k0*x*fma(k1*x, x, 1)))",
    "NVIDIA/cutlass include/cutlass/epilogue/thread/activation.h, GELU_taylor<Array<half_t, N>>; fast_tanh as tanhf",
    T u = MUL(MUL(SQRT_2_OVER_PI, x), FMA(MUL(CUBE, x), x, ONE));
    return MUL(MUL(x, HALF), ADD(ONE, TANH(u)));
)

NATIVE(cutlass, dgelu, gelu_tanh_grad, "0.5*x*((1 - t*t)*(k0 + k2*x*x)) + 0.5*(1 + t), t = tanh(k0*x*(1 + k1*x*x))",
    "NVIDIA/cutlass include/cutlass/epilogue/thread/activation.h, dGELU<T>; fast_tanh as tanhf",
    const T k2 = CONSTANT(0.1070322243); /* 3*0.044715*sqrt(2/pi) to ten digits */
    T t = TANH(MUL(MUL(SQRT_2_OVER_PI, x), ADD(ONE, MUL(MUL(CUBE, x), x))));
    T slope = MUL(SUB(ONE, MUL(t, t)), ADD(SQRT_2_OVER_PI, MUL(MUL(k2, x), x)));
    return ADD(MUL(MUL(HALF, x), slope), MUL(HALF, ADD(ONE, t)));
)
