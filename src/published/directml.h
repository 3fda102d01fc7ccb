/* DirectML: the documentation of DML_ACTIVATION_GELU_OPERATOR_DESC gives a formula and no bound, for float32 and
   float16. */

FLOATMATH_NO_BFLOAT16(directml, gelu, gelu, "0.5*x*(1 + erf(x/sqrt(2)))",
    "Microsoft Learn, DML_ACTIVATION_GELU_OPERATOR_DESC: published as a formula only, the arithmetic is ours",
    return MUL(MUL(HALF, x), ADD(ONE, ERF(DIV(x, CONSTANT(0x1.6a09e667f3bcdp+0))))); /* sqrt(2) */
)
