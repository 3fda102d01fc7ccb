"""What libraries compute when nobody says which form: their own call, compared with the exact functions.

Each is asked in a process of its own, `python tools/guide/defaults.py NUMBER`: some do not live together.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from gelu_verify.truth.values import reference

FUNCTIONS = ("gelu", "gelu_tanh", "gelu_sigmoid", "silu")
Call = Callable[[np.ndarray], np.ndarray]


def defaults() -> Iterator[dict[str, Any]]:
    """For each call which function it is closest to, and its largest distance from each on [-4, 4] in float32."""
    for number, (library, call, _) in enumerate(CALLS):
        done = subprocess.run([sys.executable, __file__, str(number)], capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"left out: {call}: {done.stderr.splitlines()[-1:]}")
            continue
        distance = json.loads(done.stdout.splitlines()[-1])
        nearest = min(distance, key=distance.__getitem__)
        yield {
            "library": library,
            "version": _version(library),
            "call": call,
            "function": nearest,
            "distance": distance,
        }


def distances(make: Callable[[], Call]) -> dict[str, float]:
    x = np.linspace(-4, 4, 2049).astype(np.float32)
    y = np.asarray(make()(x), np.float64)
    found = {name: np.abs(y - reference(name, x.astype(np.float64))).max() for name in FUNCTIONS}
    return {name: float(f"{value:.3g}") for name, value in found.items()}


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return version(f"{library}-cpu")


def _torch() -> Call:
    import torch

    return lambda x: torch.nn.functional.gelu(torch.from_numpy(x)).numpy()


def _torch_layer() -> Call:
    import torch

    return lambda x: torch.nn.GELU()(torch.from_numpy(x)).numpy()


def _jax() -> Call:
    import jax

    return lambda x: np.asarray(jax.nn.gelu(x))


def _tensorflow() -> Call:
    import tensorflow as tf

    return lambda x: tf.nn.gelu(x).numpy()


def _keras(path: str) -> Call:
    module, name = path.rsplit(".", 1)
    f = getattr(import_module(module), name)
    return lambda x: np.asarray(f(x))


def _mlx() -> Call:
    import mlx.core as mx
    import mlx.nn as nn

    return lambda x: np.array(nn.gelu(mx.array(x)))


def _tinygrad() -> Call:
    from tinygrad import Tensor

    return lambda x: Tensor(x).gelu().numpy()


def _paddle() -> Call:
    import paddle

    return lambda x: paddle.nn.functional.gelu(paddle.to_tensor(x)).numpy()


def _transformers(name: str) -> Call:
    import torch
    from transformers.activations import ACT2FN

    return lambda x: ACT2FN[name](torch.from_numpy(x)).numpy()


def _onnx(domain: str, op: str) -> Call:
    import onnxruntime
    from onnx import TensorProto, helper

    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in "xy"]
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], domain=domain)], "g", ends[:1], ends[1:])
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return lambda x: session.run(None, {"x": x})[0]


CALLS: tuple[tuple[str, str, Callable[[], Call]], ...] = (
    ("torch", "torch.nn.functional.gelu(x)", _torch),
    ("torch", "torch.nn.GELU()(x)", _torch_layer),
    ("jax", "jax.nn.gelu(x)", _jax),
    ("tensorflow", "tf.nn.gelu(x)", _tensorflow),
    ("keras", "keras.activations.gelu(x)", lambda: _keras("keras.activations.gelu")),
    ("keras", "keras.ops.gelu(x)", lambda: _keras("keras.ops.gelu")),
    ("mlx", "mlx.nn.gelu(x)", _mlx),
    ("tinygrad", "Tensor.gelu()", _tinygrad),
    ("paddlepaddle", "paddle.nn.functional.gelu(x)", _paddle),
    ("onnxruntime", "operator Gelu of ONNX", lambda: _onnx("", "Gelu")),
    ("onnxruntime", "operator com.microsoft.Gelu", lambda: _onnx("com.microsoft", "Gelu")),
    ("onnxruntime", "operator com.microsoft.FastGelu", lambda: _onnx("com.microsoft", "FastGelu")),
    ("onnxruntime", "operator com.microsoft.QuickGelu", lambda: _onnx("com.microsoft", "QuickGelu")),
    *(
        ("transformers", f'ACT2FN["{name}"]', lambda name=name: _transformers(name))
        for name in ("gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "gelu_python", "quick_gelu")
    ),
)


if __name__ == "__main__":
    print(json.dumps(distances(CALLS[int(sys.argv[1])][2])))
