# Written by `python tools/make_findings.py torch-gelu-float32`; do not edit.
"""torch.nn.functional.gelu on AVX-512 in float32: inf for x >= 1.7e38, NaN at inf; 0 at most x below -5.5

The exit code is 0 while this is so, 1 when it is not any more, 3 where a library is not installed.
"""

import sys

try:
    import torch
except ImportError as missing:
    print(missing)
    sys.exit(3)

x = torch.full((1000,), 1.7014118346046923e38, dtype=torch.float32)
y = torch.nn.functional.gelu(x)
right = 1.7014118346046923e38
wrong = [value for value in map(float, y) if not abs(value - right) <= 8.112963841460668e31]
print("still wrong:" if wrong else "not wrong:", *dict.fromkeys(str(float(each)) for each in y), "- right:", right)
sys.exit(0 if wrong else 1)
