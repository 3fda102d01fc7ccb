/* Burn: tracel-ai/burn crates/burn-backend/src/backend/ops/activation.rs (Apache-2.0 or MIT). */

NATIVE(burn, gelu, gelu, "x*(1 + erf(x/sqrt(2)))/2: overflows above half of the largest number",
    "tracel-ai/burn crates/burn-backend/src/backend/ops/activation.rs, gelu",
    const T sqrt_2 = CONSTANT(0x1.6a09e667f3bcdp+0); /* sqrt(2) */
    return DIV(MUL(x, ADD(ERF(DIV(x, sqrt_2)), ONE)), TWO);
)

/* The default of backends that do not override it: the derivative of gelu_tanh beside the forward pass of gelu. */
NATIVE(burn, gelu_grad, gelu_grad,
    "0.5*t + (0.0535161*x^3 + 0.398942*x)*(1 - t*t) + 0.5, t = tanh(0.0356774*x^3 + 0.797885*x)",
    "tracel-ai/burn crates/burn-backend/src/backend/ops/activation.rs, gelu_backward",
    T cube = MUL(MUL(x, x), x);
    T inner = ADD(MUL(cube, CONSTANT(0.0356774)), MUL(x, CONSTANT(0.797885)));
    T slope = ADD(MUL(cube, CONSTANT(0.0535161)), MUL(x, CONSTANT(0.398942)));
    T t = TANH(inner);
    T sech = ADD(-MUL(t, t), ONE);
    return ADD(MUL(t, HALF), ADD(MUL(slope, sech), HALF));
)
