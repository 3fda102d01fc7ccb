# Written by `python tools/make_findings.py onnxruntime-swish-float32`; do not edit.
"""Swish in float32: 6.9 times the right value at x = -17.87, 4084 ULP in [-8, -5)

The exit code is 0 while this is so, 1 when it is not any more, 3 where a library is not installed.
"""

import sys

try:
    import numpy
    import onnx.parser
    import onnxruntime
except ImportError as missing:
    print(missing)
    sys.exit(3)

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["": 24, "com.microsoft": 1]>
f (float[N] x) => (float[N] y) { y = Swish (x) }
""")
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
x = numpy.full(1, -17.691364288330078, "float32")
y = session.run(None, {"x": x})[0]
right = -3.6685921145362954e-07
wrong = [value for value in map(float, y) if not abs(value - right) <= 1.1368683772161603e-13]
print("still wrong:" if wrong else "not wrong:", *dict.fromkeys(str(float(each)) for each in y), "- right:", right)
sys.exit(0 if wrong else 1)
