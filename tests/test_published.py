"""The re-implementations of src/published/: each against a second writing of its formula in exact arithmetic, against
the library itself where that installs, and with the fault that it is known for."""

import ctypes
import ctypes.util
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from gelu_verify import targets
from gelu_verify.formats import from_ordinals, get_format, numpy_dtype, values
from gelu_verify.kernels.published import PUBLISHED, run
from gelu_verify.machine import provenance
from gelu_verify.reference import judge, reference_bits

HEADERS = Path(__file__).parent.parent / "src" / "published"
LIBM = ctypes.CDLL(ctypes.util.find_library("m"))
EVERY_16 = np.arange(1 << 16, dtype=np.uint16)


def answer(name, dtype, x_bits):
    out = np.empty_like(x_bits)
    run(name, dtype, x_bits, out)
    return out


def at(name, dtype, *numbers):
    """What it answers at those numbers, as float64."""
    x = np.array(numbers).astype(numpy_dtype(dtype)).view(get_format(dtype).uint)
    return values(get_format(dtype), answer(name, dtype, x)).astype(np.float64)


class Number:
    """An exact value, rounded to its format after every operation; other operands are constants of the format."""

    def __init__(self, fmt, value):
        self.fmt, self.value = fmt, value

    def new(self, exact):
        return Number(self.fmt, self.fmt.fraction(self.fmt.round(exact)))

    def exact(self, other):
        return other.value if isinstance(other, Number) else self.new(Fraction(other)).value

    def __add__(self, other):
        return self.new(self.value + self.exact(other))

    def __sub__(self, other):
        return self.new(self.value - self.exact(other))

    def __rsub__(self, other):
        return self.new(self.exact(other) - self.value)

    def __mul__(self, other):
        return self.new(self.value * self.exact(other))

    def __truediv__(self, other):
        return self.new(self.value / self.exact(other))

    def __rtruediv__(self, other):
        return self.new(self.exact(other) / self.value)

    def __neg__(self):
        return Number(self.fmt, -self.value)

    __radd__, __rmul__ = __add__, __mul__

    def fma(self, factor, term):
        return self.new(self.value * self.exact(factor) + self.exact(term))

    def mac(self, factor, term):
        """The same without fma."""
        return self * factor + term

    def call(self, function, *more):
        """A function of the C library, of float for 16 and 32 bits."""
        wide = self.fmt.name == "float64"
        f, number = getattr(LIBM, function + ("" if wide else "f")), ctypes.c_double if wide else ctypes.c_float
        f.argtypes, f.restype = [number] * (1 + len(more)), number
        return self.new(Fraction(f(float(self.value), *more)))

    def to(self, dtype):
        return Number(get_format(dtype), self.value).new(self.value)

    def clamped(self, limit):
        limit = self.exact(limit)
        return Number(self.fmt, min(max(self.value, -limit), limit))


SQRT_2, SQRT_HALF, SQRT_2_OVER_PI = math.sqrt(2), math.sqrt(0.5), math.sqrt(2 / math.pi)


def wide(formula, dtype="float32"):
    """The formula in `dtype`, its result rounded once to the format of x."""
    return lambda x: formula(x.to(dtype)).to(x.fmt.name)


def by_erf(x, argument):
    return x * 0.5 * (argument.call("erf") + 1)


def by_tanh(x, u):
    return x * 0.5 * (u.call("tanh") + 1)


def u_cubic(x):
    return (x + x * x * x * 0.044715) * SQRT_2_OVER_PI


def u_factored(x, scale=SQRT_2_OVER_PI):
    return x * scale * (x * 0.044715 * x + 1)


def horner(x, coefficients, step="fma"):
    total = coefficients[0]
    for c in coefficients[1:]:
        total = getattr(x if isinstance(total, float) else total, step)(total if isinstance(total, float) else x, c)
    return total


def tanh_grad(x, u, slope):
    t = u.call("tanh")
    return (t + 1) * 0.5 + x * 0.5 * (1 - t * t) * slope


def six_digits(x, cube):
    t = (cube * 0.0356774 + x * 0.797885).call("tanh")
    return t, cube * 0.0535161 + x * 0.398942


def burn_grad(x):
    t, slope = six_digits(x, x * x * x)
    return t * 0.5 + (slope * (1 - t * t) + 0.5)


def candle_grad(x):
    t, slope = six_digits(x, x.call("pow", 3.0))
    return t * 0.5 + slope * (1 - t.call("pow", 2.0)) + 0.5


def cutlass_dgelu(x):
    t = u_factored(x).call("tanh")
    return x * 0.5 * ((1 - t * t) * (x * 0.1070322243 * x + SQRT_2_OVER_PI)) + (t + 1) * 0.5


TANH_P = [-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08]
TANH_P += [1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03]
TANH_Q = [1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03]


def rational_tanh(v, step="fma"):
    return horner(v * v, TANH_P, step) * v / horner(v * v, TANH_Q, step)


def eigen_tanh(limit, step):
    return lambda x: x if abs(x.value) < 0.0004 else rational_tanh(x.clamped(limit), step)


def ncnn_tanh(x):
    return x if abs(x.value) < x.exact(1e-4) else rational_tanh(x.clamped(9))


def ncnn_gelu(x):
    c = Number(x.fmt, x.exact(0.79788452))
    scale = float(np.float32(0.044715) * np.float32(0.79788452))
    return ((ncnn_tanh(c.fma(x, x * x * x * scale)) + 1) * x) * 0.5


def mlas_exp(a):
    n = round(a.fma(float(np.float32(1.44269504088896341)), 0).value)
    f = Number(a.fmt, Fraction(n)).fma(-6.93145752e-1, a)
    f = Number(a.fmt, Fraction(n)).fma(-1.42860677e-6, f)
    powers = [1.38319808e-3, 8.37550033e-3, 4.16689515e-2, 1.66664466e-1, 4.99999851e-1, 1.0, 1.0]
    return horner(f, powers) * 2.0**n


def mlas_erf(x):
    a = Number(x.fmt, min(abs(x.value), x.exact(3.925)))
    if a.value > Fraction(0.921875):
        big = [1.72948930e-5, -3.83208680e-4, 3.88393435e-3, -2.42545605e-2, 1.06777847e-1, 6.34846687e-1, 1.28717512e-1]
        size = 1 - mlas_exp(-horner(a, big).fma(a, a))
    else:
        small = [-5.99104969e-4, 4.99339588e-3, -2.67667342e-2, 1.12818025e-1, -3.76124859e-1, 1.28379151e-1]
        size = horner(a * a, small).fma(a, a)
    return size if x.value >= 0 else -size


def metal_erf(a):
    t = Number(a.fmt, abs(a.value))
    if t.value > Fraction(0.927734375):
        r = t.fma(-1.72853470e-5, 3.83197126e-4).fma(a * a, t.fma(-3.88396438e-3, 2.42546219e-2))
        r = r.fma(t, -1.06777877e-1).fma(t, -6.34846687e-1).fma(t, -1.28717512e-1)
        size = 1 - r.fma(t, -t).call("exp")
        return size if a.value >= 0 else -size
    small = [-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1]
    return horner(a * a, small).fma(a, a)


def onednn_exp(x):
    n = math.floor((x * float.fromhex("0x1.715476p+0") + 0.5).value)
    r = Number(x.fmt, Fraction(-n)).fma(float.fromhex("0x1.62e43p-1"), x)
    powers = ["0x1.0f9f9cp-7", "0x1.573a1ap-5", "0x1.555a8p-3", "0x1.fffdc6p-2", "0x1.fffff6p-1", "0x1p+0"]
    return horner(r, [float.fromhex(c) for c in powers]) * 2.0**n


def onednn_erf(v):
    """(erf of v, exp(-v*v)), as the JIT does below AVX-512."""
    q = onednn_exp(-(v * v))
    t = 1 / Number(v.fmt, abs(v.value)).fma(0.3275911, 1)
    r = horner(t, [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592])
    size = (-q * t).fma(r, 1)
    return (size if v.value >= 0 else -size), q


def onednn_gelu(x):
    half = x * 0.5
    return onednn_erf(x * SQRT_HALF)[0].fma(half, half)


def onednn_grad(x):
    v = x * SQRT_HALF
    erf, q = onednn_erf(v)
    return erf.fma(0.5, v * float.fromhex("0x1.20dd74p-1") * q + 0.5)


def onednn_pieces():
    text = (HEADERS / "onednn_erf.h").read_text(encoding="utf-8")
    rows = re.findall(r"\{(.*?)\},", text.partition("[25][6]")[2])
    return [[float.fromhex(c.rstrip("f")) for c in row.split(", ")] for row in rows]


def onednn_avx512(x):
    a = Number(x.fmt, abs(x.value))
    index = max(0, (int(np.float32(float(a.value)).view(np.uint32)) - 0x3DE00001) >> 21)  # quarters of a binade
    c = onednn_pieces()[23 if a.value > Fraction(5.54259443) else min(max(index, 1), 24)]
    p = horner(a, c[::-1])
    return x * ((p if x.value >= 0 else -p) + 1) * 0.5


def onednn_tanh_ref(x):
    t = (x * float.fromhex("0x1.988452p-1") * (x * 0.044715 * x + 1)).call("tanh").to("float64")
    return (x.to("float64") * 0.5 * (t + 1)).to("float32")


def onednn_grad_ref(x):
    v = x * SQRT_HALF
    return (v.call("erf") + 1 + v * (2 / math.sqrt(math.pi)) * (-v * v).call("exp")) * 0.5


XNNPACK = {
    "12/10": [4.5835321316e-08, 1.2609783880e-05, 3.2973114867e-04, 9.3065137044e-03, 6.6972173750e-02]
    + [7.9788452387e-01, 1.1988805682e-06, 7.2267655923e-05, 1.8622842617e-03, 2.8431978077e-02, 2.5060352683e-01],
    "tanh 12/10": [4.9544411240e-08, 1.4302649106e-05, 2.6887017884e-04, 7.2898347862e-03, 6.0803253204e-02]
    + [7.9788458347e-01, 1.3433452750e-06, 7.6477612311e-05, 1.3060354395e-03, 2.4381054565e-02, 2.4369759858e-01],
    "6/4": [4.5998394489e-03, 1.5397867560e-01, 7.9763203859e-01, 4.2862996459e-02, 3.5756936669e-01],
    "tanh 6/4": [4.3507730588e-03, 1.4811584353e-01, 7.9763704538e-01, 4.0821321309e-02, 3.5130375624e-01],
    "tanh 6/4 float": [3.5572052002e-03, 1.1065673828e-01, 7.9785156250e-01, 3.1005859375e-02, 3.0517578125e-01],
}


def xnnpack(which, limit, step):
    coefficients = XNNPACK[which]
    split = (len(coefficients) + 1) // 2

    def formula(x):
        v = x.clamped(limit)
        p, q = (horner(v * v, part, step) for part in (coefficients[:split], [*coefficients[split:], 1.0]))
        return x * 0.5 * (v * p / q + 1)

    return formula


def ggml_table(x):
    return wide(lambda v: by_tanh(v, u_factored(v)))(x.to("float16")).to(x.fmt.name)


def ggml_vulkan(x):
    return x * 0.5 * (2 - 2 / ((u_factored(x) * 2).call("exp") + 1))


def quick(x):
    return x * (1 / ((-(x * 1.702)).call("exp") + 1))


def fastertransformer(x):
    cube, v = (x * x * x).to("float32"), x.to("float32")
    cdf = ((v + cube * 0.044715) * SQRT_2_OVER_PI).call("tanh") + 1
    return x * (cdf * 0.5).to(x.fmt.name)


def fairseq(x):
    v = x.call("pow", 3.0).to("float32") * 0.044715
    u = (x + v.to(x.fmt.name)).to("float32") * SQRT_2_OVER_PI
    return by_tanh(x, u.to(x.fmt.name))


def fairseq_wide(x):
    return by_tanh(x, (x + x.call("pow", 3.0) * 0.044715) * SQRT_2_OVER_PI)


def onnx_tanh(x):
    constant = Number(get_format("float32"), Fraction(0)).new(Fraction(0.63661977236)).to(x.fmt.name)
    cube = Number(get_format("float32"), Fraction(0)).new(Fraction(0.044715)).to(x.fmt.name)
    return by_tanh(x, (x + x.call("pow", 3.0) * cube) * constant.call("sqrt"))


def candle(x):
    scale = (2 / Number(x.fmt, x.exact(math.pi))).call("sqrt")
    return by_tanh(x, u_factored(x, scale))


def te_gelu(x):
    t = (x * (x * 0.03567741 * x + 0.79788456)).call("tanh")
    return x * (t * 0.5 + 0.5)


def te_dgelu(x):
    t = u_factored(x, 0.79788456).call("tanh")
    return x * 0.5 * ((1 - t * t) * (x * 0.1070322243 * x + 0.79788456)) + (t + 1) * 0.5


def gelu_grad(x):
    return (x * SQRT_HALF).call("erf").__add__(1) * 0.5 + x * ((x * -0.5 * x).call("exp") * (1 / math.sqrt(2 * math.pi)))


def pytorch_tanh_grad(x):
    return tanh_grad(x, u_cubic(x), (x * (x.new(Fraction(3)) * 0.044715) * x + 1) * SQRT_2_OVER_PI)


def swapped(x):
    return by_tanh(x, x * 0.044715 * (x * 7978845608.0 * x + 1))


def chebyshev(x):
    if x.value == 0 or x.value < Fraction(-5.5):
        return x * 0
    c = [-1.81205228163e-09, -4.59055119276e-08, -3.74540617693e-07, -2.29754133825e-07, 1.19076782913e-05]
    c += [4.25116466215e-05, -0.000138391838381, -0.000862052441087, 0.000768340223025, 0.0092074331601]
    c += [-0.00208478037614, -0.0656369476513, 0.00244542739174, 0.398579460781, 0.499174645395, 2.98325768482e-05]
    p = horner(x, c) if x.value < 3 else x
    return Number(x.fmt, abs(p.value) if x.value >= 0 else -abs(p.value))


def lut(x):
    a = Number(x.fmt, abs(x.value))
    line = int(2 * a.value) if a.value < 2 else 4 if a.value < 3 else 5
    slope, offset = [
        (0.1928, -0.00010443), (0.4939, -0.1604), (0.6188, -0.2796),
        (0.6099, -0.2635), (0.5402, -0.1194), (0.5, 0.0),
    ][line]  # fmt: skip
    half = [Number(get_format("float16"), Fraction(0)).new(Fraction(c)).to("float32") for c in (slope, offset)]
    return x * 0.5 + (a * half[0] + half[1])


def ttnn_erf(x):
    if x.value <= x.exact(-5.54259443):
        return x * 0
    v = Number(x.fmt, min((x * SQRT_HALF).value, Fraction(10)))
    n = [-2.8632063387e-10, 2.7384647439e-08, 1.7678321456e-05, 6.1307044234e-04, 5.6230435148e-03]
    n += [6.2133435160e-02, 2.1477432549e-01, 1.1283791065e00]
    d = [-6.7350725691e-12, -3.5153888689e-09, 1.3156344494e-06, 1.3179056987e-04, 1.9545555115e-03]
    d += [1.9642570987e-02, 1.2961706519e-01, 5.2367275953e-01, 1.0]
    erf = (horner(v * v, n) * v / horner(v * v, d)).clamped(1)
    return x * 2.0**-25 if erf.value == -1 else x * (erf * 0.5 + 0.5)


NATIVE, HALVES, SINGLE = ("float16", "bfloat16", "float32", "float64"), ("float16", "bfloat16"), ("float32",)
UP_TO_32 = ("float16", "bfloat16", "float32")
MODELS = {  # name: (dtypes, formula), ...
    "burn-gelu": [(NATIVE, lambda x: x * ((x / SQRT_2).call("erf") + 1) / 2)],
    "burn-gelu_grad": [(NATIVE, burn_grad)],
    "candle-gelu": [(NATIVE, candle)],
    "candle-gelu_erf": [(NATIVE, wide(lambda x: ((x / SQRT_2).call("erf") + 1) * 0.5 * x, "float64"))],
    "candle-gelu_grad": [(NATIVE, candle_grad)],
    "coreml-exact": [(UP_TO_32, wide(lambda x: by_erf(x, x / SQRT_2)))],
    "coreml-tanh_approximation": [(UP_TO_32, wide(lambda x: by_tanh(x, u_cubic(x))))],
    "coreml-sigmoid_approximation": [(UP_TO_32, wide(quick))],
    "cutlass-gelu": [(NATIVE, lambda x: by_erf(x, x / SQRT_2))],
    "cutlass-gelu_taylor": [(NATIVE, lambda x: by_tanh(x, u_factored(x)))],
    "cutlass-gelu_taylor_array": [
        (("float16",), lambda x: by_tanh(x, x * SQRT_2_OVER_PI * (x * 0.044715).fma(x, 1)))
    ],
    "cutlass-dgelu": [(NATIVE, cutlass_dgelu)],
    "directml-gelu": [(UP_TO_32, wide(lambda x: by_erf(x, x / SQRT_2)))],
    "eigen-tanh": [(SINGLE, eigen_tanh(7.99881172180175781, "fma"))],
    "eigen-tanh_nofma": [(SINGLE, eigen_tanh(7.90531110763549805, "mac"))],
    "fairseq-gelu_accurate": [(HALVES, fairseq), (("float32", "float64"), fairseq_wide)],
    "fastertransformer-gelu": [
        (HALVES, fastertransformer),
        (SINGLE, lambda x: x * (((x + x * 0.044715 * x * x) * SQRT_2_OVER_PI).call("tanh") + 1) * 0.5),
    ],
    "flaggems-gelu": [(UP_TO_32, wide(lambda x: by_erf(x, x * 0.7071067811)))],
    "ggml-gelu": [(("float16", "float32"), ggml_table)],
    "ggml-gelu_erf": [(UP_TO_32, wide(lambda x: by_erf(x, x * SQRT_HALF)))],
    "ggml-gelu_quick": [(("float16", "float32"), lambda x: wide(quick)(x.to("float16")).to(x.fmt.name))],
    "ggml-gelu_vulkan": [(UP_TO_32, wide(ggml_vulkan))],
    "ggml-silu": [(UP_TO_32, wide(lambda x: x / ((-x).call("exp") + 1)))],
    "liger-geglu": [(UP_TO_32, wide(lambda x: by_tanh(x, u_cubic(x))))],
    "liger-geglu_grad": [
        (UP_TO_32, wide(lambda x: tanh_grad(x, u_cubic(x), (x * (3 * 0.044715) * x + 1) * SQRT_2_OVER_PI)))
    ],
    "mlas-erf": [(SINGLE, mlas_erf)],
    "mlas-tanh": [(SINGLE, lambda x: rational_tanh(x.clamped(9)))],
    "mlas-gelu": [(SINGLE, lambda x: x * 0.5 * (mlas_erf(x * SQRT_HALF) + 1))],
    "mlas-gelu_tanh": [
        (SINGLE, lambda x: x * 0.5 * (rational_tanh((x * (x * 0.035677408136300125 * x + SQRT_2_OVER_PI)).clamped(9)) + 1))
    ],
    "mlx-gelu_metal": [
        (UP_TO_32, lambda x: x * (metal_erf((x / SQRT_2).to("float32")).to(x.fmt.name) + 1) / 2)
    ],
    "ncnn-gelu_fp16": [(("float16",), ncnn_gelu)],
    "ncnn-tanh_fp16": [(("float16",), ncnn_tanh)],
    "onednn-gelu_erf_avx2": [(UP_TO_32, wide(onednn_gelu))],
    "onednn-gelu_erf_grad_avx2": [(UP_TO_32, wide(onednn_grad))],
    "onednn-gelu_erf_avx512": [(UP_TO_32, wide(onednn_avx512))],
    "onednn-gelu_erf_ref": [(UP_TO_32, wide(lambda x: by_erf(x, x * SQRT_HALF)))],
    "onednn-gelu_erf_grad_ref": [(UP_TO_32, wide(onednn_grad_ref))],
    "onednn-gelu_tanh_ref": [(UP_TO_32, wide(onednn_tanh_ref))],
    "onednn-gelu_tanh_gpu": [
        (UP_TO_32, wide(lambda x: x / ((-u_factored(x, float.fromhex("0x1.988452p+0"))).call("exp") + 1)))
    ],
    "onnx-gelu": [(NATIVE, lambda x: by_erf(x, x / SQRT_2))],
    "onnx-gelu_tanh": [(NATIVE, onnx_tanh)],
    "pytorch-gelu_cuda": [
        (UP_TO_32, wide(lambda x: by_erf(x, x * SQRT_HALF))), (("float64",), lambda x: by_erf(x, x * SQRT_HALF))
    ],
    "pytorch-gelu_tanh_cuda": [
        (UP_TO_32, wide(lambda x: by_tanh(x, u_cubic(x)))), (("float64",), lambda x: by_tanh(x, u_cubic(x)))
    ],
    "pytorch-gelu_grad_cuda": [(UP_TO_32, wide(gelu_grad)), (("float64",), gelu_grad)],
    "pytorch-gelu_tanh_grad_cuda": [(UP_TO_32, wide(pytorch_tanh_grad)), (("float64",), pytorch_tanh_grad)],
    "transformer_engine-gelu": [(UP_TO_32, wide(te_gelu))],
    "transformer_engine-dgelu": [(UP_TO_32, wide(te_dgelu))],
    "transformers-tf_gelu_fast_4_1": [(SINGLE, swapped)],
    "ttnn-gelu_chebyshev": [(("bfloat16",), wide(chebyshev))],
    "ttnn-gelu_lut": [(("bfloat16",), wide(lut))],
    "ttnn-gelu_erf": [(SINGLE, ttnn_erf)],
    "webnn-gelu": [(UP_TO_32, wide(lambda x: by_erf(x, x / Number(x.fmt, Fraction(2)).call("sqrt"))))],
    "xnnpack-gelu": [
        (("float16",), xnnpack("6/4", 3.5, "fma")), (SINGLE, xnnpack("12/10", 5.1638283730, "fma"))
    ],
    "xnnpack-gelu_nofma": [
        (("float16",), xnnpack("6/4", 3.2890625, "mac")), (SINGLE, xnnpack("12/10", 5.1158981323, "mac"))
    ],
    "xnnpack-gelu_tanh": [
        (("float16",), xnnpack("tanh 6/4", 3.26367188, "fma")), (SINGLE, xnnpack("tanh 12/10", 4.84974098, "fma"))
    ],
    "xnnpack-gelu_tanh_nofma": [(("float16",), xnnpack("tanh 6/4", 3.26953125, "mac"))],
    "xnnpack-gelu_tanh_f32acc": [(("float16",), wide(xnnpack("tanh 6/4 float", 3.26953125, "mac")))],
    "xnnpack-gelu_tanh_f32acc_2025": [(("float16",), wide(xnnpack("tanh 6/4", 3.26953125, "mac")))],
}  # fmt: skip


CASES = [(name, dtype, formula) for name, pairs in MODELS.items() for dtypes, formula in pairs for dtype in dtypes]


def test_every_reimplementation_has_a_second_writing():
    assert sorted((k.name, k.dtype) for k in PUBLISHED) == sorted((name, dtype) for name, dtype, _ in CASES)


@pytest.mark.parametrize(("name", "dtype", "formula"), [pytest.param(*c, id=f"{c[0]}-{c[1]}") for c in CASES])
def test_formula(name, dtype, formula):
    fmt, rng = get_format(dtype), np.random.default_rng(7)
    numbers = np.concatenate([rng.uniform(-6.5, 4, 60), rng.uniform(-0.05, 0.05, 10), [-5.53, -3.4, 0.25, 1.0, 6.0]])
    x_bits = numbers.astype(numpy_dtype(dtype)).view(fmt.uint)
    got = [fmt.fraction(int(bits)) for bits in answer(name, dtype, x_bits)]
    assert got == [formula(Number(fmt, fmt.fraction(int(bits)))).value for bits in x_bits]


def test_the_family_is_found_only_when_it_is_asked_for():
    here, absent = targets.find(["published"])
    assert not absent
    assert {(t.name, d) for t in here for d in t.dtypes} == {(f"published.{k.name}", k.dtype) for k in PUBLISHED}
    assert all(target.note.startswith("re-implementation of ") for target in here)


@pytest.mark.parametrize("header", sorted(path.name for path in HEADERS.glob("*.h")))
def test_every_header_is_compiled(header):
    shared = {"instance.h", "libraries.h", "onednn_erf.h", "published.h", "rational_tanh.h", "rounding.h"}
    listed = (HEADERS / "libraries.h").read_text(encoding="utf-8")
    assert header in shared or f'#include "{header}"' in listed


@pytest.mark.parametrize("dtype", HALVES)
def test_float64_is_rounded_once(dtype):
    fmt = get_format(dtype)
    for bits in np.random.default_rng(0).integers(1, fmt.infinity - 1, 50):
        middle = (fmt.fraction(int(bits)) + fmt.fraction(int(bits) + 1)) / 2
        just_above = Number(get_format("float64"), Fraction(float(middle) * (1 + 2**-52)))
        assert just_above.to(dtype).value == fmt.fraction(int(bits) + 1)


# ---- what each is known for


def test_burn_differentiates_the_other_variant():
    x = np.linspace(-6, 6, 100_001).astype(np.float32)
    truth = reference_bits("gelu_grad", "float32", x.view(np.uint32)).view(np.float32)
    error = np.abs(answer("burn-gelu_grad", "float32", x.view(np.uint32)).view(np.float32) - truth)
    assert 8.6e-4 < error.max() < 8.7e-4
    assert abs(abs(x[error.argmax()]) - 2.0187) < 5e-3


@pytest.mark.parametrize("name", ["burn-gelu", "mlx-gelu_metal"])
def test_halving_last_overflows(name):
    assert np.array_equal(at(name, "float16", 32752, 32768, 65504), [32752, np.inf, np.inf])


def test_candle_in_half_ends_early():
    assert at("candle-gelu", "float16", -4)[0] == 0
    assert at("candle-gelu", "bfloat16", -3.5)[0] == 0
    assert at("candle-gelu_erf", "float16", -5.5)[0] < 0  # the erf form is computed in float64


def test_cutlass_rounds_one_plus_erf_to_half():
    zeros = at("cutlass-gelu", "float16", *np.linspace(-5, -3.7, 50))
    assert not zeros.any()
    assert np.isnan(at("cutlass-dgelu", "float16", 1000)).all()


def test_fastertransformer_rounds_the_factor_to_half():
    assert at("fastertransformer-gelu", "float16", -5.5)[0] == 0
    assert at("fastertransformer-gelu", "float16", -4)[0] < 0


def test_ggml_quick_has_no_number_for_large_negative_x():
    assert np.array_equal(np.isnan(at("ggml-gelu_quick", "float32", -65519, -65520, -1e6)), [False, True, True])


def test_ggml_table_loses_small_x():
    assert at("ggml-gelu", "float32", 2e-8)[0] == 0
    assert np.array_equal(at("ggml-gelu", "float32", -11, 11), [0, 11])


def test_ggml_vulkan_is_finite_for_large_x():
    assert np.array_equal(at("ggml-gelu_vulkan", "float32", 100, -100), [100, 0])


def test_mlas_tanh_exceeds_one_and_gelu_has_the_wrong_sign():
    assert at("mlas-tanh", "float32", *np.linspace(8.13, 9, 1000)).max() == 1 + 2**-22
    x = np.linspace(-6, -4, 20_001)
    wrong = x[at("mlas-gelu_tanh", "float32", *x) > 0]
    assert -5.155 <= wrong.min() < wrong.max() <= -4.927
    assert at("eigen-tanh", "float32", *np.linspace(7.9, 9, 1000)).max() == 1


def test_ncnn_in_half_is_positive_at_minus_100():
    assert 2.1 < at("ncnn-gelu_fp16", "float16", -100)[0] < 2.3
    assert 1.04 < at("ncnn-tanh_fp16", "float16", 9)[0] < 1.05


def test_onednn_specials():
    fmt = get_format("float32")
    specials = np.array([fmt.infinity, fmt.infinity | 1 << 31, 1 << 31], np.uint32)
    avx2 = answer("onednn-gelu_erf_avx2", "float32", specials).view(np.float32)
    avx512 = answer("onednn-gelu_erf_avx512", "float32", specials).view(np.float32)
    assert np.isposinf(avx2[0])
    assert np.isnan(avx512[0])
    assert np.isnan(avx2[1])
    assert not np.signbit(avx2[2])  # fma(erf, S, S) of -0
    assert at("onednn-gelu_erf_avx2", "float32", -5.6)[0] == 0


def test_onnx_in_double_has_float_constants():
    error = abs(at("onnx-gelu_tanh", "float64", -3.0)[0] / at("pytorch-gelu_tanh_cuda", "float64", -3.0)[0] - 1)
    assert 1e-9 < error < 1e-6


def test_fairseq_accurate_is_the_tanh_form():
    truth = float(reference_bits("gelu", "float64", np.float64([2.69894]).view(np.uint64)).view(np.float64)[0])
    assert abs(abs(at("fairseq-gelu_accurate", "float64", 2.69894)[0] - truth) - 4.7324e-4) < 1e-7


def test_transformers_swapped_coefficients():
    assert abs(at("transformers-tf_gelu_fast_4_1", "float32", 0.1)[0] - 0.054) > 0.04  # nearly relu


def test_ttnn():
    assert at("ttnn-gelu_chebyshev", "bfloat16", 1e-6)[0] > 2.9e-5
    assert at("ttnn-gelu_chebyshev", "bfloat16", -6)[0] == 0
    assert 0.02 < abs(at("ttnn-gelu_lut", "bfloat16", 0.25)[0] - 0.14967) < 0.03
    assert at("ttnn-gelu_erf", "float32", -6)[0] == 0


def test_xnnpack_in_half_ends_early():
    assert not at("xnnpack-gelu", "float16", -3.5, -4, -5).any()
    assert not at("xnnpack-gelu_nofma", "float16", -3.6).any()
    assert at("xnnpack-gelu_tanh_f32acc_2025", "float16", -1000)[0] < -0.5  # where the truth is 0
    assert at("xnnpack-gelu_tanh_f32acc", "float16", -1000)[0] > -0.05


# ---- the library itself


def same_as_library(ours, theirs, dtype):
    """Whether both give the same numbers: all of 16 bits, else a sample; how many differ, results of subnormal size
    aside, which some libraries flush."""
    family, fmt = theirs.partition(".")[0], get_format(dtype)
    here, absent = targets.find([family])
    if absent:
        pytest.skip(absent[family])
    target = next(target for target in here if target.name == theirs)
    rng = np.random.default_rng(3)
    x = EVERY_16
    if fmt.width > 16:
        numbers = np.concatenate([rng.uniform(-14, 14, 100_000), rng.uniform(-1, 1, 20_000)]).astype(np.float32)
        x = np.concatenate([from_ordinals(fmt, rng.integers(-fmt.infinity, fmt.infinity, 50_000)), numbers.view(fmt.uint)])
    x = x[: x.size // 64 * 64]  # tails go another way in some libraries
    a, b = answer(ours, dtype, x), target.evaluate(dtype, x)
    sizes = [y & fmt.uint.type((1 << fmt.width - 1) - 1) for y in (a, b)]
    nan = (sizes[0] > fmt.infinity) & (sizes[1] > fmt.infinity)
    tiny = (sizes[0] < 1 << fmt.precision - 1) & (sizes[1] < 1 << fmt.precision - 1) if fmt.width > 16 else np.zeros(x.size, bool)
    return np.count_nonzero((a != b) & ~nan & ~tiny)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("mlas-erf", "onnxruntime.erf"),
        ("mlas-tanh", "onnxruntime.tanh"),
        ("mlas-gelu", "onnxruntime.gelu"),
        ("mlas-gelu_tanh", "onnxruntime.gelu_tanh"),
        ("eigen-tanh", "jax.tanh"),
    ],
)
def test_same_bits_as_the_library(ours, theirs):
    assert same_as_library(ours, theirs, "float32") == 0


@pytest.mark.frameworks
@pytest.mark.parametrize("path", ["gelu_erf", "gelu_erf_grad"])
def test_same_bits_as_onednn_in_torch(path):
    wide_vectors = "avx512f" in provenance(())["machine"]["isa"] and path == "gelu_erf"
    ours = f"onednn-{path}_{'avx512' if wide_vectors else 'avx2'}"
    assert same_as_library(ours, "torch.gelu" if path == "gelu_erf" else "torch.gelu_grad", "float32") == 0


@pytest.mark.frameworks
@pytest.mark.parametrize(
    ("ours", "theirs", "dtype"),
    [
        ("xnnpack-gelu", "litert.gelu", "float32"),
        ("xnnpack-gelu", "litert.gelu", "float16"),
        ("xnnpack-gelu_tanh", "litert.gelu_tanh", "float32"),
        ("xnnpack-gelu_tanh_f32acc_2025", "litert.gelu_tanh", "float16"),
        ("fairseq-gelu_accurate", "huggingface.gelu_new", "float16"),
    ],
)
def test_same_bits_as_xnnpack_and_transformers(ours, theirs, dtype):
    assert same_as_library(ours, theirs, dtype) == 0


def test_errors_are_judged_as_of_any_target():
    x = np.array([np.float32(-5.0)]).view(np.uint32)
    assert abs(judge("gelu_tanh", "float32", x, answer("mlas-gelu_tanh", "float32", x)).error[0]) > 1e6
