"""silu, x sigmoid(x), and its gradient."""

from ..expression import X, block
from .base import Form

S = (1 / (1 + block("exp", -X))).called("s")

FORMS = [
    # JAX, TensorFlow, ONNX Runtime: x times a library's sigmoid.
    Form(
        name="silu_sigmoid",
        function="silu",
        root=X * block("sigmoid", X),
        spellings=("xsigmoidx", "xlogisticx", "xexpitx"),
        targets=("onnxruntime.silu", "onnxruntime.silu-quickgelu", "openvino.silu"),
    ),
    # PyTorch, ggml.
    Form(name="silu_exp", function="silu", root=X / (1 + block("exp", -X)), spellings=("x/1+exp-x",)),
    # Rounds once more than the quotient.
    Form(name="silu_product", function="silu", root=X * (1 / (1 + block("exp", -X)))),
    # PyTorch's silu_backward.
    Form(
        name="silu_grad_exp",
        function="silu_grad",
        root=S * (1 + X * (1 - S)),
        spellings=("backwardoff.silu", "backwardofxsigmoidx", "jax.gradofnn.silu", "gradientofnn.silu"),
    ),
]
