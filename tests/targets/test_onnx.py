"""ONNX model files: the models of examples/onnx in each runtime, and every misuse named."""

import runpy
import subprocess
import sys
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest
import requiring
from foreign import bits, some_bits
from hypothesis import given
from hypothesis import strategies as st
from repository import ROOT

from gelu_verify import targets, verify
from gelu_verify.errors import MissingMeasurement, TargetFailure, TargetUnavailable, UsageError
from gelu_verify.formats import DTYPES, get_format, numpy_dtype
from gelu_verify.targets.frameworks import onnxruntime_
from gelu_verify.targets.importing import missing
from gelu_verify.targets.kinds import _onnx_model as onnx_model
from gelu_verify.targets.onnx_format import signature
from gelu_verify.truth.values import judge

onnx = requiring.module("onnx")
TensorProto, helper = onnx.TensorProto, onnx.helper

MAKE = runpy.run_path(str(ROOT / "examples" / "onnx" / "make.py"))
CLAIMS = {  # model: what it computes
    "gelu": "gelu",
    "gelu_body": "gelu",
    "gelu_by_erf": "gelu",
    "gelu_tanh": "gelu_tanh",
    "gelu_tanh_body": "gelu_tanh",
    "gelu_tanh_by_tanh": "gelu_tanh",
    "gelu_sigmoid_by_sigmoid": "gelu_sigmoid",
}
RUNTIMES = [
    "onnxruntime",
    pytest.param("openvino", marks=pytest.mark.frameworks),
]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folders = {}
    for dtype in ("float16", "float32", "float64"):
        folders[dtype] = tmp_path_factory.mktemp(dtype)
        MAKE["write"](folders[dtype], dtype)
    return folders


def chosen(path, runtime="onnxruntime", **options):
    (target,), _ = targets.select([f"{path}:{runtime}"], **options)
    return target


def model(path, *, inputs=("x",), outputs=("y",), shape=("n",), element=TensorProto.FLOAT, given=None, nodes=None):
    """A model with that border; its body is one Relu of the first input."""
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        nodes or [helper.make_node("Relu", [inputs[0]], [name]) for name in outputs],
        "border",
        [info(name, element, shape) for name in inputs],
        [info(name, given or element, shape) for name in outputs],
    )
    onnx.save(helper.make_model(body, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)
    return path


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("name", CLAIMS)
def test_the_examples_compute_what_they_say(models, name, runtime):
    target = chosen(models["float32"] / f"{name}.onnx", runtime, function=CLAIMS[name])
    result = verify(target, CLAIMS[name], "float32", "landmarks")
    assert result.record.variant == CLAIMS[name]
    x = np.linspace(0.25, 4, 997, dtype=np.float32).view(np.uint32)
    assert np.abs(judge(CLAIMS[name], "float32", x, target.evaluate("float32", x)).error).max() < 16


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_another_variant_is_seen(models, runtime):
    target = chosen(models["float32"] / "gelu_tanh.onnx", runtime, function="gelu")
    result = verify(target, "gelu", "float32", "landmarks")
    assert result.record.variant == "gelu_tanh"
    assert "variant" in result.failed_checks


def test_its_description(models):
    path = models["float16"] / "gelu_by_erf.onnx"
    target = chosen(path)
    assert (target.function, target.dtypes, target.family) == ("gelu", ("float16",), "callable")
    assert target.form == "Div Erf Add Mul Mul"
    assert target.version.startswith("onnxruntime 1.")
    assert "sha256:" in target.version
    assert chosen(models["float64"] / "gelu_tanh.onnx").function == "gelu_tanh"  # as the file is called
    assert chosen(models["float64"] / "gelu_tanh_body.onnx").form.endswith(" ...")


def test_the_function_body_is_what_the_operator_stands_for(models):
    """In float64, where the runtime has no kernel of its own for the tanh mode, they are the same to the bit."""
    x = some_bits("float64", 4096)
    x = x[np.isfinite(x.view("f8"))]
    node, body = (chosen(models["float64"] / f"gelu_tanh{tail}.onnx") for tail in ("", "_body"))
    np.testing.assert_array_equal(node.evaluate("float64", x), body.evaluate("float64", x))


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(
    "shape", [("n",), (1, "n"), ("batch", 8), ("a", "b", 3), None, (2, -1), (), (8,), (1, 16), (2, 3, 1, 4)]
)
@pytest.mark.parametrize("n", [1, 8, 13, 1000])
def test_any_number_of_values_fits_every_shape(tmp_path, runtime, shape, n):
    """Fixed dimensions are filled up, and what fills them is not given back; a fixed shape is run in batches."""
    path = model(tmp_path / "shaped.onnx", shape=shape)
    if runtime == "openvino" and shape in (None, (2, -1)):
        pytest.skip("OpenVINO takes such a shape as it stands")
    x = np.random.default_rng(n).normal(size=n).astype(np.float32).view(np.uint32)
    got = chosen(path, runtime, function="relu").evaluate("float32", x)
    np.testing.assert_array_equal(got.view("f4"), np.maximum(x.view("f4"), 0))


def test_every_runtime_that_is_there_runs_it(models, monkeypatch):
    path = models["float32"] / "gelu.onnx"

    def absent(*_):
        raise TargetUnavailable("openvino is not installed")

    monkeypatch.setattr(onnx_model, "imported_openvino", absent)
    found, _ = targets.select([str(path)])
    assert [target.name for target in found] == [f"{path}:onnxruntime"]
    with pytest.raises(MissingMeasurement, match=r"gelu.onnx:openvino was asked for, but openvino is not installed"):
        targets.select([f"{path}:openvino"])


@pytest.mark.frameworks
def test_both_runtimes_run_it(models):
    path = models["float32"] / "gelu.onnx"
    found, _ = targets.select([str(path)])
    assert [target.name for target in found] == [f"{path}:onnxruntime", f"{path}:openvino"]


def test_a_runtime_that_does_not_load_a_model_is_left_out(tmp_path):
    path = tmp_path / "bfloat16.onnx"
    onnx.save(MAKE["model"](MAKE["GRAPHS"]["gelu"], "bfloat16"), path)
    with pytest.raises(UsageError, match=r"is not loaded: onnxruntime: .*Could not find an implementation"):
        chosen(path)
    if missing("openvino"):
        return
    found, left_out = targets.select([str(path)])
    assert [target.name for target in found] == [f"{path}:openvino"]
    (reason,) = left_out.values()
    assert list(left_out) == [f"{path}:onnxruntime"]
    assert "Could not find an implementation" in reason


@pytest.mark.parametrize(
    ("border", "message"),
    [
        ({"inputs": ("x", "bias")}, r"has 2 inputs \(x, bias\); accepted is a model of one input .*--kwarg NAME=V"),
        ({"outputs": ("y", "z")}, r"has 2 outputs \(y, z\); accepted is one: --call 'f\(x\)\[.NAME.\]' says which"),
        ({"element": TensorProto.INT64}, "takes int64 .accepted: float32, float16, float64, bfloat16"),
        ({"given": TensorProto.DOUBLE}, "takes float32 and gives float64; accepted is one dtype for both"),
        ({"shape": ("n", 0)}, r"the input x of .* is of the shape \[None, 0\], which holds no values"),
    ],
)
def test_another_border_is_refused(tmp_path, border, message):
    path = model(tmp_path / "border.onnx", **border)
    with pytest.raises(UsageError, match=message):
        targets.select([str(path)])


def test_what_takes_two_inputs_in_one_says_how_that_is_said(tmp_path):
    path = model(tmp_path / "swiglu.onnx")
    with pytest.raises(UsageError, match=r"has one input \(x\), and --call 'f\(x, g\)' .*'f\(packed\(x, g\)\)' says"):
        targets.select([str(path)], call="f(x, g)", function="swiglu")


def test_a_border_without_inputs_is_refused(tmp_path):
    body = helper.make_graph([], "empty", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])])
    onnx.save(helper.make_model(body), tmp_path / "empty.onnx")
    with pytest.raises(UsageError, match=r"empty\.onnx has no input: its outputs are constants"):
        targets.select([str(tmp_path / "empty.onnx")])


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("{folder}/absent.onnx", {}, "^no such file: .*absent.onnx"),
        ("{folder}/gelu.onnx:ort", {}, "unknown runtime of .*gelu.onnx 'ort' .accepted: onnxruntime, openvino"),
        ("{folder}/text.onnx", {}, "text.onnx is not an ONNX model"),
        ("{folder}/none.onnx", {}, "none.onnx is not an ONNX model"),
        ("{folder}/half.onnx", {}, "half.onnx is not an ONNX model"),
        ("{folder}/gelu.onnx", {"dtype": "float64"}, "computes float64"),
    ],
)
def test_misuse_is_named(models, name, options, message):
    folder = models["float32"]
    (folder / "text.onnx").write_text("<html>")
    (folder / "none.onnx").write_bytes(b"")
    (folder / "half.onnx").write_bytes((folder / "gelu.onnx").read_bytes()[:-40])
    with pytest.raises(UsageError, match=message):
        targets.select([name.format(folder=folder)], **options)


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "random.onnx"
    path.write_bytes(content)
    with suppress(UsageError):  # nothing else is raised
        assert signature(path, "random.onnx").inputs is not None


def test_the_signature_is_what_onnx_says(models):
    for path in models["float16"].glob("*.onnx"):
        graph, found = onnx.load(path).graph, signature(path, path.name)
        for values, infos in ((found.inputs, graph.input), (found.outputs, graph.output)):
            assert [value.name for value in values] == [info.name for info in infos]
            assert [value.element for value in values] == [info.type.tensor_type.elem_type for info in infos]
            assert [value.shape for value in values] == [(None,)]
        assert list(found.operators) == [node.op_type for node in graph.node]


def test_initializers_are_no_inputs(tmp_path):
    """As files before IR version 4 list them."""
    info = helper.make_tensor_value_info
    scale = helper.make_tensor("scale", TensorProto.FLOAT, [], [0.5])
    body = helper.make_graph(
        [helper.make_node("Mul", ["x", "scale"], ["y"])],
        "old",
        [info("x", TensorProto.FLOAT, ["n"]), info("scale", TensorProto.FLOAT, [])],
        [info("y", TensorProto.FLOAT, ["n"])],
        [scale],
    )
    onnx.save(helper.make_model(body, opset_imports=[helper.make_opsetid("", 13)], ir_version=3), tmp_path / "old.onnx")
    assert chosen(tmp_path / "old.onnx").evaluate("float32", bits("float32", "3")) == bits("float32", "1.5")


# ---- fixed shapes, more inputs and outputs, weights beside the model --------------------------------


def saved(path, inputs, outputs, nodes, initializers=(), opsets=(("", 20),)):
    """A model file of these (name, element, shape) and nodes."""
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "more", [info(*i) for i in inputs], [info(*o) for o in outputs], initializers)
    opset_imports = [helper.make_opsetid(*pair) for pair in opsets]
    onnx.save(helper.make_model(graph, opset_imports=opset_imports, ir_version=10), path)
    return path


def scaled(path):
    """y = alpha x and z = |x|, of x and a required input alpha."""
    nodes = [helper.make_node("Mul", ["x", "alpha"], ["y"]), helper.make_node("Abs", ["x"], ["z"])]
    f = TensorProto.FLOAT
    return saved(path, [("x", f, ("n",)), ("alpha", f, (1,))], [("y", f, ("n",)), ("z", f, ("n",))], nodes)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_every_answer_of_a_fixed_shape_is_judged(tmp_path, runtime):
    """A model that errs in its last element only, which a run of ordinary numbers there would hide."""
    mask = helper.make_tensor("mask", TensorProto.FLOAT, [4], [1, 1, 1, 1.5])
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Mul", ["r", "mask"], ["y"])]
    border = [("x", TensorProto.FLOAT, (4,))], [("y", TensorProto.FLOAT, (4,))]
    result = verify(chosen(saved(tmp_path / "relu.onnx", *border, nodes, [mask]), runtime), "relu", "float32", "quick")
    assert result.max_ulp > 1e6
    assert result.failure is None
    assert "in batches of shape [4]" in result.record.note


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_reshaped_result_is_the_same_values(tmp_path, runtime):
    shape = helper.make_tensor("s", TensorProto.INT64, [1], [-1])
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Reshape", ["r", "s"], ["y"])]
    x = np.arange(-5, 6, dtype=np.float32)
    for takes, gives in (((2, 3), (6,)), ((1, "n"), ("n",))):
        border = [("x", TensorProto.FLOAT, takes)], [("y", TensorProto.FLOAT, gives)]
        target = chosen(saved(tmp_path / "flat.onnx", *border, nodes, [shape]), runtime)
        np.testing.assert_array_equal(target.evaluate("float32", x.view("u4")).view("f4"), np.maximum(x, 0))


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(("takes", "gives"), [((3, 4), (4, 3)), (("n", 4), (4, "n")), ((1, 3, 4), (4, 1, 3))])
def test_values_in_another_order_are_not_taken_for_wrong_ones(tmp_path, runtime, takes, gives):
    order = [takes.index(each) for each in gives]
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Transpose", ["r"], ["y"], perm=order)]
    border = [("x", TensorProto.FLOAT, takes)], [("y", TensorProto.FLOAT, gives)]
    target = chosen(saved(tmp_path / "turned.onnx", *border, nodes), runtime)
    with pytest.raises(TargetFailure, match=r"returned shape \(.*\) for an input of shape \("):
        target.evaluate("float32", np.arange(-6, 6, dtype=np.float32).view("u4"))


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(
    ("last", "found"),
    [("ReduceSum(r)", (1,)), ("Slice(r, zero, three)", (3,)), ("Unsqueeze(r, zero)", None), ("Identity(r)", None)],
)
def test_the_shape_of_a_result_is_the_one_that_is_returned(tmp_path, runtime, last, found):
    """Also where the model says nothing of its output."""
    numbers = [helper.make_tensor(name, TensorProto.INT64, [1], [n]) for name, n in (("zero", 0), ("three", 3))]
    operator, _, operands = last.removesuffix(")").partition("(")
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node(operator, operands.split(", "), ["y"])]
    border = [("x", TensorProto.FLOAT, ("n",))], [("y", TensorProto.FLOAT, None)]
    target = chosen(saved(tmp_path / "ends.onnx", *border, nodes, numbers), runtime)
    x = np.arange(-5, 6, dtype=np.float32)
    if found is None:
        np.testing.assert_array_equal(target.evaluate("float32", x.view("u4")).view("f4"), np.maximum(x, 0))
        return
    with pytest.raises(TargetFailure, match=rf"returned shape \({found[0]},\) for an input of shape \(11,\)"):
        target.evaluate("float32", x.view("u4"))


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(
    ("options", "want"),
    [
        ({"kwargs": {"alpha": 0.5}, "call": "f(x)['y']"}, [-1.0, 1.5]),
        ({"call": "f(x, alpha=2)[0]"}, [-4.0, 6.0]),
        ({"call": "f(x=x, alpha=[2])['z']"}, [2.0, 3.0]),
        ({"call": "f(**{'x': x, 'alpha': -1})['y']"}, [2.0, -3.0]),
        ({"call": "f(alpha=x, x=[3])['y']"}, [-6.0]),
    ],
)
def test_inputs_and_outputs_are_declared(tmp_path, runtime, options, want):
    target = chosen(scaled(tmp_path / "scaled.onnx"), runtime, **options)
    x = np.array([-2, 3], np.float32)[: len(want)]
    assert target.evaluate("float32", x.view("u4")).view("f4").tolist() == want
    assert "alpha" in target.note


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"has 2 inputs \(x, alpha\)"),
        ({"kwargs": {"alpha": 1}}, r"has 2 outputs \(y, z\)"),
        ({"kwargs": {"beta": 1}}, r"unknown input of .* 'beta' .accepted: x, alpha"),
        ({"call": "f(x, alpha=1)['w']"}, r"unknown output of .* 'w' .accepted: y, z"),
        ({"call": "f(x, alpha=1)[2]"}, r"has no output 2 .accepted: 0 to 1"),
        ({"call": "f(x, alpha=[1, 2])['y']"}, r"alpha of .* is float32 of shape \[1\]; \[1, 2\] is not"),
        ({"call": "f(x, alpha='a')['y']"}, r"alpha of .* is float32 of shape \[1\]; 'a' is not"),
        ({"call": "f(x, x)"}, r"cannot be used for a model .accepted: f.x, alpha"),
        ({"call": "g(x)"}, "cannot be used for a model"),
        ({"call": "f(x"}, "cannot be used for a model"),
        ({"call": "f(x, alpha=y)"}, "cannot be used for a model"),
    ],
)
def test_what_a_model_has_not_is_refused(tmp_path, options, message):
    with pytest.raises(UsageError, match=message):
        chosen(scaled(tmp_path / "scaled.onnx"), **options)


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("seed", range(8))
def test_an_input_that_is_as_long_as_x_is_filled(tmp_path, runtime, seed):
    """x + b with b = 0.25, of random shapes: what both call "n" is of one size, and other free dimensions are 1."""
    rng = np.random.default_rng(seed)
    shape = [("n", 3, "m", "", 1)[k] for k in rng.permutation(5)[: rng.integers(1, 5)]]
    of_b = [size if rng.integers(3) else ("other", 1)[rng.integers(2)] for size in shape][rng.integers(len(shape)) :]
    of = {name: [None if size == "" else size for size in sizes] for name, sizes in (("x", shape), ("b", of_b))}
    f, add = TensorProto.FLOAT, helper.make_node("Add", ["x", "b"], ["y"])
    path = saved(tmp_path / "sum.onnx", [("x", f, of["x"]), ("b", f, of["b"])], [("y", f, of["x"])], [add])
    target = chosen(path, runtime, call="f(x, b=0.25)")
    x_shape = tuple(rng.integers(2, 9, len(shape)).tolist())
    due = [x_shape[shape.index(size)] if size in ("n", "m") else size if size == 3 else 1 for size in of_b]
    assert target.constants[0].beside(x_shape).shape == tuple(due)
    for n in (1, 3, 7):
        x = np.arange(n, dtype=np.float32)
        np.testing.assert_array_equal(target.evaluate("float32", x.view("u4")).view("f4"), x + np.float32(0.25))


def test_an_input_that_is_as_long_as_x_takes_one_number(tmp_path):
    f, add = TensorProto.FLOAT, helper.make_node("Add", ["x", "b"], ["y"])
    path = saved(tmp_path / "sum.onnx", [("x", f, ("n",)), ("b", f, ("n",))], [("y", f, ("n",))], [add])
    with pytest.raises(UsageError, match=r"b of .* is as long as x \(n\); \[0, 1\] is not .accepted: one number"):
        chosen(path, call="f(x, b=[0, 1])")


def test_constants_keep_their_dtype(tmp_path):
    """An integer input takes integers only; 0.1 is rounded once to float16."""
    nodes = [helper.make_node("Cast", ["k"], ["c"], to=10), helper.make_node("Mul", ["x", "c"], ["m"]),
             helper.make_node("Mul", ["m", "h"], ["y"])]  # fmt: skip
    half = TensorProto.FLOAT16
    border = [("x", half, ("n",)), ("k", TensorProto.INT64, ()), ("h", half, ())], [("y", half, ("n",))]
    path = saved(tmp_path / "typed.onnx", *border, nodes)
    got = chosen(path, kwargs={"k": 2, "h": 0.1}).evaluate("float16", bits("float16", "1")).view("f2")
    assert got == np.float16(2) * np.float16(0.1)
    with pytest.raises(UsageError, match=r"k of .* is int64 of shape \[\]; 0.5 is not"):
        chosen(path, kwargs={"k": 0.5, "h": 0.1})


@pytest.mark.parametrize("where", ["initializer", "branch"])
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_version_is_of_the_weights_too(tmp_path, runtime, where):
    """Weights lie in a file of their own where a model is large, and that file can change alone."""
    weight = helper.make_tensor("w", TensorProto.FLOAT, [4], [2] * 4)
    weight.ClearField("float_data")
    weight.raw_data = np.full(4, 2, np.float32).tobytes()
    onnx.external_data_helper.set_external_data(weight, "weights.bin")
    weight.ClearField("raw_data")
    (tmp_path / "weights.bin").write_bytes(np.full(4, 2, np.float32).tobytes())
    path, border = tmp_path / "weighed.onnx", ([("x", 1, (4,))], [("y", 1, (4,))])
    if where == "initializer":
        saved(path, *border, [helper.make_node("Mul", ["x", "w"], ["y"])], [weight])
    else:
        info = helper.make_tensor_value_info
        body = helper.make_graph(
            [helper.make_node("Mul", ["x", "w"], ["z"])], "then", [], [info("z", 1, (4,))], [weight]
        )
        other = helper.make_graph([helper.make_node("Neg", ["x"], ["z"])], "else", [], [info("z", 1, (4,))])
        yes = helper.make_tensor("yes", TensorProto.BOOL, [], [True])
        node = helper.make_node("If", ["yes"], ["y"], then_branch=body, else_branch=other)
        saved(path, *border, [node], [yes])
    before = chosen(path, runtime)
    assert before.evaluate("float32", bits("float32", "3")) == bits("float32", "6")
    (tmp_path / "weights.bin").write_bytes(np.full(4, 5, np.float32).tobytes())
    after = chosen(path, runtime)
    assert after.version != before.version
    assert after.evaluate("float32", bits("float32", "3")) == bits("float32", "15")
    (tmp_path / "weights.bin").unlink()
    with pytest.raises(UsageError, match=r"has weights in weights\.bin, and there is no such file beside it"):
        chosen(path, runtime)


def test_a_model_that_changes_after_it_was_named_is_not_run(tmp_path):
    path = model(tmp_path / "relu.onnx")
    target = chosen(path, function="relu")
    model(path, nodes=[helper.make_node("Neg", ["x"], ["y"])])
    assert target.evaluate("float32", bits("float32", "3")) == bits("float32", "3")
    target.opened.cache_clear()
    with pytest.raises(TargetFailure, match=r"relu\.onnx was changed while it was measured"):
        target.evaluate("float32", bits("float32", "3"))


def test_operators_of_another_domain_are_not_judged(tmp_path):
    border = [("x", 1, ("n",))], [("y", 1, ("n",))]
    node = helper.make_node("FancyGelu", ["x"], ["y"], domain="my.company")
    path = saved(tmp_path / "custom.onnx", *border, [node], opsets=(("", 20), ("my.company", 1)))
    with pytest.raises(UsageError, match=r"custom\.onnx is not loaded: onnxruntime: .*FancyGelu"):
        chosen(path)


# ---- models that are written without the package onnx --------------------------------------------


def made_by_onnx(graph, dtype):
    """What `onnxruntime_.model` writes, by the helpers of onnx."""
    element, nodes, constants = helper.np_dtype_to_tensor_dtype(numpy_dtype(dtype)), [], []
    for step in graph.steps:
        names = [operand if isinstance(operand, str) else f"c{len(constants)}" for operand in step.operands]
        for name, operand in zip(names, step.operands, strict=True):
            if isinstance(operand, float):
                raw = get_format(dtype).uint.type(get_format(dtype).round(Fraction(operand))).tobytes()
                constants.append(helper.make_tensor(name, element, [], raw, raw=True))
        given = {name: TensorProto.FromString(v) if isinstance(v, bytes) else v for name, v in step.attributes}
        nodes.append(helper.make_node(step.op, names, [step.result], domain=step.domain, **given))
    x, y = (helper.make_tensor_value_info(name, element, ["n"]) for name in "xy")
    opsets = [helper.make_opsetid("", graph.opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(helper.make_graph(nodes, "path", [x], [y], constants), opset_imports=opsets, ir_version=10)


@pytest.mark.parametrize("dtype", DTYPES)
def test_models_are_written_as_onnx_writes_them(dtype):
    for name, _, _, _, graph in onnxruntime_.PATHS:
        assert onnx.load_from_string(onnxruntime_.model(graph, dtype)) == made_by_onnx(graph, dtype), name


def structure(nodes):
    """Operators, where their inputs come from, and their constants: whatever the values are called."""
    made, found = {}, []
    for node in nodes:
        found.append((
            node.op_type,
            [made.get(name, name.lower()) for name in node.input],
            [onnx.numpy_helper.to_array(attribute.t).tolist() for attribute in node.attribute],
        ))  # fmt: skip
        made[node.output[0]] = len(found)
    return found


@pytest.mark.parametrize(("steps", "mode"), [("BODY_ERF", "none"), ("BODY_TANH", "tanh")])
def test_the_function_bodies_are_those_of_the_operator_set(steps, mode):
    schema = onnx.defs.get_schema("Gelu", 20)
    node = helper.make_node("Gelu", ["x"], ["y"], approximate=mode)
    kind = helper.make_tensor_type_proto(TensorProto.FLOAT, ["n"])
    body = schema.get_context_dependent_function(node.SerializeToString(), [kind.SerializeToString()])
    graph = onnxruntime_.Graph(getattr(onnxruntime_, steps))
    ours = onnx.load_from_string(onnxruntime_.model(graph, "float32")).graph.node
    assert structure(ours) == structure(onnx.FunctionProto.FromString(body).node)


def test_the_family_needs_onnxruntime_only():
    code = """import sys
sys.modules["onnx"] = None
from gelu_verify.targets import find
found, absent = find(["onnxruntime"], dtype="float32")
assert len(found) > 15, absent"""
    subprocess.run([sys.executable, "-P", "-c", code], check=True)


def gated(path, shape, of_g, nodes=(("Sigmoid", ["x"], ["s"]), ("Mul", ["x", "s"], ["a"]), ("Mul", ["a", "g"], ["y"]))):
    info = helper.make_tensor_value_info
    inputs = [info("x", TensorProto.FLOAT, shape), info("g", TensorProto.FLOAT, of_g)]
    body = helper.make_graph(
        [helper.make_node(*each) for each in nodes], "gated", inputs, [info("y", TensorProto.FLOAT, shape)]
    )
    onnx.save(helper.make_model(body, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)
    return path


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(("shape", "of_g"), [(["n"], ["n"]), ([2, 8], [2, 8]), (["n", 4], ["n", 4]), ([1, "n"], ["n"])])
@pytest.mark.parametrize("call", ["f(x, g)", "f(g=g, x=x)"])
def test_one_of_two_inputs_is_the_second_one(tmp_path, runtime, shape, of_g, call):
    path = gated(tmp_path / "swiglu.onnx", shape, of_g)
    target = chosen(path, runtime, call=call)
    assert (target.function, target.second, target.one_second) == ("swiglu", "g", len(shape) != len(of_g))
    x, g = bits("float32", *map(str, range(-8, 9))), bits("float32", "2", "-0.5", "3")
    for values in (g[:1],) if target.one_second else (g, g[:1]):
        got = target.with_second("swiglu", tuple(values.tolist())).evaluate("float32", x).view(np.float32)
        number = x.view(np.float32)
        due = number / (1 + np.exp(-number)) * np.resize(values.view(np.float32), len(x))
        assert np.allclose(got, due, rtol=1e-3)  # ONNX Runtime's Sigmoid is off by 2e-4


def both_in_one(path, shape, of_y, how):
    """swiglu of one input that holds x and g, on its last axis: one behind the other, or in turn."""
    info, constant = helper.make_tensor_value_info, onnx.numpy_helper.from_array
    numbers = {"zero": [0], "one": [1], "last": [-1], "two": [2], "end": [np.iinfo(np.int64).max]}
    slices = [
        helper.make_node("Slice", ["x", start, "end", "last", "two"], [name])
        for name, start in (("a", "zero"), ("b", "one"))
    ]
    split = [helper.make_node("Split", ["x"], ["a", "b"], axis=-1, num_outputs=2)]
    steps = (("Sigmoid", ["a"], ["s"]), ("Mul", ["a", "s"], ["t"]), ("Mul", ["t", "b"], ["y"]))
    body = helper.make_graph(
        [*(split if how == "packed" else slices), *(helper.make_node(*each) for each in steps)], "both",
        [info("x", TensorProto.FLOAT, shape)], [info("y", TensorProto.FLOAT, of_y)],
        [constant(np.array(value, np.int64), name) for name, value in numbers.items()],
    )  # fmt: skip
    onnx.save(helper.make_model(body, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)
    return path


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(
    ("shape", "of_y"), [(["n"], ["m"]), ([2, 8], [2, 4]), (["n", 6], ["n", 3]), (["n", "m"], ["n", "k"])]
)
@pytest.mark.parametrize("call", ["f(packed(x, g))", "f(x=interleaved(x, g))"])
def test_one_input_takes_both(tmp_path, runtime, shape, of_y, call):
    how = call.partition("(x")[0].rpartition("=")[2].removeprefix("f(")
    target = chosen(both_in_one(tmp_path / "swiglu.onnx", shape, of_y, how), runtime, call=call)
    assert (target.function, target.second, target.one_second) == ("swiglu", "g", False)
    x, g = bits("float32", *map(str, range(-8, 9))), bits("float32", "2", "-0.5", "3")
    got = target.with_second("swiglu", tuple(g.tolist())).evaluate("float32", x).view(np.float32)
    number = x.view(np.float32)
    due = number / (1 + np.exp(-number)) * np.resize(g.view(np.float32), len(x))
    assert np.allclose(got, due, rtol=1e-3)


@pytest.mark.parametrize(
    "call",
    [
        "f(packed(x))",
        "f(packed(x, g), x)",
        "f(packed(x, z))",
        "f(packed(x, x))",
        "f(packed(g, g))",
        "f(packed(x, g), packed(x, g))",
    ],
)
def test_what_packs_otherwise_is_refused(tmp_path, call):
    path = both_in_one(tmp_path / "swiglu.onnx", ["n"], ["m"], "packed")
    with pytest.raises(UsageError, match=r"cannot be used for a model .*f\(packed\(x, g\)\)"):
        chosen(path, call=call)
    with pytest.raises(UsageError, match="7 values in a row, and cannot hold two inputs"):
        chosen(both_in_one(tmp_path / "odd.onnx", [7], [3], "packed"), call="f(packed(x, g))", function="swiglu")


def test_a_model_of_two_inputs_is_asked_which_takes_what(tmp_path):
    path = gated(tmp_path / "swiglu.onnx", ["n"], ["n"])
    with pytest.raises(UsageError, match=r"'f\(x, g\)' that one takes g"):
        chosen(path)
    with pytest.raises(UsageError, match="no second input b"):
        chosen(path, call="f(x=x, g=b)")
    with pytest.raises(UsageError, match="cannot be used for a model"):
        chosen(path, call="f(x, y)")
