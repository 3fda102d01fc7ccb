"""A library's own erfc."""

from ..expression import X, block

FORM = {"function": "erfc", "root": block("erfc", X)}
