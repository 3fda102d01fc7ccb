# Written by `python tools/make_findings.py onnxruntime-fastgelu-float64`; do not edit.
"""com.microsoft.FastGelu in float64: computes with constants of 6 digits (absolute error 2e-7); inf for x >
8.9e307

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
<ir_version: 10, opset_import: ["": 20, "com.microsoft": 1]>
f (double[N] x) => (double[N] y) { y = com.microsoft.FastGelu (x) }
""")
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
x = numpy.full(1, 8.98846567431158e307, "float64")
y = session.run(None, {"x": x})[0]
right = 8.98846567431158e307
wrong = [value for value in map(float, y) if not abs(value - right) <= 7.98336123813888e292]
print("still wrong:" if wrong else "not wrong:", *dict.fromkeys(str(float(each)) for each in y), "- right:", right)
sys.exit(0 if wrong else 1)
