"""What we know is recognized: each kernel that we ship, tables and wider dtypes around them, flushed subnormals."""

from dataclasses import replace

import numpy as np
import pytest
from marking import nightly
from mutants import target

from gelu_verify.attribution import attribute
from gelu_verify.attribution.evaluation import FLUSHING, Arithmetic, evaluate
from gelu_verify.attribution.expression import X, decimal
from gelu_verify.attribution.forms import FORMS
from gelu_verify.attribution.known import Candidate, known
from gelu_verify.attribution.search import informative_sample
from gelu_verify.formats import DTYPES, converted, get_format, to_float64
from gelu_verify.inputs.plans import make_plan
from gelu_verify.report.attribution_page import write_attribution
from gelu_verify.report.attribution_text import attribution_lines
from gelu_verify.targets import find

SHIPPED = {kernel.name: kernel for kernel in find(["kernels", "published"])[0]}
PAIRS = [(name, dtype) for name in SHIPPED for dtype in ("float32", "bfloat16") if dtype in SHIPPED[name].dtypes]


def recognized(one, dtype):
    x = np.concatenate([chunk.x_bits() for chunk in make_plan("quick", one.function, dtype).chunks])
    got = one.evaluate(dtype, x)
    return known(one, informative_sample(one.function, dtype, x, got), x, got)


@pytest.mark.few(6)
@pytest.mark.parametrize(("name", "dtype"), [*PAIRS[::6], *nightly(*(pair for at, pair in enumerate(PAIRS) if at % 6))])
def test_every_kernel_is_recognized_as_itself_or_an_equal_one(name, dtype):
    found = recognized(replace(SHIPPED[name], name="user:kernel"), dtype)
    assert found.exact
    assert name in (found.name, *found.alike)
    assert found.candidate.how(dtype) == ""


def test_a_kernel_is_not_compared_with_itself():
    assert recognized(SHIPPED["kernels.gelu_erf"], "float32").name != "kernels.gelu_erf"


def through(dtype, x, narrow):
    """Rounded to a narrower dtype, in float32."""
    wide, short = get_format(dtype), get_format(narrow)
    return converted(short, converted(wide, x, short), wide)


def test_a_table_of_float16_results_is_recognized():
    """Of a function that no kernel of ours has a table of."""

    def table(dtype, x):
        short = converted(get_format(dtype), x, get_format("float16"))
        return converted(
            get_format("float16"), SHIPPED["kernels.silu_exp-f32"].evaluate("float16", short), get_format(dtype)
        )

    found = recognized(target("silu", table), "float32")
    assert (found.exact, found.candidate.inner, found.candidate.how("float32")) == (True, "float16", "in float16")
    assert "kernels.silu_exp-f32" in (found.name, *found.alike)


def test_a_kernel_that_rounds_x_first_is_recognized():
    exact = SHIPPED["kernels.gelu_tanh_sigmoid"]
    mutant = target("gelu_tanh", lambda dtype, x: exact.evaluate(dtype, through(dtype, x, "bfloat16")))
    found = recognized(mutant, "float32")
    assert found.exact
    assert found.candidate.how("float32") == "of x rounded to bfloat16"


def test_a_kernel_computed_in_a_wider_dtype_is_recognized():
    wide = Candidate(SHIPPED["kernels.gelu_erf"], "float64")
    found = recognized(target("gelu", wide.bits), "float32")
    assert found.exact
    assert found.candidate.how("float32") == "in float64, rounded once"


@pytest.mark.parametrize("flush", FLUSHING)
def test_a_kernel_that_flushes_is_recognized(flush):
    planted = Candidate(SHIPPED["kernels.gelu_erfc"], "float32", flush=flush)
    found = recognized(target("gelu", planted.bits), "float32")
    assert found.exact
    assert found.name == "kernels.gelu_erfc"
    assert "flushed to zero" in found.candidate.how("float32")


def test_one_wrong_result_is_counted_and_named():
    def answer(dtype, x):
        y = SHIPPED["kernels.gelu_erfc"].evaluate(dtype, x)
        return np.where(x == 0x40000000, y + 1, y)

    found = attribute(target("gelu", answer, "user:kernel"), "float32", "quick")
    record, lines = found.record["known"], "\n".join(attribution_lines(found.record))
    assert (record["name"], record["differing"]) == ("kernels.gelu_erfc", 1)
    assert record["first"]["x_bits"] == "0x40000000"
    assert int(record["first"]["got_bits"], 16) == int(record["first"]["known_bits"], 16) + 1
    assert f"the bits of kernels.gelu_erfc on all but 1 of {record['n']:,} inputs" in lines


def test_what_differs_between_the_inputs_of_the_plan_is_seen():
    """In a run of consecutive floats that starts where a plan has samples only."""
    seen = set(np.concatenate([c.x_bits() for c in make_plan("quick", "gelu", "float32").chunks]).tolist())

    def answer(dtype, x):
        y = SHIPPED["kernels.gelu_erfc"].evaluate(dtype, x)
        return np.where(np.isin(x, list(seen)), y, y ^ 1)

    found = recognized(target("gelu", answer), "float32")
    assert not found.exact


def test_a_form_is_explained_by_the_kernel_where_its_operations_are_not_known(tmp_path):
    """torch's float32 gelu on AVX-512 is oneDNN's: a private erf of x, which no tree of operations has."""
    kernel = replace(SHIPPED["published.onednn-gelu_erf_avx512"], name="user:kernel", form="", note="")
    found = attribute(kernel, "float32", "quick")
    record = found.record
    assert record["known"]["name"] == "published.onednn-gelu_erf_avx512"
    assert record["known"]["differing"] == 0
    by_region = {row["region"]: row["worst"] for row in record["regions"]}
    assert by_region["[-3,-1)"]["main"] == "known"
    assert all(row["rest"] == 0 for row in by_region.values() if row)
    lines = list(attribution_lines(record))
    assert any("bit for bit published.onednn-gelu_erf_avx512" in line for line in lines)
    assert "own code" in "\n".join(lines)
    assert all(len(line) <= 84 and line.isascii() for line in lines if "inputs" not in line and "repeat" not in line)
    write_attribution(found, tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert "published.onednn-gelu_erf_avx512" in page
    assert "can avoid" not in page + "\n".join(lines)


# ---- flushing ------------------------------------------------------------------------------------


def modelled(form, flush, working=None):
    arithmetic = Arithmetic(working or "float32", flush=flush)
    return target(FORMS[form].function, lambda dtype, x: evaluate(FORMS[form].root, dtype, x, arithmetic)[0])


@pytest.mark.parametrize("flush", FLUSHING)
def test_flushing_is_a_cause(flush):
    found = attribute(modelled("gelu_erfc", flush), "float32", "quick", form="erfc").record
    assert found["flush"]
    assert found["agreement"] == 1
    assert [rung["name"] for rung in found["rungs"]] == ["constants", "formula", "flushing", "measured"]
    assert {row["region"]: row["worst"] for row in found["regions"]}["[0,1)"]["main"] == "flushing"
    assert found["worst"]["main"] == "flushing"
    assert found["worst"]["rest"] == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_nothing_is_called_flushed_that_is_not(dtype):
    held = Arithmetic(dtype)
    kernel = target("gelu", lambda dtype, x: evaluate(FORMS["gelu_erfc"].root, dtype, x, held)[0])
    found = attribute(kernel, dtype, "quick", form="erfc").record
    assert found["flush"] is None
    assert "flushing" not in [rung["name"] for rung in found["rungs"]]


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_product_that_rounding_alone_makes_normal_is_flushed(dtype):
    """As processors do it: what would be below the smallest normal number with an unlimited exponent."""
    fmt = get_format(dtype)
    smallest = 1 << (fmt.precision - 1)
    x = np.array([smallest - 1, 2 * smallest - 1, 2 * smallest], fmt.uint)  # half of the second is a midpoint
    for flush, want in (("results", [0, 0, smallest]), ("inputs", [0, smallest, smallest])):
        got = evaluate(X * decimal("0.5"), dtype, x, Arithmetic(dtype, flush=flush))[0]
        assert got.tolist() == want
    assert to_float64(fmt, x[2:])[0] / 2 == to_float64(fmt, np.array([smallest], fmt.uint))[0]
