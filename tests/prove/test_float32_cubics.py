"""The bounds of gelu and gelu_tanh by cubic pieces, by other means than their script (docs/proofs.md, section 8)."""

import random
import re
import shutil

import pytest
from prove import checks
from prove.cubic32 import QUOTIENTS, algorithm, failing_rows, last_row_covers, read_cubics
from prove.source import ROOT
from prove.symbols import Symbol

pytestmark = pytest.mark.prove
names = pytest.mark.parametrize("name", QUOTIENTS)


@names
def test_every_piece_keeps_its_bound(name):
    assert failing_rows(name) == []


@names
def test_the_last_piece_covers_all_beyond(name):
    assert last_row_covers(name)


@names
def test_h_is_exact(name):
    """Centres are multiples of a power of two and a is at most half a step off: a multiple of 2^-24 of that, unless the
    centre is 0."""
    table = read_cubics(name)
    assert table.step == 2.0**-7
    assert (len(table.rows) - 1) * table.step < 2**3


@names
def test_a_quotient_is_at_most_a_half(name):
    """So that L - y is exact: y >= L/2."""
    assert float(QUOTIENTS[name](0, 0)[0].mid()) == 0.5
    assert all(row[1] < 0 for row in read_cubics(name).rows[:-1])


def call(name, *arguments):
    return f"gv_floats_{name}({', '.join(arguments)})"


def every(number):
    return call("all", number)


def test_the_code_is_the_algorithm_that_was_proved():
    f, x, q, h = Symbol("f"), Symbol("x"), Symbol("q"), Symbol("h")
    row = [Symbol(name) for name in ("t0", "t1", "c2", "c3")]
    a, start = call("up_to", call("magnitude", "x"), "f.last"), every("f.from")
    where = call("sub", a, call("sub", call("add", a, start), start))
    assert algorithm("gv_float_cubic_find", f, x, Symbol("offset")) == where
    bend = call("madd", "c3", "h", "c2")
    slope = call("madd", bend, "h", "t1")
    hi = call("madd", slope, "h", "t0")
    lo = call("add", call("madd", slope, "h", call("sub", "t0", hi)), call("last_half", "c3"))
    share = call("mul", call("magnitude", slope), every("f.of_slope"))
    loss = call("madd", call("magnitude", bend), every("f.of_bend"), share)
    assert algorithm("gv_float_cubic", f, h, row) == "{" + ", ".join((hi, lo, loss)) + "}"
    a, leading = call("magnitude", "x"), call("not_negative", "x")
    hi = call("less", a, "q.hi", leading)
    lo = call("less", a, "q.lo", call("less", a, "q.hi", call("sub", leading, hi)))
    least = call("madd_all", leading, (2.0**-46).hex(), (2.0**-140).hex())
    expected = "{" + ", ".join((hi, lo, call("madd", a, "q.loss", least))) + "}"
    assert algorithm("gv_float_cubic_sum", x, q) == expected


@pytest.fixture
def copy(tmp_path):
    for folder in ("src", "tools"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


@pytest.mark.parametrize("column", range(3))
def test_a_coefficient_that_is_off(copy, column):
    """T0 by 2^-22 of it, T1 by 2^-20, c2 by 2^-12: in one row."""
    rng = random.Random(column)
    path = copy / "src" / "tables" / "gelu_cubic_f32.h"
    index = rng.randrange(50, 400)
    lines = path.read_text().splitlines()
    place = next(k for k, line in enumerate(lines) if line.startswith("    {{")) + index
    numbers = re.findall(r"-?0x[0-9a-fp.+-]+(?=f)", lines[place])
    numbers[column] = (float.fromhex(numbers[column]) * (1 + 2.0 ** -(22, 20, 12)[column])).hex()
    lines[place] = "    {{" + ", ".join(f"{number}f" for number in numbers) + "}},"
    path.write_text("\n".join(lines))
    assert any(f"piece {index}:" in wrong for wrong in failing_rows("gelu", copy))


@pytest.mark.parametrize("number", range(2))
def test_a_bound_that_is_smaller(copy, number):
    path = copy / "src" / "tables" / "gelu_tanh_cubic_f32.h"
    text = path.read_text()
    start = text.index("gv_gelu_tanh_cubics =")
    found = re.findall(r"0x[0-9a-fp.+-]+(?=f)", text[start:])[2 + number]
    path.write_text(text[:start] + text[start:].replace(found, (float.fromhex(found) * 0.7).hex()))
    assert failing_rows("gelu_tanh", copy)


def test_one_bit_of_a_table(copy):
    path = copy / "src" / "tables" / "gelu_cubic_f32.h"
    path.write_text(path.read_text().replace("{{0x1p-1f", "{{0x1.000002p-1f"))
    assert not checks.generator_agrees("make_float32_cubics.py", copy, "gelu")
