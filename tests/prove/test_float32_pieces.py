"""The bounds of the float32 pieces, by other means than the script that wrote them (docs/proofs.md, section 8)."""

import random
import re
import shutil

import pytest
from prove import checks
from prove.float32 import LAYOUTS, algorithm, failing_pieces, read_table
from prove.source import ROOT
from prove.specifications import SPECIFICATIONS
from prove.symbols import Symbol

pytestmark = pytest.mark.prove
BY_NAME = {s.name: s for s in SPECIFICATIONS}
NAMES = {
    "registers": ["gelu", "gelu_grad", "gelu_tanh", "gelu_tanh_grad", "gelu_sigmoid_grad", "silu_grad"],
    "rows": ["gelu_grad", "gelu_tanh_grad", "gelu_sigmoid_grad", "silu_grad"],
}
layouts = pytest.mark.parametrize("layout", LAYOUTS)
COLUMNS = {
    "registers": ("c", "head", "low", "t1", "c2", "c3", "c4", "c5", "c6", "bound"),
    "rows": ("c", "head", "low", "t1", "c2", "c3", "c4", "bound"),
}


@pytest.mark.parametrize(("layout", "name"), [(layout, name) for layout in LAYOUTS for name in NAMES[layout]])
def test_every_piece_keeps_its_bound(layout, name):
    assert failing_pieces(name, layout, BY_NAME[name]) == []


@layouts
def test_tables_have_the_pieces_that_the_code_reads(layout):
    assert len(read_table("gelu_grad", layout)) == {"registers": 32, "rows": 128}[layout]


def madd(a, b, c):
    return f"gv_floats_madd({a}, {b}, {c})"


def less(a, b, c):
    return f"gv_floats_less({a}, {b}, {c})"


def add(a, b):
    return f"gv_floats_add({a}, {b})"


def sub(a, b):
    return f"gv_floats_sub({a}, {b})"


def columns(layout, at="at"):
    return {name: f"gv_floats_column(f, {place}, {at})" for place, name in enumerate(COLUMNS[layout])}


def slope_of(layout):
    """m as it was proved: hi and lo."""
    c = columns(layout)
    if layout == "registers":
        h2 = "gv_floats_mul(h, h)"
        rest = madd(madd(c["c6"], "h", c["c5"]), h2, madd(c["c4"], "h", c["c3"]))
        hi = madd(c["c2"], "h", c["t1"])
        return hi, madd(rest, h2, madd(c["c2"], "h", sub(c["t1"], hi)))
    rest = madd(madd(c["c4"], "h", c["c3"]), "h", c["c2"])
    hi = madd(rest, "h", c["t1"])
    return hi, madd(rest, "h", sub(c["t1"], hi))


def sum_of(layout, derivative):
    """hi, lo and loss as they were proved."""
    c = columns(layout, "along.from.at")
    h, m = "along.from.h", "along.slope"
    leading = f"({derivative} ? gv_floats_step(x, gv_floats_all(1.0)) : gv_floats_not_negative(x))"

    def signed(text):
        return f"gv_floats_times_sign({text}, x)" if derivative else text

    base = sub(leading, signed(c["head"]))
    below = sub(sub(sub(leading, base), signed(c["head"])), signed(c["low"]))
    hi = less(f"{m}.hi", signed(h), base)
    lo = less(f"{m}.hi", signed(h), sub(base, hi))
    bound = madd(c["bound"], "gv_floats_magnitude(x)", "gv_floats_all(0x1.0000000000000p-140)")
    return hi, less(f"{m}.lo", signed(h), add(lo, below)), f"({derivative} ? {c['bound']} : {bound})"


@layouts
def test_the_code_is_the_algorithm_that_was_proved(layout):
    f, at, h, x, origin, along = (Symbol(name) for name in ("f", "at", "h", "x", "from", "along"))
    assert algorithm(layout, "gv_float_slope", f, at, h) == "{" + ", ".join(slope_of(layout)) + "}"
    for derivative in (0, 1):
        got = algorithm(layout, "gv_float_sum", f, derivative, x, along)
        assert got == "{" + ", ".join(sum_of(layout, derivative)) + "}"
    h = sub("gv_float_clamped(f, x)", columns(layout)["c"])
    assert algorithm(layout, "gv_float_locate", f, x, at) == f"{{at, {h}}}"
    assert algorithm(layout, "gv_float_along", f, origin) == "{from, gv_float_slope(f, from.at, from.h)}"
    assert algorithm(layout, "gv_float_clamped", f, x) == "gv_floats_at_most(gv_floats_magnitude(x), f.last)"
    step = "gv_floats_madd_all(gv_float_clamped(f, x), f.inverse, f.from)"
    assert algorithm(layout, "gv_float_find", f, x) == f"gv_floats_find({step}, f.shift)"


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src")
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    return tmp_path


def changed(path, pick, change):
    """Another text for one of the float literals of a table."""
    found = pick(list(re.finditer(r"-?0x1\.?[0-9a-f]*p[-+]\d+(?=f\b)", path.read_text())))
    text = path.read_text()
    new = change(float.fromhex(found.group()))
    path.write_text(text[: found.start()] + new.hex() + text[found.end() :])


@pytest.mark.parametrize("seed", range(4))
def test_one_bit_of_a_table(copy, seed):
    rng = random.Random(seed)
    name = rng.choice(NAMES["registers"])
    changed(copy / "src" / "tables" / f"{name}_f32.h", rng.choice, lambda x: x * (1 + 2.0 ** -rng.randrange(1, 24)))
    assert not checks.generator_agrees("make_float32_tables.py", copy, name)


@pytest.mark.parametrize("seed", range(6))
def test_a_coefficient_that_is_off(copy, seed):
    """A c, T0, T1 or c2 by 2^-20 of it, or a bound that is half as large."""
    rng = random.Random(seed)
    layout = rng.choice(LAYOUTS)
    index = rng.randrange(1, 4) if layout == "registers" else rng.randrange(4, 14)
    name = "gelu_sigmoid_grad"
    path = copy / "src" / "tables" / f"{name}_f32.h"
    column = rng.choice([0, 1, 3, 4, len(COLUMNS[layout]) - 1])
    row = read_table(name, layout)[index]
    number = [row.centre, row.head, row.head_low, *row.terms, row.bound][column]
    halved = column == len(COLUMNS[layout]) - 1
    new = number / 2 if halved else number * (1 + 2.0**-20)
    text = path.read_text()
    short = re.compile(r"-?0x1\.?[0-9a-f]*p[-+]\d+(?=f\b)")
    start, end = (0, text.index("#elif")) if layout == "registers" else (text.index("#elif"), len(text))
    places = [m for m in short.finditer(text, start, end) if float.fromhex(m.group()) == number]
    for m in reversed(places):
        text = text[: m.start()] + new.hex() + text[m.end() :]
    path.write_text(text)
    assert any(f"piece {index}:" in wrong for wrong in failing_pieces(name, layout, BY_NAME[name], copy))
