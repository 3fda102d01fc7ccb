"""The bound of the float32 tails (src/cr/float_tail.h), piece by piece; docs/proofs.md, section 11, says why."""

from __future__ import annotations

import re
from pathlib import Path

from flint import arb
from prove.approximation import taylor_of
from prove.float32 import FLOAT_UNIT as U
from prove.float32 import LAYOUTS, Row, read_table, slope, why_not
from prove.interpreter import Interpreter
from prove.sigmoid32 import of_layout, read_rate, reduced_loss
from prove.source import ROOT, Source
from prove.symbols import Symbolic, text
from prove.tail import mills
from prove.tracked import hull

FACTORS = {"gelu": lambda a: a * mills(a), "gelu_grad": lambda a: a / (2 * arb.pi()).sqrt() - mills(a)}


def header(root: Path) -> str:
    return (root / "src" / "cr" / "float_tail.h").read_text()


def defined(name: str, root: Path = ROOT) -> float:
    number = re.search(rf"define GV_FLOAT_TAIL_{name} \(?(\S+?)f\b", header(root)).group(1)
    return float.fromhex(number) if "0x" in number else float(number)


def loss_of(layout: str, root: Path = ROOT) -> arb:
    text = of_layout(header(root), layout)
    return arb(float.fromhex(re.search(r"define GV_FLOAT_TAIL_LOSS (\S+)f\b", text).group(1)))


def used_rows(name: str, layout: str, root: Path = ROOT) -> list[Row]:
    """Those that have a part of [-edge, most]."""
    edge, most = -defined("EDGE", root), defined("MOST", root)
    return [row for row in read_table(f"{name}_tail", layout, root) if row.high >= edge and row.low <= most]


def failing_rows(name: str, layout: str, root: Path = ROOT) -> list[str]:
    reasons = [why_not(row, taylor_of(FACTORS[name]), layout, True, False) for row in used_rows(name, layout, root)]
    return [f"{name}, {layout}, piece {index}: {reason}" for index, reason in enumerate(reasons) if reason]


def row_loss(name: str, layout: str, row: Row, root: Path = ROOT) -> arb:
    """Of 2^64 |f|, relative, with the rounding of lo +- loss."""
    edge, most = -defined("EDGE", root), defined("MOST", root)
    a = hull(max(row.low, arb(edge)), min(row.high, arb(most)))
    s = (a * a / 2).upper()
    e, e_low = reduced_loss(read_rate("silu", layout, root), s, U * s, root)
    h = a - row.centre
    v = taylor_of(FACTORS[name])(a.lower(), 0)[0].abs_lower()  # v grows with a
    v_low = (U + (abs(arb(row.head_low)) + slope(row, h, layout).low * h.abs_upper()) / v) * (1 + 8 * U)
    lo = (U + v_low + e_low) * (1 + 8 * U)
    left_out = e_low * v_low
    return (e + row.bound / v + left_out + 3 * U * lo + 3 * U * loss_of(layout, root)) * (1 + e) * (1 + row.bound / v)


def algorithm(function: str, *arguments: object, layout: str, root: Path = ROOT) -> str:
    """What a function of float_tail.h returns, as formulas of its arguments."""
    tables = str(1 + LAYOUTS.index(layout))
    source = Source("cr/float_tail.h", root=root, macros={"GV_FLOAT_LANES": "1", "GV_FLOAT_TABLES": tables})
    return text(Interpreter(source, Symbolic(source, function)).call(function, *arguments))
