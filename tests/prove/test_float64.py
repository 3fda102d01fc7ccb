"""The bounds of the float64 pieces, by other means than the script that wrote them (docs/proofs.md, section 7)."""

import random
import re
import shutil

import pytest
from prove.float64 import LAST_SHIFT, LOSS_SHIFT, LOW_SHIFT, failing_pieces, read_table
from prove.source import ROOT
from prove.specifications import SPECIFICATIONS

pytestmark = pytest.mark.prove
BY_NAME = {s.name: s for s in SPECIFICATIONS}
NAMES = ("gelu", "gelu_grad")


@pytest.mark.parametrize("name", NAMES)
def test_every_piece_keeps_its_bound(name):
    assert failing_pieces(name, BY_NAME[name]) == []


def test_rows_are_read_as_the_code_reads_them():
    text = (ROOT / "src" / "cr" / "pieces.h").read_text()
    shifts = {name: int(value) for name, value in re.findall(r"#define GV_(\w+)_SHIFT (\d+)", text)}
    assert shifts == {"LOW": LOW_SHIFT, "LAST": LAST_SHIFT, "LOSS": LOSS_SHIFT}
    order = re.search(r"enum \{(.*?)GV_COLUMNS", text, re.DOTALL).group(1)
    assert re.findall(r"GV_\w+", re.sub(r"/\*.*?\*/", "", order)) == [
        f"GV_{column}" for column in ("T0", "T1", "LOW", "C2", "C3", "C4", "C5", "C6")
    ]
    assert len(read_table("gelu").rows) == 512


@pytest.mark.parametrize("seed", range(3))
def test_a_coefficient_that_is_off(tmp_path, seed):
    """Some bit of c2 .. c4, 2^-40 of it or more, is always seen."""
    shutil.copytree(ROOT / "src", tmp_path / "src")
    path = tmp_path / "src" / "tables" / "gelu_f64.h"
    rng, table = random.Random(seed), read_table("gelu")
    row, column = rng.randrange(1, 400), rng.choice([3, 4])
    found = list(re.finditer(r"\{\{(.*?)\}\}", path.read_text()))[row]
    numbers = found.group(1).split(", ")
    numbers[column] = (table.rows[row][column] * (1 + 2.0**-30)).hex()
    text = path.read_text()
    path.write_text(text[: found.start(1)] + ", ".join(numbers) + text[found.end(1) :])
    assert any(f"piece {row}:" in wrong for wrong in failing_pieces("gelu", BY_NAME["gelu"], tmp_path))
