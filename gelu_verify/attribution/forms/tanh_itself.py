"""A library's own tanh."""

from ..expression import X, block

FORM = {"function": "tanh", "root": block("tanh", X)}
