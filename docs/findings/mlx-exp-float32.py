# Written by `python tools/make_findings.py mlx-exp-float32`; do not edit.
"""mlx.core.exp on the CPU in float32: inf for x > 88, where e^x is finite up to 88.72; up to 64 ULP elsewhere

The exit code is 0 while this is so, 1 when it is not any more, 3 where a library is not installed.
"""

import sys

try:
    import mlx.core
except ImportError as missing:
    print(missing)
    sys.exit(3)

x = mlx.core.full((1,), 88.00000762939453, mlx.core.float32)
y = mlx.core.exp(x)
right = 1.651648841230085e38
wrong = [value for value in map(float, y) if not abs(value - right) <= 4.056481920730334e31]
print("still wrong:" if wrong else "not wrong:", *dict.fromkeys(str(float(each)) for each in y), "- right:", right)
sys.exit(0 if wrong else 1)
