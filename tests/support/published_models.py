"""The formulas of src/published/ written a second time, in exact arithmetic that is rounded after every operation."""

import ctypes
import ctypes.util
import math
import re
from fractions import Fraction

import numpy as np
from repository import ROOT

from gelu_verify.formats import get_format

HEADERS = ROOT / "src" / "published"
LIBM = ctypes.CDLL(ctypes.util.find_library("m"))


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
        big = [
            1.72948930e-5,
            -3.83208680e-4,
            3.88393435e-3,
            -2.42545605e-2,
            1.06777847e-1,
            6.34846687e-1,
            1.28717512e-1,
        ]
        size = 1 - mlas_exp(-horner(a, big).fma(a, a))
    else:
        small = [-5.99104969e-4, 4.99339588e-3, -2.67667342e-2, 1.12818025e-1, -3.76124859e-1, 1.28379151e-1]
        size = horner(a * a, small).fma(a, a)
    return size if x.value >= 0 else -size


def mlas_gelu_tanh(x):
    u = x * (x * 0.035677408136300125 * x + SQRT_2_OVER_PI)
    return x * 0.5 * (rational_tanh(u.clamped(9)) + 1)


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


XNNPACK = {  # coefficients of P(x*x) and of Q(x*x), whose last is 1
    "12/10": (
        [4.5835321316e-08, 1.2609783880e-05, 3.2973114867e-04, 9.3065137044e-03, 6.6972173750e-02, 7.9788452387e-01],
        [1.1988805682e-06, 7.2267655923e-05, 1.8622842617e-03, 2.8431978077e-02, 2.5060352683e-01, 1.0],
    ),
    "tanh 12/10": (
        [4.9544411240e-08, 1.4302649106e-05, 2.6887017884e-04, 7.2898347862e-03, 6.0803253204e-02, 7.9788458347e-01],
        [1.3433452750e-06, 7.6477612311e-05, 1.3060354395e-03, 2.4381054565e-02, 2.4369759858e-01, 1.0],
    ),
    "6/4": ([4.5998394489e-03, 1.5397867560e-01, 7.9763203859e-01], [4.2862996459e-02, 3.5756936669e-01, 1.0]),
    "tanh 6/4": ([4.3507730588e-03, 1.4811584353e-01, 7.9763704538e-01], [4.0821321309e-02, 3.5130375624e-01, 1.0]),
    "tanh 6/4 float": (
        [3.5572052002e-03, 1.1065673828e-01, 7.9785156250e-01],
        [3.1005859375e-02, 3.0517578125e-01, 1.0],
    ),
}


def xnnpack(which, limit, step):
    def formula(x):
        v = x.clamped(limit)
        p, q = (horner(v * v, part, step) for part in XNNPACK[which])
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


def candle_erf(x):
    return ((x * SQRT_HALF).call("erf") + 1) * 0.5 * x


def flaggems(x):
    return ((x * 0.5).to("float32") * ((x.to("float32") * 0.7071067811).call("erf") + 1)).to(x.fmt.name)


def te_gelu(x):
    t = (x * (x * 0.03567741 * x + 0.79788456)).call("tanh")
    return x * (t * 0.5 + 0.5)


def te_dgelu(x):
    t = u_factored(x, 0.79788456).call("tanh")
    return x * 0.5 * ((1 - t * t) * (x * 0.1070322243 * x + 0.79788456)) + (t + 1) * 0.5


def gelu_grad(x):
    cdf = ((x * SQRT_HALF).call("erf") + 1) * 0.5
    return cdf + x * ((x * -0.5 * x).call("exp") * (1 / math.sqrt(2 * math.pi)))


def pytorch_tanh_grad(x):
    return tanh_grad(x, u_cubic(x), (x * x * (x.new(Fraction(3)) * 0.044715) + 1) * SQRT_2_OVER_PI)


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
UP_TO_32, F16_AND_F32 = ("float16", "bfloat16", "float32"), ("float16", "float32")
MODELS = {  # name: (dtypes, formula), ...
    "burn-gelu": [(NATIVE, lambda x: x * ((x / SQRT_2).call("erf") + 1) / 2)],
    "burn-gelu_grad": [(NATIVE, burn_grad)],
    "candle-gelu": [(NATIVE, lambda x: by_tanh(x, u_factored(x)))],
    "candle-gelu_erf": [(HALVES, wide(candle_erf, "float64")), (("float32", "float64"), candle_erf)],
    "candle-gelu_grad": [(NATIVE, candle_grad)],
    "coreml-exact": [(F16_AND_F32, wide(lambda x: by_erf(x, x / SQRT_2)))],
    "coreml-tanh_approximation": [(F16_AND_F32, wide(lambda x: by_tanh(x, u_cubic(x))))],
    "coreml-sigmoid_approximation": [(F16_AND_F32, wide(quick))],
    "cutlass-gelu": [(NATIVE, lambda x: by_erf(x, x / SQRT_2))],
    "cutlass-gelu_taylor": [(NATIVE, lambda x: by_tanh(x, u_factored(x)))],
    "cutlass-gelu_taylor_array": [
        (("float16",), lambda x: by_tanh(x, x * SQRT_2_OVER_PI * (x * 0.044715).fma(x, 1)))
    ],
    "cutlass-dgelu": [(NATIVE, cutlass_dgelu)],
    "directml-gelu": [(F16_AND_F32, wide(lambda x: by_erf(x, x / SQRT_2)))],
    "eigen-tanh": [(SINGLE, eigen_tanh(7.99881172180175781, "fma"))],
    "eigen-tanh_nofma": [(SINGLE, eigen_tanh(7.90531110763549805, "mac"))],
    "fairseq-gelu_accurate": [(HALVES, fairseq), (("float32", "float64"), fairseq_wide)],
    "fastertransformer-gelu": [
        (HALVES, fastertransformer),
        (SINGLE, lambda x: x * (((x + x * 0.044715 * x * x) * SQRT_2_OVER_PI).call("tanh") + 1) * 0.5),
    ],
    "flaggems-gelu": [(UP_TO_32, flaggems)],
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
    "mlas-gelu_tanh": [(SINGLE, mlas_gelu_tanh)],
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
    "webnn-gelu": [(F16_AND_F32, wide(lambda x: by_erf(x, x / Number(x.fmt, Fraction(2)).call("sqrt"))))],
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
    "xnnpack-gelu_tanh_f32acc_2025_avx512": [(("float16",), wide(xnnpack("tanh 6/4", 3.26367188, "fma")))],
}  # fmt: skip
