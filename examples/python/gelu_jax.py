"""x/2 erfc(-x/sqrt 2): eager, JAX rounds after every operation; compiled, XLA keeps 16-bit values in float32."""

import jax
import jax.numpy as jnp


def gelu(x):
    return 0.5 * x * jax.lax.erfc(x * jnp.asarray(-(0.5**0.5), x.dtype))
