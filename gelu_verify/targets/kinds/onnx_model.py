"""An ONNX model: "model.onnx", "model.onnx:onnxruntime", "model.onnx:openvino"."""

from __future__ import annotations

from .base import Kind, of_a_file, when_named

KIND = Kind(
    name="ONNX model",
    syntax={
        "model.onnx": "in each runtime that is installed; --call and --kwarg for more inputs and outputs",
        "model.onnx:onnxruntime": "in this one; or openvino",
    },
    pattern=of_a_file("onnx", "runtime"),
    load=when_named("_onnx_model"),
    options=frozenset({"call", "kwargs"}),
)
