"""`gelu_verify.torch`: the correctly rounded bits, and everything that PyTorch asks of an operator."""

import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from core_bits import core_bits
from repository import ROOT

from gelu_verify.errors import UsageError
from gelu_verify.truth.correctly_rounded import FUNCTIONS

pytestmark = pytest.mark.frameworks
torch = pytest.importorskip("torch")
ours = pytest.importorskip("gelu_verify.torch")

FORWARD = {
    "gelu": ours.gelu,
    "gelu_tanh": lambda x, **out: ours.gelu(x, "tanh", **out),
    "gelu_sigmoid": ours.gelu_sigmoid,
    "silu": ours.silu,
}
each_function = pytest.mark.parametrize("function", FORWARD)
each_dtype = pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
LAYOUTS = [
    pytest.param(lambda x: x, id="contiguous"),
    pytest.param(lambda x: x[::2], id="strided"),
    pytest.param(lambda x: x.view(20, 50).t(), id="transposed"),
    pytest.param(lambda x: x[:7].expand(5, 7), id="expanded"),
    pytest.param(lambda x: x.view(10, 10, 2, 5).to(memory_format=torch.channels_last), id="channels last"),
    pytest.param(lambda x: x[:0], id="empty"),
    pytest.param(lambda x: x[0], id="scalar"),
]


def some(dtype, n=1000, seed=0):
    values = torch.randn(n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 3
    values[:7] = torch.tensor([0.0, -0.0, torch.inf, -torch.inf, torch.nan, 1e-310, -30.0])
    return values.to(getattr(torch, dtype))


def bits_of(x):
    return (
        x.contiguous()
        .view([torch.int16, torch.int32, torch.int64][x.itemsize.bit_length() - 2])
        .numpy()
        .view(f"u{x.itemsize}")
    )


def correct(function, x):
    return core_bits(function, str(x.dtype).removeprefix("torch."), bits_of(x.detach()))


@each_function
@each_dtype
@pytest.mark.parametrize("layout", LAYOUTS)
def test_results_are_correctly_rounded(function, dtype, layout):
    x = layout(some(dtype))
    y = FORWARD[function](x)
    assert (y.dtype, y.shape, y.stride()) == (x.dtype, x.shape, torch.empty_like(x).stride())
    assert np.array_equal(bits_of(y), correct(function, x))


@each_dtype
def test_out(dtype):
    x = some(dtype)
    want, out = correct("gelu", x), torch.empty_like(x)
    assert ours.gelu(x, out=out) is out
    assert np.array_equal(bits_of(out), want)
    ours.gelu(x, out=x)
    assert np.array_equal(bits_of(x), want)


@pytest.mark.parametrize("threads", [2, 3])
@each_dtype
def test_large_tensors_are_shared_among_threads(dtype, threads, monkeypatch):
    x, parts = some(dtype, 3 * ours.SHARE + 5), []
    pool = ours._pool(os.getpid())
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    monkeypatch.setattr(
        pool, "submit", lambda f, a, out, submit=pool.submit: parts.append(len(a)) or submit(f, a, out=out)
    )
    y = ours.gelu(x)
    assert len(parts) == threads - 1
    assert np.array_equal(bits_of(y), correct("gelu", x))


@each_function
@each_dtype
def test_a_gradient_is_the_derivative_times_the_incoming_one(function, dtype):
    x, grad = some(dtype).requires_grad_(), some(dtype, seed=1)
    (found,) = torch.autograd.grad(FORWARD[function](x), x, grad)
    derivative = torch.from_numpy(correct(f"{function}_grad", x).view(f"i{x.itemsize}")).view(x.dtype)
    assert torch.equal(found.nan_to_num(7), (grad * derivative).nan_to_num(7))


def test_several_gradients_at_once():
    x = some("float32", 30).requires_grad_()
    incoming = torch.eye(30)
    (rows,) = torch.autograd.grad(ours.gelu(x), x, incoming, is_grads_batched=True)
    derivative = torch.ops.gelu_verify.gelu_grad(x.detach())
    assert torch.equal(rows.nan_to_num(7), (incoming * derivative).nan_to_num(7))


@each_function
def test_gradcheck(function):
    x = (torch.randn(30, dtype=torch.float64, generator=torch.Generator().manual_seed(3)) * 2).requires_grad_()
    assert torch.autograd.gradcheck(FORWARD[function], x)


def test_there_is_no_second_derivative():
    x = torch.ones(3, requires_grad=True)
    (first,) = torch.autograd.grad(ours.gelu(x).sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="no second derivatives"):
        first.sum().backward()


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_opcheck(function, layout):
    operators = torch.ops.gelu_verify
    for dtype in ("bfloat16", "float32"):
        x = layout(some(dtype).nan_to_num(1, 1, 1))
        gradient = not function.endswith("_grad")  # which has none
        torch.library.opcheck(getattr(operators, function).default, (x.clone().requires_grad_(gradient),))
        torch.library.opcheck(getattr(operators, f"{function}_out").default, (x, torch.empty_like(x)))


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # torch's own
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compile_has_no_graph_break(backend):
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: ours.GELU("tanh")(x) + ours.silu(x), fullgraph=True, backend=backend)
    for n in (10, 17):
        x, same = (some("float32", n).requires_grad_() for _ in range(2))
        y, want = compiled(x), ours.gelu(same, "tanh") + ours.silu(same)
        assert torch.equal(y.nan_to_num(7), want.nan_to_num(7))
        grads = [
            torch.autograd.grad(z.nan_to_num(0).sum(), leaf)[0].nan_to_num(7) for z, leaf in ((y, x), (want, same))
        ]
        assert torch.equal(*grads)


def test_export_vmap_and_meta_tensors():
    x = some("float32")
    graph = torch.export.export(ours.GELU(), (x,)).graph
    assert [node.target for node in graph.nodes if node.op == "call_function"] == [torch.ops.gelu_verify.gelu.default]
    assert torch.equal(torch.func.vmap(ours.silu, 1)(x[10:].view(10, 99)).t(), ours.silu(x[10:].view(10, 99)))
    assert ours.gelu(torch.empty(3, 4, device="meta")).shape == (3, 4)


def test_the_module_takes_the_place_of_torchs():
    for approximate, function in (("none", "gelu"), ("tanh", "gelu_tanh")):
        module, x = ours.GELU(approximate), some("float32")
        assert repr(module) == repr(torch.nn.GELU(approximate))
        assert isinstance(module, torch.nn.GELU)
        assert np.array_equal(bits_of(pickle.loads(pickle.dumps(module))(x)), correct(function, x))


def test_flushing_of_subnormals_changes_nothing():
    x = torch.tensor([1e-39, -12.9])
    want = bits_of(ours.gelu(x))
    assert torch.set_flush_denormal(True)
    try:
        got = bits_of(ours.gelu(x))
    finally:
        torch.set_flush_denormal(False)
    assert np.array_equal(got, want)
    assert want[0] != 0


class OfADevice(torch.Tensor):
    device = torch.device("cuda")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: ours.gelu(torch.ones(3).as_subclass(OfADevice)),
            "input is on cuda: gelu_verify.torch computes on the CPU",
        ),
        (lambda: ours.gelu(torch.ones(3, dtype=torch.int64)), "input is torch.int64; accepted: torch.float16, "),
        (lambda: ours.gelu([1.0]), r"input is list \(accepted: torch.Tensor\)"),
        (lambda: ours.gelu(input=torch.ones(2), out=[1.0]), r"out is list \(accepted: torch.Tensor\)"),
        (lambda: ours.silu(torch.ones(3, dtype=torch.complex64)), "input is torch.complex64"),
        (lambda: ours.gelu(torch.ones(3), "sigmoid"), "unknown approximate 'sigmoid'"),
        (
            lambda: ours.gelu(torch.ones(3), out=torch.ones(4)),
            r"out is torch.float32 \(4,\) on cpu, input torch.float32 \(3,\)",
        ),
        (lambda: ours.gelu(torch.ones(3), out=torch.ones(3, dtype=torch.float64)), "out is torch.float64"),
        (lambda: ours.gelu(torch.ones(3, requires_grad=True), out=torch.ones(3)), "use torch.no_grad"),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises(UsageError, match=words):
        call()


def test_torch_is_imported_only_where_it_is_asked_for():
    code = "import sys, gelu_verify, gelu_verify.ufunc, gelu_verify.cli; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-P", "-c", code], check=True)


def test_without_torch_the_error_says_what_to_install():
    code = "import sys; sys.modules['torch'] = None; import gelu_verify.torch"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert "pip install 'gelu-verify[torch]'" in done.stderr.splitlines()[-1]


def test_the_examples_of_the_page_run():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "use.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        subprocess.run([sys.executable, "-P", "-c", block], check=True)


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning", "ignore:Attempted to insert")  # torch's own
@pytest.mark.parametrize("dtype", ours.DTYPES)
@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_forward_mode_and_torch_func_have_the_derivative_of_backward(approximate, dtype):
    x, along = torch.linspace(-4, 4, 9, dtype=dtype), torch.linspace(1, 2, 9, dtype=dtype)
    module, leaf = ours.GELU(approximate), x.clone().requires_grad_()
    module(leaf).backward(along)
    want, slope = bits_of(leaf.grad), torch.func.jacrev(module)(x)

    def dual():
        with torch.autograd.forward_ad.dual_level():
            return torch.autograd.forward_ad.unpack_dual(module(torch.autograd.forward_ad.make_dual(x, along))).tangent

    def inner(v):
        return torch.func.jvp(lambda w: w * module(v), (x,), (along,))[1]

    along_x = {
        "jvp": torch.func.jvp(module, (x,), (along,))[1],
        "vjp": torch.func.vjp(module, x)[1](along)[0],
        "linearize": torch.func.linearize(module, x)[1](along),
        "dual": dual(),
    }
    for how, got in along_x.items():
        assert np.array_equal(bits_of(got), want), how
    ones = torch.ones_like(x)
    plain = torch.func.vjp(module, x)[1](ones)[0]
    assert torch.equal(torch.func.jvp(inner, (x,), (ones,))[1], along * plain)  # the outer one of two
    for each in (torch.func.jacfwd(module)(x).diagonal(), slope.diagonal(), torch.vmap(torch.func.grad(module))(x)):
        assert torch.equal(each, plain)


def test_what_has_no_derivative_is_an_error_and_no_zero():
    x = torch.ones(2)
    for call in (
        lambda: torch.func.hessian(lambda v: ours.gelu(v).sum())(x),
        lambda: torch.func.jvp(lambda v: torch.func.jvp(ours.gelu, (v,), (x,))[1], (x,), (x,)),
        lambda: torch.func.jvp(torch.func.grad(lambda v: ours.silu(v).sum()), (x,), (x,)),
    ):
        with pytest.raises(NotImplementedError, match="no second derivatives"):
            call()
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, x)
        for call in (lambda: ours.gelu(dual, out=torch.empty(2)), lambda: torch.ops.gelu_verify.gelu(dual)):
            with pytest.raises(NotImplementedError, match="no forward-mode derivatives"):
                call()


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_a_compiled_function_loses_no_derivative(monkeypatch):
    x = torch.ones(2)

    def both(v):
        return torch.func.jvp(ours.gelu, (v,), (v,))

    torch._dynamo.reset()
    got = torch.compile(both, backend="eager")(x)
    assert torch.equal(got[1], both(x)[1])
    torch._dynamo.reset()
    with pytest.raises(Exception, match="no forward-mode derivatives"):
        torch.compile(both, backend="eager", fullgraph=True)(x)
