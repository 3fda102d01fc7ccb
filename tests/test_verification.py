"""`verify`: anything in, one result out; how that shows itself, and what it has for a target that failed."""

import dataclasses
import shlex
import typing
from html.parser import HTMLParser

import numpy as np
import pytest

import gelu_verify
from gelu_verify.errors import NotMeasured, UsageError
from gelu_verify.measure.jobs import find_jobs
from gelu_verify.measure.repeating import command_name
from gelu_verify.measure.request import Request
from gelu_verify.records.result import Record
from gelu_verify.targets import select
from gelu_verify.verification import RecordField, Verification, verify


def relu(x):
    return np.maximum(x, x.dtype.type(0))  # of bfloat16 and 0 NumPy 2.0 makes float32


def test_a_callable_a_name_and_a_target_are_judged_alike():
    (target,), _ = select(["kernels.gelu_erf"], dtype="float32")
    judged = [
        verify("kernels.gelu_erf", "gelu", "float32", "landmarks"),
        verify(target, "gelu", "float32", "landmarks"),
    ]
    assert judged[0].record == judged[1].record
    assert judged[0].max_ulp > 1e6
    assert "tail_zero" in judged[0].failed_checks

    found = gelu_verify.verify(relu, "relu", "bfloat16")
    assert (found.max_ulp, found.failed_checks, found.record.bound) == (0, [], "=")
    assert verify(relu, "gelu", "float16").max_ulp > 100


def test_what_a_target_raises_is_a_result():
    def broken(x):
        raise RuntimeError("no")

    assert "raised RuntimeError: no" in verify(broken, "gelu", "float16").failure


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((relu, "gleu"), "unknown function 'gleu'"),
        ((relu, "relu", "float31"), "unknown dtype 'float31'"),
        ((relu, "relu", "float32", "al"), "unknown plan 'al'"),
        (("kernels", "gelu", "float32"), "matches"),
        (("nothing", "gelu", "float32"), "unknown target"),
    ],
)
def test_what_cannot_be_used_is_reported(args, message):
    with pytest.raises(UsageError, match=message):
        verify(*args)


def test_a_target_is_judged_only_in_its_dtypes():
    (target,), _ = select(["kernels.gelu_erf"])
    with pytest.raises(UsageError, match="float32"):
        verify(dataclasses.replace(target, dtypes=("float16",)), "gelu", "float32")


def test_jobs_are_every_path_of_what_was_named():
    request = Request(targets=("kernels",), functions=("gelu", "silu"), dtypes=("float32", "float64"))
    found = find_jobs(request)
    assert {job.plan.function for job in found.jobs} == {"gelu", "silu"}
    assert {job.plan.dtype for job in found.jobs} == {"float32", "float64"}
    assert len({job.key for job in found.jobs}) == len(found.jobs)
    assert (found.absent, found.left_out) == ({}, [])


def raising(x):
    raise ValueError("<script>alert(1)</script> & more")


def printing(x):
    print("called")
    return relu(x)


RESULTS = {
    "good": lambda: verify(relu, "relu", "float16"),
    "bad": lambda: verify("kernels.gelu_erf", "gelu", "float32", "landmarks"),
    "failed": lambda: verify(raising, "gelu", "float16"),
}


@pytest.fixture(scope="module", params=RESULTS)
def result(request):
    return RESULTS[request.param]()


def test_a_result_prints_as_five_lines(result):
    lines = repr(result).splitlines()
    assert len(lines) == 5
    assert str(result) == repr(result)
    assert result.grade.partition("_")[0] in lines[0]
    for text in (result.target, result.function, result.dtype):
        assert text in lines[0]
    assert (result.record.failure or result.witness.x_bits) in lines[1]
    assert result.sentence in lines[2]
    for text in result.record.failed_checks:
        assert text in lines[3]
    assert f"{result.n:,}" in lines[4]


class Elements(HTMLParser):
    """The elements and the text of a page; every element is closed in order."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_a_notebook_shows_it_without_script_or_style_sheet(result):
    html = result._repr_html_()
    page = Elements(html)
    tags = {tag for tag, _ in page.found}
    assert not tags & {"script", "style", "link", "iframe", "object", "img"}
    assert ("svg" in tags) == ("table" in tags) == (result.record.failure is None)
    assert all(not name.startswith("on") and name != "id" for _, attributes in page.found for name in attributes)
    assert len(html) < 40_000
    shown = " ".join(page.text.split())
    for text in (result.target, result.sentence, result.repeat, *result.record.failed_checks, result.failure or ""):
        assert text in shown


def test_every_field_of_the_record_is_a_typed_attribute():
    internal = {"origin", "lacking", "unknown", "buckets", "sha256"}  # of stored runs
    added_by_runs = {"pair", "throughput", "time"}
    names = {field.name for field in dataclasses.fields(Record)} - internal - added_by_runs
    told = {name for name in vars(Verification) if isinstance(vars(Verification)[name], RecordField)}
    assert names - {"failure"} == told - {"failed_checks"}
    result = RESULTS["bad"]()
    for name in names:
        assert getattr(result, name) == getattr(result.record, name)
    hints = typing.get_type_hints(Record)
    for name in names - {"failure"}:
        (declared,) = typing.get_args(vars(Verification)[name].__orig_class__)
        parts = [part for part in typing.get_args(hints[name]) if part is not type(None)]
        assert declared in (hints[name], *parts[:1]), name


MEASURES = [
    name for name, each in vars(Verification).items() if isinstance(each, RecordField) and type(each) is not RecordField
]


@pytest.fixture(scope="module")
def failed():
    return verify(raising, "gelu", "float16", "landmarks")


@pytest.mark.parametrize("name", MEASURES)
def test_a_target_that_failed_fails_every_assertion(failed, name):
    with pytest.raises(NotMeasured, match=f"there is no {name}: .* raised ValueError") as error:
        getattr(failed, name)
    assert isinstance(error.value, AssertionError)


def test_so_do_its_buckets_and_its_truth(failed):
    with pytest.raises(AssertionError):
        failed.frame()
    for each in (failed, verify(relu, "relu", "float16", "landmarks")):
        with pytest.raises(UsageError, match="assert_gelu_accurate"):
            assert each


def test_where_nothing_could_be_scored_there_is_no_error():
    def nothing(x):
        return np.full_like(x, np.nan)

    result = verify(nothing, "gelu", "float16", "landmarks")
    with pytest.raises(AssertionError, match="no output could be scored"):
        assert result.max_ulp <= 2
    assert result.nonfinite.count


def test_a_failure_that_leaves_measures_is_shown_with_them():
    result = verify(relu, "relu", "float16", "landmarks").updated(failure="changes", failure_kind="nondeterministic")
    with pytest.raises(NotMeasured):
        assert result.max_ulp == 0
    assert "<svg" in result._repr_html_()
    assert "changes" in result._repr_html_()


@pytest.mark.parametrize("target", [None, np.ones(3)])
def test_what_is_no_target_is_an_error_that_says_what_is(target):
    with pytest.raises(UsageError, match="ulp_error"):
        verify(target)


def test_what_it_prints_spoils_no_measure():
    assert verify(printing, "relu", "float16", "landmarks").max_ulp == 0


@pytest.mark.parametrize(
    ("compute", "name"),
    [
        (relu, True),
        (np.tanh, hasattr(np.tanh, "__qualname__")),  # since NumPy 2.2
        (lambda x: x, False),
        (np.random.default_rng(0).normal, False),
    ],
)
def test_a_command_names_what_another_process_finds(compute, name):
    """Anything else is repeated by the call."""
    found = command_name(compute)
    assert (found is not None) == name
    if not name:
        assert verify(compute, "relu", "float16", "landmarks").repeat.startswith("gelu_verify.verify(f, 'relu'")


def test_the_command_finds_the_file_from_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("import numpy as np\ndef relu(x): return np.maximum(x, 0)\n")
    (tmp_path / "sub").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    import mine

    assert command_name(mine.relu) == "mine:relu"
    monkeypatch.chdir(tmp_path / "sub")
    assert command_name(mine.relu) == f"{tmp_path / 'mine.py'}:relu"
    result = verify(mine.relu, "relu", "float16", "landmarks")
    words = shlex.split(result.repeat)
    assert verify(words[2], "relu", "float16", "landmarks").bits_sha256 == result.bits_sha256
    with_an_object = verify(np.sort, "relu", "float16", "landmarks", kwargs={"stable": np.True_}).repeat
    assert with_an_object.startswith("gelu_verify.verify(f, 'relu'")
