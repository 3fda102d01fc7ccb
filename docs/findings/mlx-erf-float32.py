# Written by `python tools/make_findings.py mlx-erf-float32`; do not edit.
"""mlx.core.erf on the CPU in float32: 0 for small x such as 1e-10, and 1.7 % too small at 1e-5

The exit code is 0 while this is so, 1 when it is not any more, 3 where a library is not installed.
"""

import sys

try:
    import mlx.core
except ImportError as missing:
    print(missing)
    sys.exit(3)

x = mlx.core.full((1,), -3.0026535066639863e-21, mlx.core.float32)
y = mlx.core.erf(x)
right = -3.3881315870688096e-21
wrong = [value for value in map(float, y) if not abs(value - right) <= 8.077935669463161e-28]
print("still wrong:" if wrong else "not wrong:", *dict.fromkeys(str(float(each)) for each in y), "- right:", right)
sys.exit(0 if wrong else 1)
