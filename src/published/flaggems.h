/* FlagGems: FlagOpen/FlagGems src/flag_gems/ops/gelu.py (Apache-2.0), in Triton: float32 inside. */

FLOATMATH(flaggems, gelu, gelu, "0.5*x*(1 + erf(x*0.7071067811))",
    "FlagOpen/FlagGems src/flag_gems/ops/gelu.py, gelu_none",
    return MUL(MUL(HALF, x), ADD(ONE, ERF(MUL(x, CONSTANT(0.7071067811)))));
)
