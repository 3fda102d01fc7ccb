"""A library's own erf."""

from ..expression import X, block

FORM = {"function": "erf", "root": block("erf", X)}
