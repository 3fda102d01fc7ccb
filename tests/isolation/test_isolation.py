"""Implementations that break down, in a process of their own: each is named by what it did and where, none harms us."""

import json
import os
import random
import shutil
import signal
import subprocess
import textwrap
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from foreign import needs_cc, shared_library
from marking import nightly
from processes import alive, wait_for
from program import PROGRAM
from repository import SUPPORT

from gelu_verify import verify
from gelu_verify.errors import TargetFailure, UsageError
from gelu_verify.formats import DTYPES, get_format
from gelu_verify.inputs.plans import make_plan
from gelu_verify.isolation.hosts import Hosts, supported
from gelu_verify.isolation.limits import Limits
from gelu_verify.isolation.memory import GUARDS, PAGE, ArrayPlace, GuardLayout
from gelu_verify.isolation.target import LostTarget
from gelu_verify.measure.sweep import sweep

pytestmark = [
    pytest.mark.skipif(not supported(), reason="isolation needs Linux"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="the faulty functions need a C compiler"),
]
FMT = get_format("float32")
PYTHON = """
import ctypes, signal, sys
import numpy as np
from gelu_verify.targets.output_memory import output_like

faulty = ctypes.CDLL({library!r})

def through(name):
    def call(x):
        y = output_like(x.view(np.uint32))
        getattr(faulty, name)(*(ctypes.c_void_p(a.ctypes.data) for a in (x, y)), ctypes.c_size_t(len(x)))
        return y.view(x.dtype)
    return call

for name in {names!r}:
    globals()["c_" + name] = through(name)

def good(x):
    return np.maximum(x, 0)

def raises(x):
    if (x == 3).any():
        raise ValueError("three")
    return np.maximum(x, 0)

def leaves(x):
    if (x == 3).any():
        sys.exit(0)
    return np.maximum(x, 0)

def hoards(x):
    kept = []
    while (x == 3).any():
        kept.append(np.ones(1 << 22))
    return np.maximum(x, 0)

def waits(x):
    while (x == 3).any():
        pass
    return np.maximum(x, 0)

def in_place(x):
    return np.maximum(x, 0, out=x).copy()

def short(x):
    return np.maximum(x, 0)[1:]

def wide(x):
    return np.maximum(x, 0).astype(np.float64)

def listed(x):
    return [0.0] * x.size

def prints(x):
    if (x == 3).any():
        print("three")
    return np.maximum(x, 0)

def faults(x):
    if (x == 3).any():
        signal.raise_signal(11)
    return np.maximum(x, 0)

def breeds(x):
    import subprocess
    breeds.child = subprocess.Popen(["sleep", "1000"])
    while True:
        pass
"""
NAMES = [
    *("good", "segfault", "aborts", "divides", "loops", "exits", "bomb", "reserves", "overflows", "underflows"),
    *("overreads", "underreads", "changes", "skips", "prints", "random_bits", "kills"),
]
THREE = FMT.bits_text(FMT.parse("3"))
AT_THREE = f"{THREE}:{THREE}"


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    """A Python file with the functions of faulty.c and one of its own."""
    folder = tmp_path_factory.mktemp("faulty")
    library = folder / "libfaulty.so"
    source = SUPPORT / "faulty.c"
    subprocess.run(["cc", "-O1", "-w", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    (folder / "faulty.py").write_text(PYTHON.format(library=str(library), names=NAMES))
    return folder / "faulty.py"


@pytest.fixture
def hosts(request):
    """With a short time limit for what hangs: narrowing it down waits that long five times."""
    kind = getattr(request.node, "callspec", None) and request.node.callspec.params.get("kind")
    with Hosts(Limits(seconds=1 if kind == "hang" else 3, nbytes=1 << 28)) as all_of_them:
        yield all_of_them
        pids = [host._child.pid for host in all_of_them._hosts.values() if host._child is not None]
    for pid in pids:
        assert not alive(pid)


def one(hosts, faulty, name):
    (found,), _ = hosts.select([f"{faulty}:{name}"], function="relu", dtype="float32")
    return found


def judged(hosts, faulty, name, ranges=("2.99999:3.00001", "-1:-0.999999")):
    return sweep(one(hosts, faulty, name), make_plan("default", "relu", "float32", 0, list(ranges)))


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("name", "kind", "where", "words"),
    [
        ("c_segfault", "segfault", AT_THREE, "SIGSEGV at address 0x10"),
        *nightly(("faults", "segfault", AT_THREE, "SIGSEGV")),
        *nightly(("c_aborts", "abort", AT_THREE, "SIGABRT")),
        *nightly(("c_divides", "arithmetic", AT_THREE, "SIGFPE")),
        ("c_loops", "hang", AT_THREE, "did not return within"),
        ("c_exits", "exit", AT_THREE, "exit code 3"),
        *nightly(("leaves", "exception", AT_THREE, "SystemExit")),
        ("raises", "exception", AT_THREE, "ValueError: three"),
        ("c_bomb", "memory", AT_THREE, "needs more than the memory limit of 256 MiB (--memory-limit)"),
        *nightly(("c_reserves", "memory", AT_THREE, "memory limit")),
        *nightly(("hoards", "memory", AT_THREE, "memory limit")),
        ("c_overflows", "out of bounds", None, "wrote beyond the end of its output"),
        *nightly(("c_underflows", "out of bounds", None, "wrote before its output")),
        *nightly(("c_overreads", "out of bounds", None, "read beyond the end of its input")),
        *nightly(("c_underreads", "out of bounds", None, "read before its input")),
        *nightly(("c_changes", "changed input", AT_THREE, "wrote to its input")),
        ("in_place", "changed input", None, "wrote to its input"),
        ("c_skips", "partial write", AT_THREE, "left 1 output unwritten"),
        ("short", "shape", None, "shape"),
        ("wide", "dtype", None, "float64 where float32"),
        ("listed", "dtype", None, "list"),
        *nightly(("c_kills", "killed", AT_THREE, "SIGKILL")),
        *nightly(("waits", "hang", AT_THREE, "did not return within")),
    ],
)
def test_what_breaks_down_is_named_with_the_smallest_range(hosts, faulty, name, kind, where, words):
    result = judged(hosts, faulty, name)
    record = result.record
    assert record.failure_kind == kind, record.failure
    assert words in record.failure
    first, last = record.failure_range.split(":")
    assert first == last
    assert where in (None, record.failure_range)
    assert result.max_ulp is None
    assert result.table is None


@pytest.mark.few(1)
@pytest.mark.parametrize(("name", "where"), [("c_prints", AT_THREE), ("prints", AT_THREE)])
def test_what_prints_is_measured_and_named(hosts, faulty, name, where, capfd):
    record = judged(hosts, faulty, name).record
    assert (record.failure_kind, record.failure_range, record.max_ulp) == ("stdout", where, 0)
    assert "three" in record.failure
    assert capfd.readouterr().out == ""


def test_what_is_not_deterministic_is_measured_and_named(hosts, faulty):
    record = judged(hosts, faulty, "c_random_bits").record
    assert record.failure_kind == "nondeterministic"
    assert "whatever they are" not in record.failure  # a call that gives the same once says nothing of its length
    assert record.sentence.count("equal calls give other outputs") == 1
    assert "computes neither" not in record.sentence
    assert record.max_ulp > 0


COUNTS = """
import os, time
import numpy as np

CALLS = []

def counted(x):
    CALLS.append(len(x))
    if len(CALLS) == {at}:
        {does}
    return np.maximum(x, 0)
"""


@pytest.mark.parametrize(
    ("at", "does"),
    [(30, "raise OSError('too many')"), *nightly((12, "time.sleep(60)"), (12, "os._exit(3)"), (40, "os.abort()"))],
)
def test_a_failure_of_a_later_call_is_blamed_on_no_input(tmp_path, at, does):
    """Whatever is counted, or used up: the first calls of another process return, also for those inputs."""
    (tmp_path / "k.py").write_text(COUNTS.format(at=at, does=does))
    with Hosts(Limits(seconds=1)) as hosts:
        (target,), _ = hosts.select([f"{tmp_path}/k.py:counted"], function="relu", dtype="float32")
        record = sweep(target, make_plan("landmarks", "relu", "float32")).record
    assert record.failure.endswith(", but not when they were called again")
    assert (record.failure_range, record.failure_length) == (None, None)
    assert ", but not when it is called so again" in record.sentence


def test_a_nan_is_a_nan_in_another_call(tmp_path):
    """CPython's float operations exchange operands once they are often used: NaN results change their sign."""
    (tmp_path / "my.py").write_text(
        "import itertools, numpy as np\n"
        "sign = itertools.cycle([1, -1, -1])\n"
        "def relu(x): return np.where(np.isnan(x), np.copysign(x, next(sign)), np.maximum(x, 0)).astype(x.dtype)\n"
    )
    result = verify(f"{tmp_path}/my.py:relu", "relu", "float16")
    assert (result.failure, result.grade) == (None, "correctly_rounded")


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["good", "c_good"])
@pytest.mark.parametrize("plan", ["default", "landmarks"])
def test_what_is_right_is_never_accused(hosts, faulty, name, plan):
    chosen = make_plan(plan, "relu", "float32")
    isolated = sweep(one(hosts, faulty, name), chosen)
    assert isolated.failure is None
    assert isolated.record.failure_kind is None
    assert isolated.max_ulp == 0
    assert isolated.failed_checks == []
    if name == "good":
        here = sweep(local(faulty), chosen)
        assert here.record == isolated.updated(dispatch=None).record  # seen only in a process of its own
        assert here.frame().equals(isolated.frame())


def local(faulty):
    from gelu_verify.targets import select

    (found,), _ = select([f"{faulty}:good"], function="relu", dtype="float32")
    return found


MEMORY = """
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define RELU for (size_t i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : x[i] != x[i] ? x[i] : 0;
void *volatile kept;
void reserves_f32(const float *x, float *y, size_t n)
{
    char *memory = mmap(0, 8ul << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) abort();
    memset(memory, 1, 1 << 16);
    munmap(memory, 8ul << 30);
    RELU
}
void keeps_f32(const float *x, float *y, size_t n) { kept = memset(malloc(32 << 20), 1, 32 << 20); RELU }
"""


def test_address_space_that_is_only_reserved_is_not_memory_that_is_needed(hosts, tmp_path):
    library = shared_library(tmp_path, MEMORY)
    target = one(hosts, f"{library}", "reserves_f32")
    result = sweep(target, make_plan("landmarks", "relu", "float32"))
    assert (result.failure, result.max_ulp, result.failed_checks) == (None, 0, [])


def test_memory_that_short_calls_keep_counts_as_what_one_long_call_takes(hosts, tmp_path):
    target = one(hosts, str(shared_library(tmp_path, MEMORY)), "keeps_f32")
    with pytest.raises(
        TargetFailure, match=r"needs more than the memory limit of 256 MiB \(--memory-limit\)"
    ) as raised:
        deque(target.evaluate("float32", np.arange(n, dtype=np.uint32)) for n in range(1, 1 + 256 // 32))
    assert raised.value.kind == "memory"


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["bfloat16", "float64", *nightly("float16")])
def test_every_dtype_crosses_as_its_bits(hosts, faulty, dtype):
    (found,), _ = hosts.select([f"{faulty}:good"], function="relu", dtype=dtype)
    result = sweep(found, make_plan("landmarks", "relu", dtype))
    assert (result.failure, result.max_ulp) == (None, 0)


def test_a_host_goes_on_after_its_child_was_killed(hosts, faulty):
    """From outside, between two calls and while one is waited for: nobody is accused, and the answers are the same."""
    target = one(hosts, faulty, "good")
    x = np.arange(2000, dtype=np.uint32)
    before = target.evaluate("float32", x)
    for _ in range(3):
        pid = target.host._child.pid
        os.kill(pid, signal.SIGKILL)
        target.host.case("relu float32", 0, "float32").retried = False
        assert (target.evaluate("float32", x) == before).all()
        assert target.host._child.pid != pid


def test_a_place_is_flush_with_its_guard():
    for n, itemsize in ((1, 2), (257, 4), (1000, 8)):
        end = ArrayPlace(n, itemsize, 1 << 16)
        assert end.offset + n * itemsize == 1 << 16
        assert ArrayPlace(n, itemsize, 1 << 16, at_start=True).offset == 0
        assert end.margin.stop == end.offset


@pytest.mark.parametrize("itemsize", [2, 4, 8])
@pytest.mark.parametrize("at_start", [False, True])
@pytest.mark.parametrize("guard", GUARDS)
def test_an_address_is_named_by_the_array_that_it_is_near(guard, at_start, itemsize):
    """Also where no guard covers it: what lies between an array and the end of its pages."""
    base, capacity = 1 << 40, 1 << 12
    place = ArrayPlace(7, itemsize, capacity, at_start)
    layout, size = GuardLayout(base, guard, capacity, place), 7 * itemsize
    x, y = (base + guard + place.offset, base + 2 * guard + capacity + place.offset)
    assert [layout.region(x + k) for k in (0, size - 1)] == ["input"] * 2
    assert [layout.region(y + k) for k in (0, size - 1)] == ["output"] * 2
    for far in (1, itemsize, PAGE // 4, guard // 2 - PAGE):
        assert layout.region(x - far) == "before its input"
        assert layout.region(x + size - 1 + far) == "beyond the end of its input"
        assert layout.region(y - far) == "before its output"
        assert layout.region(y + size - 1 + far) == "beyond the end of its output"
    assert layout.region(base - 1) is None
    assert layout.region(y - place.offset + capacity + guard) is None


def test_verify_takes_a_name_to_a_child_and_a_callable_where_it_can(faulty, monkeypatch):
    plan = {"function": "relu", "dtype": "float32", "plan": "landmarks"}
    assert verify(f"{faulty}:c_segfault", "relu", ranges=["3:3"]).record.failure_kind == "segfault"
    with pytest.raises(UsageError, match="lives in this process only"):
        verify(lambda x: np.maximum(x, 0), isolate=True, **plan)
    monkeypatch.syspath_prepend(faulty.parent)
    import faulty as module

    assert verify(module.good, isolate=True, **plan).max_ulp == 0
    assert verify(module.prints, isolate=True, **plan).record.failure_kind == "stdout"


def test_what_cannot_be_loaded_is_a_result(hosts, tmp_path):
    (tmp_path / "dies.py").write_text("import os\nos.kill(os.getpid(), 11)\ndef f(x):\n    return x\n")
    record = judged(hosts, tmp_path / "dies.py", "f").record
    assert record.failure_kind == "segfault"
    assert "while it was loaded" in record.failure
    assert (record.failure_range, record.sentence) == (None, "crashes.")  # no x was tried


@pytest.mark.parametrize("before", [0, 100, 5000])
def test_what_it_said_last_is_quoted(tmp_path, before):
    """The last line on stderr, and nothing that is not there."""
    (tmp_path / "dies.py").write_text(
        f"import os\ndef relu(x):\n    os.write(2, b'.' * {before} + b'\\nno luck\\n')\n    os.abort()\n"
    )
    with Hosts() as hosts:
        (lost,), _ = hosts.select([f"{tmp_path}/dies.py:relu"], function="relu", dtype="float32")
        assert "died of SIGABRT: no luck when" in str(lost.failure)


@pytest.mark.parametrize("seed", [0, *nightly(*range(1, 8))])
def test_what_a_first_call_does_not_survive_is_said_of_its_dtype(tmp_path, seed):
    """The others are measured, or have died of their own; of none is more said than the four values of that call."""
    rng = random.Random(seed)
    deadly = rng.sample(["float16", "float32", "float64"], rng.randint(1, 2))  # bfloat16: as the type that NumPy has
    (tmp_path / "dies.py").write_text(
        f"import os\ndef relu(x):\n    if x.dtype.name in {deadly}: os.abort()\n    return x.clip(0)\n"
    )
    with Hosts() as hosts:
        found, _ = hosts.select([f"{tmp_path}/dies.py:relu"], function="relu")
        lost = [each for each in found if isinstance(each, LostTarget)]
        assert sorted(each.dtypes for each in lost) == sorted((dtype,) for dtype in deadly)
        assert sorted(dtype for each in found for dtype in each.dtypes) == sorted(DTYPES)
        for each in lost:
            said = f"died of SIGABRT when it was first called, in {each.dtypes[0]}, with -1, 0.5, 1, 2"
            assert str(each.failure) == f"{each.name} {said}"
            record = sweep(each, make_plan("landmarks", "relu", each.dtypes[0])).record
            assert record.sentence == "aborts at some x from -1 to 2."
        (lives,) = (each for each in found if "bfloat16" in each.dtypes)
        assert sweep(lives, make_plan("landmarks", "relu", "bfloat16")).record.failure is None


def test_a_family_that_does_not_survive_its_import_is_absent(tmp_path, monkeypatch):
    (tmp_path / "scipy").mkdir()
    (tmp_path / "scipy" / "__init__.py").write_text("import os\nos.abort()\n")
    monkeypatch.syspath_prepend(tmp_path)
    with Hosts() as hosts:
        found, absent = hosts.find(["scipy", "kernels"])
    assert {target.family for target in found} == {"kernels"}
    assert "SIGABRT" in absent["scipy"]


# ---- the command line -----------------------------------------------------------------------------


def command(faulty, *names):
    targets = [f"{faulty}:{name}" for name in names]
    options = ["--function", "relu", "--dtype", "float32", "--no-throughput", "--no-report"]
    return [*PROGRAM, "run", *targets, *options]


def test_the_run_goes_on_and_ends_with_1(faulty, tmp_path):
    words = ["--bits", AT_THREE, "--json", "--time-limit", "5", "--memory-limit", "256M"]
    done = subprocess.run(
        [*command(faulty, "c_segfault", "c_prints", "good"), *words], capture_output=True, text=True, cwd=tmp_path
    )
    found = json.loads(done.stdout)
    assert [record["failure_kind"] for record in found] == ["segfault", "stdout", None]
    assert found[2]["max_ulp"] == 0
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert found[0]["repeat"].endswith("--time-limit 5 --memory-limit 256M")


def group_of(pid):
    """Live processes that descend from `pid`, or are in the session of one that does."""
    found, sessions = {pid}, {pid}
    for _ in range(4):
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            number = int(stat.parent.name)
            if fields[0] != "Z" and (int(fields[1]) in found or int(fields[3]) in sessions):
                found.add(number)
                sessions.add(number)
    return found - {pid}


RESERVING = """
    import ctypes, mmap

    DRIVER = {driver!r}
    loaded = DRIVER and ctypes.CDLL(DRIVER)

    def relu(x):
        mmap.mmap(-1, 8 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)  # reserved, never touched
        return x * (x > 0)
"""


@pytest.mark.few(1)
@pytest.mark.parametrize("has_driver", [False, True])
def test_what_is_mapped_and_never_touched_is_not_memory_with_and_without_a_driver(tmp_path, has_driver):
    driver = tmp_path / "libcuda.so.1"
    (tmp_path / "empty.c").write_text("int unused;")
    subprocess.run(["gcc", "-shared", tmp_path / "empty.c", "-o", driver], check=True)
    module = tmp_path / "reserving.py"
    module.write_text(textwrap.dedent(RESERVING).format(driver=str(driver) if has_driver else None))
    with Hosts() as hosts:
        (found,), _ = hosts.select([f"{module}:relu"], function="relu", dtype="float32")
        failure = sweep(found, make_plan("default", "relu", "float32", 0, ["1:1.00001"])).failure
    assert failure is None


def shared_memory():
    """Without semaphores: a run has none, other programs of the machine come and go with theirs."""
    names = os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else []
    return {name for name in names if not name.startswith("sem.")}


@pytest.mark.parametrize("moment", [0.3, *nightly(0.0, 1.0)])
def test_kill_9_of_the_parent_leaves_no_process_no_memory_and_no_half_result(faulty, tmp_path, moment):
    killed_run(faulty, tmp_path, moment)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(30))
def test_kill_9_of_the_parent_at_random(faulty, tmp_path, seed):
    killed_run(faulty, tmp_path, random.Random(seed).uniform(0, 4))


def killed_run(faulty, folder, moment):
    """`breeds` never returns, and has a child of its own."""
    before = shared_memory()
    words = [*command(faulty, "good", "breeds"), "--out", str(folder / "run"), "--time-limit", "100"]
    running = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert wait_for(lambda: group_of(running.pid))
    time.sleep(moment)
    children = group_of(running.pid)
    assert children
    running.kill()
    running.wait()
    assert wait_for(lambda: not any(map(alive, children))), [p for p in children if alive(p)]
    assert shared_memory() <= before
    assert not (folder / "run").exists()
    done = subprocess.run(
        [*command(faulty, "good"), "--plan", "landmarks", "--out", str(folder / "run")], cwd=folder, capture_output=True
    )
    assert done.returncode == 0
    assert (folder / "run" / "manifest.json").exists()
    assert list(folder.glob(".unfinished-*")) == []


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(20))
def test_kill_9_of_the_child_at_random(faulty, tmp_path, seed):
    shot_child(faulty, tmp_path, seed, shots=5)


def shot_child(faulty, folder, seed, shots):
    """The run ends, with every result there: measured, or "killed"."""
    chance = random.Random(seed)
    words = command(faulty, "good", "c_good")
    words += ["--out", str(folder / "run"), "--bits", "0x38000000:0x3fffffff", "--json"]
    running = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    shot = 0
    while shot < shots and running.poll() is None:
        for pid in group_of(running.pid):
            with suppress(ProcessLookupError):  # it has ended by itself
                os.kill(pid, signal.SIGKILL)
                shot += 1
        time.sleep(chance.uniform(0.05, 0.5))
    found = json.loads(running.communicate(timeout=300)[0])
    assert len(found) == 2
    for record in found:
        assert record["failure_kind"] in (None, "killed")
        assert record["max_ulp"] in (None, 0)
    assert running.returncode == int(any(record["failure"] for record in found))
    assert not group_of(running.pid)


@pytest.mark.parametrize(
    ("name", "function", "dtype"), [("silu_f32", "silu", "float32"), *nightly(("gelu_bf16", "gelu", "bfloat16"))]
)
def test_what_dies_when_it_is_called_first_is_what_its_name_says(tmp_path, name, function, dtype):
    """One result, so that the next run, in which it lives, has the same ones."""
    (tmp_path / "dies.py").write_text(f"import os\n\n\ndef {name}(x):\n    os._exit(3)\n")
    with Hosts(Limits(20)) as hosts:
        found, _ = hosts.select([f"{tmp_path}/dies.py:{name}"])
    assert [(each.function, each.dtypes) for each in found] == [(function, (dtype,))]


@needs_cc
def test_a_library_that_ends_while_it_is_loaded_is_quoted_in_the_dtype_of_its_symbol(hosts, tmp_path):
    library = shared_library(
        tmp_path,
        "#include <stdio.h>\n#include <stdlib.h>\n__attribute__((constructor)) static void begin(void)"
        '{ fprintf(stderr, "no key\\n"); exit(7); }\nfloat gelu_f32(float x) { return x; }',
    )
    (target,), _ = hosts.select([f"{library}:gelu_f32:scalar"])
    assert target.dtypes == ("float32",)
    failure = sweep(target, make_plan("landmarks", "gelu", "float32")).failure
    assert failure.endswith(":scalar, while it was loaded, ended its process with exit code 7: no key")
