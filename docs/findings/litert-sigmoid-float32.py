# Written by `python tools/make_findings.py litert-sigmoid-float32`; do not edit.
"""LiteRT LOGISTIC (XNNPACK) in float32: NaN at many x from 4.3e26 on, on both sides, such as 1e30 and -1e30

The exit code is 0 while this is so, 1 when it is not any more, 3 where a library is not installed.
"""

import sys

try:
    import ai_edge_litert.interpreter
    import numpy
    import tensorflow
except ImportError as missing:
    print(missing)
    sys.exit(3)

x = numpy.full(1, -4.290376571867819e26, "float32")
traced = tensorflow.function(lambda x: tensorflow.sigmoid(x))
concrete = traced.get_concrete_function(tensorflow.TensorSpec([1], tensorflow.float32))
model = tensorflow.lite.TFLiteConverter.from_concrete_functions([concrete], traced).convert()
interpreter = ai_edge_litert.interpreter.Interpreter(model_content=model, num_threads=1)
interpreter.allocate_tensors()
interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
interpreter.invoke()
y = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
right = 0.0
wrong = [value for value in map(float, y) if not abs(value - right) <= 5.605193857299268e-45]
print("still wrong:" if wrong else "not wrong:", *dict.fromkeys(str(float(each)) for each in y), "- right:", right)
sys.exit(0 if wrong else 1)
