"""The native extensions; all metadata is in pyproject.toml."""

import copy
import hashlib
import re
import sys
import sysconfig
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCE = Path("src")
LINUX = sys.platform == "linux"
# no contraction, no fast-math: every operation rounds as written
FLAGS = ["-std=c99", "-O3", "-ffp-contract=off", "-g0"]
VECTORS = "-fno-trapping-math"  # no exception flags: selections become vectors, and every result stays as it is
# a dependency on the C library also where nothing of it is called: auditwheel tells glibc from musl by it
LINKING = ["-Wl,--no-as-needed", "-lc"] if LINUX else []
CORE = ("truth", "math", "tables", "enclosure", "cr")  # headers that more than one extension is made of
ABI3 = not sysconfig.get_config_var("Py_GIL_DISABLED")  # one wheel for Python 3.11 and later, but free-threaded ones


def extension(
    module: str, source: str, *folders: str, headers: tuple[str, ...] = (), flags: tuple[str, ...] = (), **macros: str
) -> Extension:
    """Module `module` from src/`source` and the C files of src/`folders`; rebuilt when their headers change, or
    those of src/`headers`, which they include."""
    if ABI3:
        macros["Py_LIMITED_API"] = "0x030b0000"
    return Extension(
        module,
        [str(SOURCE / source), *sorted(str(path) for folder in folders for path in (SOURCE / folder).glob("*.c"))],
        include_dirs=[str(SOURCE), numpy.get_include()],
        depends=sorted(str(path) for folder in (*folders, *headers) for path in (SOURCE / folder).rglob("*.h")),
        extra_compile_args=[*FLAGS, *flags],
        extra_link_args=LINKING,
        libraries=["m"],
        define_macros=list(macros.items()),
        py_limited_api=ABI3,
    )


def header_versions(folder: str, *shared: str) -> str:
    """'gelu.h=0123456789ab;...': a hash of each header of src/`folder` with those that all share, comments apart."""

    def code(header: str) -> str:
        return " ".join(re.sub(r"/\*.*?\*/", " ", (SOURCE / header).read_text(), flags=re.DOTALL).split())

    common = "".join(code(header) for header in shared)
    names = sorted(path.name for path in (SOURCE / folder).glob("*.h"))
    hashes = (hashlib.sha256((code(f"{folder}/{name}") + common).encode()).hexdigest()[:12] for name in names)
    return ";".join(f"{name}={value}" for name, value in zip(names, hashes, strict=True))


def folder_version(*folders: str) -> str:
    """A hash of all C code in those folders of src/, comments apart."""
    paths = sorted(path for folder in folders for path in (SOURCE / folder).glob("*.[ch]"))
    code = (re.sub(r"/\*.*?\*/", " ", path.read_text(), flags=re.DOTALL).split() for path in paths)
    return hashlib.sha256(" ".join(word for words in code for word in words).encode()).hexdigest()[:12]


ARITHMETIC = tuple(
    f"kernels/{name}.h"
    for name in (
        *("half", "arithmetic", "kernel", "no_arithmetic", "every_operation", "by_float32", "by_float64"),
        *("float16", "bfloat16", "float32", "float64"),
    )
)
KERNELS = (*ARITHMETIC, "kernels/instance.h", "kernels/kernels.h")
PARAMETERS = (*ARITHMETIC, "parameters/instance.h", "parameters/kernels.h")
PUBLISHED = (
    *ARITHMETIC,
    *(f"published/{name}.h" for name in ("instance", "words", "published", "rounding", "rational_tanh", "onednn_erf")),
)

EXTENSIONS = [
    extension("gelu_verify._fenv", "fenv/environment.c", headers=("fenv",)),
    extension("gelu_verify.truth._core", "cython/core.pyx", "truth", headers=(*CORE, "fenv"), flags=(VECTORS,)),
    extension(
        "gelu_verify.truth._correctly_rounded",
        "cython/correctly_rounded.pyx",
        "cr",
        headers=(*CORE, "arrays", "fenv"),
        CR_VERSION=f'"{folder_version(*CORE, "arrays")}"',
    ),
    extension(
        "gelu_verify.buckets._reducer",
        "cython/reducer.pyx",
        "buckets",
        "truth",
        headers=(*CORE, "fenv"),
        flags=(VECTORS,),
    ),
    extension("gelu_verify.search._native", "cython/batches.pyx", headers=(*CORE, "search", "fenv"), flags=(VECTORS,)),
    extension("gelu_verify.isolation._faults", "isolation/faults.c"),
    *([extension("gelu_verify.isolation._confinement", "isolation/confinement.c")] if LINUX else []),
    extension(
        "gelu_verify.kernels._cpu",
        "cython/cpu_kernels.pyx",
        "kernels",
        KERNEL_VERSIONS=f'"{header_versions("kernels", *KERNELS)}"',
    ),
    extension(
        "gelu_verify.kernels._published",
        "cython/published.pyx",
        "published",
        headers=("kernels",),
        KERNEL_VERSIONS=f'"{header_versions("published", *PUBLISHED)}"',
    ),
    extension(
        "gelu_verify.kernels._parameters",
        "cython/parameters.pyx",
        "parameters",
        headers=("kernels",),
        KERNEL_VERSIONS=f'"{header_versions("parameters", *PARAMETERS)}"',
    ),
    extension(
        "gelu_verify.stochastic._native",
        "cython/stochastic.pyx",
        headers=("stochastic", "math", "truth", "tables", "enclosure"),
        flags=(VECTORS,),
    ),
    extension("gelu_verify.targets._trampoline", "cython/trampoline.pyx", "targets"),
]


class SideBySide(build_ext):
    """All extensions at once, each with object files of its own: two compile src/truth, with different flags."""

    def initialize_options(self) -> None:
        super().initialize_options()
        self.parallel = True

    def build_extension(self, ext: Extension) -> None:
        own = copy.copy(self)
        own.build_temp = str(Path(self.build_temp, ext.name))
        super(SideBySide, own).build_extension(ext)


setup(
    cmdclass={"build_ext": SideBySide},
    ext_modules=cythonize(EXTENSIONS, language_level=3),
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if ABI3 else {},
)
