"""gelu_tanh, x/2 (1 + tanh(u)) with u = sqrt(2/pi) (x + 0.044715 x^3), and its gradient."""

from ..expression import SQRT_2_OVER_PI, Node, X, block, constant, cube, decimal
from .base import Form

U = (SQRT_2_OVER_PI * (X + "0.044715" * (X * X * X))).called("u")
BY_TANH = "0.5" * X * (1 + block("tanh", U))


def tanh_by_exp(u: Node) -> Node:
    return 1 - decimal("2") / (1 + block("exp", decimal("2") * u))


def tanh_by_quotient(u: Node) -> Node:
    e = block("exp", decimal("2") * u).called("e")
    return (e - 1) / (e + 1)


# ---- gelu_tanh by tanh: 1 + tanh cancels in the negative tail ------------------------------------

U_OF_CUBE = (SQRT_2_OVER_PI * (X + "0.044715" * cube(X))).called("u")
U_FACTORED = (SQRT_2_OVER_PI * X * (1 + "0.044715" * X * X)).called("u")
CUBE = constant("sqrt(2/pi)*0.044715", lambda mp: mp.sqrt(2 / mp.pi) * 44715 / 1000000, "0.0356774", "0.03567741")
U_BY_HORNER = (X * (CUBE * (X * X) + SQRT_2_OVER_PI)).called("u")

FORMS = [
    # PyTorch, JAX, Hugging Face's gelu_new.
    Form(
        name="gelu_tanh_tanh",
        function="gelu_tanh",
        root=BY_TANH,
        spellings=("0.5x1+tanhsqrt2/pix+0.044715x^3",),
        targets=("openvino.gelu_tanh",),
    ),
    # With pow(x, 3), which is rounded once.
    Form(name="gelu_tanh_cube", function="gelu_tanh", root="0.5" * X * (1 + block("tanh", U_OF_CUBE))),
    # ggml, llama.cpp, whisper.cpp.
    Form(name="gelu_tanh_factored", function="gelu_tanh", root="0.5" * X * (1 + block("tanh", U_FACTORED))),
    # ONNX Runtime's MLAS, oneDNN, Transformer Engine: the argument of tanh as x times a polynomial of x^2.
    Form(
        name="gelu_tanh_horner",
        function="gelu_tanh",
        root="0.5" * X * (1 + block("tanh", U_BY_HORNER)),
        spellings=("0.5x1+tanhx0.0356774", "0.5x1+tanhsqrt2/pix1+0.044715x^2"),
        targets=("onnxruntime.gelu_tanh", "onnxruntime.gelu_tanh-fastgelu", "openvino.gelu_tanh"),
    ),
    # Kernels without a tanh.
    Form(
        name="gelu_tanh_exp",
        function="gelu_tanh",
        root=BY_TANH,
        private={"tanh": tanh_by_exp},
        private_text="tanh as 1 - 2/(1 + exp(2*u))",
    ),
    # NaN where exp overflows.
    Form(
        name="gelu_tanh_quotient",
        function="gelu_tanh",
        root=BY_TANH,
        private={"tanh": tanh_by_quotient},
        private_text="tanh as (exp(2*u) - 1)/(exp(2*u) + 1)",
    ),
]

# ---- gelu_tanh by sigmoid: 1 + tanh(u) = 2*sigmoid(2*u) does not cancel --------------------------

SQRT_8_OVER_PI = constant("sqrt(8/pi)", lambda mp: mp.sqrt(8 / mp.pi), "1.59577", "1.59576912", "1.5957691216")
W = (SQRT_8_OVER_PI * (X + "0.044715" * (X * X * X))).called("w")

FORMS += [
    # oneDNN on GPUs, ONNX Runtime's CUDA FastGelu.
    Form(
        name="gelu_tanh_sigmoid",
        function="gelu_tanh",
        root=X / (1 + block("exp", decimal("-2") * U)),
        spellings=("x/1+exp-2sqrt2/pix+0.044715x^3", "x/1+exp-2u"),
    ),
    # Rounds once more than the quotient.
    Form(
        name="gelu_tanh_product",
        function="gelu_tanh",
        root=X * (1 / (1 + block("exp", decimal("-2") * U))),
    ),
    # tinygrad, SciPy: a library's sigmoid.
    Form(
        name="gelu_tanh_expit",
        function="gelu_tanh",
        root=X * block("sigmoid", W),
        spellings=("xexpit2sqrt2/pix+0.044715x^3", "xsigmoid2sqrt2/pix+0.044715x^3"),
    ),
]

# ---- gelu_tanh_grad ------------------------------------------------------------------------------

THREE_CUBE = constant("0.134145", lambda mp: mp.mpf(134145) / 1000000)
SLOPE = (SQRT_2_OVER_PI * (1 + THREE_CUBE * (X * X))).called("u'")
T = block("tanh", U).called("t")
S = (1 / (1 + block("exp", decimal("-2") * U))).called("s")

FORMS += [
    # PyTorch's GeluBackward with approximate="tanh".
    Form(
        name="gelu_tanh_grad_tanh",
        function="gelu_tanh_grad",
        root="0.5" * (1 + T) + "0.5" * X * (1 - T * T) * SLOPE,
        spellings=('backwardoff.geluapproximate="tanh"', "backwardof0.5x1+tanhsqrt2/pix+0.044715x^3"),
    ),
    # The derivative of x*sigmoid(2*u), with sigmoid' = s*(1 - s).
    Form(
        name="gelu_tanh_grad_sigmoid",
        function="gelu_tanh_grad",
        root=S + X * S * (1 - S) * (decimal("2") * SLOPE),
    ),
]
