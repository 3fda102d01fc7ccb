/* Liger Kernel: linkedin/Liger-Kernel src/liger_kernel/ops/geglu.py (BSD-2-Clause), in Triton: the gate in float32. */

PART(liger_tanh, x,
    return TANH(MUL(SQRT_2_OVER_PI, ADD(x, MUL(CUBE, MUL(MUL(x, x), x)))));
)

FLOATMATH(liger, geglu, gelu_tanh, "0.5*a*(1 + tanh(sqrt(2/pi)*(a + 0.044715*a*a*a)))",
    "linkedin/Liger-Kernel src/liger_kernel/ops/geglu.py, the gate; tanh of the C library instead of libdevice",
    return MUL(MUL(HALF, x), ADD(ONE, NAME(liger_tanh)(x)));
)

FLOATMATH(liger, geglu_grad, gelu_tanh_grad,
    "0.5*(1 + t) + 0.5*a*(1 - t*t)*(sqrt(2/pi)*(1 + 3*0.044715*a*a))",
    "linkedin/Liger-Kernel src/liger_kernel/ops/geglu.py, backward; tanh of the C library instead of libdevice",
    T t = NAME(liger_tanh)(x);
    T slope = MUL(SQRT_2_OVER_PI, ADD(ONE, MUL(MUL(THREE_CUBE, x), x)));
    return ADD(MUL(HALF, ADD(ONE, t)), MUL(MUL(MUL(HALF, x), SUB(ONE, MUL(t, t))), slope));
)
