"""What any code demands of its arrays (`--contract`, `contract = ` of a configuration): every call keeps to it."""

import random
import re

import numpy as np
import pytest
from foreign import needs_cc, shared_library

from gelu_verify import verify
from gelu_verify.errors import TargetFailure, UsageError
from gelu_verify.gate.project import read_project
from gelu_verify.targets import select
from gelu_verify.targets.contract import Contracted

DEMANDED = "multiple_of=16; at_least=32; aligned=64"
PYTHON = """
import numpy as np

def _check(x, y=None):
    for each in (x, y):
        assert each is None or (len(each) % 16 == 0 and len(each) >= 32 and each.ctypes.data % 64 == 0)

def relu(x: np.ndarray):
    _check(x)
    return np.where(x > 0, x, np.where(x == x, 0, x)).astype(x.dtype)

def into(x: np.ndarray, y):
    _check(x, y)
    y[:] = relu(x)

def writes(x: np.ndarray):
    y = relu(x)
    x[-1] = 5
    return y

def short(x: np.ndarray):
    return relu(x)[:-1]
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    file = tmp_path_factory.mktemp("contracts") / "demanding.py"
    file.write_text(PYTHON)
    return file


def loaded(source, name, contract=DEMANDED, **options):
    (target,), _ = select(
        [f"{source}:{name}"], function="relu", dtype="float32", array="numpy", contract=contract, **options
    )
    return target


@pytest.mark.parametrize(("name", "call"), [("relu", None), ("into", "f(x, y); y")])
@pytest.mark.parametrize("n", [1, 31, 32, 33, 257])
def test_a_python_function_is_called_as_it_demands(source, name, call, n):
    x = np.linspace(-3, 3, n, dtype=np.float32).view(np.uint32)
    got = loaded(source, name, call=call).evaluate("float32", x)
    np.testing.assert_array_equal(got, np.maximum(x.view(np.float32), 0).view(np.uint32))


def test_all_of_a_run_keeps_to_it(source):
    """Detection, checks, calls of every length, timed calls: in a process of its own."""
    result = verify(f"{source}:relu", "relu", "float16", "landmarks", contract=DEMANDED)
    assert (result.failure, result.failed_checks, result.grade) == (None, [], "correctly_rounded")
    assert "only with multiples of 16 values, only with at least 32 values, only with arrays" in result.record.note
    assert "--contract 'multiple_of=16; at_least=32; aligned=64'" in result.record.repeat


@pytest.mark.few(25)
@pytest.mark.parametrize("seed", range(80))
def test_what_it_demands_is_found_and_can_be_typed(tmp_path, seed):
    """Random demands: what the message says is what is demanded, or as much, and with it every value is right."""
    rng = random.Random(seed)
    exactly = rng.choice([0, 0, 0, 4, 24, 512, 1000])
    multiple, least, aligned = (
        rng.choice([1, 1, 2, 4, 16, 24, 128]),
        rng.choice([1, 1, 5, 33, 300]),
        rng.choice([1, 1, 32, 64]),
    )
    demand = f"x.size == {exactly}" if exactly else f"x.size % {multiple} == 0 and x.size >= {least}"
    (tmp_path / "f.py").write_text(
        f"import numpy as np\ndef relu(x):\n    assert {demand} and x.ctypes.data % {aligned} == 0\n"
        "    return np.maximum(x, 0)\n"
    )
    asked = {"function": "relu", "dtype": rng.choice([None, "float32", "float64"])}
    options = {}
    if exactly or (multiple, least, aligned) != (1, 1, 1):
        with pytest.raises(UsageError, match="works only with") as said:
            select([f"{tmp_path}/f.py:relu"], **asked)
        options = dict(re.findall(r"--(shape|contract) '([^']*)'", str(said.value)))
        if exactly and aligned > 1:
            assert f"{exactly} values at once, only with arrays aligned to {aligned} bytes" in str(said.value)
            return
        assert options.get("shape", "") == (f"({exactly},)" if exactly else "")
        assert aligned == 1 or f"aligned={aligned}" in options["contract"]
    (target,), _ = select([f"{tmp_path}/f.py:relu"], **asked, **options)
    for n in (1, 7, 600):
        x = np.linspace(-3, 3, n).astype(asked["dtype"] or "float32")
        got = target.evaluate(x.dtype.name, x.view(f"u{x.itemsize}")).view(x.dtype)
        np.testing.assert_array_equal(got, np.maximum(x, 0))


@pytest.mark.parametrize(
    "fault", ["x.size == 5", "x.size % 4 == 1", "x.size == 7", "x.size % 2 and x.size < 8", "x.size not in (1, 4)"]
)
def test_a_length_at_which_it_fails_is_no_demand(tmp_path, fault):
    """As long as others that no demand allows work: the sweep says at which it does."""
    (tmp_path / "f.py").write_text(
        f"import numpy as np\ndef relu(x):\n    assert not ({fault})\n    return np.maximum(x, 0)\n"
    )
    (target,), _ = select([f"{tmp_path}/f.py:relu"], function="relu", dtype="float32")
    assert not target.note.startswith("only with")


@pytest.mark.parametrize(("name", "kind"), [("writes", "changed input"), ("short", "shape")])
def test_what_is_wrong_under_it_is_named_as_ever(source, name, kind):
    with pytest.raises(TargetFailure) as failure:
        loaded(source, name).evaluate("float32", np.arange(20, dtype=np.uint32))
    assert failure.value.kind == kind


@needs_cc
def test_it_is_for_other_kinds_too(tmp_path):
    library = shared_library(
        tmp_path,
        "#include <stdint.h>\n#include <stdlib.h>\nvoid relu_f32(const float *x, float *y, size_t n) { if (n % 16 || "
        "(uintptr_t)x % 64 || (uintptr_t)y % 64) abort(); for (size_t i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : 0; }",
    )
    (target,), _ = select([f"{library}:relu_f32:vector"], contract="multiple_of=16; aligned=64")
    x = np.arange(0x40000000, 0x40000015, dtype=np.uint32)
    np.testing.assert_array_equal(target.evaluate("float32", x), x)
    (pipe,), _ = select(["pipe:cat"], function="relu", dtype="float32", contract="multiple_of=16")
    assert isinstance(pipe, Contracted)
    assert len(pipe.load("float32", x).x_bits) == 32


def test_callables_configurations_and_versions_have_it(source, tmp_path):
    def relu(x):
        assert len(x) % 16 == 0
        return np.maximum(x, 0)

    assert verify(relu, "relu", "float16", "landmarks", contract="multiple_of=16").failure is None
    file = tmp_path / "gelu-verify.toml"
    file.write_text(f'[[target]]\nname = "m.py:relu"\ncontract = "{DEMANDED}"\n')
    (entry,) = read_project(file).entries
    assert entry.request.call_options == {"contract": DEMANDED}
    others = ("multiple_of=32; aligned=64", "multiple_of=64; aligned=64")
    assert len({loaded(source, "relu", contract).version for contract in (DEMANDED, *others)}) == 3


@pytest.mark.parametrize(
    "contract",
    ["multiple_of=0", "aligned=48", "oob_reads=16", "at_least=1", "multiples=3", "aligned=64; aligned=32", "exactly=8"],
)
def test_what_no_array_is_is_refused(source, contract):
    with pytest.raises(UsageError, match="--contract"):
        loaded(source, "relu", contract)
