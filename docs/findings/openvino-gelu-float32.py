# Written by `python tools/make_findings.py openvino-gelu-float32`; do not edit.
"""opset13.gelu (erf) on the CPU in float32: inf for x >= 1.7e38, NaN at inf; 0 at most x below -5.5

The exit code is 0 while this is so, 1 when it is not any more, 3 where a library is not installed.
"""

import sys

try:
    import numpy
    import openvino
    import openvino.opset13
except ImportError as missing:
    print(missing)
    sys.exit(3)

x = openvino.opset13.parameter([-1], openvino.Type.f32)
model = openvino.Model([openvino.opset13.gelu(x, "erf")], [x], "model")
compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
y = compiled(numpy.full(1, 1.7014118346046923e38, "float32"))[0]
right = 1.7014118346046923e38
wrong = [value for value in map(float, y) if not abs(value - right) <= 8.112963841460668e31]
print("still wrong:" if wrong else "not wrong:", *dict.fromkeys(str(float(each)) for each in y), "- right:", right)
sys.exit(0 if wrong else 1)
