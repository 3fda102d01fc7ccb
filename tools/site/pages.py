"""The pages of the site that are made from the code: one for each check and function, the commands, and the API."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
import numpy as np

from gelu_verify.checks import own_checks
from gelu_verify.checks.base import Check
from gelu_verify.cli import main
from gelu_verify.errors import MissingMeasurement, UsageError
from gelu_verify.facts import stored_facts
from gelu_verify.facts.base import selected
from gelu_verify.formats import get_format
from gelu_verify.functions import FUNCTIONS
from gelu_verify.functions.base import Function
from gelu_verify.report.versions_files import versions_files
from gelu_verify.show.chart import Axis, Chart, Curve, linear
from gelu_verify.show.drawing import svg
from gelu_verify.truth.hardest import hardest
from gelu_verify.truth.values import exact, reference
from gelu_verify.versions.store import default_root

DOCS = Path(__file__).parents[2] / "docs"
CHECKS = own_checks()
COMMANDS = sorted(main.commands)
KERNELS = ("gelu", "gelu_tanh", "gelu_sigmoid", "silu")
API = {  # pages of the API, and what is on each
    "values": (
        "Correct values",
        "Correctly rounded values, exact digits, and errors in ULP.",
        [f"gelu_verify.{name}" for name in ("reference", "reference_bits", "exact", "ulp_error")],
    ),
    "kernels": (
        "Kernels",
        "GELUs to compute with: every result is the exact value, rounded once.",
        [f"gelu_verify.{name}" for name in (*KERNELS, *(f"{name}_grad" for name in KERNELS))],
    ),
    "verify": (
        "Verify an implementation",
        "How accurate an implementation is, and a test of it.",
        [
            "gelu_verify.verify",
            "gelu_verify.verification.Verification",
            "gelu_verify.testing.assert_gelu_accurate",
            "gelu_verify.testing.UnneededAllowance",
        ],
    ),
    "ufunc": (
        "NumPy ufuncs",
        ", ".join(f"`{name}`" for function in KERNELS for name in (function, f"{function}_grad")),
        ["gelu_verify.ufunc"],
    ),
    "torch": ("PyTorch operators", "", ["gelu_verify.torch"]),
}
SECTIONS: Mapping[str, list[dict[str, str]]] = {  # {title in the menu: path} of each page
    "Checks": [{name: f"checks/{name}.md"} for name in CHECKS],
    "Functions": [{name: f"functions/{name}.md"} for name in FUNCTIONS],
    "Python": [{title: f"api/{name}.md"} for name, (title, *_) in API.items()],
    "Help of the commands": [{name: f"help/{name}.md"} for name in COMMANDS],
}


def texts() -> dict[str, str]:
    """{path: text} of all of them."""
    found = {f"checks/{name}.md": check_page(check) for name, check in CHECKS.items()}
    for name, function in FUNCTIONS.items():
        found[f"functions/{name}.md"] = function_page(function)
        found[f"functions/{name}.svg"] = str(svg(picture(function), alone=True))
    found |= {f"api/{name}.md": api_page(*page) for name, page in API.items()}
    found |= {f"help/{name}.md": help_page(name) for name in COMMANDS}
    found["site.css"] = STYLE
    return found | {f"versions/{name}": text.decode() for name, text in versions_files(default_root())}


STYLE = """\
.md-typeset table:not([class]) { font-size: .7rem; }
.md-typeset table:not([class]) th { min-width: 3rem; }
.md-typeset img { display: block; margin: auto; }
.md-typeset td code { word-break: normal; overflow-wrap: normal; }
"""


# ---- a check -------------------------------------------------------------------------------------


def check_page(check: Check) -> str:
    """What it asks, why, how to mend what fails, and what a failure means."""
    first, _, more = (sys.modules[check.run.__module__].__doc__ or "").strip().partition("\n\n")
    severity = check.severity if isinstance(check.severity, str) else ""
    return "\n\n".join(
        part
        for part in (
            f"# Check `{check.name}`",
            f"## What it means\n\n{_plain(first)}",
            _plain(more),
            f"## Why it is checked\n\n{_plain(check.reason)}",
            "The threads in parentheses are issues of these projects." if "#" in check.reason else "",
            f"## How to fix it\n\n{check.remedy}" if check.remedy else "",
            f"## What a failure means\n\n{_SEVERITIES[severity]}",
            f'A failure that is accepted is named with its reason: `allow={{{check.name!r}: "..."}}` in '
            f'[a test](../testing.md), `{check.name} = "..."` under `accept` in [a gate](../gate.md).',
            "[All checks, and how they decide](../checks.md)",
        )
        if part
    )


_SEVERITIES = {
    "defect": "A defect: the grade is `broken`, however small the errors are ([grades](../grades.md)).",
    "loss": "A loss of accuracy: it is graded by its size ([grades](../grades.md)).",
    "convention": "A convention: it stands apart, and changes no grade ([grades](../grades.md)).",
    "": "That depends on what was returned: a defect, a loss of accuracy, or a convention ([grades](../grades.md)).",
}


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;") if "`" not in text else text.replace("|", "\\|")


# ---- a function ----------------------------------------------------------------------------------


def function_page(function: Function) -> str:
    """Formula, derivative, limits, a drawing, facts and hard cases."""
    name = function.name
    rows = (f"| {label} | {_cell(value)} |" for label, value in _rows(function))
    table = "\n".join(["| property | value |", "|---|---|", *rows])
    value = exact(name, -1.5, digits=20) if _is_defined(function, -1.5) else "NaN, outside of the domain"
    parts = [
        f"# `{name}`",
        f"    {name}(x) = {function.formula}",
        f"![{name} over x]({name}.svg)",
        table,
        f"    gelu-verify lookup {name} float32 -1.5",
        f"gives {value} to 20 digits beside the correctly rounded value ([look-up](../values.md)).",
        *_facts(function),
        *_hard_cases(function),
    ]
    return "\n\n".join(parts) + "\n"


def _is_defined(function: Function, x: float) -> bool:
    return float(function.domain[0]) <= x <= float(function.domain[1])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _rows(function: Function) -> Iterator[tuple[str, str]]:
    if derivative := FUNCTIONS.get(f"{function.name}_grad"):
        yield "derivative", f"[`{derivative.name}`]({derivative.name}.md): `{derivative.formula}`"
    if function.gradient_of:
        yield "derivative of", f"[`{function.gradient_of}`]({function.gradient_of}.md)"
    if function.approximates:
        yield "used in place of", f"[`{function.approximates}`]({function.approximates}.md)"
    if function.domain != ("-inf", "inf"):
        yield "defined for", f"{function.domain[0]} <= x <= {function.domain[1]}; NaN elsewhere"
    yield "at -inf", _limit(function.at_minus_infinity)
    yield "at -0 and +0", {"x": "-0 and +0", "-x": "+0 and -0"}.get(str(function.at_zero), _limit(function.at_zero))
    yield "at +inf", _limit(function.at_plus_infinity)
    if function.nan_at:
        yield "where the formula as written is NaN", ", ".join(function.nan_at)
    if function.slope_at_zero:
        yield "slope at 0", function.slope_at_zero
    if function.turning_points:
        yield "turning points", ", ".join(function.turning_points)
    if function.lower:
        yield "greatest lower bound", function.lower
    if function.upper:
        yield "least upper bound", function.upper
    for parameter in function.parameters:
        yield f"parameter `{parameter.name}`", f"{parameter.meaning}; default {parameter.default}"


def _limit(limit: object) -> str:
    return limit if isinstance(limit, str) else "an irrational number, which `lookup` prints"


def picture(function: Function) -> Chart:
    """The function between -5 and 5, where it is defined; its derivative, too, where we have one."""
    low, high = -5.0, 5.0
    x = np.linspace(low, high, 401)
    named = [function, *filter(None, [FUNCTIONS.get(f"{function.name}_grad")])]
    curves = []
    for colour, each in enumerate(named):
        inside = np.array([_is_defined(each, float(at)) for at in x])
        y = np.where(inside, np.asarray(reference(each.name, x)), np.nan)
        y[~np.isfinite(y) | (np.abs(y) > 6)] = np.nan
        curves.append(Curve(label=each.name, colour=colour, points=list(zip(x.tolist(), y.tolist(), strict=True))))
    found = [y for curve in curves for _, y in curve.points if y == y]
    bottom, top = min(found), max(found)
    room = (top - bottom or 1) * 0.05
    return Chart(
        title=f"{function.name}(x)",
        x=Axis((low, high), linear(low, high).ticks, "x"),
        y=linear(bottom - room, top + room, "y"),
        curves=curves,
        width=560,
        height=280,
    )


def _facts(function: Function) -> Iterator[str]:
    try:
        facts = list(selected(stored_facts(), (function.name,)))
    except UsageError:
        return
    if not facts:
        return
    yield "## What is proved"
    yield f"`gelu-verify facts {function.name}` prints it; the proofs are in [facts](../facts.md)."
    for fact in facts:
        verdict = f" ({fact.verdict})" if fact.verdict else ""
        yield f"**{fact.name}**{verdict}. {_cell(fact.statement)}".replace("*x", "\\*x")
        if fact.values:
            values = (f"| {_cell(label)} | {value} |" for label, value in fact.values.items())
            yield "\n".join(["| value | |", "|---|---|", *values])


_HARDEST = 5


def _hard_cases(function: Function) -> Iterator[str]:
    try:
        found = hardest(function.name, "float32")
    except MissingMeasurement:  # nobody has looked for them
        return
    order = sorted(range(len(found.x_bits)), key=lambda i: abs(found.offset[i]))[:_HARDEST]
    if not order:
        return
    fmt = get_format("float32")
    yield "## Inputs that are hardest to round"
    yield (
        f"In float32; the exact result lies so near to a number, or to the midpoint of two. `gelu-verify hardest "
        f"{function.name} float32` lists more ([hardest](../hardest.md))."
    )
    rows = [
        f"| `{fmt.bits_text(bits)}` | `{fmt.hex_float(bits)}` | {abs(found.offset[i]):.3e} ULP "
        f"{'above' if found.offset[i] > 0 else 'below'} a {'midpoint' if found.is_midpoint[i] else 'number'} |"
        for i in order
        for bits in [int(found.x_bits[i])]
    ]
    yield "\n".join(["| x | | exact result |", "|---|---|---|", *rows])


# ---- the API and the commands --------------------------------------------------------------------


def api_page(title: str, text: str, names: list[str]) -> str:
    """Docstrings, which mkdocstrings reads."""
    return "\n\n".join([f"# {title}", text, *(f"::: {name}" for name in names)]) + "\n"


HELP = main.context_settings["help_option_names"]  # which click keeps for a command from its first context on


def help_page(name: str) -> str:
    """What `--help` prints, of a command and of those below it."""
    command = main.commands[name]
    several = isinstance(command, click.Group)
    named = {name: command} | ({f"{name} {sub}": each for sub, each in command.commands.items()} if several else {})
    parts = [f"# `{name}`"]
    for path, each in named.items():
        shown = {"help_option_names": HELP, "terminal_width": 100, "max_content_width": 100}
        context = click.Context(each, info_name=f"gelu-verify {path}", **shown)
        parts += [f"## `gelu-verify {path}`"] * several + [f"```text\n{each.get_help(context)}\n```"]
    return "\n\n".join(parts) + "\n"
