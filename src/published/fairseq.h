/* fairseq: facebookresearch/fairseq fairseq/modules/gelu.py (MIT). */

/* "Accurate" is the tanh form (fairseq#2235); PyTorch runs it one operation after the other, with Python's numbers as
   floats, not rounded to the tensor's 16 bits. */
NATIVE(fairseq, gelu_accurate, gelu_tanh, "0.5*x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*pow(x, 3))))",
    "facebookresearch/fairseq fairseq/modules/gelu.py, gelu_accurate",
    const T a = 0x1.9884533d43651p-1, c = 0x1.6e4e26d4801f7p-5; /* sqrt(2/pi), 0.044715 */
    T u = MUL(a, ADD(x, MUL(c, ROUND(LIBM(pow)(x, 3)))));
    return MUL(MUL(HALF, x), ADD(ONE, TANH(u)));
)
