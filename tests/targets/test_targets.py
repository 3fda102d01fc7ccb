"""Finding and naming targets, callables as targets, the array borders, and the NumPy and SciPy families."""

import random
import re
import subprocess
import sys
import textwrap
from importlib import import_module

import ml_dtypes
import numpy as np
import pytest
from foreign import bits, chosen
from hypothesis import given
from hypothesis import strategies as st

from gelu_verify import targets
from gelu_verify.errors import MissingMeasurement, TargetFailure, TargetUnavailable, UsageError
from gelu_verify.formats import DTYPES, get_format
from gelu_verify.functions import FUNCTIONS
from gelu_verify.isolation import hosts
from gelu_verify.targets import frameworks
from gelu_verify.targets.arrays import get_kind
from gelu_verify.targets.importing import framework, missing
from gelu_verify.targets.python_callables import _is_method, callable_target
from gelu_verify.truth._correctly_rounded import Kernel
from gelu_verify.truth.values import judge

FRAMEWORKS = ("torch", "jax", "tensorflow", "onnxruntime", "onnx", "openvino", "scipy")


@pytest.fixture(autouse=True)
def forget():
    """What one test made discovery see is not seen by the next."""
    targets._discovered.cache_clear()
    yield
    targets._discovered.cache_clear()


# ---- finding -------------------------------------------------------------------------------------


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("import gelu_verify.targets", ()),
        ("from gelu_verify.targets import families; families()", ()),
        ("from gelu_verify.targets import find; find(['numpy'])", ()),
        ("from gelu_verify.targets import find; find(['scipy'])", ("scipy",)),
    ],
)
def test_only_what_is_asked_for_is_imported(code, allowed):
    check = f"import sys; {code}; print(*(set({FRAMEWORKS}) & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-P", "-c", check], capture_output=True, text=True, check=True)
    assert set(loaded.stdout.split()) <= set(allowed)
    assert loaded.stderr == ""


@pytest.mark.parametrize(
    ("lines", "driver", "reason"),
    [
        (
            "NEEDS = 'surely_not_installed'",
            "",
            "surely_not_installed is not installed (pip install surely_not_installed)",
        ),
        ("NEEDS = 'numpy'\nDEVICE = 'cuda'", "there is no GPU", "there is no GPU"),
        ("NEEDS = 'numpy'\nDEVICE = 'cuda'", "", None),
        ("NEEDS = 'numpy'", "there is no GPU", None),
    ],
)
def test_no_process_is_started_to_learn_that_a_framework_or_a_gpu_is_not_there(
    new_family, monkeypatch, lines, driver, reason
):
    class Started(Exception):
        pass

    def host(*_):
        raise Started

    new_family(f"{lines}\n\ndef discover():\n    yield from ()")
    monkeypatch.setattr(targets, "no_gpu", lambda: driver)
    monkeypatch.setattr(hosts, "Host", host)
    with hosts.Hosts() as processes:
        if reason is None:
            with pytest.raises(Started):
                processes.find(["planted"])
        else:
            assert processes.find(["planted"]) == ([], {"planted": reason})


@pytest.mark.parametrize("family", targets.families())
def test_what_is_not_installed_is_said_as_by_its_import(family):
    needs = getattr(import_module(targets.module_of(family)), "NEEDS", None)
    assert needs or targets.is_ours(family) or targets.is_shipped(family), "an import alone shows that it is absent"
    if needs and (reason := missing(needs)):
        assert targets.not_there(family) == reason
        assert targets.find([family]) == ([], {family: reason})


def test_families_are_files():
    assert {"numpy", "scipy", "torch", "jax", "onnxruntime", "openvino", "tensorflow"} <= set(targets.families())
    assert not {"base", "callables"} & set(targets.families())


@pytest.fixture
def new_family(tmp_path, monkeypatch):
    def write(source):
        (tmp_path / "planted_.py").write_text(textwrap.dedent(source), encoding="utf-8")
        monkeypatch.setattr(frameworks, "__path__", [*frameworks.__path__, str(tmp_path)])
        monkeypatch.delitem(sys.modules, f"{frameworks.__name__}.planted_", raising=False)

    return write


def test_a_new_file_is_a_new_family(new_family):
    new_family("""
        import numpy as np
        from gelu_verify.targets.python_callables import callable_target

        def discover():
            yield callable_target(np.tanh, "tanh", "float32", name="planted.tanh")
    """)
    assert "planted" in targets.families()
    found, absent = targets.find(["planted"])
    assert [target.name for target in found] == ["planted.tanh"]
    assert not absent


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("    raise TargetUnavailable('no such device')\n    yield", "no such device"),
        (
            "    framework('surely_not_installed.part', 'notthere')\n    yield",
            "notthere is not installed (pip install notthere)",
        ),
        ("    {}['version']\n    yield", "KeyError: 'version'"),
        ("    yield from ()", "it is installed, but none of its implementations can be called"),
    ],
)
def test_an_absent_family_is_listed_with_its_reason(new_family, body, reason):
    new_family(f"""\
from gelu_verify.errors import TargetUnavailable
from gelu_verify.targets.importing import framework, missing

def discover():
{body}
""")
    assert targets.find(["planted"]) == ([], {"planted": reason})
    with pytest.raises(MissingMeasurement, match=re.escape(reason)):
        targets.select(["planted"])
    with pytest.raises(MissingMeasurement, match=re.escape(reason)):
        targets.select(["planted.gelu"])


def test_a_dtype_that_a_path_promotes_is_reported(new_family):
    """As numexpr does: float32 in, float64 out; float16 it does not take at all."""
    new_family("""
        import numpy as np
        from gelu_verify.targets.arrays import get_kind
        from gelu_verify.targets.library_target import Path, library_targets

        def promoted(x):
            if x.dtype.itemsize < 4:
                raise TypeError("unsupported")
            return np.tanh(x.astype(np.float64))

        def discover():
            return library_targets("planted", "1", [Path("tanh", "tanh", "tanh", promoted)], arrays=get_kind("numpy"))
    """)
    reason = "not tested: planted.tanh returned float64 where float32 was expected"
    found, absent = targets.find(["planted"])
    assert [target.dtypes for target in found] == [("float64",)]
    assert absent == {"planted.tanh float32": reason}
    assert targets.select(["planted.tanh"])[1] == targets.select(["planted"])[1] == absent
    with pytest.raises(UsageError, match=re.escape(f"computes float32 ({reason})")):
        targets.select(["planted"], dtype="float32")


def test_a_framework_that_is_not_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    monkeypatch.setitem(sys.modules, "scipy", None)
    assert targets.find(["scipy"]) == ([], {"scipy": "scipy is not installed (pip install scipy)"})


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            "raise OSError('libfoo.so.1: cannot open shared object file\\nmore')",
            "OSError: libfoo.so.1: cannot open shared",
        ),
        ("import surely_not_installed", "ModuleNotFoundError: No module named 'surely_not_installed'"),
        ("import warnings; warnings.warn('old', DeprecationWarning)", None),
    ],
)
def test_a_framework_that_does_not_import(tmp_path, monkeypatch, source, reason):
    (tmp_path / "planted_library.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "planted_library", raising=False)
    if reason is None:
        assert framework("planted_library").__name__ == "planted_library"
    else:
        with pytest.raises(TargetUnavailable, match=f"^planted_library cannot be imported: {re.escape(reason)}"):
            framework("planted_library")


def test_unknown_family():
    with pytest.raises(UsageError, match="unknown target family 'nump'; did you mean 'numpy'"):
        targets.find(["nump"])


# ---- choosing ------------------------------------------------------------------------------------


def test_select_by_family_and_by_name():
    family, absent = targets.select(["numpy"])
    assert {target.family for target in family} == {"numpy"}
    assert not absent
    (one,), _ = targets.select(["numpy.silu"])
    assert one.name == "numpy.silu"
    both, _ = targets.select(["numpy.silu", "numpy"])
    assert sorted(target.name for target in both) == sorted(target.name for target in family)
    assert both[0].name == "numpy.silu"


def test_select_filters_and_narrows():
    found, _ = targets.select(["numpy"], function="gelu_tanh", dtype="bfloat16")
    assert {target.name for target in found} == {"numpy.gelu_tanh", "numpy.gelu_tanh-exp"}
    assert {target.dtypes for target in found} == {("bfloat16",)}


@pytest.mark.parametrize(
    ("names", "filters", "message"),
    [
        (["nmpy"], {}, "unknown target 'nmpy'; did you mean 'numpy'"),
        (["numpy.slu"], {}, "unknown target 'numpy.slu'; did you mean 'numpy.silu'"),
        (["file.py"], {}, "'file.py' does not name a callable .*path/file.py:function"),
        (["numpy"], {"function": "geluu"}, "unknown function 'geluu'; did you mean 'gelu'"),
        (["numpy"], {"function": "GELU"}, "unknown function 'GELU'; did you mean 'gelu'"),
        (["numpy"], {"function": "Swish"}, "unknown function 'Swish'; did you mean 'silu'"),
        (["numpy"], {"dtype": "float8_e5m2"}, "unknown dtype 'float8_e5m2'"),
        (["numpy.silu"], {"function": "gelu"}, "no target of numpy.silu computes gelu"),
        (["numpy"], {"function": "erf", "dtype": "float32"}, "no target of numpy computes erf in float32"),
        (["math:tanh"], {"array": "cupy"}, "unknown array kind 'cupy'.*numpy, torch, jax, tensorflow"),
    ],
)
def test_select_says_what_is_wrong(names, filters, message):
    with pytest.raises(UsageError, match=message):
        targets.select(names, **filters)


# ---- callables -----------------------------------------------------------------------------------

SOURCE = """
import numpy as np
calls = []
one = 1
def gelu(x, scale=1): calls.append(x); return x * x.dtype.type(scale)
class Layer:
    @staticmethod
    def forward(x): return np.tanh(x)
    def __call__(self, x): return np.exp(x)
layer = Layer()
def wide(x): return x.astype(np.float64)
def half(x): return x.astype(np.float16)
def short(x): return x[1:]
def column(x): return x[:, None]
def scalar(x): return x.sum()
def listed(x): return x.tolist()
def integers(x): return x.view(f"i{x.itemsize}")
def void(x): return x.view(f"V{x.itemsize}")
def swapped(x): return x.astype(x.dtype.newbyteorder())
def longdouble(x): return x.astype(np.longdouble)
def in_place(x): x *= x.dtype.type(0.5); return x.copy()
def strided(x): return np.repeat(x, 2)[::2]
def itself(x): return x
def float32_only(x):
    if x.dtype != np.float32: raise NotImplementedError("float32 only")
    return x
def raises(x): raise ValueError("no such luck\\nreally")
def exits(x): raise SystemExit(3)
def overflows(x): return np.exp(x * x.dtype.type(100)) - np.exp(x * x.dtype.type(100))
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def test_a_function_in_a_file(file):
    target = chosen(f"{file}:gelu")
    assert (target.name, target.family, target.function) == (f"{file}:gelu", "callable", "gelu")
    assert target.dtypes == DTYPES
    assert target.version.startswith(f"numpy {np.__version__}, sha256:")
    assert "numpy" in target.note
    x = bits("float32", "1", "-2", "nan")
    np.testing.assert_array_equal(target.evaluate("float32", x), x)


def test_what_it_claims_its_dtype_and_its_arguments(file):
    target = chosen(f"{file}:gelu", function="silu", dtype="bfloat16", kwargs={"scale": 0.5})
    assert (target.function, target.dtypes) == ("silu", ("bfloat16",))
    assert "scale=0.5" in target.note
    np.testing.assert_array_equal(target.evaluate("bfloat16", bits("bfloat16", "3")), bits("bfloat16", "1.5"))


@pytest.mark.parametrize(("path", "reference"), [("Layer.forward", np.tanh), ("layer", np.exp)])
def test_nested_attributes_and_instances(file, path, reference):
    x = bits("float32", "0.25", "-3")
    got = chosen(f"{file}:{path}").evaluate("float32", x)
    np.testing.assert_array_equal(got, reference(x.view("f4")).view("u4"))


def test_a_module(tmp_path, monkeypatch):
    (tmp_path / "planted_module.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert chosen("planted_module:Layer.forward", dtype="float64").dtypes == ("float64",)
    assert chosen("numpy:tanh", function="tanh").version == f"numpy {np.__version__}"
    assert chosen("math:tanh", dtype="float32").version.startswith("Python ")


def test_a_function_itself():
    target = callable_target(np.tanh, "tanh")
    assert (target.name, target.dtypes) == ("numpy:tanh", DTYPES)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("{folder}/absent.py:gelu", "^no such file: .*absent.py$"),
        ("{folder}:gelu", "^no such file: "),
        ("{file}:absent", "has no attribute 'absent'"),
        ("{file}:Layer.absent", "has no attribute 'absent'"),
        ("{file}:one", "is int, not callable"),
        ("{file}:", "does not name a callable"),
        (":gelu", "does not name a callable"),
        ("absent_module:gelu", "no module named 'absent_module'"),
        ("json.absent:gelu", "no module named 'json.absent'"),
        ("{folder}/syntax.py:gelu", "syntax.py cannot be imported: SyntaxError"),
        ("{folder}/exits.py:gelu", "exits.py cannot be imported: SystemExit: 7"),
        ("{folder}/needs.py:gelu", "needs.py cannot be imported: ModuleNotFoundError: No module named 'absent_module'"),
    ],
)
def test_what_is_no_callable_is_a_usage_error(file, name, message):
    for stem, source in {"syntax": "def", "exits": "raise SystemExit(7)", "needs": "import absent_module"}.items():
        file.with_name(f"{stem}.py").write_text(source, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        targets.select([name.format(file=file, folder=file.parent)])


@pytest.mark.parametrize(
    ("path", "dtype", "message"),
    [
        ("wide", "float32", "returned float64 where float32 was expected"),
        ("half", "bfloat16", "returned float16 where bfloat16 was expected"),  # same width: the bits alone look right
        ("short", "float32", r"returned shape \(2,\) for an input of shape \(3,\)"),
        ("column", "float32", r"returned shape \(3, 1\) for an input of shape \(3,\)"),
        ("scalar", "float32", r"returned shape \(\) for an input of shape \(3,\)"),
        ("listed", "float32", "returned list, which is not an array of numpy"),
        ("integers", "float32", "returned int32 where float32 was expected"),
        ("void", "bfloat16", "returned void16 where bfloat16 was expected"),
        ("swapped", "float32", "returned >f4 where float32 was expected"),
        ("longdouble", "float64", "returned (longdouble|float128) where float64 was expected"),
        ("in_place", "float32", r"changed its input at index 0 \(0x3f800000\)"),
        ("raises", "float32", "raised ValueError: no such luck$"),
        ("exits", "float32", "raised SystemExit: 3"),
        ("float32_only", "float64", "raised NotImplementedError: float32 only"),
    ],
)
def test_a_broken_contract_is_named(file, path, dtype, message):
    with pytest.raises(TargetFailure, match=message):
        chosen(f"{file}:{path}", dtype=dtype).evaluate(dtype, bits(dtype, "1", "-2", "0.5"))


def test_one_input_is_no_scalar(file):
    with pytest.raises(TargetFailure, match=r"returned shape \(\)"):
        chosen(f"{file}:scalar", dtype="float32").evaluate("float32", bits("float32", "1"))


@pytest.mark.parametrize("path", ["strided", "itself", "overflows"])
def test_what_is_allowed(file, path):
    x = bits("float32", "1", "-2", "0.5")
    assert chosen(f"{file}:{path}").evaluate("float32", x).shape == x.shape


@pytest.mark.few(1)
@pytest.mark.parametrize(("path", "dtypes"), [("float32_only", ("float32",)), ("raises", DTYPES)])
def test_dtypes_are_those_that_it_takes(file, path, dtypes):
    assert chosen(f"{file}:{path}").dtypes == dtypes


RETURNING = """
import ml_dtypes, numpy as np
RETURNED = {returned!r}

def relu(x):
    if (dtype := RETURNED[x.dtype.name]) is None:
        raise TypeError("no such dtype")
    return np.maximum(x, 0).astype(dtype)

def into(x, out):
    if RETURNED[x.dtype.name] == x.dtype.name:
        out[...] = relu(x)
"""


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(12))
def test_a_dtype_in_which_it_returns_another_is_left_out_and_said(tmp_path, seed):
    """Any of: the same dtype, another one, an exception. What nobody named is judged where it returns its own."""
    rng = random.Random(seed)
    returned = {dtype: rng.choice([dtype, dtype, None, *DTYPES]) for dtype in DTYPES}
    (file := tmp_path / "my.py").write_text(RETURNING.format(returned=returned))
    (target,), absent = targets.select([f"{file}:relu"], function="relu")
    own = [dtype for dtype in DTYPES if returned[dtype] == dtype]
    others = [dtype for dtype in DTYPES if returned[dtype] not in (dtype, None)]
    assert [*target.dtypes] == (own or others or [*DTYPES])
    said = [f"{file}:relu returned {returned[dtype]} where {dtype} was expected" for dtype in others if own]
    assert [text.partition(" (--call")[0] for text in absent.values()] == [f"not tested: {text}" for text in said]
    for dtype in others:  # what is named is judged
        with pytest.raises(TargetFailure, match=f"returned {returned[dtype]} where {dtype} was expected"):
            chosen(f"{file}:relu", function="relu", dtype=dtype).evaluate(dtype, bits(dtype, "1", "-2"))
    if own:
        (target,), absent = targets.select([f"{file}:into"], function="relu")
        assert [*target.dtypes] == own
        assert len(absent) == len(DTYPES) - len(own)
        assert all("writes nothing to an array of" in text for text in absent.values())


CLASSES = """
import numpy as np, pandas as pd

class Values:
    def __init__(self, array): self.array = np.asarray(array)
    def __array__(self, dtype=None, copy=None): return self.array

def halved(x: Values): return Values(x.array / 2)
def series(x: pd.Series) -> pd.Series: return x.div(2).astype(x.dtype)
def frame(x: "pd.DataFrame"): return x / 2
def text(x: str): return x / x.dtype.type(2)
"""


@pytest.mark.parametrize(
    ("path", "note"),
    [("halved", "Values arrays"), ("series", "pandas.Series arrays"), ("text", "called with numpy arrays")],
)
def test_a_class_that_the_annotation_names_is_what_it_is_called_with(tmp_path, path, note):
    (file := tmp_path / "my.py").write_text(CLASSES)
    target = chosen(f"{file}:{path}", dtype="float32")
    assert note in target.note
    assert target.evaluate("float32", bits("float32", "1", "-2")).tolist() == bits("float32", "0.5", "-1").tolist()


def test_a_compiled_method_is_one_if_its_first_parameter_is_self():
    assert _is_method(Kernel, "run")  # of Cython
    assert not any(_is_method(owner, name) for owner, name in ((float, "hex"), (np.ndarray, "sum"), (dict, "fromkeys")))


def test_a_class_can_be_named(tmp_path):
    (file := tmp_path / "my.py").write_text(CLASSES.replace("x: pd.Series", "x"))
    target = chosen(f"{file}:series", dtype="float64", array="pandas.Series")
    assert target.evaluate("float64", bits("float64", "1", "3")).tolist() == bits("float64", "0.5", "1.5").tolist()
    for name in ("pandas.Serie", "pandas.concat", "no_such_package.Series"):
        with pytest.raises(UsageError, match="unknown array kind"):
            chosen(f"{file}:series", array=name)


def test_the_input_is_a_private_copy(file):
    x = bits("float32", "1", "-2")
    with pytest.raises(TargetFailure, match="changed its input"):
        chosen(f"{file}:in_place", dtype="float32").evaluate("float32", x)
    np.testing.assert_array_equal(x, bits("float32", "1", "-2"))


# ---- arrays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_numpy_arrays_keep_every_16_bit_pattern(dtype):
    kind, every = get_kind("numpy"), np.arange(1 << 16, dtype=np.uint16)
    array = kind.from_bits(dtype, every)
    assert np.shares_memory(array, every)
    name, back = kind.to_bits(array)
    assert name == dtype
    assert np.shares_memory(back, every)
    np.testing.assert_array_equal(back, every)


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1))
def test_numpy_arrays_keep_float32_patterns(patterns):
    kind, given_bits = get_kind("numpy"), np.array(patterns, np.uint32)
    np.testing.assert_array_equal(kind.to_bits(kind.from_bits("float32", given_bits))[1], given_bits)


@pytest.mark.parametrize("array", [np.zeros(1, ml_dtypes.float8_e5m2), np.zeros(1, "c8"), np.zeros(1, object)])
def test_other_dtypes_are_refused(array):
    with pytest.raises(TargetFailure):
        get_kind("numpy").to_bits(array)


# ---- NumPy and SciPy -----------------------------------------------------------------------------

PATHS = {
    "numpy": "gelu_tanh gelu_tanh-exp gelu_sigmoid silu relu elu tanh sigmoid exp log",
    "scipy": """gelu gelu-log_ndtr gelu-erfc gelu-erf gelu_tanh gelu_sigmoid silu
        erf erfc normcdf normcdf-log_ndtr sigmoid""",
}
TAKES = {"numpy": DTYPES, "scipy": ("float32", "float64")}


@pytest.mark.parametrize("family", PATHS)
def test_every_path_is_found(family):
    found, absent = targets.find([family])
    assert not absent
    assert [target.name for target in found] == [f"{family}.{path}" for path in PATHS[family].split()]
    for target in found:
        assert target.function in FUNCTIONS
        assert target.name.partition(".")[2].partition("-")[0] == target.function
        assert target.dtypes == TAKES[family]
        assert target.form
        assert target.note
        assert target.version


@pytest.mark.parametrize("family", PATHS)
def test_every_path_computes_its_function(family):
    """Where nothing cancels: another variant of GELU is thousands of ulp away."""
    x = np.linspace(0.25, 4, 997, dtype=np.float32).view(np.uint32)
    for target in targets.find([family])[0]:
        error = judge(target.function, "float32", x, target.evaluate("float32", x)).error
        assert np.abs(error).max() < 64, target.name


@pytest.mark.parametrize("family", PATHS)
def test_any_length_any_input_any_dtype(family):
    """No warning (they are errors here), no exception, on every kind of input and odd lengths."""
    for target in targets.find([family])[0]:
        for dtype in target.dtypes:
            fmt = get_format(dtype)
            for n in (1, 7, 33):
                x = np.random.default_rng(n).integers(0, 1 << fmt.width, n, fmt.uint)
                x[0] = fmt.sign_mask | fmt.infinity
                assert target.evaluate(dtype, x).shape == (n,)


def test_scipy_ndtr_is_single_digit_in_float32():
    x = np.linspace(-14, 8, 50_001, dtype=np.float32).view(np.uint32)
    error = {
        path: np.abs(judge("gelu", "float32", x, chosen(f"scipy.{path}").evaluate("float32", x)).error).max()
        for path in ("gelu", "gelu-erf")
    }
    assert 1 < error["gelu"] < 10
    assert error["gelu-erf"] > 1.6e7


def test_numpy_rounds_every_operation_in_bfloat16():
    """The tanh form is lost below -3.06 when 1 + tanh is rounded to 8 bits."""
    x = bits("bfloat16", "-3.046875", "-3.0625")
    got = chosen("numpy.gelu_tanh").evaluate("bfloat16", x)
    assert (got == 0x8000).tolist() == [False, True]


def test_input_is_left_alone_when_read_only():
    x = bits("float32", "1", "-2")
    x.setflags(write=False)
    for target in targets.find(["numpy"])[0]:
        assert target.evaluate("float32", x).shape == x.shape
    assert x.tolist() == bits("float32", "1", "-2").tolist()
