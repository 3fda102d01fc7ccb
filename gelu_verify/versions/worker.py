"""Calls one release of a library, in an environment that has nothing of gelu-verify in it: NumPy and that library.

A program over a pipe (docs/targets.md): a frame is the number of its values in 8 bytes, then their bits; it answers
with a frame of as many. A number with its highest bit set is the length of a message in JSON instead, which is answered
by one: `open` says which expression of `x`, or which model, the frames that follow are for; `digest` asks for the
sha256 of the outputs for all inputs of spans of ordinals, which then need not pass the pipe.

It runs under every Python from 3.8 on.
"""

import ast
import base64
import hashlib
import importlib
import json
import os
import sys

import numpy

MESSAGE = 1 << 63
SHORT, LONG = 1 << 16, 1 << 20  # inputs of a call for a digest: two lengths, as some libraries compile for each
TYPES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}  # of OpenVINO
WIDTHS = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}


def unsigned(dtype):
    return numpy.dtype(f"u{WIDTHS[dtype] // 8}")


def numpy_dtype(dtype):
    if dtype != "bfloat16":
        return numpy.dtype(dtype)
    return numpy.dtype(importlib.import_module("ml_dtypes").bfloat16)


class Arrays:
    """Arrays of NumPy, and of whatever takes and gives them."""

    modules = ("numpy",)

    def __init__(self):
        for module in self.modules:
            try:
                importlib.import_module(module)
            except ImportError:
                if module == self.modules[0]:
                    raise
        self.names = {
            module.partition(".")[0]: sys.modules[module.partition(".")[0]]
            for module in self.modules
            if module in sys.modules
        }
        self.names["gradient"] = self.gradient

    def enter(self, dtype):
        """Before anything in a dtype."""

    def array(self, dtype, bits):
        return bits.view(numpy_dtype(dtype))

    def bits(self, dtype, y):
        y = numpy.asarray(y)
        if y.dtype != numpy_dtype(dtype):
            raise TypeError(f"returned {y.dtype} where {dtype} was expected")
        return numpy.ascontiguousarray(y).view(unsigned(dtype))

    def gradient(self, function):
        raise TypeError("it has no gradients")

    def function(self, expression):
        return compiled(expression, self.names)

    def model(self, model, dtype):
        raise TypeError("it runs no models")


class Scipy(Arrays):
    modules = ("scipy.special", "scipy", "numpy")


class Torch(Arrays):
    modules = ("torch",)

    def __init__(self):
        super().__init__()
        self.torch = self.names["torch"]
        self.torch.set_num_threads(1)
        self.takes_gradient = False

    def array(self, dtype, bits):
        signed = numpy.array(bits).view(f"i{bits.itemsize}")
        x = self.torch.from_numpy(signed).view(getattr(self.torch, dtype))
        return x.requires_grad_() if self.takes_gradient else x

    def bits(self, dtype, y):
        if str(y.dtype) != f"torch.{dtype}":
            raise TypeError(f"returned {y.dtype} where {dtype} was expected")
        signed = y.detach().contiguous().view(getattr(self.torch, f"int{WIDTHS[dtype]}"))
        return signed.numpy().view(unsigned(dtype))

    def function(self, expression):
        self.takes_gradient = "autograd" in expression
        return super().function(expression)


class Jax(Arrays):
    modules = ("jax", "jax.scipy.stats")

    def enter(self, dtype):
        self.names["jax"].config.update("jax_enable_x64", dtype == "float64")

    def array(self, dtype, bits):
        return self.names["jax"].numpy.asarray(super().array(dtype, bits))


class Tensorflow(Arrays):
    modules = ("tensorflow",)

    def array(self, dtype, bits):
        tf = self.names["tensorflow"]
        x = tf.constant(bits.view(f"i{bits.itemsize}"))
        return tf.bitcast(x, getattr(tf, dtype))

    def bits(self, dtype, y):
        tf = self.names["tensorflow"]
        if y.dtype != getattr(tf, dtype):
            raise TypeError(f"returned {y.dtype.name} where {dtype} was expected")
        return tf.bitcast(y, getattr(tf, f"int{WIDTHS[dtype]}")).numpy().view(unsigned(dtype))

    def function(self, expression):
        """With XLA traced once for each dtype, whatever the length: else it is traced anew for each."""
        compute = super().function(expression)
        if not hasattr(compute, "get_concrete_function"):
            return compute
        tf, traced = self.names["tensorflow"], {}

        def call(x):
            if x.dtype not in traced:
                traced[x.dtype] = compute.get_concrete_function(tf.TensorSpec([None], x.dtype))
            return traced[x.dtype](x)

        return call

    def gradient(self, function):
        def backward(x):
            with self.names["tensorflow"].GradientTape() as tape:
                tape.watch(x)
                y = function(x)
            return tape.gradient(y, x)

        return backward


class Paddle(Arrays):
    modules = ("paddle",)

    def array(self, dtype, bits):
        x = bits if dtype == "bfloat16" else super().array(dtype, bits)  # its bfloat16 is NumPy's uint16
        return self.names["paddle"].to_tensor(x)

    def bits(self, dtype, y):
        if str(y.dtype) != f"paddle.{dtype}":
            raise TypeError(f"returned {y.dtype} where {dtype} was expected")
        return y.detach().numpy().view(unsigned(dtype))

    def gradient(self, function):
        paddle = self.names["paddle"]

        def backward(x):
            leaf = x.detach()
            leaf.stop_gradient = False
            return paddle.grad(function(leaf), leaf, paddle.ones_like(x))[0]

        return backward


class Mlx(Arrays):
    modules = ("mlx.core", "mlx.nn")

    def __init__(self):
        super().__init__()
        self.core = self.names["mlx"].core
        self.core.set_default_device(self.core.cpu)

    def array(self, dtype, bits):
        return self.core.array(bits).view(getattr(self.core, dtype))

    def bits(self, dtype, y):
        if str(y.dtype) != f"mlx.core.{dtype}":
            raise TypeError(f"returned {y.dtype} where {dtype} was expected")
        self.core.eval(y)
        return numpy.array(y.view(getattr(self.core, unsigned(dtype).name)))

    def gradient(self, function):
        """Operation by operation."""

        def backward(x):
            self.core.disable_compile()
            try:
                y = self.core.grad(lambda x: function(x).sum())(x)
                self.core.eval(y)
            finally:
                self.core.enable_compile()
            return y

        return backward


class Onnxruntime(Arrays):
    modules = ("onnxruntime",)
    element_of_bfloat16 = 16

    def array(self, dtype, bits):
        return bits

    def bits(self, dtype, y):
        return y

    def model(self, model, dtype):
        ort = self.names["onnxruntime"]
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        if not model["optimize"]:
            options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        content = base64.b64decode(model["content"])
        session = ort.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        element = self.element_of_bfloat16 if dtype == "bfloat16" else numpy_dtype(dtype)

        def run(bits):
            x, y = numpy.require(bits, requirements="W"), numpy.empty_like(bits)
            binding = session.io_binding()
            binding.bind_input("x", "cpu", 0, element, x.shape, x.ctypes.data)
            binding.bind_output("y", "cpu", 0, element, y.shape, y.ctypes.data)
            session.run_with_iobinding(binding)
            return y

        return run


class Openvino(Arrays):
    """An expression of a node, with the newest set of operators that the release has."""

    modules = ("openvino", "openvino.runtime")
    opsets = ("openvino.opset13", *(f"openvino.runtime.opset{n}" for n in range(13, 6, -1)))

    def __init__(self):
        sys.modules["openvino_telemetry"] = None  # else importing it reports home
        super().__init__()
        self.ov = self.names["openvino"]
        if not hasattr(self.ov, "Core"):
            self.ov = importlib.import_module("openvino.runtime")
        for name in self.opsets:
            try:
                self.ops = importlib.import_module(name)
                break
            except ImportError:
                continue

    def array(self, dtype, bits):
        return bits

    def bits(self, dtype, y):
        return y

    def model(self, model, dtype):
        element = getattr(self.ov.Type, TYPES[dtype])
        ops = self.ops
        x = ops.parameter([-1], element, name="x")
        text = model["expression"].replace("swish(x)", "swish(x, openvino.opset13.constant(1, x.get_element_type()))")
        names = {"openvino": type("openvino", (), {"opset13": ops})}
        node = eval(f"lambda x: {text}", names)(x)
        settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
        described = self.ov.Model([node], [x], "path")
        try:
            compiled = self.ov.Core().compile_model(described, "CPU", settings)
        except Exception:  # noqa: BLE001 - releases before 2023.1 know neither
            compiled = self.ov.Core().compile_model(described, "CPU", {})
        returned = compiled.output(0).get_element_type().get_type_name()
        if returned != TYPES[dtype]:
            raise TypeError(f"returned {returned} where {dtype} was expected")

        def run(bits):
            x, y = numpy.require(bits, requirements="W"), numpy.empty_like(bits)
            shape = self.ov.Shape(list(x.shape))
            request = compiled.create_infer_request()
            request.set_input_tensor(0, self.ov.Tensor(x, shape, element))
            request.set_output_tensor(0, self.ov.Tensor(y, shape, element))
            request.infer()
            return y

        return run


class Litert(Arrays):
    """A model of one operator, written anew for every length."""

    modules = ("ai_edge_litert.interpreter", "ai_edge_litert.schema_py_generated", "flatbuffers")

    def bits(self, dtype, y):
        return y

    def array(self, dtype, bits):
        return bits

    def model(self, model, dtype):
        litert, interpreters = sys.modules["ai_edge_litert.interpreter"], {}

        def interpreter_of(size):
            resolver = getattr(litert.OpResolverType, model["resolver"])
            made = litert.Interpreter(
                model_content=self.written(model, dtype, size), experimental_op_resolver_type=resolver, num_threads=1
            )
            made.allocate_tensors()
            return made

        def run(bits):
            if bits.size not in interpreters:
                interpreters.clear()
                interpreters[bits.size] = interpreter_of(bits.size)
            interpreter = interpreters[bits.size]
            interpreter.set_tensor(interpreter.get_input_details()[0]["index"], bits.view(numpy_dtype(dtype)))
            interpreter.invoke()
            y = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
            return Arrays.bits(self, dtype, y)

        return run

    def written(self, model, dtype, size):
        if "ai_edge_litert.schema_py_generated" not in sys.modules:
            raise TypeError("it has no schema_py_generated, by which models are written")
        schema, flatbuffers = sys.modules["ai_edge_litert.schema_py_generated"], sys.modules["flatbuffers"]
        code = schema.OperatorCodeT()
        code.builtinCode = getattr(schema.BuiltinOperator, model["operator"])
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        code.version = 1
        node = schema.OperatorT()
        node.opcodeIndex, node.inputs, node.outputs = 0, [0], [1]
        if model["options"]:
            node.builtinOptionsType = getattr(schema.BuiltinOptions, model["options"])
            node.builtinOptions = getattr(schema, f"{model['options']}T")()
            node.builtinOptions.approximate = model["approximate"]
        graph, tensors = schema.SubGraphT(), []
        for name in (b"x", b"y"):
            tensor = schema.TensorT()
            tensor.name, tensor.shape, tensor.buffer = name, [size], 0
            tensor.type = getattr(schema.TensorType, dtype.upper())
            tensors.append(tensor)
        graph.tensors, graph.inputs, graph.outputs, graph.operators, graph.name = tensors, [0], [1], [node], b"path"
        whole = schema.ModelT()
        whole.version, whole.description = 3, b""
        whole.buffers, whole.operatorCodes, whole.subgraphs = [schema.BufferT()], [code], [graph]
        builder = flatbuffers.Builder(1024)
        builder.Finish(whole.Pack(builder), b"TFL3")
        return bytes(builder.Output())


class Package(Arrays):
    """A function of somebody's own package, `module:function`, on arrays of NumPy."""

    modules = ()

    def function(self, expression):
        module, _, name = expression.partition(":")
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found


class TorchPackage(Torch):
    """The same, on tensors of torch."""

    function = Package.function


LIBRARIES = {
    "numpy": Arrays,
    "scipy": Scipy,
    "torch": Torch,
    "jax": Jax,
    "tensorflow": Tensorflow,
    "paddle": Paddle,
    "mlx": Mlx,
    "onnxruntime": Onnxruntime,
    "openvino": Openvino,
    "litert": Litert,
    "package": Package,
    "package-torch": TorchPackage,
}


def compiled(expression, names):
    """The function that an expression applies to x as a whole, made once; else the function of x that it is."""
    tree = ast.parse(expression, mode="eval").body
    is_of_x = isinstance(tree, ast.Call) and [getattr(each, "id", "") for each in tree.args] == ["x"]
    if is_of_x and not tree.keywords and not speaks_of_x(tree.func):
        return eval(compile(ast.Expression(tree.func), "expression", "eval"), dict(names))
    return eval(f"lambda x: {expression}", dict(names))


def speaks_of_x(tree):
    """Whether an x is in it that is no argument of a function inside of it."""
    if isinstance(tree, ast.Lambda):
        return False
    return getattr(tree, "id", "") == "x" or any(map(speaks_of_x, ast.iter_child_nodes(tree)))


class _Worker:
    def __init__(self, library):
        self.library = LIBRARIES[library]()
        self.dtype = self.compute = None

    def answer(self, message):
        if "open" in message:
            return self.open(**message["open"])
        if "start" in message:
            return {}
        return {"digests": [self.digest(first, last) for first, last in message["digest"]]}

    def open(self, dtype, n=16, expression="", model=None):
        """Choose what is called; it is tried on n numbers."""
        self.dtype = dtype
        self.library.enter(dtype)
        self.compute = self.library.model(model, dtype) if model else self.library.function(expression)
        wide = numpy.linspace(-2, 2, n)
        single = wide.astype("float32").view("u4")
        probe = {16: single >> 16, 32: single, 64: wide.view("u8")}[WIDTHS[dtype]]
        self.outputs(probe.astype(unsigned(dtype)))
        return {}

    def outputs(self, bits):
        y = self.library.bits(self.dtype, self.compute(self.library.array(self.dtype, bits)))
        if y.shape != bits.shape:
            raise TypeError(f"returned shape {y.shape} for {bits.shape}")
        return y

    def digest(self, first, last):
        found, width, kind = hashlib.sha256(), WIDTHS[self.dtype], unsigned(self.dtype)
        while first <= last:
            size = LONG if last - first + 1 >= LONG else min(SHORT, last - first + 1)
            ordinals = numpy.arange(first, first + size, dtype=numpy.int64)
            bits = numpy.where(ordinals < 0, (1 << (width - 1)) - 1 - ordinals, ordinals).astype(kind)
            found.update(self.outputs(bits))
            first += size
        return found.hexdigest()


def read(file, size):
    """So many bytes; ends the program where the input ends."""
    parts = bytearray()
    while len(parts) < size:
        part = file.read(size - len(parts))
        if not part:
            sys.exit(0)
        parts += part
    return bytes(parts)


def main():
    pipe_in, pipe_out = os.fdopen(os.dup(0), "rb", 1 << 20), os.fdopen(os.dup(1), "wb", 1 << 20)
    os.dup2(2, 1)  # what libraries print is no answer
    library = sys.argv[1]
    worker = None
    while True:
        n = int.from_bytes(read(pipe_in, 8), "little")
        if n & MESSAGE:
            message = json.loads(read(pipe_in, n ^ MESSAGE))
            try:
                worker = worker or _Worker(library)
                answer = worker.answer(message)
            except Exception as error:  # noqa: BLE001 - whatever a library raises is an answer
                lines = str(error).strip().splitlines() or ["(no message)"]
                answer = {"error": f"{type(error).__name__}: {lines[0][:300]}"}
            content = json.dumps(answer).encode()
            pipe_out.write((len(content) | MESSAGE).to_bytes(8, "little") + content)
        else:
            kind = unsigned(worker.dtype)
            bits = numpy.frombuffer(read(pipe_in, n * kind.itemsize), kind)
            y = numpy.ascontiguousarray(worker.outputs(bits))
            pipe_out.write(n.to_bytes(8, "little") + y.tobytes())
        pipe_out.flush()


if __name__ == "__main__":
    main()
