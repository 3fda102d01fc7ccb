"""What is named is what runs: own symbols first, the files that were linked, the code as it is now."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from foreign import CC, bits, chosen, compile_apart, needs_cc, shared_library
from marking import nightly

from gelu_verify import targets
from gelu_verify.errors import TargetFailure, UsageError
from gelu_verify.isolation.hosts import Hosts
from gelu_verify.targets.kinds import _loader

pytestmark = needs_cc
needs_cxx = pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
LIBM = ("tanhf", "erff", "erfcf", "expf")
X = bits("float32", "0.5", "-3")


@pytest.fixture(autouse=True)
def private(tmp_path, monkeypatch):
    """Names without a folder are looked for there, too."""
    compile_apart(tmp_path, monkeypatch, "CPATH", "LIBRARY_PATH", "LD_LIBRARY_PATH")
    monkeypatch.chdir(tmp_path)


def values(target):
    return target.evaluate("float32", X).view("f4").tolist()


def cc(*arguments):
    subprocess.run([CC, "-O1", "-fPIC", *map(str, arguments)], check=True)


def compiled_object(folder, source, name="part"):
    (folder / f"{name}.c").write_text(source)
    cc("-c", folder / f"{name}.c", "-o", folder / f"{name}.o")
    return folder / f"{name}.o"


def fresh(name, **options):
    """Values and version of a target, as a new process finds them."""
    with Hosts() as hosts:
        (target,), _ = targets.select([name], **options, find=hosts.find, load=hosts._load)
        return values(target), target.version


# ---- own symbols first --------------------------------------------------------------------------

OWN = "{extern}float {f}(float x) {{ return 42; }}\n{extern}float each_f32(float x) {{ return {f}(x); }}\n"


@pytest.mark.few(3)
@pytest.mark.parametrize("f", LIBM)
@pytest.mark.parametrize(("suffix", "extern"), [("c", ""), pytest.param("cpp", 'extern "C" ', marks=needs_cxx)])
def test_a_source_runs_its_own_function_of_a_libm_name(tmp_path, f, suffix, extern):
    path = tmp_path / f"own.{suffix}"
    path.write_text(OWN.format(f=f, extern=extern))
    for symbol in (f, "each_f32"):
        assert values(chosen(f"{path}:{symbol}", cflags="-O2 -fno-builtin")) == [42, 42]


@pytest.mark.few(2)
@pytest.mark.parametrize("f", LIBM)
def test_a_library_runs_its_own_function_of_a_libm_name(tmp_path, f):
    path = shared_library(tmp_path, OWN.format(f=f, extern=""), "libown.so", "-fno-builtin", "-O0")
    for symbol in (f, "each_f32"):
        assert values(chosen(f"{path}:{symbol}:scalar")) == [42, 42]


def test_a_library_calls_the_functions_of_those_that_it_needs(tmp_path):
    shared_library(tmp_path, "float tanhf(float x) { return 42; }", "libmine.so", "-fno-builtin")
    (tmp_path / "user.c").write_text("float tanhf(float); float each_f32(float x) { return tanhf(x); }")
    cc("-shared", "user.c", "-o", "libuser.so", "-L.", "-lmine", "-lm", "-Wl,-rpath,$ORIGIN")
    assert fresh("./libuser.so:each_f32:scalar")[0] == [42, 42]


def test_libraries_of_one_process_keep_to_themselves(tmp_path):
    source = "float helper(float x) {{ return {n}; }} float each_f32(float x) {{ return helper(x); }}"
    made = [shared_library(tmp_path, source.format(n=n), f"lib{n}.so", "-O0") for n in (1, 2)]
    assert [values(chosen(f"{path}:each_f32:scalar")) for path in made] == [[1, 1], [2, 2]]


def test_an_ifunc_is_a_function(tmp_path):
    source = (
        "static float mine(float x) { return 42; } static void *choose(void) { return mine; }"
        'float gelu_f32(float x) __attribute__((ifunc("choose")));'
    )
    path = shared_library(tmp_path, source)
    assert values(chosen(f"{path}:gelu_f32:scalar")) == [42, 42]


@needs_cxx
def test_an_inline_variable_of_another_library_is_refused(tmp_path):
    """STB_GNU_UNIQUE: whichever library is first in the process gives its copy to all."""
    made = []
    for n in (1, 2):
        source = tmp_path / f"{n}.cpp"
        source.write_text(f'inline float scale = {n}; extern "C" float each_f32(float x) {{ return scale; }}')
        made.append(tmp_path / f"lib{n}.so")
        subprocess.run(["c++", "-std=c++17", "-shared", "-fPIC", str(source), "-o", str(made[-1])], check=True)
    assert values(chosen(f"{made[0]}:each_f32:scalar")) == [1, 1]
    with pytest.raises(UsageError, match=r"lib2.so would use scale of .*lib1.so.*in its own process"):
        chosen(f"{made[1]}:each_f32:scalar")
    assert fresh(f"{made[1]}:each_f32:scalar")[0] == [2, 2]


@needs_cxx
@pytest.mark.nightly
def test_the_standard_library_of_cplusplus_is_nobody_elses(tmp_path):
    source = tmp_path / "std.cpp"
    source.write_text(
        "#include <string>\n#include <iostream>\n#include <vector>\n#include <random>\n"
        'extern "C" float each_f32(float x) { std::string s = std::to_string(x) + "!";'
        " std::vector<std::string> v(3, s); std::mt19937 g; std::uniform_real_distribution<float> d;"
        " return v.size() + 0 * d(g); }"
    )
    assert values(chosen(f"{source}:each_f32")) == [3, 3]
    assert values(chosen(f"{source}:each_f32", cflags="-O1")) == [3, 3]


def test_a_sanitizer_forbids_it_and_the_user_is_warned(tmp_path):
    """AddressSanitizer ends a program that uses RTLD_DEEPBIND: then a library whose name is taken is refused."""
    runtime = subprocess.run([CC, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout
    if not os.path.isabs(runtime.strip()):
        pytest.skip("needs libasan")
    own = OWN.format(f="tanhf", extern="")
    plain = shared_library(tmp_path, own, "libplain.so", "-fno-builtin", "-O0")
    symbolic = shared_library(tmp_path, own, "libsymbolic.so", "-fno-builtin", "-O0", "-Wl,-Bsymbolic")
    other = shared_library(tmp_path, "float each_f32(float x) { return 42; }", "libother.so")
    script = (
        "import sys, numpy as np\nfrom gelu_verify import targets\nfrom gelu_verify.errors import UsageError\n"
        "for path in sys.argv[1:]:\n"
        "    try:\n        (t,), _ = targets.select([path + ':each_f32:scalar'])\n"
        "        print(t.evaluate('float32', np.zeros(1, np.uint32)).view('f4')[0])\n"
        "    except UsageError as error:\n        print(error)\n"
    )
    runtime = str(Path(runtime.strip()).resolve())
    environment = {**os.environ, "LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0"}
    command = [sys.executable, "-P", "-c", script, str(plain), str(symbolic), str(other)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    refused, *rest = done.stdout.splitlines()
    assert "would use tanhf of" in refused
    assert "AddressSanitizer forbids RTLD_DEEPBIND (link it with -Wl,-Bsymbolic" in refused
    assert rest == ["42.0", "42.0"]


ARENA = """
#include <string.h>
static char pool[1 << 28];
static size_t at;
void *malloc(size_t n) { void *p = pool + at; at += (n + 31) & ~(size_t)15; return p; }
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void *realloc(void *p, size_t n) { void *q = malloc(n); return p ? memmove(q, p, n) : q; }
void free(void *p) {}
"""
FREES = """
#include <stdlib.h>
#include <string.h>
float each_f32(float x) { free(strdup("a")); return 42; }
"""


def test_a_replaced_malloc_is_not_mixed_with_the_c_librarys(tmp_path):
    """What strdup has from the other malloc, the library must not give back to the C library."""
    preloaded = shared_library(tmp_path, ARENA, "libarena.so", "-fno-builtin")
    path = shared_library(tmp_path, FREES, "libfrees.so", "-fno-builtin")
    script = (
        "import numpy as np\nfrom gelu_verify import targets\n"
        f"(target,), _ = targets.select(['{path}:each_f32:scalar'])\n"
        "print(target.evaluate('float32', np.zeros(1, np.uint32)).view('f4')[0])"
    )
    environment = {**os.environ, "LD_PRELOAD": str(preloaded)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "42.0\n", done.stderr


# ---- what is named is there ---------------------------------------------------------------------


def test_a_function_that_is_only_declared_is_refused(tmp_path):
    (tmp_path / "declared.c").write_text("#include <math.h>\n")
    with pytest.raises(UsageError, match=r"'tanhf' is declared in declared.c, not defined: it is that of .*libm"):
        chosen("declared.c:tanhf")


def test_a_header_may_declare_what_a_library_defines(tmp_path):
    shared_library(tmp_path, "float gelu_f32(float x) { return 42; }", "libdeclared.so")
    (tmp_path / "mine.h").write_text("float gelu_f32(float x);\nstatic inline float silu_f32(float x) { return 41; }\n")
    target = chosen("mine.h:gelu_f32", cflags=f"-L{tmp_path} -ldeclared")
    assert values(target) == [42, 42]
    assert f"defined in {tmp_path / 'libdeclared.so'}" in target.note
    assert values(chosen("mine.h:silu_f32")) == [41, 41]


@needs_cxx
def test_a_header_of_cplusplus(tmp_path):
    text = (
        "namespace ns { template <class T> inline T gelu(T x) { return 42; } inline int gelu(int x) { return x; } }\n"
    )
    for name, flags in (("a.hpp", None), ("a.h", "-std=c++17"), ("a.h", None)):
        (tmp_path / name).write_text(text)
        target = chosen(f"{name}:ns::gelu<float>", cflags=flags)
        assert values(target) == [42, 42]
        assert target.function == "gelu"
    assert values(chosen("a.hpp:ns::gelu", call="float f(float x)")) == [42, 42]


def test_a_function_of_a_library_that_it_needs_is_not_its_own(tmp_path):
    path = shared_library(tmp_path, "#include <math.h>\nfloat each_f32(float x) { return tanhf(x); }", "libfoo.so")
    with pytest.raises(UsageError, match=r"no symbol 'erff' in .*libfoo.so: it needs .*libm.so.6, which has one"):
        chosen(f"{path}:erff:scalar")


@pytest.mark.parametrize("kind", ["", "__thread "])
def test_a_variable_is_not_a_function(tmp_path, kind):
    path = shared_library(tmp_path, f"{kind}float gelu_f32 = 3;")
    with pytest.raises(UsageError, match=r"'gelu_f32' in .* is a (thread-local )?variable, not a function"):
        chosen(f"{path}:gelu_f32")


def test_an_undefined_symbol_is_an_error_of_loading(tmp_path):
    path = shared_library(tmp_path, "float absent(float); float gelu_f32(float x) { return absent(x); }")
    with pytest.raises(UsageError, match=r"cannot be loaded: .*undefined symbol: absent"):
        chosen(f"{path}:gelu_f32:scalar")


@pytest.mark.parametrize("flags", ["-O2 -Wall -Wextra -Werror -Wpedantic -Wmissing-prototypes", "-O2 -std=c89"])
def test_what_is_compiled_around_a_source_changes_nothing(tmp_path, flags):
    (tmp_path / "strict.c").write_text(
        "#define EXPORTED 3\ntypedef unsigned long size_t;\nenum { false, true };\n"
        "float gelu_f32(float x);\nfloat gelu_f32(float x) { return x + EXPORTED; }\n"
        "void silu_f32(const float *x, float *y, size_t n);\n"
        "void silu_f32(const float *x, float *y, size_t n) { while (n--) y[n] = x[n]; }\n"
    )
    assert values(chosen("strict.c:gelu_f32", cflags=flags)) == [3.5, 0]
    assert values(chosen("strict.c:silu_f32", cflags=flags)) == [0.5, -3]


# ---- what was linked is what is loaded ----------------------------------------------------------

CALLER = "float part(float); float each_f32(float x) { return part(x); }\n"


def part(n):
    return f"float part(float x) {{ return {n}; }}"


@pytest.mark.parametrize("soname", [[], ["-Wl,-soname,libpart.so.1"]])
def test_a_library_of_the_flags_is_found_where_the_linker_found_it(tmp_path, soname):
    (tmp_path / "use.c").write_text(CALLER)
    folder = tmp_path / "lib"
    folder.mkdir()
    shared_library(folder, part(42), "libpart.so", *soname)
    (folder / "libpart.so.1").symlink_to("libpart.so")
    assert fresh("use.c:each_f32", cflags=f"-O2 -L{folder} -lpart")[0] == [42, 42]


def test_what_a_library_of_the_flags_needs_is_found_beside_it(tmp_path):
    (tmp_path / "use.c").write_text(CALLER)
    shared_library(tmp_path, "float inner(float x) { return 42; }", "libinner.so")
    source = "float inner(float); float part(float x) { return inner(x); }"
    shared_library(tmp_path, source, "libpart.so", f"-L{tmp_path}", "-linner")
    assert fresh("use.c:each_f32", cflags="-O2 -L. -lpart -linner")[0] == [42, 42]


def test_the_loaders_own_folders_come_after(tmp_path, monkeypatch):
    (tmp_path / "use.c").write_text(CALLER)
    for name, n in (("linked", 42), ("decoy", 41)):
        (tmp_path / name).mkdir()
        shared_library(tmp_path / name, part(n), "libpart.so")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "decoy"))
    assert fresh("use.c:each_f32", cflags="-O2 -Llinked -lpart")[0] == [42, 42]


def test_another_file_of_that_name_that_is_loaded_already_is_named(tmp_path):
    (tmp_path / "use.c").write_text(CALLER)
    users = []
    for name, n in (("one", 1), ("two", 2)):
        folder = tmp_path / name
        folder.mkdir()
        shared_library(folder, part(n), "libtwice.so", "-Wl,-soname,libtwice.so")
        users.append(shared_library(folder, CALLER, "libuser.so", f"-L{name}", "-ltwice", "-Wl,-rpath,$ORIGIN"))
    assert values(chosen("use.c:each_f32", cflags="-O2 -Lone -ltwice")) == [1, 1]
    assert values(chosen(f"{users[0]}:each_f32:scalar")) == [1, 1]
    for name, options in (("use.c:each_f32", {"cflags": "-O2 -Ltwo -ltwice"}), (f"{users[1]}:each_f32:scalar", {})):
        with pytest.raises(UsageError, match=r"two/libtwice.so, but .*one/libtwice.so"):
            chosen(name, **options)


def test_a_c_library_of_ones_own_is_not_taken_for_the_systems(tmp_path):
    """Every process has a libm.so.6 already: another one of that name cannot be loaded beside it."""
    (tmp_path / "use.c").write_text("float tanhf(float); float each_f32(float x) { return tanhf(x); }")
    shared_library(
        tmp_path, "float tanhf(float x) { return 42; }", "libm.so.6", "-fno-builtin", "-Wl,-soname,libm.so.6"
    )
    with pytest.raises(UsageError, match=r"was linked with .*libm.so.6, but the loader takes /.*libm"):
        chosen("use.c:each_f32", cflags=f"-O2 {tmp_path}/libm.so.6")


# ---- nothing stale ------------------------------------------------------------------------------


def archive(folder, n):
    compiled_object(folder, part(n))
    (folder / "libpart.a").unlink(missing_ok=True)
    subprocess.run(["ar", "rcs", str(folder / "libpart.a"), str(folder / "part.o")], check=True)


def script(folder, n):
    compiled_object(folder, part(n), f"part{n}")
    (folder / "libpart.so").write_text(f"INPUT({folder}/part{n}.o)\n")


def response(folder, n):
    (folder / "words").write_text(f"-DN={n}")


def header_before(folder, n):
    """A header that is found earlier than the one that was read."""
    for at, name in ((41, "late"), (42, "early")):
        (folder / name).mkdir(exist_ok=True)
        if n >= at:
            (folder / name / "n.h").write_text(f"#define N {at}\n")


def incbin(folder, n):
    (folder / "data").write_bytes(np.float32(n).tobytes())


WITH_N = "#include <stddef.h>\nfloat each_f32(float x) { return N; }"
READ = {  # what is read: the source, the flags, what changes it
    "archive": (CALLER, "-L{0} -lpart", archive),
    "object": (CALLER, "{0}/part.o", lambda folder, n: compiled_object(folder, part(n))),
    "shared library": (CALLER, "-L{0} -lpart", lambda folder, n: shared_library(folder, part(n), "libpart.so")),
    "shared library by its path": (CALLER, "./libpart.so", lambda d, n: shared_library(d, part(n), "libpart.so")),
    "linker script": (CALLER, "-L{0} -lpart", script),
    "second source": (CALLER, "{0}/part.c", lambda folder, n: (folder / "part.c").write_text(part(n))),
    "response file": (WITH_N, "@{0}/words", response),
    "header": ('#include "n.h"\n' + WITH_N, "-I{0}/early -I{0}/late", header_before),
    "option -include": (WITH_N, "-include {0}/n.h", lambda d, n: (d / "n.h").write_text(f"#define N {n}\n")),
    "included binary": (
        '__asm__(".data\\n.globl number\\nnumber: .incbin \\"data\\"\\n.previous");'
        'extern float number __attribute__((visibility("hidden"))); float each_f32(float x) { return number; }',
        "-Wa,-I{0}",
        incbin,
    ),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("what", [*list(READ)[::3], *nightly(*(what for k, what in enumerate(READ) if k % 3))])
def test_whatever_is_read_is_read_again_and_in_the_version(tmp_path, what):
    source, flags, change = READ[what]
    (tmp_path / "use.c").write_text(source)
    seen = []
    for n in (41, 42, 42):
        change(tmp_path, n)
        seen.append(fresh("use.c:each_f32", cflags=f"-O2 {flags.format(tmp_path)}"))
    assert [found for found, _ in seen] == [[41, 41], [42, 42], [42, 42]]
    versions = [version for _, version in seen]
    assert versions[0] != versions[1] == versions[2]


@pytest.mark.few(1)
@pytest.mark.parametrize(("variable", "name"), [("CPATH", "n.h"), ("LIBRARY_PATH", "libpart.a")])
def test_the_environment_of_the_compiler_is_heeded(tmp_path, monkeypatch, variable, name):
    (tmp_path / "use.c").write_text('#include "n.h"\n' + WITH_N if variable == "CPATH" else CALLER)
    seen = []
    for n in (41, 42):
        folder = tmp_path / str(n)
        folder.mkdir()
        archive(folder, n)
        (folder / "n.h").write_text(f"#define N {n}\n")
        monkeypatch.setenv(variable, str(folder))
        seen.append(fresh("use.c:each_f32", cflags="-O2 -lpart" if name == "libpart.a" else "-O2"))
    assert [found for found, _ in seen] == [[41, 41], [42, 42]]
    assert seen[0][1] != seen[1][1]


def test_debug_information_is_no_other_version(tmp_path):
    """Folders and lines are in it: the same code elsewhere would have another version."""
    for folder in ("one", "another_folder"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "use.c").write_text("float each_f32(float x) { return -x; }")
    one, other = (chosen(f"{folder}/use.c:each_f32", cflags="-O2 -g") for folder in ("one", "another_folder"))
    assert one.version == other.version


def test_a_version_is_of_all_that_was_loaded(tmp_path):
    """Of a library of the user's, and of those that it needs."""
    needs = ["-L.", "-lpart", "-Wl,-rpath,$ORIGIN"]
    seen = []
    for n in (1, 2, 2):
        shared_library(tmp_path, part(n), "libpart.so")
        path = shared_library(tmp_path, CALLER, "libuse.so", *needs)
        seen.append((path.read_bytes(), *fresh("./libuse.so:each_f32:scalar")))
    assert seen[0][0] == seen[1][0]
    assert [found for _, found, _ in seen] == [[1, 1], [2, 2], [2, 2]]
    versions = [version for *_, version in seen]
    assert versions[0] != versions[1] == versions[2]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_the_c_library_is_in_a_version_even_where_it_is_not_linked(tmp_path):
    path = shared_library(tmp_path, "float expf(float); float each_f32(float x) { return expf(x); }", "libbare.so")
    stripped = tmp_path / "bare.so"
    cc("-shared", "-nostdlib", tmp_path / "libbare.so.c", "-o", stripped)
    for library in (path, stripped):
        files = _loader.files_of(_loader.opened(str(library)))
        assert {"libm.so.6", "libc.so.6"} <= {file.elf.path.name for file in files}


def test_a_library_that_is_built_again_is_loaded_again(tmp_path):
    """In one process, where dlopen knows its name."""
    seen = []
    for n in (1, 2):
        path = shared_library(tmp_path, f"float each_f32(float x) {{ return {n}; }}", "libnew.so")
        seen.append((values(target := chosen(f"{path}:each_f32:scalar")), target.version))
    assert [found for found, _ in seen] == [[1, 1], [2, 2]]
    assert seen[0][1] != seen[1][1]


def test_a_library_that_is_overwritten_while_it_is_loaded_is_refused(tmp_path):
    one, two = (shared_library(tmp_path, f"float each_f32(float x) {{ return {n}; }}", f"lib{n}.so") for n in (1, 2))
    chosen(f"{one}:each_f32:scalar")
    with one.open("r+b") as file:  # in place: truncated, it would crash this process when that ends
        file.write(two.read_bytes())
    with pytest.raises(UsageError, match=r"lib1.so has changed since this process loaded it: .* in a new process"):
        chosen(f"{one}:each_f32:scalar")


def test_a_library_that_another_needs_cannot_be_replaced_in_a_process(tmp_path):
    shared_library(tmp_path, part(1), "libheld.so")
    path = shared_library(tmp_path, CALLER, "libuse.so", "-L.", "-lheld", "-Wl,-rpath,$ORIGIN")
    assert values(chosen(f"{path}:each_f32:scalar")) == [1, 1]
    shared_library(tmp_path, part(2), "libheld.so")
    with pytest.raises(UsageError, match=r"libheld.so has changed since this process loaded it"):
        chosen(f"{path}:each_f32:scalar")


# ---- one run judges one code --------------------------------------------------------------------

CRASHES = "#include <stdlib.h>\nfloat each_f32(float x) {{ if (x == 7) abort(); return {n}; }}"


def after_a_crash(name, change):
    with Hosts() as hosts:
        (target,), _ = targets.select([name], find=hosts.find, load=hosts._load)
        assert values(target) == [1, 1]
        change()
        with pytest.raises(TargetFailure, match="SIGABRT"):
            target.evaluate("float32", bits("float32", "7"))
        return values(target)


def test_a_source_that_is_edited_meanwhile_is_judged_as_it_was(tmp_path):
    source = tmp_path / "edited.c"
    source.write_text(CRASHES.format(n=1))
    assert after_a_crash(f"{source}:each_f32", lambda: source.write_text(CRASHES.format(n=2))) == [1, 1]


def test_a_library_that_is_built_meanwhile_is_a_failure(tmp_path):
    path = shared_library(tmp_path, CRASHES.format(n=1))
    with pytest.raises(TargetFailure, match="its files changed while it was tested") as raised:
        after_a_crash(f"{path}:each_f32:scalar", lambda: shared_library(tmp_path, CRASHES.format(n=2)))
    assert raised.value.kind == "changed code"
