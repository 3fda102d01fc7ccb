/* Core ML: apple/coremltools coremltools/converters/mil/mil/ops/defs/iOS15/activation.py (BSD-3-Clause) gives the three
   modes of `gelu` as formulas, for fp16 and fp32. How the CPU, the GPU and the Neural Engine compute them is not published. */

FLOATMATH_NO_BFLOAT16(coreml, exact, gelu, "0.5*x*(1 + erf(x/sqrt(2)))",
    "apple/coremltools, MIL gelu, EXACT: published as a formula only, the arithmetic is ours",
    return MUL(MUL(HALF, x), ADD(ONE, ERF(DIV(x, CONSTANT(0x1.6a09e667f3bcdp+0))))); /* sqrt(2) */
)

FLOATMATH_NO_BFLOAT16(coreml, tanh_approximation, gelu_tanh, "0.5*x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x^3)))",
    "apple/coremltools, MIL gelu, TANH_APPROXIMATION: published as a formula only, the arithmetic is ours",
    T u = MUL(SQRT_2_OVER_PI, ADD(x, MUL(CUBE, MUL(MUL(x, x), x))));
    return MUL(MUL(HALF, x), ADD(ONE, TANH(u)));
)

FLOATMATH_NO_BFLOAT16(coreml, sigmoid_approximation, gelu_sigmoid, "x*sigmoid(1.702*x)",
    "apple/coremltools, MIL gelu, SIGMOID_APPROXIMATION: published as a formula only, the arithmetic is ours",
    return MUL(x, DIV(ONE, ADD(ONE, EXP(-MUL(SLOPE, x)))));
)
