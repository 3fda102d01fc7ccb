"""Headers that are not here: empty where a declaration is read, and a few types of CUDA's libraries where it compiles.

A source that calls cuBLAS elsewhere needs it to be linked, not to be tested: what is tested is compiled for itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from ...errors import UsageError

_MISSING = re.compile(r"""['"]?([\w./+-]+)['"]?:? (?:file not found|No such file or directory)""")
_MOST = 200  # headers that one source lacks
# Read in place of the installed ones, which say nothing more of a declaration and take seconds to read.
CUDA_HEADERS = (
    *("cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h"),
    *("device_launch_parameters.h", "device_functions.h", "vector_types.h", "cooperative_groups.h", "mma.h"),
    *("cublas_v2.h", "cublasLt.h", "cudnn.h", "curand.h", "curand_kernel.h", "nccl.h", "nvtx3/nvToolsExt.h"),
)
_OPAQUE = """#pragma once
#include <cuda_runtime.h>
#ifndef GELU_VERIFY_ABSENT
#define GELU_VERIFY_ABSENT
struct gelu_verify_absent {{
    template <class... T> gelu_verify_absent(T &&...) {{}}
    operator int() const {{ return 0; }}
}};
#endif
#ifndef GELU_VERIFY_{name}
#define GELU_VERIFY_{name}
{declared}
#endif
"""
_LIBRARIES = {  # header: types, constants, functions
    "cublas": (
        "Handle_t Status_t ComputeType_t Operation_t Math_t LtHandle_t LtMatmulDesc_t LtMatrixLayout_t "
        "LtMatmulPreference_t",
        "STATUS_SUCCESS COMPUTE_32F COMPUTE_32F_FAST_TF32 COMPUTE_16F OP_N OP_T TF32_TENSOR_OP_MATH DEFAULT_MATH",
        "Create Destroy SetMathMode SetStream Sgemm GemmEx GemmStridedBatchedEx SgemmStridedBatched LtCreate LtDestroy "
        "GetStatusString",
    ),
    "cudnn": ("Handle_t Status_t", "STATUS_SUCCESS", "Create Destroy GetErrorString"),
    "curand": ("Generator_t State State_t Status_t", "STATUS_SUCCESS", "CreateGenerator"),
    "nccl": ("Comm_t Result_t UniqueId", "Success", "GetErrorString"),
}


def missing_of(message: str) -> str:
    """The header that a compiler did not find; empty where that is not what it says."""
    found = _MISSING.search(message)
    return found[1] if found and re.search(r"\.(?:h|hpp|cuh|inl|hxx|hh)$|^[\w/]+$", found[1]) else ""


def with_empty(folder: Path, preprocess: Callable[[], str], headers: tuple[str, ...] = ()) -> str:
    """What `preprocess` gives, which searches `folder`, where every header that it does not find is made empty."""
    for header in headers:
        write_header(folder, header, "")
    for _ in range(_MOST):
        try:
            return preprocess()
        except UsageError as error:
            header = missing_of(str(error))
            if not header or (folder / header).exists():
                raise
            write_header(folder, header, "")
    raise UsageError(f"more than {_MOST} headers are missing")


def opaque(header: str) -> str:
    """Types of a library that is not here, of which nothing is known; empty where it is none of those known here."""
    library = next((name for name in _LIBRARIES if Path(header).name.lower().startswith(name)), "")
    if not library:
        return ""
    types, constants, functions = _LIBRARIES[library]
    upper = "nccl" if library == "nccl" else f"{library.upper()}_"
    lines = [f"using {library}{each} = gelu_verify_absent;" for each in types.split()]
    lines += [f"static const int {upper}{each} = 0;" for each in constants.split()]
    lines += [f"template <class... T> int {library}{each}(T &&...) {{ return 0; }}" for each in functions.split()]
    return _OPAQUE.format(name=library.upper(), declared="\n".join(lines))


def write_header(folder: Path, header: str, text: str) -> None:
    """Put a header there; UsageError where its name leads elsewhere."""
    place = folder / header
    if not place.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"no such header: {header}")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
