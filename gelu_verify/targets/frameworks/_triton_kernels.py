"""GELUs as Triton kernels, as people write them: computed in float32 (float64 in float64), rounded once."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def gelu_erf(x_ptr, y_ptr, n, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + places, mask=places < n).to(WIDE)
    y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    tl.store(y_ptr + places, y.to(y_ptr.dtype.element_ty), mask=places < n)


@triton.jit
def gelu_tanh_sigmoid(x_ptr, y_ptr, n, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + places, mask=places < n).to(WIDE)
    u = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    y = x / (1.0 + tl.exp(-2.0 * u))
    tl.store(y_ptr + places, y.to(y_ptr.dtype.element_ty), mask=places < n)


@triton.jit
def gelu_sigmoid(x_ptr, y_ptr, n, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + places, mask=places < n).to(WIDE)
    y = x / (1.0 + tl.exp(-1.702 * x))
    tl.store(y_ptr + places, y.to(y_ptr.dtype.element_ty), mask=places < n)


@triton.jit
def silu(x_ptr, y_ptr, n, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + places, mask=places < n).to(WIDE)
    y = x / (1.0 + tl.exp(-x))
    tl.store(y_ptr + places, y.to(y_ptr.dtype.element_ty), mask=places < n)
