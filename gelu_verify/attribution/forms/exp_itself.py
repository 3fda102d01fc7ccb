"""A library's own exp."""

from ..expression import X, block

FORM = {"function": "exp", "root": block("exp", X)}
