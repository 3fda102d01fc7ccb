"""gelu_sigmoid, x sigmoid(1.702 x), known as quick GELU, and its gradient."""

from ..expression import X, block
from .base import Form

SIGMOID = (1 / (1 + block("exp", -("1.702" * X)))).called("s")

FORMS = [
    # x times a library's sigmoid.
    Form(
        name="gelu_sigmoid_sigmoid",
        function="gelu_sigmoid",
        root=X * block("sigmoid", "1.702" * X),
        spellings=("xsigmoid1.702x", "xexpit1.702x", "xlogistic1.702x"),
        targets=("onnxruntime.gelu_sigmoid", "openvino.gelu_sigmoid"),
    ),
    # With sigmoid written out: ggml's gelu_quick, Hugging Face in C++ ports.
    Form(
        name="gelu_sigmoid_exp",
        function="gelu_sigmoid",
        root=X * SIGMOID,
        spellings=("x1/1+exp-1.702x", "x/1+exp-1.702x"),
    ),
    # As one quotient, which rounds once less.
    Form(name="gelu_sigmoid_div", function="gelu_sigmoid", root=X / (1 + block("exp", -("1.702" * X)))),
    # What automatic differentiation makes of it, with sigmoid' = s*(1 - s).
    Form(
        name="gelu_sigmoid_grad_exp",
        function="gelu_sigmoid_grad",
        root=SIGMOID + X * (SIGMOID * (1 - SIGMOID) * "1.702"),
        spellings=("backwardofxsigmoid1.702x", "jax.gradofxnn.sigmoid1.702x", "gradientofxsigmoid1.702x"),
    ),
]
