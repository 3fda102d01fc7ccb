"""gelu, x times the normal distribution function of x, and its gradient."""

from ..expression import (
    INV_SQRT_2PI,
    SQRT_HALF,
    TWO_OVER_SQRT_PI,
    Node,
    X,
    absolute,
    block,
    constant,
    copysign,
    decimal,
)
from .base import Form

SQRT_2 = constant("sqrt(2)", lambda mp: mp.sqrt(2), "1.41421", "1.4142135", "1.41421356", "1.4142135623731")
BY_ERF = "0.5" * X * (1 + block("erf", X * SQRT_HALF))

# ---- erf of Abramowitz and Stegun (1964), where it is computed from simpler functions ------------


def erf_as7125(v: Node) -> Node:
    """|error| <= 2.5e-5."""
    t = (1 / (1 + "0.47047" * absolute(v))).called("t")
    series = (("0.7478556" * t + "-0.0958798") * t + "0.3480242") * t
    return copysign(1 - series * block("exp", -(v * v)), v)


def erf_as7126(v: Node) -> Node:
    """|error| <= 1.5e-7."""
    t = (1 / (1 + "0.3275911" * absolute(v))).called("t")
    series = (((("1.061405429" * t + "-1.453152027") * t + "1.421413741") * t + "-0.284496736") * t + "0.254829592") * t
    return copysign(1 - series * block("exp", -(v * v)), v)


def erf_as7127(v: Node) -> Node:
    """|error| <= 5e-4; needs no exp."""
    return _one_minus_inverse_power(v, ("0.078108", "0.000972", "0.230389", "0.278393"), 2)


def erf_as7128(v: Node) -> Node:
    """|error| <= 3e-7; needs no exp."""
    coefficients = ("0.0000430638", "0.0002765672", "0.0001520143", "0.0092705272", "0.0422820123", "0.0705230784")
    return _one_minus_inverse_power(v, coefficients, 4)


def _one_minus_inverse_power(v: Node, coefficients: tuple[str, ...], squarings: int) -> Node:
    """sign(v) (1 - 1/(1 + a1 |v| + a2 v^2 ...)^(2^squarings)), the highest coefficient first."""
    a = absolute(v)
    series: Node = coefficients[0] * a
    for each in coefficients[1:]:
        series = (series + each) * a
    power = 1 + series
    for _ in range(squarings):
        power = power * power
    return copysign(1 - 1 / power, v)


# ---- gelu ----------------------------------------------------------------------------------------

FORMS = [
    # PyTorch, TensorFlow, Keras, the ONNX function body: 1 + erf cancels in the negative tail.
    Form(
        name="gelu_erf",
        function="gelu",
        root=BY_ERF,
        spellings=("0.5x1+erfx/sqrt2", "x0.51+erfx/sqrt2", "x/21+erfx/sqrt2", "x1+erfx/sqrt2/2"),
        targets=("onnxruntime.gelu", "onnxruntime.gelu-contrib", "openvino.gelu"),
    ),
    # With x/sqrt(2), which rounds otherwise than x*sqrt(1/2): ONNX exporters, NumPy.
    Form(name="gelu_erf_div", function="gelu", root="0.5" * X * (1 + block("erf", X / SQRT_2))),
    # JAX: no cancellation; the rounded argument of erfc is what costs, in proportion to x^2.
    Form(
        name="gelu_erfc",
        function="gelu",
        root="0.5" * X * block("erfc", -X * SQRT_HALF),
        spellings=("0.5xerfc-x/sqrt2", "x0.5erfc-x/sqrt2", "x/2erfc-x/sqrt2"),
    ),
    Form(name="gelu_erfc_div", function="gelu", root="0.5" * X * block("erfc", -X / SQRT_2)),
    # SciPy, candle on CUDA: x times the library's normal distribution function.
    Form(
        name="gelu_normcdf",
        function="gelu",
        root=X * block("normcdf", X),
        spellings=("xndtrx", "xnorm.cdfx", "xnormcdfx"),
    ),
    Form(
        name="gelu_as7125",
        function="gelu",
        root=BY_ERF,
        private={"erf": erf_as7125},
        private_text="erf by Abramowitz and Stegun 7.1.25",
    ),
    # oneDNN below AVX-512, tinygrad, Metal backends.
    Form(
        name="gelu_as7126",
        function="gelu",
        root=BY_ERF,
        private={"erf": erf_as7126},
        private_text="erf by Abramowitz and Stegun 7.1.26",
        spellings=("0.5x1+erfx/sqrt2,fused", "gelu-7,erf"),
        targets=("openvino.gelu", "torch.gelu"),
    ),
    Form(
        name="gelu_as7127",
        function="gelu",
        root=BY_ERF,
        private={"erf": erf_as7127},
        private_text="erf by Abramowitz and Stegun 7.1.27",
    ),
    Form(
        name="gelu_as7128",
        function="gelu",
        root=BY_ERF,
        private={"erf": erf_as7128},
        private_text="erf by Abramowitz and Stegun 7.1.28",
    ),
]

# ---- gelu_grad -----------------------------------------------------------------------------------

CDF = ("0.5" * (1 + block("erf", X * SQRT_HALF))).called("cdf")
PDF = (INV_SQRT_2PI * block("exp", X * X * decimal("-0.5"))).called("pdf")
V, MINUS_V = (X * SQRT_HALF).called("v"), (-X * SQRT_HALF).called("v")
SLOPE = (TWO_OVER_SQRT_PI * block("exp", -(MINUS_V * MINUS_V)) * SQRT_HALF).called("slope")

FORMS += [
    # PyTorch's GeluBackward.
    Form(
        name="gelu_grad_erf",
        function="gelu_grad",
        root=CDF + X * PDF,
        spellings=("backwardoff.gelu", "backwardof0.5x1+erfx/sqrt2"),
    ),
    # What automatic differentiation (JAX) makes of the erfc form.
    Form(
        name="gelu_grad_erfc",
        function="gelu_grad",
        root="0.5" * block("erfc", MINUS_V) + "0.5" * X * SLOPE,
        spellings=(
            "jax.gradofnn.gelu:0.5xerfc-x/sqrt2",
            "gradientofnn.gelu:0.5xerfc-x/sqrt2",
            "backwardof0.5xerfc-x/sqrt2",
        ),
    ),
    # oneDNN's gelu_erf backward.
    Form(
        name="gelu_grad_as7126",
        function="gelu_grad",
        root="0.5" * (1 + block("erf", V) + V * TWO_OVER_SQRT_PI * block("exp", -(V * V))),
        private={"erf": erf_as7126},
        private_text="erf by Abramowitz and Stegun 7.1.26",
        spellings=("backwardoff.gelu",),
    ),
]
