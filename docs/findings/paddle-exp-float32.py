# Written by `python tools/make_findings.py paddle-exp-float32`; do not edit.
"""paddle.exp on the CPU in float32: 2.9e-39 for all x below -88.73, at -inf too, where it is 0

The exit code is 0 while this is so, 1 when it is not any more, 3 where a library is not installed.
"""

import sys

try:
    import paddle
except ImportError as missing:
    print(missing)
    sys.exit(3)

x = paddle.full([1000], -3.4028234663852886e38, "float32")
y = paddle.exp(x)
right = 0.0
wrong = [value for value in map(float, y) if not abs(value - right) <= 5.605193857299268e-45]
print("still wrong:" if wrong else "not wrong:", *dict.fromkeys(str(float(each)) for each in y), "- right:", right)
sys.exit(0 if wrong else 1)
