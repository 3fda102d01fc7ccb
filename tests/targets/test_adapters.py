"""Expressions of other languages, by the adapters of the package: every number arrives, and what is wrong is said."""

import numpy as np
import pytest
import requiring
from called_alone import error_in_ulp
from foreign import bits, chosen, some_bits

from gelu_verify.errors import UsageError
from gelu_verify.targets.kinds.pipe import ProgramTarget

BOTH = ("float32", "float64")
# Program; name of the target; formats; the identity; a function, its expression in float64, its error in ULP at most;
# x g; the doubles as something else, and what is said of it; what is said of an unknown name.
LANGUAGES = [
    (
        *("node", "pipe:node adapter.js '{}'", BOTH, "x", ("tanh", "x.map(Math.tanh)", 1)),
        "x.map((v, i) => v * g[i])",
        *("x.slice(1)", "is Float64Array of 3, not Float64Array of 4", "ReferenceError: absent is not defined"),
    ),
    (
        *("Rscript", "pipe:Rscript adapter.R '{}'", BOTH[1:], "x", ("tanh", "tanh(x)", 3)),
        "x * g",
        *("x > 0", "the result is logical of 4, not double of 4", 'could not find function "absent"'),
    ),
    (
        *("octave-cli", "pipe:octave-cli adapter.m '{}'", BOTH, "x", ("erf", "erf(x)", 1)),
        "x .* g",
        *("single(x)", "the result is single of 4, not double of 4", "'absent' undefined"),
    ),
    (
        *("go", "pipe:sh adapter.go '{}' math", BOTH, "T(math.Pow(float64(x), 1))", ("erf", "math.Erf(x)", 1)),
        "T(math.Abs(1)) * x * g",
        *("float32(math.Abs(x))", "cannot use float32.math.Abs.x", "undefined: absent"),
    ),
    (
        *("rustc", "pipe:sh adapter.rs '{}'", BOTH, "x", ("tanh", "x.tanh()", 3)),
        "x * g",
        *("x as f32", "mismatched types", "cannot find function `absent`"),
    ),
]


@pytest.fixture(params=LANGUAGES, ids=lambda row: row[0])
def language(request):
    program, name, *cases = request.param
    requiring.program(program)
    return name.format, *cases


@pytest.mark.few(2)
def test_every_number_arrives_there_and_back(language):
    """In two frames, and in a call after them; a NaN as one, whichever."""
    name, dtypes, identity, *_ = language
    for dtype in dtypes:
        target = chosen(name(identity), dtype=dtype)
        for n in (70_000, 3):
            x = some_bits(dtype, n)
            x[:1] = bits(dtype, "-0")
            y = target.evaluate(dtype, x)
            numbers = ~np.isnan(x.view(dtype))
            np.testing.assert_array_equal(y[numbers], x[numbers])
            assert np.isnan(y[~numbers].view(dtype)).all()


@pytest.mark.few(2)
def test_the_function_is_that_of_the_language(language):
    name, _, _, (function, expression, most), *_ = language
    x = np.array([0.5, -1.25, 3e-5])
    target = chosen(name(expression), function=function, dtype="float64")
    y = target.evaluate("float64", x.view(np.uint64)).view(np.float64)
    assert max(error_in_ulp(function, "float64", *point) for point in zip(x, y, strict=True)) <= most


@pytest.mark.few(2)
def test_a_second_input_is_beside_x(language):
    """In two requests, and in one after them."""
    name, dtypes, _, _, product, *_ = language
    for dtype in dtypes:
        target = chosen(name(product), function="reglu", dtype=dtype, call="f(x, g)")
        three = target.with_second("reglu", tuple(bits(dtype, "1", "-0.5", "3").tolist()))
        for n in (50_000, 3):
            x = some_bits(dtype, n)
            with np.errstate(all="ignore"):
                due = x.view(dtype) * np.resize(np.array([1, -0.5, 3], dtype), n)
            np.testing.assert_array_equal(three.evaluate(dtype, x).view(dtype), due)


@pytest.mark.few(2)
def test_what_is_wrong_is_said(language):
    name, dtypes, identity, _, product, other, said_of_it, unknown = language
    with pytest.raises(UsageError, match=r"\bg\b"):  # of a function of one input
        chosen(name(product), dtype="float64")
    for expression, message in ((other, said_of_it), ("absent(x)", unknown)):
        with pytest.raises(UsageError, match=message):
            chosen(name(expression), dtype="float64")
    for dtype in {"float16", *BOTH} - {*dtypes}:
        with pytest.raises(UsageError, match=f"float64 only|undefined: {dtype}"):
            chosen(name(identity), dtype=dtype)


def test_javascript_requires_what_the_working_folder_has(tmp_path, monkeypatch):
    requiring.program("node")
    (tmp_path / "double.js").write_text("console.log('ready'); module.exports = (x) => 2 * x;")
    monkeypatch.chdir(tmp_path)
    target = chosen("""pipe:node adapter.js 'x.map(require("./double"))'""", dtype="float32")
    assert target.evaluate("float32", bits("float32", "1.5")) == bits("float32", "3")


def test_javascript_may_promise_its_result():
    """As onnxruntime-web and everything on WebGPU do."""
    requiring.program("node")
    target = chosen("pipe:node adapter.js '(async () => x)()'", dtype="float32")
    x = some_bits("float32", 70_000)
    np.testing.assert_array_equal(target.evaluate("float32", x), x)
    with pytest.raises(UsageError, match="Error: no device"):
        chosen("""pipe:node adapter.js 'Promise.reject(Error("no device"))'""", dtype="float32")


def test_a_missing_value_of_r_is_nan():
    """R's ifelse gives NA of type logical where its condition is NA everywhere."""
    requiring.program("Rscript")
    target = chosen("pipe:Rscript adapter.R 'ifelse(x < 0, 0, x)'", dtype="float64", function="relu")
    for values in (("nan",), ("nan", "1")):
        y = target.evaluate("float64", bits("float64", *values)).view(np.float64)
        np.testing.assert_array_equal(y, np.array(values, np.float64))


def test_a_file_of_the_working_folder_comes_first(tmp_path, monkeypatch):
    monkeypatch.setattr(ProgramTarget, "answers", lambda *_: ())  # a file is no response
    name = "pipe:cat adapter.js adapters ''"
    ours = chosen(name, dtype="float32")
    assert [word.rpartition("/")[2] for word in ours.arguments[1:]] == ["adapter.js", "adapters", ""]
    assert ours.arguments[1] != "adapter.js"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "adapter.js").write_text("another")
    theirs = chosen(name, dtype="float32")
    assert theirs.arguments[1:] == ("adapter.js", "adapters", "")
    assert theirs.version != ours.version
