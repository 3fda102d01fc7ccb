"""Files that code reads while it is loaded, and files that scripts name, are part of a version; nothing else is."""

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from foreign import chosen
from requiring import program

from gelu_verify.isolation.hosts import Hosts
from gelu_verify.targets import files_read, select
from gelu_verify.targets.files_read import digest, named_by, shown
from gelu_verify.targets.kinds.pipe import ProgramTarget

HERE = """import os
here = os.path.dirname(os.path.abspath(__file__)) + '/'
def r(name, mode='r'):
    with open(here + name, mode) as f: return f.read()
def w(name, text):
    with open(here + name, 'w') as f: f.write(text)
"""
DEF = "def gelu(x): return x * k\n"
# How a module gets a number from another file: its name, the module's text, and two contents of that file.
WAYS = {
    "spec": (
        "plug.py",
        "import importlib.util as u\ns = u.spec_from_file_location('planted_plug', here + 'pl' + 'ug.py')\n"
        "m = u.module_from_spec(s)\ns.loader.exec_module(m)\nk = m.k\n",
        ("k = 1\n", "k = 2\n"),
    ),
    "import_module": (
        "planted_dynamic.py",
        "import importlib, sys\nsys.path.append(here)\nk = importlib.import_module('planted_' + 'dynamic').k\n",
        ("k = 1\n", "k = 2\n"),
    ),
    "exec": ("code.txt", "exec(r('co' + 'de.txt'))\n", ("k = 1", "k = 2")),
    "json": ("k.json", "import json\nk = json.loads(r('k.js' + 'on'))['k']\n", ('{"k": 1}', '{"k": 2}')),
    "pickle": ("k.bin", "import pickle\nk = pickle.loads(r('k.b' + 'in', 'rb'))\n", (b"I1\n.", b"I2\n.")),
    "text": (
        "sub/k.txt",
        "import pathlib\nk = int(pathlib.Path(here, 'su' + 'b', 'k.t' + 'xt').read_text())\n",
        ("1", "2"),
    ),
    "memmap": (
        "k.raw",
        "import numpy as np\nk = float(np.memmap(here + 'k.r' + 'aw', np.float32)[0])\n",
        (b"\0\0\x80?", b"\0\0\0@"),
    ),
    "in the first call": (
        "k.txt",
        "import functools\n@functools.cache\ndef load(): return int(r('k' + '.txt'))\n"
        "def gelu(x): return x * load()\n",
        ("1", "2"),
    ),
    "named only": ("k.txt", "def gelu(x: 'np.ndarray'): return x * int(r('k.txt'))\n", ("1", "2")),
    "elsewhere": ("../data/k.txt", "k = int(r('../da' + 'ta/k.txt'))\n", ("1", "2")),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _as_new(monkeypatch, tmp_path):
    """A working folder of its own, and nothing planted in what was imported."""
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")
    monkeypatch.setattr(sys, "path", list(sys.path))


def forgotten():
    for name in [name for name in sys.modules if name.startswith(("planted_", "main_"))]:
        del sys.modules[name]
    sys.path_importer_cache.clear()


def version(name="main.py:gelu", dtype="float32", **options):
    forgotten()
    return chosen(name, dtype=dtype, **options).version


def fresh(name="main.py:gelu", **options):
    """In a process of its own: version and files."""
    with Hosts() as hosts:
        (target,), _ = select([name], dtype="float32", **options, find=hosts.find, load=hosts._load)
        return target.version, target.files


def written(path, content):
    """As before the target is loaded: a file that is made while it is loaded does not count."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    os.utime(path, (10**9, 10**9))
    return path


@pytest.mark.parametrize("way", WAYS)
def test_a_version_is_of_what_is_read(way):
    name, text, (one, two) = WAYS[way]
    written("main.py", HERE + text + ("" if "def gelu" in text else DEF))
    written(name, one)
    written("other.txt", "1")
    before = version()
    written("other.txt", "2")
    assert version() == before
    written(name, two)
    assert version() != before
    written(name, one)
    assert version() == before


def test_a_fresh_process_elsewhere_finds_the_same(tmp_path):
    """All ways in one module; the files are named as seen from it."""
    texts = [text for text in (WAYS[way][1] for way in WAYS) if "def gelu" not in text]
    written("main.py", HERE + "".join(texts) + DEF)
    for name, text, contents in WAYS.values():
        if "def gelu" not in text:
            written(name, contents[0])
    before, files = fresh()
    names = [WAYS[way][0] for way in WAYS if "def gelu" not in WAYS[way][1]]
    assert sorted(files) == sorted(["main.py", *names])
    shutil.copytree(tmp_path / "home", tmp_path / "deeper" / "copy")
    shutil.copytree(tmp_path / "data", tmp_path / "deeper" / "data")
    os.chdir(tmp_path / "deeper")
    again = fresh(f"{tmp_path}/deeper/copy/main.py:gelu")
    assert again[1] == files
    assert again[0] == before == version("copy/main.py:gelu"), "also where it is no other process"


@pytest.mark.parametrize("seed", range(3))
def test_one_element_of_a_table_is_another_version(seed):
    """Wherever it is, whether an output changes or not."""
    table = np.random.default_rng(seed).normal(size=5000)
    written("main.py", HERE + "import numpy as np\nt = np.load(here + 't' + '.npy')\ndef gelu(x): return x * t[0]\n")
    seen = set()
    for _ in range(4):
        np.save("t.npy", table)
        os.utime("t.npy", (10**9, 10**9))
        seen.add(version())
        table[random.Random(seed).randrange(len(table))] += len(seen)
    assert len(seen) == 4


def test_what_is_written_meanwhile_is_no_part(tmp_path):
    """A file that code makes, temporary files, caches, logs, and what an installed package reads."""
    written(
        "main.py",
        HERE + "import tempfile, random\nt = str(random.random())\nw('made.txt', t)\nr('made.txt')\n"
        "with tempfile.NamedTemporaryFile('w+', dir=here) as f: f.write(t); f.flush(); r(os.path.basename(f.name))\n"
        "w('run.log', t)\nr('run.log')\nos.makedirs(here + '.cache', exist_ok=True)\nw('.cache/x', t)\nr('.cache/x')\n"
        "r('../' * 20 + 'proc/self/stat')\nr('../' * 20 + 'etc/passwd')\nk = 1\n" + DEF,
    )
    assert len({version(), version(), fresh()[0], fresh()[0]}) == 1


def test_a_child_that_is_replaced_reads_the_file_that_the_first_one_made():
    """It is no other implementation for that."""
    written(
        "main.py",
        HERE + "p = 'ca' + 'che.txt'\nif not os.path.exists(here + p): w(p, '2')\nk = int(r(p))\n" + DEF,
    )
    x = np.array([0x3F800000], np.uint32)
    with Hosts() as hosts:
        (target,), _ = select(["main.py:gelu"], dtype="float32", find=hosts.find, load=hosts._load)
        before = target.evaluate("float32", x)
        target.fresh()
        assert np.array_equal(target.evaluate("float32", x), before)


def test_a_module_that_two_targets_share_is_in_both_versions():
    """The second does not open its files again."""
    written("planted_shared.py", HERE + "k = int(r('k' + '.txt'))\n")
    written("a.py", "from planted_shared import k\n" + DEF)
    written("b.py", "from planted_shared import k\n# b\n" + DEF)
    written("k.txt", "1")
    both = [chosen(f"{name}.py:gelu", dtype="float32").version for name in "ab"]
    written("k.txt", "2")
    forgotten()
    again = [chosen(f"{name}.py:gelu", dtype="float32").version for name in "ba"][::-1]
    assert all(one != other for one, other in zip(both, again, strict=True))


def test_libraries_that_python_loads_are_read(tmp_path):
    cc = program("cc")
    written("k.c", "float k(void) { return 1; }\n")
    subprocess.run([cc, "-shared", "-fPIC", "-o", "k.so", "k.c"], check=True)
    os.utime("k.so", (10**9, 10**9))
    written("main.py", HERE + "import ctypes\nl = ctypes.CDLL(here + 'k.' + 'so')\nl.k.restype = ctypes.c_float\n"
            "k = l.k()\n" + DEF)  # fmt: skip
    before = fresh()
    assert "k.so" in before[1]
    written("k.c", "float k(void) { return 3; }\n")
    subprocess.run([cc, "-shared", "-fPIC", "-o", "k.so", "k.c"], check=True)
    os.utime("k.so", (10**9, 10**9))
    assert fresh()[0] != before[0]


def test_a_library_that_a_library_opens_is_read():
    """By dlopen, in its constructor: it does not say that it needs it."""
    cc = program("cc")
    written("main.c", "#include <dlfcn.h>\n#include <stddef.h>\nstatic float (*k)(void);\n"
            "__attribute__((constructor)) static void f(void) {\n"
            f'  void *h = dlopen("{os.getcwd()}/k.so", RTLD_NOW); k = (float (*)(void)) dlsym(h, "k"); }}\n'
            "void gelu_f32(const float *x, float *y, size_t n) {\n"
            "  for (size_t i = 0; i < n; i++) y[i] = x[i] * k(); }\n")  # fmt: skip
    subprocess.run([cc, "-shared", "-fPIC", "-o", "main.so", "main.c", "-ldl"], check=True)
    seen = []
    for k in (1, 1, 2):
        written("k.c", f"float k(void) {{ return {k}; }}\n")
        subprocess.run([cc, "-shared", "-fPIC", "-o", "k.so", "k.c"], check=True)
        os.utime("k.so", (10**9, 10**9))
        seen.append(fresh("./main.so:gelu_f32")[0])
    assert seen[0] == seen[1] != seen[2]


# ---- programs over a pipe ------------------------------------------------------------------------

SCRIPTS = {
    "python3 main.py": {"main.py": "import helper\nfrom pack import deep\n", "helper.py": "import third\n",
                        "third.py": "", "pack/__init__.py": "", "pack/deep.py": "from . import inner\n",
                        "pack/inner.py": "d = 'x.bin'\n", "pack/x.bin": b"\0\1"},
    "python3 -m pack.main": {"pack/__init__.py": "", "pack/main.py": "import lib\n", "lib.py": ""},
    "python3 -c 'import lib; lib.main()'": {"lib.py": "t = 'table.npy'\n", "table.npy": b"\0"},
    "python3 main.py --table t.bin": {"main.py": "", "t.bin": b"\0\1"},
    "python3 main.py --table=t.bin": {"main.py": "", "t.bin": b"\0\1"},
    "node main.js": {"main.js": "const h = require('./helper'); require('./d.json')", "helper.js": "", "d.json": "{}"},
    "sh run.sh": {"run.sh": "exec ./prog.sh --config conf.json\n", "prog.sh": "cat data.txt", "data.txt": "",
                  "conf.json": '{"table": "deep/t.bin"}', "deep/t.bin": b"\0"},
}  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("command", SCRIPTS)
def test_a_version_is_of_the_scripts_that_a_command_names(command, monkeypatch):
    monkeypatch.setattr(ProgramTarget, "answers", lambda *_: ())  # these scripts say nothing
    program(command.split()[0])
    for path, content in SCRIPTS[command].items():
        written(path, content)
    written("unrelated.py", "k = 1\n")
    before = version(f"pipe:{command}")
    written("unrelated.py", "k = 2\n")
    assert version(f"pipe:{command}") == before
    for path, content in SCRIPTS[command].items():
        written(path, content + (b"\2" if isinstance(content, bytes) else "\n"))
        assert version(f"pipe:{command}") != before, path
        written(path, content)
    assert version(f"pipe:{command}") == before


def test_a_file_that_a_script_writes_is_no_part():
    written("main.py", "open('out.txt', 'w')\nimport numpy as np\nnp.save('out.npy', 0)\nopen('in.txt')\n")
    for name in ("out.txt", "out.npy", "in.txt"):
        written(name, "1")
    found = named_by([Path("main.py")], 2e9)
    assert {path.name for path in found} == {"main.py", "in.txt"}


# ---- contents --------------------------------------------------------------------------------------


def test_a_large_file_is_known_by_its_size_and_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(files_read, "WHOLE", 1 << 12)
    monkeypatch.setattr(files_read, "BLOCK", 1 << 4)
    content = bytearray(range(256)) * 40
    seen = {digest(written(tmp_path / "large", bytes(content)))}
    for at in (0, len(content) - 1):
        changed = bytes(content[:at]) + bytes([content[at] ^ 1]) + bytes(content[at + 1 :])
        seen.add(digest(written(tmp_path / "large", changed)))
    seen.add(digest(written(tmp_path / "large", bytes(content) + b"\0")))
    assert len(seen) == 4


def test_names_are_relative_where_there_is_a_common_folder():
    assert shown(Path("/data/a/data/t"), Path("/data/a/code")) == "../data/t"
    assert shown(Path("/mnt/t"), Path("/data/a/code")) == "/mnt/t"


def test_this_package_in_the_working_folder_is_no_source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("gelu_verify", "beside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
    (tmp_path / "ops.py").write_text("import beside\nimport gelu_verify\n")
    found = named_by([tmp_path / "ops.py"], time.time())
    assert found == {tmp_path / "ops.py", tmp_path / "beside" / "__init__.py"}
