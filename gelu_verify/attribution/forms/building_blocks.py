"""A library's own erf, exp, tanh ...: one operation, which is not looked into."""

from ..expression import BLOCKS, X, block
from .base import Form

FORMS = [Form(name=f"{name}_itself", function=name, root=block(name, X)) for name in BLOCKS]
