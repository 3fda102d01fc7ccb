"""What the names of functions, as projects write them, say that they compute: recognised, or asked."""

import pytest

from gelu_verify import targets
from gelu_verify.errors import UsageError
from gelu_verify.functions import FUNCTIONS
from gelu_verify.targets.kinds.base import Asked, function_of
from gelu_verify.targets.names import NAMES, claimed_by

# symbol, project: function, dtype
SYMBOLS = {
    ("tanh_activate", "darknet"): ("tanh", None),
    ("logistic_activate", "darknet"): ("sigmoid", None),
    ("mish_activate", "darknet"): ("mish", None),
    ("hardtan_activate", "darknet"): ("hard_tanh", None),
    ("leaky_activate", "darknet"): ("leaky_relu", None),
    ("tanh_gradient", "darknet"): ("tanh_grad", None),
    ("paddle_silu", "Paddle"): ("silu", None),
    ("fast_gelu_new", "vLLM"): ("gelu_tanh", None),
    ("gelu_tanh_kernel", "vLLM"): ("gelu_tanh", None),
    ("packed_gelu_kernel", "vLLM"): ("gelu", None),
    ("silu_and_mul", "vLLM"): ("swiglu", None),
    ("quick_gelu", "CLIP"): ("gelu_sigmoid", None),
    ("QuickGELUActivation", "transformers"): ("gelu_sigmoid", None),
    ("NewGELUActivation", "transformers"): ("gelu_tanh", None),
    ("SiLUActivation", "transformers"): ("silu", None),
    ("ReLUSquaredActivation", "transformers"): ("relu2", None),
    ("LaplaceActivation", "transformers"): (None, None),
    ("swish", "TensorFlow"): ("silu", None),
    ("hardswish", "PyTorch"): ("hard_swish", None),
    ("Hardswish", "PyTorch"): ("hard_swish", None),
    ("log_softmax", "PyTorch"): ("log_softmax", None),
    ("ggml_vec_gelu_f32", "ggml"): ("gelu", "float32"),
    ("ggml_vec_gelu_erf_f32", "ggml"): ("gelu", "float32"),
    ("ggml_vec_gelu_quick_f16", "ggml"): ("gelu_sigmoid", "float16"),
    ("ggml_vec_silu_backward_f32", "ggml"): ("silu_grad", "float32"),
    ("xnn_f32_vgelu_ukernel__avx2_rational_12_10_div_u16", "XNNPACK"): ("gelu", "float32"),
    ("xnn_f16_vtanh_ukernel__avx2_expm1minus_rr1_p3h2_div_u8", "XNNPACK"): ("tanh", "float16"),
    ("xnn_f32_vhswish_ukernel__scalar_u4", "XNNPACK"): ("hard_swish", "float32"),
    ("Sleef_expf8_u10avx2", "SLEEF"): ("exp", "float32"),
    ("Sleef_erff4_u10", "SLEEF"): ("erf", "float32"),
    ("_ZGVdN8v_expf", "libmvec"): ("exp", "float32"),
    ("erff", "musl"): ("erf", "float32"),
    ("expm1f", "musl"): ("expm1", "float32"),
    ("exp2f", "musl"): ("exp2", "float32"),
    ("fasttanh", "fastapprox"): ("tanh", None),
    ("fasterexp", "fastapprox"): ("exp", None),
    ("gelu_forward_kernel2", "llm.c"): ("gelu", None),
    ("gelu_backward_kernel", "llm.c"): ("gelu_grad", None),
    ("dgelu", "Transformer Engine"): ("gelu_grad", None),
    ("bias_gelu_back", "Megatron-LM"): ("bias_gelu_grad", None),
    ("d_gelu", ""): ("gelu", None),  # of a device, or in double
    ("gelu_fall_back", ""): ("gelu", None),
    ("gelu_back_end", ""): ("gelu", None),
    ("gelu_dx12", ""): ("gelu", None),
    ("d_gelu_fwd", ""): ("gelu", None),
    ("gelu_dx", ""): ("gelu_grad", None),
    ("gelu_d", ""): ("gelu", None),
    ("GELU_taylor", "CUTLASS"): ("gelu_tanh", None),
    ("addBiasGelu", "FasterTransformer"): ("bias_gelu", None),
    ("LigerSiLUMulFunction", "Liger"): ("swiglu", None),
    ("vsTanh", "MKL"): ("tanh", None),
    ("FastGelu", "ONNX Runtime"): ("gelu_tanh", None),
    ("gelu_with_tanh", ""): ("gelu_tanh", None),
    ("my_half_gelu", ""): ("gelu", None),
    ("gelu_half", ""): ("gelu", "float16"),
    ("my_gelu_f32", ""): ("gelu", "float32"),
    ("convert_f32_f16", ""): (None, None),
    ("gelu_f", ""): ("gelu", None),
    ("gelu_exp", ""): ("exp and gelu", None),
    ("act_fn", ""): (None, None),
    ("sqrt", ""): (None, None),
    ("explode", ""): (None, None),
}


@pytest.mark.parametrize(("symbol", "project"), SYMBOLS)
def test_what_projects_call_their_functions_is_known(symbol, project):
    assert claimed_by(symbol) == SYMBOLS[symbol, project]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_symbol_says_what_it_claims(function):
    assert claimed_by(function) == (function, None)
    if any(each.is_input for each in FUNCTIONS[function].parameters):
        with pytest.raises(UsageError, match=f"says {function} by its name, a function of x and "):
            function_of(function, Asked())
    else:
        assert function_of(function, Asked()) == function
    marks = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "double": "float64", "half": "float16"}
    for mark, dtype in marks.items():
        assert claimed_by(f"{function}_{mark}") == (function, dtype)
    assert function_of(f"{function}_f32", Asked(function="silu")) == "silu"


def test_the_table_has_more_than_names_of_ours():
    assert len(NAMES) >= 100
    assert len({project for _, project in NAMES.values()}) >= 20
    assert all(claimed_by(name) == (function, None) for name, (function, _) in NAMES.items())


@pytest.mark.parametrize(
    ("symbol", "words"),
    [
        ("erfinv", "says erfinv by its name, which is no function here: --function says"),
        ("gelu_exp", "says exp and gelu by its name, which are several functions"),
        ("glu", "says glu by its name, which is no function here"),
        (
            "silu_and_mul",
            r"says swiglu by its name, a function of x and g: --call 'f\(x, g\)' says how it takes g, or --function",
        ),
        ("bias_gelu", "says bias_gelu by its name, a function of x and b"),
    ],
)
def test_a_name_that_says_something_else_is_a_question_and_no_gelu(tmp_path, symbol, words):
    (tmp_path / "f.py").write_text(f"def {symbol}(x):\n    return x\n")
    with pytest.raises(UsageError, match=words):
        targets.select([f"{tmp_path}/f.py:{symbol}"])
    (target,), _ = targets.select([f"{tmp_path}/f.py:{symbol}"], function="relu")
    assert target.function == "relu"


def test_a_python_function_is_tried_in_the_dtype_of_its_name(tmp_path):
    (tmp_path / "f.py").write_text("def my_gelu_f32(x):\n    return x\n")
    (target,), _ = targets.select([f"{tmp_path}/f.py:my_gelu_f32"])
    assert (target.function, target.dtypes) == ("gelu", ("float32",))
