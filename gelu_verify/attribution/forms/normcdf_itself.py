"""A library's own normcdf."""

from ..expression import X, block

FORM = {"function": "normcdf", "root": block("normcdf", X)}
