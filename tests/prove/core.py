"""The certificate of the core: err of every gv_value, on every branch of every function, for every double."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from prove.pieces import Piece, along_paths, cut_at, prove_pieces
from prove.source import ROOT, Source, number
from prove.specifications import Specification
from prove.values import ValueTracking
from pycparser import c_ast

SHARED = ("gv_scaled_logistic", "gv_scaled_logistic_grad")


class _Thresholds(c_ast.NodeVisitor):
    def __init__(self) -> None:
        self.found: set[float] = set()

    def visit_BinaryOp(self, node):
        if node.op in ("<", ">", "<=", ">="):
            for side in (node.left, node.right):
                literal = side.expr if isinstance(side, c_ast.UnaryOp) and side.op == "-" else side
                if isinstance(literal, c_ast.Constant):
                    self.found.add(float(number(literal.value)))
        self.generic_visit(node)


def thresholds(source: Source, *names: str) -> set[float]:
    """Constants that the functions compare with: good places to cut."""
    visitor = _Thresholds()
    for name in names:
        visitor.visit(source.functions[name].body)
    return visitor.found - {0.0}


def core_source(quick: bool, root: Path = ROOT) -> Source:
    return Source("math/functions.h", root=root, macros={"GV_QUICK": "1"} if quick else {})


def certify(specification: Specification, source: Source, quick: bool) -> tuple[int, dict[str, float], Counter]:
    """Number of pieces, and the largest share of the allowed error that each constructor uses."""
    tracking = ValueTracking(source, quick, specification)
    cuts = cut_at(thresholds(source, specification.c_name, *SHARED))
    pieces = [Piece(low, high, sign) for low, high in cuts for sign in (1.0, -1.0)]
    proved = prove_pieces(pieces, lambda piece: along_paths(tracking, specification.c_name, piece))
    largest: dict[str, float] = {}
    counts: Counter = Counter()
    for _, results in proved:
        for result in results:
            largest[result.kind] = max(largest.get(result.kind, 0.0), result.share)
            counts[result.kind] += 1
    return len(proved), largest, counts
