# Written by `python tools/make_findings.py litert-exp-float32`; do not edit.
"""LiteRT EXP (XNNPACK) in float32: inf for x >= 88.3763, where e^x is finite up to 88.72; 0 for NaN

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

x = numpy.full(1, 88.37830352783203, "float32")
traced = tensorflow.function(lambda x: tensorflow.exp(x))
concrete = traced.get_concrete_function(tensorflow.TensorSpec([1], tensorflow.float32))
model = tensorflow.lite.TFLiteConverter.from_concrete_functions([concrete], traced).convert()
interpreter = ai_edge_litert.interpreter.Interpreter(model_content=model, num_threads=1)
interpreter.allocate_tensors()
interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
interpreter.invoke()
y = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
right = 2.4110683992726518e38
wrong = [value for value in map(float, y) if not abs(value - right) <= 8.112963841460668e31]
print("still wrong:" if wrong else "not wrong:", *dict.fromkeys(str(float(each)) for each in y), "- right:", right)
sys.exit(0 if wrong else 1)
