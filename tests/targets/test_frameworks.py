"""The framework adapters: every path is found, computes what it says, keeps bits, and may be called from threads.

A framework that is not installed is skipped, unless GELU_VERIFY_REQUIRE names it (a comma-separated list of
families, or "frameworks" for all): then it fails.
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from families import ON_REQUEST, found, marked
from marking import nightly

from gelu_verify import targets
from gelu_verify.errors import TargetFailure
from gelu_verify.formats import DTYPES, get_format
from gelu_verify.functions import FUNCTIONS
from gelu_verify.machine import machine
from gelu_verify.targets.arrays import get_kind
from gelu_verify.targets.python_callables import callable_target
from gelu_verify.truth.values import judge, reference

PATHS = {
    "torch": """gelu gelu-strided gelu-nomkldnn gelu-in_float32 gelu-in_float64 gelu_tanh-in_float32
        gelu_tanh-in_float64 silu-in_float32 silu-in_float64 gelu_tanh gelu_tanh-strided silu silu-strided
        gelu-erf gelu-erfc gelu-ndtr gelu-log_ndtr gelu_tanh-eager gelu_sigmoid silu-eager
        gelu_grad gelu_grad-nomkldnn gelu_grad-strided gelu_tanh_grad gelu_tanh_grad-strided silu_grad silu_grad-strided
        gelu_grad-erf gelu_grad-erfc
        gelu_grad-ndtr gelu_grad-log_ndtr gelu_tanh_grad-eager gelu_sigmoid_grad silu_grad-eager
        relu elu erf erfc normcdf tanh sigmoid exp log""",
    "jax": """gelu gelu-jit gelu-in_float32 gelu_tanh-in_float32 silu-in_float32
        gelu_tanh gelu_tanh-jit gelu_sigmoid gelu_sigmoid-jit silu silu-jit gelu-normcdf gelu-logcdf
        gelu_grad-jit gelu_tanh_grad-jit gelu_sigmoid_grad-jit silu_grad-jit
        relu elu erf erfc normcdf tanh sigmoid exp log""",
    "onnxruntime": """gelu gelu-contrib gelu-erf gelu-fused gelu-body gelu-body_fused
        gelu_tanh gelu_tanh-fastgelu gelu_tanh-body
        gelu_sigmoid gelu_sigmoid-sigmoid silu silu-quickgelu silu-sigmoid relu elu erf tanh sigmoid exp""",
    "openvino": "gelu gelu_tanh gelu_sigmoid silu relu elu erf tanh sigmoid exp",
    "tensorflow": """gelu gelu_tanh gelu_sigmoid silu gelu-erf gelu-jit gelu_tanh-jit gelu_sigmoid-jit silu-jit
        gelu_grad gelu_grad-jit gelu_tanh_grad gelu_tanh_grad-jit gelu_sigmoid_grad gelu_sigmoid_grad-jit
        silu_grad silu_grad-jit relu elu erf erfc tanh sigmoid exp""",
}


def errors(target, dtype, x_bits):
    return judge(target.function, dtype, x_bits, target.evaluate(dtype, x_bits)).error


def largest(target, dtype, x_bits):
    return np.nanmax(np.abs(errors(target, dtype, x_bits)))


def line(dtype, low, high, n=20_001):
    return np.linspace(low, high, n).astype(dtype).view(get_format(dtype).uint)


EVERY_16 = np.arange(1 << 16, dtype=np.uint16)


@pytest.mark.parametrize("family", marked((*PATHS, *ON_REQUEST)))
def test_every_path_is_found(family):
    here = found(family)
    assert set(here) == set((PATHS | ON_REQUEST)[family].split())
    for path, target in here.items():
        assert target.function in FUNCTIONS
        assert path.partition("-")[0] == target.function or family == "huggingface"  # which has names of its own
        assert "float32" in target.dtypes or path.endswith("-in_float32")
        assert set(target.dtypes) <= set(DTYPES)
        assert target.form
        assert target.note
        assert target.version


@pytest.mark.few(1)
@pytest.mark.parametrize("family", marked((*PATHS, *ON_REQUEST)))
def test_every_path_computes_its_function(family):
    """Where nothing cancels: another variant of GELU is thousands of ulp away."""
    x = line("float32", 0.25, 4, 997)
    for path, target in found(family).items():
        assert largest(target, "float32", x) < 64, path


@pytest.mark.few(1)
@pytest.mark.parametrize("every", [False, *nightly(True)])
@pytest.mark.parametrize("family", marked(PATHS))
def test_any_dtype_any_input(family, every):
    """No warning (they are errors here) and no exception on any kind of input, in any dtype offered.

    Each path is compiled for each dtype: where not `every` one is taken, one in one dtype, the next in the next.
    """
    for k, target in enumerate(found(family).values()):
        for dtype in target.dtypes if every else [target.dtypes[k % len(target.dtypes)]]:
            fmt = get_format(dtype)
            x = np.random.default_rng(33).integers(0, 1 << fmt.width, 33, fmt.uint)
            x[:3] = fmt.infinity, fmt.sign_mask | fmt.infinity, fmt.nan
            assert target.evaluate(dtype, x).shape == x.shape


@pytest.mark.parametrize("family", marked(ON_REQUEST))
def test_another_thread_gives_the_same_bits(family):
    """A run calls them one at a time, but not from the thread that found them."""
    x = line("float32", -3, 3, 100)
    for target in found(family).values():
        with ThreadPoolExecutor(1) as other:
            y = other.submit(target.evaluate, "float32", x).result()
        np.testing.assert_array_equal(y, target.evaluate("float32", x), err_msg=target.name)


@pytest.mark.parametrize("family", marked(PATHS))
def test_threads_give_the_same_bits(family):
    """Whichever path runs beside which: state that is global to a framework must not leak between them."""
    work = [(target, line("float32", low, low + 3, 997)) for target in found(family).values() for low in (-6, -3, 0)]
    alone = [target.evaluate("float32", x) for target, x in work]
    order = np.random.default_rng(1).permutation(len(work))
    with ThreadPoolExecutor(4) as pool:
        together = dict(zip(order, pool.map(lambda i: work[i][0].evaluate("float32", work[i][1]), order), strict=True))
    for i, (target, _) in enumerate(work):
        np.testing.assert_array_equal(together[i], alone[i], err_msg=target.name)


@pytest.mark.nightly
@pytest.mark.parametrize("family", marked(PATHS))
def test_nothing_reaches_the_terminal(family):
    found(family)
    code = (
        "import numpy as np; from gelu_verify.targets import find\n"
        f"for target in find([{family!r}])[0]:\n"
        "    target.evaluate('float32', np.arange(5, dtype='u4'))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize("family", marked(("torch", "jax", "tensorflow")))
@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_keep_their_bits(family, dtype):
    found(family)
    kind, fmt = get_kind(family), get_format(dtype)
    x = EVERY_16 if fmt.width == 16 else np.random.default_rng(0).integers(0, 1 << fmt.width, 10_000, fmt.uint)
    with kind.session(dtype):
        name, back = kind.to_bits(kind.from_bits(dtype, x))
    assert name == dtype
    np.testing.assert_array_equal(back, x)


@pytest.mark.parametrize("family", marked(("torch", "jax", "tensorflow")))
def test_callables_of_a_framework_get_its_arrays(family):
    found(family)
    name = {"torch": "torch.nn.functional:gelu", "jax": "jax.nn:gelu", "tensorflow": "tensorflow.nn:gelu"}[family]
    (target,), _ = targets.select([name], kwargs={"approximate": "tanh" if family == "torch" else True})
    assert f"{family} arrays" in target.note
    x = line("float32", 0.25, 4, 997)
    assert np.abs(judge("gelu_tanh", "float32", x, target.evaluate("float32", x)).error).max() < 64
    assert target.dtypes == DTYPES
    assert target.evaluate("float64", line("float64", -1, 1, 9)).dtype == np.uint64
    other, _ = targets.select([name], dtype="float32", array="numpy")
    assert "numpy arrays" in other[0].note


# ---- facts that are known of these versions -----------------------------------------------------


@pytest.mark.frameworks
def test_torch_cancels_in_the_tail():
    torch = found("torch")
    assert largest(torch["gelu"], "float32", line("float32", -8, 8)) > 1.6e7
    assert 8e15 < largest(torch["gelu"], "float64", line("float64", -37, 8, 1001)) < 1e16
    assert 250 < largest(torch["gelu"], "bfloat16", np.arange(0xBF80, 0xC160, dtype=np.uint16)) < 256  # -1 .. -14
    assert 1 < largest(torch["gelu"], "float16", np.arange(0xBC00, 0xC600, dtype=np.uint16)) < 3  # -1 .. -6
    assert largest(torch["gelu-erfc"], "float32", line("float32", -14, 8)) < 250


@pytest.mark.frameworks
def test_torch_zero_and_minus_infinity():
    gelu, fmt = found("torch")["gelu"], get_format("float32")
    x = line("float32", -7, -1, 60_001)
    y = gelu.evaluate("float32", x)
    zero_from = x.view("f4")[(y & 0x7FFFFFFF) == 0].max()
    low, high = (-5.50, -5.49) if "avx512f" in machine()["isa"] else (-5.56, -5.53)
    assert low < zero_from < high
    infinity = np.array([fmt.infinity | fmt.sign_mask], fmt.uint)
    assert fmt.is_nan(int(gelu.evaluate("float32", infinity)[0]))


@pytest.mark.frameworks
def test_torch_paths_differ_and_the_switch_is_restored():
    import torch

    paths, x = found("torch"), line("float32", -6, 6, 1027)
    fused, strided, off = (paths[path].evaluate("float32", x) for path in ("gelu", "gelu-strided", "gelu-nomkldnn"))
    assert torch._C._get_mkldnn_enabled()
    assert (fused != strided).any()
    if torch.backends.mkldnn.is_available():
        assert (fused != off).any()
    plain = torch.nn.functional.gelu(torch.from_numpy(x.view("f4")))
    np.testing.assert_array_equal(plain.numpy().view("u4"), fused)  # out= takes the same path


@pytest.mark.frameworks
@pytest.mark.parametrize(
    ("name", "dtype"), [("gelu", "float32"), ("gelu-in_float32", "bfloat16"), ("geglu", "float32")]
)
def test_torch_switch_does_not_leak_between_threads(name, dtype):
    """Large enough that one thread computes while another has oneDNN switched off."""
    (geglu,), _ = targets.find(["torch"], function="geglu")
    paths, x = {**found("torch"), "geglu": geglu}, line(dtype, -6, 6, 100_001)
    pair = [paths[name], paths["gelu-nomkldnn"]]
    alone = [target.evaluate(dtype, x) for target in pair]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda target: target.evaluate(dtype, x), pair * 20))
    for i, y in enumerate(together):
        np.testing.assert_array_equal(y, alone[i % 2])


@pytest.mark.frameworks
def test_torch_tensors_that_are_not_plain():
    found("torch")
    import torch

    x = line("float32", -1, 1, 9)
    learned = torch.nn.PReLU()
    assert callable_target(learned, dtype="float32").evaluate("float32", x).shape == x.shape  # requires grad
    flipped = callable_target(lambda t: torch.flip(t, [0]), dtype="float32", array="torch")
    np.testing.assert_array_equal(flipped.evaluate("float32", x), x[::-1])
    for compute, message in (
        (torch.Tensor.half, "returned float16 where bfloat16"),
        (torch.Tensor.to_sparse, "torch.sparse_coo"),
        (lambda t: t.to(torch.complex64), "returned complex64 where bfloat16"),
    ):
        with pytest.raises(TargetFailure, match=message):
            callable_target(compute, dtype="bfloat16", array="torch").evaluate("bfloat16", np.zeros(3, np.uint16))


def test_jax_loses_the_tanh_form_in_bfloat16():
    jax = found("jax")
    x = np.array([0xC043, 0xC044], np.uint16)  # -3.046875, -3.0625
    assert (jax["gelu_tanh"].evaluate("bfloat16", x) == 0x8000).tolist() == [False, True]
    assert largest(jax["gelu"], "float32", line("float32", -5, 8)) < 40


def test_jax_float64_is_float64_and_leaves_the_switch_alone():
    jax = found("jax")
    import jax.numpy as jnp

    before = jnp.ones(1).dtype
    assert largest(jax["gelu-jit"], "float64", line("float64", -3, 3)) < 100
    assert jnp.ones(1).dtype == before


def test_onnxruntime_tanh_form_is_positive_for_negative_inputs():
    x = line("float32", -5.155, -4.927)
    y = found("onnxruntime")["gelu_tanh"].evaluate("float32", x)
    assert (y.view("f4") > 0).any()


def test_onnxruntime_fuses_the_exported_graph():
    paths, x = found("onnxruntime"), line("float32", -6, 6, 1027)
    fused, contrib, unfused = (
        paths[path].evaluate("float32", x) for path in ("gelu-fused", "gelu-contrib", "gelu-erf")
    )
    np.testing.assert_array_equal(fused, contrib)
    assert (fused != unfused).any()


def test_onnxruntime_offers_what_the_provider_has_kernels_for():
    paths = found("onnxruntime")
    assert paths["gelu"].dtypes == ("float16", "float32")
    assert "float64" in paths["gelu_tanh"].dtypes
    assert largest(paths["gelu_tanh"], "float64", line("float64", -2, 2)) > 1e6  # float32 constants


@pytest.mark.frameworks
def test_openvino_computes_float64_in_float32():
    paths = found("openvino")
    assert largest(paths["gelu"], "float64", line("float64", 0.5, 2)) > 1e6
    assert largest(paths["gelu"], "float32", line("float32", -8, 8)) > 1.6e7


@pytest.mark.frameworks
def test_openvino_does_not_report_home(monkeypatch):
    monkeypatch.delitem(sys.modules, "openvino_telemetry", raising=False)  # blocked by a worker in this process
    found("openvino")
    assert sys.modules.get("openvino_telemetry", sys) is sys  # neither imported nor left blocked


@pytest.mark.frameworks
def test_tensorflow_by_erfc_keeps_the_tail():
    paths = found("tensorflow")
    x = line("float32", -8, 8)
    assert largest(paths["gelu"], "float32", x) < 100
    assert largest(paths["gelu-erf"], "float32", x) > 1.6e7


# ---- families on request ------------------------------------------------------------------------


def test_families_on_request_are_found_when_all_is_asked_for(monkeypatch):
    looked = []
    monkeypatch.setattr(targets, "_discovered", lambda family, *_: looked.append(family) or ((), {}))
    _, absent = targets.find()
    assert {"published", "ptx", *ON_REQUEST} == {family for family, why in absent.items() if why == targets.OPT_IN}
    assert not {"published", "mlx", "paddle"} & set(looked)
    looked.clear()
    targets.find(everything=True)
    assert {"published", "mlx", "paddle"} <= set(looked)
    assert looked.index("paddle") < looked.index("tensorflow")  # the other way round the process ends


@pytest.mark.frameworks
def test_compiled_functions_are_never_run_eagerly():
    """Each dtype is a compilation of one code object, and dynamo's limit of 8 would silently fall back."""
    paths = found("torch_compiled")
    import torch

    paths["gelu"].evaluate("float32", line("float32", -1, 1, 9))
    assert torch._dynamo.config.recompile_limit > len(paths) * len(DTYPES)


@pytest.mark.frameworks
def test_litert_default_and_builtin_kernels_differ():
    paths = found("litert")
    x = np.float16([-4]).view(np.uint16)
    assert paths["gelu"].evaluate("float16", x)[0] == 0x8000  # XNNPACK, zero from -3.4
    assert paths["gelu-builtin"].evaluate("float16", x)[0] != 0x8000


@pytest.mark.frameworks
def test_keras_defaults_are_two_functions():
    paths, x = found("keras"), line("float32", 2.6, 2.8, 99)
    assert largest(paths["gelu"], "float32", x) < 8
    assert paths["gelu_tanh-ops"].form.endswith("its default")


@pytest.mark.frameworks
@pytest.mark.parametrize("family", ["torch", "jax"])
@pytest.mark.parametrize(
    ("function", "count"),
    [
        ("gelu[mu=0.5,sigma=1/3]", 2), ("gelu_grad[mu=0.5,sigma=1/3]", 2), ("gelu_grad_mu", 2),
        ("gelu_grad_sigma[mu=0.5,sigma=1/3]", 2), ("silu[beta=1.7]", 1), ("silu_grad_beta[beta=1.7]", 1),
        ("elu[alpha=1.3]", 1), ("elu_grad[alpha=1.3]", 1), ("cauchy_unit_grad", 1), ("softplus", 1), ("mish_grad", 1),
        ("relu2", 1),
    ],
)  # fmt: skip
def test_functions_with_parameters_are_made_when_they_are_asked_for(family, function, count):
    """They get their parameters, in the order of the definition: with others, results differ in the first digit."""
    found, absent = targets.find([family], function=function, dtype="float32")
    if family in absent:
        pytest.skip(absent[family])
    assert [target.function for target in found] == [function] * count
    x = np.array([-1.5, -0.75, 1.0, 2.0], np.float32)
    want = reference(function, x)
    for target in found:
        got = target.evaluate("float32", x.view(np.uint32)).view(np.float32)
        assert np.allclose(got, want, rtol=1e-3, atol=1e-6), target.name
