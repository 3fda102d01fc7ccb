"""The program that runs in the environments of releases: it needs NumPy and nothing of ours."""

import ast
import hashlib
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from gelu_verify.errors import TargetFailure
from gelu_verify.formats import get_format, ordinals
from gelu_verify.versions.libraries import LIBRARIES
from gelu_verify.versions.worker import compiled
from gelu_verify.versions.worker_process import WORKER, WorkerProcess


def opening(expression, dtype="float32"):
    return {"expression": expression, "dtype": dtype}


@pytest.fixture
def process(tmp_path):
    """NumPy as a library; it is imported from where it is here."""
    running = WorkerProcess(sys.executable, "numpy")
    yield running
    running.end()


def test_it_imports_nothing_of_ours():
    tree = ast.parse(WORKER.read_text(encoding="utf-8"))
    imports = [each for each in ast.walk(tree) if isinstance(each, ast.Import | ast.ImportFrom)]
    names = {alias.name for each in imports for alias in each.names} | {
        getattr(each, "module", None) for each in imports
    }
    assert names <= {"ast", "base64", "hashlib", "importlib", "json", "os", "sys", "numpy", None}


@pytest.mark.parametrize("name", LIBRARIES)
def test_every_library_has_ways_without_being_installed(monkeypatch, name):
    monkeypatch.setattr("gelu_verify.targets.importing.import_module", lambda module: pytest.fail(f"imports {module}"))
    ways = list(LIBRARIES[name].ways())
    assert len({way.key for way in ways}) == len(ways) > 20
    assert all(("expression" in way.opening) != ("model" in way.opening) for way in ways)
    assert any(way.is_own for way in ways)


def test_paths_of_libraries_that_are_here_are_those_of_list():
    from gelu_verify.targets import find

    targets, _ = find(["scipy"])
    own = {(each.name, each.function) for each in targets}
    assert {(way.target, way.function) for way in LIBRARIES["scipy"].ways()} == own


@pytest.mark.parametrize(
    ("expression", "is_made_once"),
    [
        ("make(1)(x)", True),
        ("make(lambda x: x)(x)", True),
        ("make(x)(x)", False),
        ("make(1)(x, 2)", False),
        ("make(1)(x, y=2)", False),
        ("x + make(1)(x)", False),
    ],
)
def test_what_an_expression_applies_to_x_is_made_once(expression, is_made_once):
    """`jax.jit(...)(x)` would compile anew for every call."""
    made = []

    def make(what):
        made.append(what)
        return lambda x, y=0: x + y

    function = compiled(expression, {"make": make})
    assert [function(3) for _ in range(3)] == [eval(expression, {"make": make, "x": 3})] * 3
    assert len(made) - 1 == (1 if is_made_once else 3)


def test_frames_and_messages_alternate(process):
    x = np.linspace(-3, 3, 70_001, dtype=np.float32)
    for expression, expected in (
        ("numpy.exp(x)", np.exp(x)),
        ("numpy.tanh(x)", np.tanh(x)),
        ("numpy.exp(x)", np.exp(x)),
    ):
        y = np.empty(x.size, np.uint32)
        process.ask(opening(expression), x.view(np.uint32), y)
        assert y.tolist() == expected.view(np.uint32).tolist()


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_digest_is_that_of_the_outputs_in_order(process, dtype):
    fmt = get_format(dtype)
    first, last = fmt.ordinal(fmt.round(-0.5)), fmt.ordinal(fmt.round(-0.4))
    spans = [(first, last), (-3, 2)]
    found = process.digests(opening("x + x", dtype), spans)
    for (low, high), digest in zip(spans, found, strict=True):
        bits = np.array([fmt.from_ordinal(each) for each in range(low, high + 1)][:200_000], fmt.uint)
        assert ordinals(fmt, bits).tolist() == [*range(low, low + len(bits))]
        if len(bits) == high - low + 1:
            values = bits.view(dtype)
            assert digest == hashlib.sha256((values + values).tobytes()).hexdigest()


def test_an_error_is_an_answer_and_the_process_goes_on(process):
    with pytest.raises(TargetFailure, match="has no attribute 'gelu'"):
        process.open(opening("numpy.gelu(x)"), 16)
    with pytest.raises(TargetFailure, match="returned float64 where float32 was expected"):
        process.open(opening("x.astype('float64')"), 16)
    process.open(opening("numpy.exp(x)"), 16)


def test_a_library_that_is_not_there():
    absent = next((name for name in ("paddle", "openvino", "mlx", "tinygrad", "jax") if not find_spec(name)), None)
    if absent is None:
        pytest.skip("every library is there")
    process = WorkerProcess(sys.executable, absent)
    with pytest.raises(TargetFailure, match="ModuleNotFoundError"):
        process.start()
    process.end()


def test_a_python_that_is_not_there(tmp_path):
    with pytest.raises(TargetFailure, match="cannot be started"):
        WorkerProcess(tmp_path / "python", "numpy").start()
