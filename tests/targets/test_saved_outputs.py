"""What names alone make of Python functions: an array that is an output by its name, and none in fact, is asked about;
an instance of a class is what a line gives arrays."""

import numpy as np
import pytest

from gelu_verify import verify
from gelu_verify.errors import UsageError


def silu_backward(grad_output, x, silu_out):
    s = 1 / (1 + np.exp(-x))
    return grad_output * (s + silu_out * (1 - s))


def elu_backward(grad_output, output):
    return np.where(output > 0, grad_output, grad_output * (output + 1))


def gelu_bwd(res, g):
    return (g * (0.5 + res),)


def writes(dy, x, out):
    np.multiply(dy, (x > 0).astype(x.dtype), out=out)


def swiglu(x, y):
    return x / (1 + np.exp(-x)) * y


class Relu:
    def __init__(self, low=0):
        self.low = low

    def __call__(self, x):
        return np.maximum(x, np.float16(self.low)), None


class GeluFn:
    @staticmethod
    def backward(ctx, dy):
        return dy


def measured(target, function, **options):
    return verify(target, function, "float16", plan="landmarks", budget=0, **options)


@pytest.mark.filterwarnings("ignore:.*encountered in")
@pytest.mark.parametrize(
    ("target", "function"), [(silu_backward, "silu_grad"), (elu_backward, "elu_grad"), (gelu_bwd, "gelu_grad")]
)
def test_an_output_that_is_left_as_it_was_is_a_question(target, function):
    with pytest.raises(UsageError, match="returns a result and writes nothing to y"):
        measured(target, function)


def test_an_output_that_is_written_is_one():
    assert measured(writes, "relu_grad").max_ulp == 0


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_two_inputs_of_which_one_has_the_name_of_an_output():
    with pytest.raises(UsageError, match=r"such as --call 'f\(x, g\)'"):
        measured(swiglu, "swiglu")


def test_a_line_that_gives_f_arrays_is_of_an_instance():
    with pytest.raises(UsageError, match=r"returns tuple: give --call 'f\(x\)\[0\]'"):
        measured(Relu, "relu")
    for line in ("f(x)[0]", "f()(x)[0]", "f(low=0)(x)[0]"):
        assert measured(Relu, "relu", call=line).max_ulp == 0
    assert measured(Relu, "relu", call="f(x)[0]", kwargs={"low": 0}).max_ulp == 0


def test_a_part_of_an_autograd_function_says_what_to_name():
    with pytest.raises(UsageError, match=r"GeluFn.backward is of a torch.autograd.Function: name .*GeluFn.apply"):
        measured(GeluFn.backward, "gelu_grad")


def leaky_relu(x, negative_slope=0.01):
    return np.where(x > 0, x, (x.astype(np.float64) * negative_slope).astype(x.dtype))


def test_a_parameter_that_it_is_called_with_is_that_of_its_function():
    """Judged with the default it "computes neither leaky_relu nor a relative of it"."""
    with pytest.raises(
        UsageError, match=r"with negative_slope=0.2, .* slope = 0.01: --function 'leaky_relu\[slope=0.2\]'"
    ):
        measured(leaky_relu, "leaky_relu", kwargs={"negative_slope": 0.2})
    assert measured(leaky_relu, "leaky_relu[slope=0.2]", kwargs={"negative_slope": 0.2}).max_ulp < 1
    assert measured(leaky_relu, "leaky_relu", kwargs={"negative_slope": 0.01}).max_ulp < 1
