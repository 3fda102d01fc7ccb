/* ONNX: onnx/onnx onnx/defs/math/defs.cc, function body of Gelu-20 (Apache-2.0). Its constants are float, whatever
   the dtype. */

NATIVE(onnx, gelu, gelu, "Half*X*(One + Erf(X/Sqrt(Two)))",
    "onnx/onnx onnx/defs/math/defs.cc, Gelu-20, approximate=none",
    return MUL(MUL(HALF, x), ADD(ONE, ERF(DIV(x, ROUND(LIBM(sqrt)(TWO))))));
)

NATIVE(onnx, gelu_tanh, gelu_tanh, "Half*X*(One + Tanh(Sqrt(TwoOverPi)*(X + C0*Pow(X, Three))))",
    "onnx/onnx onnx/defs/math/defs.cc, Gelu-20, approximate=tanh",
    const T two_over_pi = ROUND((T)0.63661977236f), c0 = ROUND((T)0.044715f);
    T u = MUL(ROUND(LIBM(sqrt)(two_over_pi)), ADD(x, MUL(c0, ROUND(LIBM(pow)(x, 3)))));
    return MUL(MUL(HALF, x), ADD(ONE, TANH(u)));
)
