"""The code around a user's CUDA source that calls its function, and the kernel around a function of the device."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...formats import get_format
from ..declarations.parameters import CUDA_TYPES, VECTORS, CParameter, Declared
from ..declarations.prototype import BESIDE, SPARE, WIDEST, ZEROS, Prototype
from ..declarations.roles import LAUNCH

_HEADERS = "".join(f"#include <{each}>\n" for each in ("cuda_bf16.h", "cuda_fp16.h", "cuda_runtime.h", "stddef.h"))
KERNEL = "gelu_verify_kernel"

# A kernel around a function of the device: of one value, or of a vector of {lanes}.
_OF_A_VALUE = """
extern "C" __global__ void {KERNEL}({given})
{{
{zeros}    size_t gv_i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (gv_i < n)
        y[gv_i] = {call};
}}
"""
_OF_A_VECTOR = """
extern "C" __global__ void {KERNEL}({given})
{{
{zeros}    size_t gv_i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * {lanes};
    {V} gv_v;
    for (int gv_k = 0; gv_k < {lanes}; gv_k++)
        (({T} *)&gv_v)[gv_k] = gv_i + gv_k < n ? x[gv_i + gv_k] : ({T})0.0f;
    if (gv_i < n)
        gv_v = {call};
    for (int gv_k = 0; gv_k < {lanes} && gv_i + gv_k < n; gv_k++)
        y[gv_i + gv_k] = (({T} *)&gv_v)[gv_k];
}}
"""

# The user's file and functions around its own, which return an error; what is timed is launch and end. The memory has
# x, y and what is taken beside them.
ON_THE_DEVICE = """{headers}#include "{source}"
{before}
static const char *why(cudaError_t error) {{ return error == cudaSuccess ? NULL : cudaGetErrorString(error); }}
{zeros}
extern "C" const char *gelu_verify_load(const void *from, const void *beside, size_t more, void **memory, size_t n)
{{
    cudaError_t error = cudaMalloc(memory, (2 * n + more) * sizeof({T}));
    if (error == cudaSuccess)
        error = cudaMemset(*memory, 0xff, (2 * n + more) * sizeof({T}));
    if (error == cudaSuccess)
        error = cudaMemcpy(*memory, from, n * sizeof({T}), cudaMemcpyHostToDevice);
    if (error == cudaSuccess && more)
        error = cudaMemcpy(({T} *)*memory + 2 * n, beside, more * sizeof({T}), cudaMemcpyHostToDevice);
    return why(error);
}}

extern "C" const char *gelu_verify_call(void *memory, size_t n)
{{
    const {T} *x = (const {T} *)memory, *beside = (const {T} *)memory + 2 * n;
    {T} *y = ({T} *)memory + n;
    (void)x, (void)beside;
    {prepared}{call};
    cudaError_t error = cudaGetLastError();
    return why(error == cudaSuccess ? cudaDeviceSynchronize() : error);
}}

extern "C" const char *gelu_verify_store(void *memory, void *to, size_t n)
{{
    return why(cudaMemcpy(to, ({T} *)memory + n, n * sizeof({T}), cudaMemcpyDeviceToHost));
}}

extern "C" const char *gelu_verify_free(void *memory, size_t n)
{{
    (void)n;
    return why(cudaFree(memory));
}}
"""
# For PTX alone: the launch makes of a template the kernel of this type.
INSTANTIATING = """{headers}#include "{source}"
{before}{zeros}
void gelu_verify_launch(const {T} *x, {T} *y, const {T} *beside, size_t n) {{ {call}; }}
"""
ENTRY = "gelu_verify_entry"
NAMING = INSTANTIATING + f"__device__ auto {ENTRY} = &{{callee}};\n"  # a variable has the name of the kernel
_IN_PLACE = "cudaMemcpy(y, x, n * sizeof({T}), cudaMemcpyDeviceToDevice);\n    "
_ADDED_TO = "cudaMemset(y, 0, n * sizeof({T}));\n    "
_HELD = "cudaMemcpy(y, beside, n * sizeof({T}), cudaMemcpyDeviceToDevice);\n    "
_MEMORY = """static void *gelu_verify_zeros{i}(size_t size)
{{
    static void *memory;
    static size_t held;
    if (size > held) {{
        if (memory) cudaFree(memory);
        cudaMalloc(&memory, held = size);
        cudaMemset(memory, 0, size);
    }}
    return memory;
}}
"""


@dataclass(frozen=True)
class CudaCall:
    """What is launched, or called on the host: `callee` with `prototype`, after `before`; `shown`: by what the user
    wrote of what is `declared`; `source`: the file; `absent`: a header for what it uses of missing libraries."""

    source: Path
    declared: Declared
    shown: Prototype
    prototype: Prototype
    callee: str
    before: str
    dtype: str
    absent: str

    @property
    def element(self) -> str:
        """The type of a value."""
        data = self.prototype.data
        return VECTORS[data.vector][0] if data.vector else CUDA_TYPES[self.dtype] if data.base == "void" else data.base

    def text(self, form: str) -> str:
        """A file around the user's."""
        zeros = [i for i, each in enumerate(self.prototype.parameters) if ZEROS.fullmatch(each.value)]
        prepared = _IN_PLACE * self.prototype.in_place + _ADDED_TO * self.prototype.is_added_to
        prepared += _HELD * bool(self.prototype.replaced)
        return form.format(
            headers=_HEADERS,
            source=self.source,
            before=self.before,
            T=self.element,
            zeros="".join(_MEMORY.format(i=i) for i in zeros),
            prepared=prepared.format(T=self.element),
            call=self.call,
            callee=self.callee,
        )

    @property
    def call(self) -> str:
        """The launch, or the call on the host."""
        itemsize = get_format(self.dtype).width // 8
        output = "y" if self.prototype.in_place else ""
        known = {"n": "n", "bytes": f"n * {itemsize}"}
        arguments = [
            f"({each.type})gelu_verify_zeros{i}({f'(n + {SPARE}) * {WIDEST}' if zeros[1] == 'bytes' else zeros[1]})"
            if (zeros := ZEROS.fullmatch(each.value))
            else f"({each.type})beside" if each.name in BESIDE and not each.value
            else f"({each.type}){output or each.name}" if each.name in ("x", "y")
            else known.get(each.name) or self.prototype.argument(each, itemsize, {"n": "n"})
            for i, each in enumerate(self.prototype.parameters)
        ]  # fmt: skip
        launch = f"<<<{self.prototype.launch}>>>" if self.prototype.launch else ""
        return f"{self.callee}{launch}({', '.join(arguments)})"


def kernel_around(said: Prototype, callee: str, dtype: str) -> tuple[Prototype, str]:
    """A kernel that calls a function of the device for each value, and how that is launched."""
    base = said.data.base
    element, lanes, _ = VECTORS.get(said.data.vector, (base, 0, ""))
    beside = (CParameter(f"const {element} *", said.beside),) * bool(said.beside)
    given = (
        CParameter(f"const {element} *", "x"),
        CParameter(f"{element} *", "y"),
        *beside,
        CParameter("size_t", "n"),
    )
    zeros = {each.name: found[1] for each in said.parameters if (found := ZEROS.fullmatch(each.value))}
    names = {"x": "gv_v" if lanes else "x[gv_i]", said.beside: f"{said.beside}[gv_i]"}
    names |= {each.name: f"({each.type})gv_{each.name}" for each in said.parameters if each.name in zeros}
    arguments = ", ".join(names.get(each.name) or each.value for each in said.parameters)
    around = (_OF_A_VECTOR if lanes else _OF_A_VALUE).format(
        KERNEL=KERNEL, T=element, V=base, lanes=lanes, call=f"{callee}({arguments})",
        given=", ".join(f"{each.type} {each.name}" for each in given),
        zeros="".join(f"    __align__(16) char gv_{name}[{size}] = {{}};\n" for name, size in zeros.items()),
    )  # fmt: skip
    return Prototype(said.text, "void", given, said.contract, launch=LAUNCH), around
