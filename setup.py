"""The native extensions; all metadata is in pyproject.toml."""

import functools
import hashlib
import itertools
import os
import re
import sys
import sysconfig
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import Cython
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

sys.path.insert(0, str(Path(__file__).parent / "tools"))
import incremental

SOURCE = Path("src")
LINUX = sys.platform == "linux"
VECTORS = "-fno-trapping-math"  # no exception flags: selections become vectors, and every result stays as it is
# a dependency on the C library also where nothing of it is called: auditwheel tells glibc from musl by it
LINKING = ["-Wl,--no-as-needed", "-lc"] if LINUX else []
CORE = ("truth", "math", "tables", "enclosure", "cr")  # headers that more than one extension is made of
MEMORYVIEWS = (
    "gelu_verify._memoryviews"  # what Cython needs for arrays: in each of its modules it would take 5 s to compile
)
ABI3 = not sysconfig.get_config_var("Py_GIL_DISABLED")  # one wheel for Python 3.11 and later, but free-threaded ones
FAST = ("-O2", "-ftree-vectorize", "-fvect-cost-model=dynamic")  # what of -O3 makes our loops fast, and no more
LOOPS = ("-fpeel-loops", "-funswitch-loops")  # for loops with short loops in them: these are unrolled
LESS = "-O1"  # in the place of -O2, vectors stay: a third less to compile, where code is as fast with it
# no contraction, no fast-math: every operation rounds as written
FLAGS = ["-std=c99", *FAST, "-ffp-contract=off", "-g0", *(["-DPy_LIMITED_API=0x030b0000"] if ABI3 else [])]


def extension(module: str, source: str, *folders: str, flags: tuple[str, ...] = (), **macros: str) -> Extension:
    """Module `module` from src/`source`, for which alone `macros` are, and the C files of src/`folders`."""
    return Extension(
        module,
        [str(SOURCE / source), *sorted(str(path) for folder in folders for path in (SOURCE / folder).glob("*.c"))],
        include_dirs=[str(SOURCE)],
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

EXTENSIONS = [  # what takes longest to compile first: at the end nothing is left to compile beside it
    extension("gelu_verify.truth._core", "cython/core.pyx", "truth", flags=(VECTORS, LESS)),
    extension(
        "gelu_verify.buckets._reducer",
        "cython/reducer.pyx",
        "buckets",
        "truth",
        flags=(VECTORS, *LOOPS),
    ),
    extension(
        "gelu_verify.stochastic._native",
        "cython/stochastic.pyx",
        flags=(VECTORS, *LOOPS),
    ),
    extension(
        "gelu_verify.kernels._published",
        "cython/published.pyx",
        "published",
        flags=(LESS,),
        KERNEL_VERSIONS=f'"{header_versions("published", *PUBLISHED)}"',
    ),
    extension(MEMORYVIEWS, "cython/_memoryviews.c", flags=(LESS,)),  # written by Cython; it computes nothing
    extension(
        "gelu_verify.truth._correctly_rounded",
        "cython/correctly_rounded.pyx",
        "cr",
        flags=LOOPS,
        CR_VERSION=f'"{folder_version(*CORE, "arrays")}"',
    ),
    extension(
        "gelu_verify.kernels._cpu",
        "cython/cpu_kernels.pyx",
        "kernels",
        KERNEL_VERSIONS=f'"{header_versions("kernels", *KERNELS)}"',
    ),
    extension(
        "gelu_verify.kernels._parameters",
        "cython/parameters.pyx",
        "parameters",
        flags=(LESS,),
        KERNEL_VERSIONS=f'"{header_versions("parameters", *PARAMETERS)}"',
    ),
    extension("gelu_verify.search._native", "cython/batches.pyx", flags=(VECTORS,)),
    extension("gelu_verify.targets._trampoline", "cython/trampoline.pyx", "targets"),
    extension("gelu_verify._fenv", "fenv/environment.c"),
    extension("gelu_verify.isolation._faults", "isolation/faults.c"),
    *([extension("gelu_verify.isolation._confinement", "isolation/confinement.c")] if LINUX else []),
]


class Incremental(build_ext):
    """Compiles what has changed, on all processors; objects stay in build/ also where pip builds somewhere else."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.build_temp = f"build/temp.{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
        self.releases = {Cython.__path__[0]: f"Cython {Cython.__version__}"}
        if sys.prefix != sys.base_prefix:
            self.releases[f"{sys.exec_prefix}/include"] = "headers of the virtual environment"

    def build_extensions(self) -> None:
        self.compiler.force = True  # linking takes less time than it takes to find out whether it is necessary
        compiler = itertools.takewhile(lambda word: not word.startswith("-"), self.compiler.compiler_so)
        self.version = incremental.version(*compiler)
        self.pool, self.units = ThreadPoolExecutor(self.parallel or os.cpu_count()), {}
        try:
            others = {ext.name: [self.unit(ext, path) for path in ext.sources[1:]] for ext in self.extensions}
            first = {ext.name: self.unit(ext, self.translated(ext), *ext.define_macros) for ext in self.extensions}
            for ext in self.extensions:
                objects = [unit.result() for unit in (first[ext.name], *others[ext.name])]
                libraries = {"libraries": self.get_libraries(ext), "extra_postargs": ext.extra_link_args}
                self.compiler.link_shared_object(objects, self.get_ext_fullpath(ext.name), **libraries)
        finally:
            self.pool.shutdown(cancel_futures=True)

    def translated(self, ext: Extension) -> str:
        """The first source of an extension, in C. Cython runs in this process: it takes a while to be imported."""
        source, kept = ext.sources[0], Path(self.build_temp, ext.sources[0]).with_suffix(".c")
        if not (source.endswith(".pyx") or ext.name == MEMORYVIEWS):
            return source
        dependencies = Path(f"{kept}.dep")

        def translate() -> None:
            dependencies.unlink(missing_ok=True)
            options = {"build_dir": self.build_temp, "shared_utility_qualified_name": MEMORYVIEWS, "depfile": True}
            cythonize([Extension(ext.name, [source])], force=True, quiet=True, language_level=3, **options)
            dependencies.touch()  # for MEMORYVIEWS Cython writes none

        incremental.make(kept, ["cythonize", ext.name], translate, dependencies, self.releases, Cython.__version__)
        return str(kept)

    def unit(self, ext: Extension, source: str, *macros: tuple[str, str]) -> Future[str]:
        """The object file of a source. One that several extensions have is compiled once, as of the first."""
        output = Path(source if source.startswith(self.build_temp) else f"{self.build_temp}/{source}").with_suffix(".o")
        if output in self.units:
            return self.units[output]
        include = [f"-I{folder}" for folder in (*ext.include_dirs, *self.compiler.include_dirs)]
        defined = [f"-D{name}={value}" for name, value in macros]
        dependencies = output.with_suffix(".d")
        written = ["-c", source, "-o", str(output), "-MD", "-MF", str(dependencies)]
        command = [*self.compiler.compiler_so, *include, *defined, *ext.extra_compile_args, *written]

        def compiled() -> str:
            run = functools.partial(self.spawn, command)
            incremental.make(output, command, run, dependencies, self.releases, self.version)
            return str(output)

        self.units[output] = self.pool.submit(compiled)
        return self.units[output]


setup(
    cmdclass={"build_ext": Incremental},
    ext_modules=EXTENSIONS,
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if ABI3 else {},
)
