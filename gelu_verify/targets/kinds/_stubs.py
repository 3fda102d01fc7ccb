"""Headers that are not here: empty where a declaration is read; of CUDA's libraries what a source uses, to compile it.

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
_LIBRARY = re.compile(r"(?:cublas|cudnn|curand|cusparse|cusolver|nccl)", re.IGNORECASE)
_USED = re.compile(  # as these libraries write their names: cublasLtCreate, CUBLAS_OP_N; not cublas_handle
    r"\b((?:cublas|cudnn|curand|cusparse|cusolver|nccl)[A-Z]\w*|(?:CUBLAS|CUDNN|CURAND|CUSPARSE|CUSOLVER|NCCL)_\w+)\b\s*(\(?)"
)
_DEFINED = r"\b(?:void|int|bool|auto|inline|\w+_t)\s+{name}\s*\("
_TYPES = ("curandState", "ncclUniqueId")  # others end in _t
_POINTERS = re.compile(r".*(?:Handle|Desc|Descriptor|Layout|Comm|Preference|Generator)_t")
_OPAQUE = """#pragma once
#include <cuda_runtime.h>
#ifndef GELU_VERIFY_ABSENT
#define GELU_VERIFY_ABSENT
struct gelu_verify_absent {{
    template <class... T> gelu_verify_absent(T &&...) {{}}
    operator int() const {{ return 0; }}
    template <class T> operator T *() const {{ return nullptr; }}
}};
{declared}
#endif
"""


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


def opaque(text: str) -> str:
    """A header in which everything of these libraries that a source uses is something of which nothing is known."""
    used = {name: bool(call) for name, call in sorted(_USED.findall(text))}
    lines = []
    for value, (name, is_called) in enumerate(used.items()):
        if re.search(_DEFINED.format(name=name), text):  # by the source itself
            continue
        if _POINTERS.fullmatch(name):
            lines.append(f"typedef struct {name}_absent *{name};")
        elif name.endswith("_t") or name in _TYPES:
            lines.append(f"using {name} = gelu_verify_absent;")
        elif is_called:
            lines.append(f"template <class... T> gelu_verify_absent {name}(T &&...) {{ return 0; }}")
        else:
            lines.append(f"static const int {name} = {value};")  # others than a switch has
    return _OPAQUE.format(declared="\n".join(lines))


def is_of_a_library(header: str) -> bool:
    """Whether it is one of a library that what is tested here has nothing to do with."""
    return bool(_LIBRARY.match(Path(header).name))


def write_header(folder: Path, header: str, text: str) -> None:
    """Put a header there; UsageError where its name leads elsewhere."""
    place = folder / header
    if not place.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"no such header: {header}")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
