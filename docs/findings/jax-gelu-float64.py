# Written by `python tools/make_findings.py jax-gelu-float64`; do not edit.
"""jax.nn.gelu (tanh form) on the CPU in float64: absolute error 2.8e-15 at x = -7.34, where the value is
-3.2e-17

The exit code is 0 while this is so, 1 when it is not any more, 3 where a library is not installed.
"""

import sys

try:
    import jax
except ImportError as missing:
    print(missing)
    sys.exit(3)

jax.config.update("jax_enable_x64", True)
x = jax.numpy.full(1, -7.345212551249861, jax.numpy.float64)
y = jax.nn.gelu(x)
right = -3.125306912685202e-17
wrong = [value for value in map(float, y) if not abs(value - right) <= 2.465190328815662e-32]
print("still wrong:" if wrong else "not wrong:", *dict.fromkeys(str(float(each)) for each in y), "- right:", right)
sys.exit(0 if wrong else 1)
