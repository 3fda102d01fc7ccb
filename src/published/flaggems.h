/* FlagGems: flagos-ai/FlagGems src/flag_gems/ops/gelu.py (Apache-2.0), in Triton: 0.5*x in the dtype, the rest in
   float32. FlagOpen/FlagGems, where it was before, has an older version that does not say so. */

FLOATMATH(flaggems, gelu, gelu, "(0.5*x, rounded)*(1 + erf(x*0.7071067811))",
    "flagos-ai/FlagGems src/flag_gems/ops/gelu.py, gelu_none",
    T half = LOAD(NARROW(MUL(HALF, x)));
    return MUL(half, ADD(ONE, ERF(MUL(x, CONSTANT(0.7071067811)))));
)
