"""Measure which planted faults `gelu-verify stochastic` finds; write the table and examples of docs/stochastic.md.

    python tools/make_random_faults.py            the faults of tests/support/random_maps.py, with the sizes of --quick
    python tools/make_random_faults.py --examples the examples alone
    python tools/make_random_faults.py --more     and what --quick does not find, with the sizes of --bias 2e-4

A default run has four times as many samples as one with --bias 2e-4. Without --more, what an earlier run wrote stays.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from pathlib import Path

from click.testing import CliRunner

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/support")]

import random_maps  # noqa: E402

from gelu_verify.cli import main as cli  # noqa: E402
from gelu_verify.stochastic.request import MapRequest  # noqa: E402
from gelu_verify.stochastic.verify import verify  # noqa: E402

PAGE = ROOT / "docs" / "stochastic.md"
BEGIN, END = "<!-- faults: written by `python tools/make_random_faults.py` -->", "<!-- /faults -->"
QUICK, MORE = 1e-3, 2e-4
MISSED = "not found"


def faults() -> dict[str, str]:
    """Those whose docstring says what is wrong; what it says."""
    found = {}
    for name, each in vars(random_maps).items():
        if inspect.isfunction(each) and not name.startswith("_") and each.__doc__ and name not in ("float32_uniforms",):
            found[name] = " ".join(each.__doc__.split()).rstrip(".").replace("|", "\\|")
    return found


def phase(name: str, bias: float) -> str:
    """The phase that finds it."""
    rate = 0.2 if "rate" in name else 0.5
    verdict = verify(MapRequest(target=f"{random_maps.__file__}:{name}", bias=bias, isolate=False, rate=rate))
    print(f"{name}: {verdict.passed}", file=sys.stderr)
    return next((each.name for each in verdict.phases if not each.passed), MISSED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--more", action="store_true")
    parser.add_argument("--examples", action="store_true")
    options = parser.parse_args()
    if not options.examples:
        measured(options.more)
    examples()


def measured(more: bool) -> None:
    """The table."""
    page = PAGE.read_text(encoding="utf-8")
    before = dict(re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \|$", page.partition(BEGIN)[2].partition(END)[0], re.M))
    rows = []
    for name, what in faults().items():
        quick = phase(name, QUICK)
        second = quick
        if quick == MISSED:
            second = phase(name, MORE) if more else before.get(name, "not measured")
        rows.append(f"| `{name}` | {what} | {quick} | {second} |")
    table = "\n".join(["| fault | what it does | `--quick` | `--bias 2e-4` |", "|---|---|---|---|", *rows])
    text = PAGE.read_text(encoding="utf-8")
    text = text.partition(BEGIN)[0] + f"{BEGIN}\n{table}\n{END}" + text.partition(END)[2]
    PAGE.write_text(text, encoding="utf-8")


def examples() -> None:
    """What two commands print."""
    text = PAGE.read_text(encoding="utf-8")
    for option in ("--plan", "--quick"):
        shown = CliRunner().invoke(cli, ["stochastic", "gelu", option, "--in-process"]).stdout
        start, command, rest = text.partition(f"$ gelu-verify stochastic gelu {option}\n")
        text = start + command + shown + "```" + rest.partition("```")[2]
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
