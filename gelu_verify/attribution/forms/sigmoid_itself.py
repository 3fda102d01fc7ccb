"""A library's own sigmoid."""

from ..expression import X, block

FORM = {"function": "sigmoid", "root": block("sigmoid", X)}
