# Written by `python tools/make_findings.py transformers-gelu_new-bfloat16`; do not edit.
"""ACT2FN["gelu_new"] in bfloat16: 0 for x <= -3.06, where it is -0.003; 146 ULP at x = -3

The exit code is 0 while this is so, 1 when it is not any more, 3 where a library is not installed.
"""

import sys

try:
    import torch
    import transformers
except ImportError as missing:
    print(missing)
    sys.exit(3)

x = torch.full((1,), -3.1875, dtype=torch.bfloat16)
y = transformers.activations.ACT2FN["gelu_new"](x)
right = -0.001953125
wrong = [value for value in map(float, y) if not abs(value - right) <= 6.103515625e-05]
print("still wrong:" if wrong else "not wrong:", *dict.fromkeys(str(float(each)) for each in y), "- right:", right)
sys.exit(0 if wrong else 1)
