/* Candle on the CPU: huggingface/candle candle-core/src/op.rs, candle-core/src/backprop.rs (Apache-2.0 or MIT). */

/* f16 and bf16 too, operation by operation. */
NATIVE(candle, gelu, gelu_tanh, "0.5*x*(1 + tanh(sqrt(2/pi)*x*(1 + 0.044715*x*x)))",
    "huggingface/candle candle-core/src/op.rs, Gelu",
    T u = MUL(MUL(SQRT_2_OVER_PI, x), ADD(ONE, MUL(MUL(CUBE, x), x)));
    return MUL(MUL(HALF, x), ADD(ONE, TANH(u)));
)

DOUBLEMATH(candle, gelu_erf, gelu, "(erf(x*sqrt(1/2)) + 1)*0.5*x",
    "huggingface/candle candle-core/src/op.rs, GeluErf; erf of the C library instead of that of the crate libm",
    return MUL(MUL(ADD(ERF(MUL(x, SQRT_HALF)), ONE), HALF), x);
)

NATIVE(candle, gelu_grad, gelu_tanh_grad,
    "0.5*t + (0.0535161*x^3 + 0.398942*x)*(1 - t^2) + 0.5, t = tanh(0.0356774*x^3 + 0.797885*x)",
    "huggingface/candle candle-core/src/backprop.rs, UnaryOp::Gelu",
    T cube = ROUND(LIBM(pow)(x, 3));
    T t = TANH(ADD(MUL(CONSTANT(0.0356774), cube), MUL(CONSTANT(0.797885), x)));
    T slope = ADD(MUL(CONSTANT(0.0535161), cube), MUL(CONSTANT(0.398942), x));
    return ADD(ADD(MUL(HALF, t), MUL(slope, SUB(ONE, ROUND(LIBM(pow)(t, 2))))), HALF);
)
