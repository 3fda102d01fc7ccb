"""A distribution beside the package that adds functions, a check, a family of targets and a kind of target; and a
worse one, whose names are taken and whose code raises."""

from __future__ import annotations

import os

FILES = {
    "others/__init__.py": "",
    "others/mish.py": '''
"""mish(x) = x tanh(log(1 + e^x)), with f'(0) = 3/5, and its derivative."""

from gelu_verify.functions import Function
from gelu_verify.functions.enclosures import ZERO, Terms


def terms(c, x):
    """With u = e^-|x|: x - 2 x u^2 / (1 + 2 u + 2 u^2) on the right, x (u^2 + 2 u) / (u^2 + 2 u + 2) on the left."""
    point = c.exact(x)
    u = c.exp(-abs(point))
    if point > 0:
        return Terms(x, -2 * point * u * u / (1 + 2 * u + 2 * u * u))
    return Terms(ZERO, point * (u * u + 2 * u) / (u * u + 2 * u + 2))


def gradient(c, x):
    """t + 4 x u (1 + u) / (2 + 2 u + u^2)^2 with u = e^x, t = u (u + 2) / (u^2 + 2 u + 2); in e^-x on the right."""
    point = c.exact(x)
    u = c.exp(-abs(point))
    if point > 0:
        d = 1 + 2 * u + 2 * u * u
        return Terms((1, 0), (4 * point * u * u * (1 + u) - 2 * u * u * d) / (d * d))
    d = 2 + 2 * u + u * u
    return Terms(ZERO, u * (u + 2) / d + 4 * point * u * (1 + u) / (d * d))


MINIMUM = "-1.19243121451549521214"
ENTRIES = (
    Function(name="other_mish", formula="x tanh(log(1 + e^x))", terms=terms,
             at_minus_infinity="-0", at_plus_infinity="inf", at_zero="x", slope_at_zero="0.6",
             turning_points=(MINIMUM,), falls_first=True, sign="x", at_most_x=True,
             arb=lambda x: x * (1 + x.exp()).log().tanh()),
    Function(name="other_mish_grad", formula="derivative of mish", terms=gradient, gradient_of="other_mish",
             either_zero=True, at_minus_infinity="-0", at_plus_infinity="1", at_zero="0.6", turning_points=None),
)
''',
    "others/shapes.py": '''
"""Functions of other shapes: positive, with an irrational value at 0; odd, unbounded and falling at 0."""

from gelu_verify.functions import Function
from gelu_verify.functions.enclosures import ZERO, Terms


def softplus(c, x):
    """log(1 + e^x) = x + log(1 + e^-x)."""
    point = c.exact(x)
    if point > 0:
        return Terms(x, c.log1p(c.exp(-point)))
    return Terms(ZERO, c.log1p(c.exp(point)))


def cubic(c, x):
    m, e = x
    lowest = min(3 * e, e)
    return Terms(((m**3 << 3 * e - lowest) - (m << e - lowest), lowest), None)


SOFTPLUS = Function(name="other_softplus", formula="log(1 + e^x)", terms=softplus, at_minus_infinity="0",
                    at_plus_infinity="inf", at_zero=lambda c: c.log(c.iv.mpf(2)), sign="+", lower="0",
                    arb=lambda x: x.exp().log1p())
CUBIC = Function(name="cubic", formula="x^3 - x", terms=cubic, at_minus_infinity="-inf", at_plus_infinity="inf",
                 at_zero="-x", turning_points=("-0.57735026918962576450915", "0.57735026918962576450915"),
                 arb=lambda x: x**3 - x)
''',
    "others/at_one.py": '''
"""f(1) is the number nearest to it."""

from gelu_verify.checks import Check, Finding


def run(evidence):
    got, want, _ = evidence.judged([evidence.fmt.one])
    status, detail = ("pass", "") if got[0] == want[0] else ("fail", "f(1) is wrong")
    return Finding(status, detail, evidence.fmt.one, int(got[0]), int(want[0]))


CHECK = Check("at_one", "somebody's own rule", run)
''',
    "others/raising.py": """
from gelu_verify.checks import Check

def run(evidence):
    raise ZeroDivisionError("a bug of the plugin")

CHECK = Check("raising", "a bug", run)
""",
    "worse/__init__.py": "",
    "worse/nonsense.py": """
from gelu_verify.checks import Check

CHECK = Check("nonsense", "returns no finding", lambda evidence: 7)
MONOTONE = Check("monotone", "a name that is taken", lambda evidence: 7)
""",
    "worse/half.py": "def discover():\n    raise ValueError('a bug of the family')\n    yield\n",
    "worse/exits.py": "raise SystemExit(3)\n",
    "worse/calls.py": """
import re

from gelu_verify.targets.kinds import Kind
from gelu_verify.targets.python_callables import callable_target


def broken(x):
    raise KeyError("a bug of its own")


def load(name, match, asked):
    yield callable_target(broken, name=name)


KIND = Kind("calls", {"calls:X": "raises when it is called"}, re.compile("calls:.*"), load)
""",
    "worse/failing.py": """
import re

from gelu_verify.functions import Function
from gelu_verify.targets.kinds import Kind


def terms(c, x):
    raise ZeroDivisionError("a bug of the function")


def load(name, match, asked):
    raise KeyError("a bug of the kind")


FUNCTION = Function(name="failing", formula="x", terms=terms, at_minus_infinity="-inf", at_plus_infinity="inf",
                    at_zero="x", arb=lambda x: x)
KIND = Kind("failing", {"failing:X": "raises"}, re.compile("failing:.*"), load)
""",
    "others/library.py": '''
"""A library with a right mish, and one that is wrong at 1."""

import numpy as np

from gelu_verify.targets.python_callables import callable_target

OURS = True  # which only families of the package are


def mish(x):
    wide = np.where(np.isneginf(x), -1e4, x).astype(np.float64)  # -inf 0 is NaN
    return (wide * np.tanh(np.logaddexp(0, wide))).astype(x.dtype)


def wrong(x):
    return np.where(x == 1, np.float16(0.5), mish(x)).astype(x.dtype)


def discover():
    yield callable_target(mish, "other_mish", "float16", name="others.mish")
    yield callable_target(wrong, "other_mish", "float16", name="others.wrong")
''',
    "others/twice.py": '''
"""A kind of target: twice:N is N x, as relu has it."""

import re

import numpy as np

from gelu_verify.targets.python_callables import callable_target
from gelu_verify.targets.kinds import Kind


def load(name, match, asked):
    factor = np.float32(match["factor"])
    yield callable_target(lambda x: np.maximum(x * factor, 0), asked.function or "relu", "float32", name=name)


KIND = Kind("multiple", {"twice:FACTOR": "FACTOR x, at least 0"}, re.compile(r"twice:(?P<factor>[0-9.]+)"), load)
''',
    "others/broken.py": "raise ImportError('no such library')\n",
    "others/duplicate.py": "from gelu_verify.functions import FUNCTIONS\nENTRIES = (FUNCTIONS['gelu'],)\n",
    "others-1.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: others\nVersion: 1.2\n",
    "others-1.2.dist-info/entry_points.txt": """
[gelu_verify.functions]
mish = others.mish
softplus = others.shapes:SOFTPLUS
cubic = others.shapes:CUBIC
broken = others.broken
duplicate = others.duplicate
nothing = others.twice:load

[gelu_verify.checks]
at_one = others.at_one
raising = others.raising

[gelu_verify.targets]
others = others.library
twice = others.twice
torch = others.library
""",
    "worse-0.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: worse\nVersion: 0.1\n",
    "worse-0.1.dist-info/entry_points.txt": """
[gelu_verify.functions]
exits = worse.exits
failing = worse.failing:FUNCTION

[gelu_verify.checks]
nonsense = worse.nonsense
monotone = worse.nonsense:MONOTONE

[gelu_verify.targets]
failing = worse.failing
calls = worse.calls
half = worse.half
""",
}


def install(folder):
    """Write the distribution into `folder`; the environment in which it is installed."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text.lstrip("\n"))
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "TMPDIR": str(folder)}
