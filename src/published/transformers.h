/* Hugging Face transformers 4.1 for TensorFlow: src/transformers/activations_tf.py, gelu_fast (Apache-2.0), as it was:
   7978845608 for 0.7978845608, and the two coefficients in each other's place (transformers#9163). */

FLOAT32(transformers, tf_gelu_fast_4_1, gelu_tanh, "0.5*x*(1 + tanh(x*0.044715*(1 + 7978845608*x*x)))",
    "huggingface/transformers 4.1 src/transformers/activations_tf.py, gelu_fast",
    const T coeff1 = CONSTANT(7978845608.0);
    T u = MUL(MUL(x, CUBE), ADD(ONE, MUL(MUL(coeff1, x), x)));
    return MUL(MUL(HALF, x), ADD(ONE, TANH(u)));
)
