"""Writes the GELUs that ONNX models are made of, as models of one input: python make.py FOLDER [DTYPE]

The operator Gelu of opset 20 in both modes, its function body as the standard expands it, and the patterns that
exporters write and runtimes fuse.
"""

import sys
from math import pi, sqrt
from pathlib import Path

import onnx
from onnx import TensorProto, helper
from onnx.inliner import inline_selected_functions

ELEMENTS = {
    "float16": TensorProto.FLOAT16,
    "bfloat16": TensorProto.BFLOAT16,
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
}


def pattern(*steps):
    """Nodes of (operator, operands, result); a number among the operands is a constant."""
    nodes, constants = [], {}
    for operator, operands, result in steps:
        names = [constants.setdefault(o, f"c{len(constants)}") if isinstance(o, float) else o for o in operands]
        nodes.append(helper.make_node(operator, names, [result]))
    return nodes, constants


def by_erf():
    """torch.onnx of F.gelu before opset 20: Div, Erf, Add, Mul, Mul."""
    return pattern(
        ("Div", ("x", sqrt(2)), "scaled"),
        ("Erf", ("scaled",), "erf"),
        ("Add", ("erf", 1.0), "sum"),
        ("Mul", ("x", "sum"), "product"),
        ("Mul", ("product", 0.5), "y"),
    )


def by_tanh():
    """transformers' gelu_new, which ONNX Runtime fuses to FastGelu."""
    return pattern(
        ("Pow", ("x", 3.0), "cube"),
        ("Mul", ("cube", 0.044715), "bent"),
        ("Add", ("x", "bent"), "sum"),
        ("Mul", ("sum", sqrt(2 / pi)), "u"),
        ("Tanh", ("u",), "tanh"),
        ("Add", ("tanh", 1.0), "gate"),
        ("Mul", ("x", 0.5), "half"),
        ("Mul", ("half", "gate"), "y"),
    )


def by_sigmoid():
    """CLIP's quick_gelu: x Sigmoid(1.702 x)."""
    return pattern(
        ("Mul", ("x", 1.702), "scaled"),
        ("Sigmoid", ("scaled",), "sigmoid"),
        ("Mul", ("x", "sigmoid"), "y"),
    )


def operator(mode):
    return [helper.make_node("Gelu", ["x"], ["y"], approximate=mode)], {}


GRAPHS = {
    "gelu": operator("none"),
    "gelu_tanh": operator("tanh"),
    "gelu_by_erf": by_erf(),
    "gelu_tanh_by_tanh": by_tanh(),
    "gelu_sigmoid_by_sigmoid": by_sigmoid(),
}


def model(graph, dtype):
    nodes, constants = graph
    element = ELEMENTS[dtype]
    body = helper.make_graph(
        nodes,
        "gelu",
        [helper.make_tensor_value_info("x", element, ["n"])],
        [helper.make_tensor_value_info("y", element, ["n"])],
        [helper.make_tensor(name, element, [], [value]) for value, name in constants.items()],
    )
    made = helper.make_model(body, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.checker.check_model(made, full_check=True)
    return made


def write(folder, dtype="float32"):
    folder.mkdir(parents=True, exist_ok=True)
    for name, graph in GRAPHS.items():
        onnx.save(model(graph, dtype), folder / f"{name}.onnx")
    for name in ("gelu", "gelu_tanh"):
        body = inline_selected_functions(model(GRAPHS[name], dtype), [("", "Gelu")], inline_schema_functions=True)
        onnx.save(body, folder / f"{name}_body.onnx")


if __name__ == "__main__":
    write(Path(sys.argv[1]), *sys.argv[2:])
