"""A GELU in Triton, and its PTX for an H100, written without a GPU: python cuda/gelu_triton.py > gelu_sigmoid.ptx"""

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def gelu_sigmoid(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + places, mask=places < n)
    tl.store(y_ptr + places, x / (1.0 + tl.exp(-1.702 * x)), mask=places < n)


SIGNATURE = {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}

if __name__ == "__main__":
    source = ASTSource(fn=gelu_sigmoid, signature=SIGNATURE, constexprs={"BLOCK": 256})
    print(triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"])
