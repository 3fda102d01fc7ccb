"""What never returns is named within two time limits, with what was found: nothing waits for each call anew."""

import time

import pytest
from foreign import shared_library
from marking import nightly

from gelu_verify.errors import TargetFailure
from gelu_verify.isolation import limits as of_isolation
from gelu_verify.isolation.hosts import Hosts
from gelu_verify.isolation.limits import FIRST, Limits, Patience
from gelu_verify.measure.jobs import Job
from gelu_verify.measure.request import Request
from gelu_verify.measure.run import measured

LIMIT = 2.0  # seconds
FIRST_CALL = "did not return within 2 s when it was first called, in float32, with -1, 0.5, 1, 2"
PYTHON = """
import os, signal, time

def always(x):
    time.sleep(10_000)

def stubborn(x):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(1)

def forks(x):
    os.fork()
    time.sleep(10_000)

"""
C = """
#include <stddef.h>
#include <unistd.h>
static void relu(const float *x, float *y, size_t n) { for (size_t i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : 0; }
void always_f32(const float *x, float *y, size_t n) { sleep(10000); }
void long_f32(const float *x, float *y, size_t n) { if (n > 1000) sleep(10000); relu(x, y, n); }
void later_f32(const float *x, float *y, size_t n) { static int calls; if (++calls > 100) sleep(10000); relu(x, y, n); }
void some_f32(const float *x, float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] == 3) sleep(10000);
    relu(x, y, n);
}
"""


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hangs")
    (folder / "hangs.py").write_text(PYTHON)
    library = shared_library(folder, C)
    return {"py": f"{folder / 'hangs.py'}:{{}}", "c": f"{library}:{{}}_f32"}


@pytest.fixture
def waited(monkeypatch):
    """Seconds that were waited for what then was ended."""
    found = []
    hung = Patience.hung

    def noting(patience, seconds):
        found.append(seconds)
        hung(patience, seconds)

    monkeypatch.setattr(Patience, "hung", noting)
    return found


IMPORTED = {
    "import.py": "import time\ntime.sleep(10_000)\ndef relu(x): return x",
    "class.py": "class relu:\n    def __init__(self): import slow_library\n    def __call__(self, x): return x",
}


@pytest.mark.parametrize("file", [*IMPORTED, "library.so"])
def test_what_never_finishes_loading_is_named(tmp_path, monkeypatch, file):
    """Its import, the class that it is an instance of, or what runs when a library is opened."""
    monkeypatch.setattr(of_isolation, "LEAST_IMPORT", 0.5)
    (tmp_path / "slow_library.py").write_text("import time\ntime.sleep(10_000)")
    if file in IMPORTED:
        (tmp_path / file).write_text(IMPORTED[file])
        name = f"{tmp_path / file}:relu"
    else:
        source = "#include <unistd.h>\n__attribute__((constructor)) void at_once(void) { sleep(10000); }\n" + C
        name = f"{shared_library(tmp_path, source)}:later_f32"
    start = time.monotonic()
    with Hosts(Limits(seconds=0.25)) as hosts:
        (target,), _ = hosts.select([name], function="relu", dtype="float32")
    assert target.failure.kind == "hang"
    assert str(target.failure) == f"{name}, while it was loaded, did not return within 0.5 s"
    assert time.monotonic() - start < of_isolation.LOADING / 2


def test_an_import_has_two_time_limits_and_no_framework_is_too_slow():
    assert [Limits(seconds=s).of_import for s in (1, 50, None)] == [60, 100, 240]


def result_of(name, throughput="quick"):
    request = Request(targets=(name,), functions=("relu",), dtypes=("float32",), plan="quick", throughput=throughput)
    with Hosts(Limits(seconds=LIMIT)) as hosts:
        (target,), _ = hosts.select([name], function="relu", dtype="float32")
        (result,) = measured([Job(target, request.inputs("", "relu", "float32"))], request)
    return result.record


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("py", "always", FIRST_CALL),
        *nightly(("py", "stubborn", FIRST_CALL)),
        ("py", "forks", FIRST_CALL),
        ("c", "always", "did not return within 2 s, whatever it is called with"),
        *nightly(("c", "long", "did not return within 2 s, ")),
        ("c", "later", "did not return within 2 s"),
        *nightly(("c", "some", "did not return within 2 s, ")),
    ],
)
def test_what_hangs_is_named_within_two_time_limits(names, waited, kind, name, words):
    record = result_of(names[kind].format(name))
    assert record.failure_kind == "hang"
    assert words in record.failure
    assert sum(waited) <= LIMIT + max(LIMIT, of_isolation.SEARCH) + LIMIT / 4
    assert record.sentence.startswith("does not return")


def test_a_first_call_that_compiles_is_not_called_a_hang():
    patience = Patience(Limits())
    assert patience.seconds(1) == patience.of_one_call == FIRST
    patience.took(60.0, 4)
    assert patience.seconds(1 << 16) > 60


@pytest.mark.nightly
def test_after_that_time_it_is_not_called_any_more(names, waited):
    with Hosts(Limits(seconds=0.5)) as hosts:
        (target,), _ = hosts.select([names["c"].format("always")], function="relu", dtype="float32")
        start = time.monotonic()
        for _ in range(40):
            with pytest.raises(TargetFailure, match="did not return"):
                target.evaluate("float32", Request().inputs("", "relu", "float32").chunks[0].x_bits()[:4])
        assert 0.5 <= sum(waited) <= 0.5 + of_isolation.SEARCH + 0.5
    assert time.monotonic() > start
