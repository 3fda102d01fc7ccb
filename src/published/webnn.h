/* WebNN: webmachinelearning/webnn index.bs, the emulation of gelu(), for float32 and float16 (W3C Software
   and Document License). */

FLOATMATH_NO_BFLOAT16(webnn, gelu, gelu, "mul(mul(x, 0.5), add(1, erf(div(x, sqrt(2)))))",
    "webmachinelearning/webnn, gelu() emulated: published as a formula only, the arithmetic is ours",
    return MUL(MUL(x, HALF), ADD(ONE, ERF(DIV(x, ROUND(LIBM(sqrt)(TWO))))));
)
