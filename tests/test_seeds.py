"""docs/seeds.md: each claim has a verdict, and each number is printed by the command that stands beside it."""

import inspect
import re
import shlex
from collections import Counter
from decimal import Decimal

import numpy as np
import pytest
from click.testing import CliRunner
from repository import ROOT
from scipy.optimize import least_squares, minimize_scalar
from scipy.special import erf, ndtr

from gelu_verify.cli import main

TEXT = (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")
VERDICTS = ("confirmed", "corrected", "definition", "not checked")
NUMBER = r"(?<![\w.^])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?!\w)"


def claims():
    """(section, cells by title of the column) of each row of a table with verdicts."""
    section, titles = "", []
    for line in TEXT.splitlines():
        if line.startswith("## "):
            section = line[3:]
        if not line.startswith("|"):
            titles = []
            continue
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if not titles:
            titles = cells
        elif "verdict" in titles and cells[0] != "---":
            assert len(cells) == len(titles), line
            yield section, dict(zip(titles, cells, strict=True))


CLAIMS = list(claims())


def kind(claim):
    (found,) = [word for word in VERDICTS if re.match(rf"{word}\b", claim["verdict"])]
    return found


def counts():
    """The table at the top of the page."""
    found = Counter((section, kind(claim)) for section, claim in CLAIMS)
    rows = [(section, [found[section, word] for word in VERDICTS]) for section in dict.fromkeys(s for s, _ in CLAIMS)]
    rows.append(("together", [sum(column) for column in zip(*(numbers for _, numbers in rows), strict=True)]))
    lines = [f"| | claims | {' | '.join(VERDICTS)} |", "|" + "---|" * 6]
    return "\n".join(lines + [f"| {name} | {sum(n)} | {' | '.join(map(str, n))} |" for name, n in rows])


def test_the_verdicts_are_counted_at_the_top():
    assert counts() in TEXT, f"write there:\n{counts()}"


# ---- numbers -------------------------------------------------------------------------------------


def printed(words):
    """The numbers that a command of ours prints."""
    done = CliRunner().invoke(main, shlex.split(words)[1:])
    assert done.exit_code == 0, done.output
    return {Decimal(text) for text in re.findall(NUMBER, done.output)}


def is_rounded(cited, found):
    """Whether one of the numbers is the cited one, up to half a unit of its last digit."""
    unit = Decimal(1).scaleb(Decimal(cited).as_tuple().exponent)
    return any(abs(Decimal(cited) - each) <= unit / 2 for each in found)


def told():
    """Claims with numbers, and commands that run here."""
    for section, claim in CLAIMS:
        commands = re.findall(r"`(gelu-verify (?:facts|lookup) [^`]+)`", claim["how to see it"])
        if commands and claim["number"]:
            yield pytest.param(claim, commands, id=f"{section}: {claim['statement'][:60]}")


@pytest.mark.parametrize(("claim", "commands"), list(told()))
def test_a_number_is_printed_by_the_command_beside_it(claim, commands):
    found = set().union(*map(printed, commands))
    for cited in re.findall(NUMBER, claim["number"]):
        assert "." not in cited or is_rounded(cited, found), f"{cited}: {claim}"


def test_each_fact_that_is_named_exists():
    for name in re.findall(r"gelu-verify facts ([^`]+)`", TEXT.replace("facts NAME", "")):
        assert CliRunner().invoke(main, ["facts", *name.split()]).exit_code == 0, name


@pytest.mark.parametrize("pair", [("1312", "371"), ("1898", "580")])
def test_rates_are_those_of_the_guide(pair):
    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    for rate, function in zip(pair, ("gelu", "gelu_tanh"), strict=True):
        assert re.search(rf"^\| avx\w+ \| `{function}` \|.*\({rate}\) \| \d+ \(\d+\) \|$", guide, re.MULTILINE)
        assert rate in TEXT


def test_what_fits_of_the_cubic_coefficient_give():
    """Least squares end at 0.044846, and 0.044715 is the coefficient whose largest error is smallest."""
    a = np.sqrt(2 / np.pi)

    def error(b, x):
        return np.tanh(a * (x + b * x**3)) - erf(x / np.sqrt(2))

    def fitted(x):
        return least_squares(error, [0.04], args=(x,), xtol=1e-14, ftol=1e-14, gtol=1e-14).x[0]

    assert round(fitted(np.linspace(-1.5, 1.5, 20)), 4) == 0.0453
    assert round(fitted(np.linspace(-10, 10, 100_000)), 6) == 0.044846
    x = np.linspace(0, 5, 100_001)
    best = minimize_scalar(
        lambda b: np.abs(error(b, x)).max(), bounds=(0.044, 0.0455), method="bounded", options={"xatol": 1e-12}
    ).x
    assert (round(best, 7), round(best, 6), round(a * best, 8)) == (0.0447149, 0.044715, 0.03567734)


def test_the_formulas_of_the_rendering_do_not_give_what_its_program_prints():
    x, shown = np.array([-1.2732, -0.4936, -0.8219, 0.1772]), np.array([-0.1292, -0.1534, -0.1690, 0.1010])
    half = 0.5e-4  # of the last digit that is printed; x is rounded likewise, and slopes are below 1.13
    assert (np.abs(x * ndtr(x) - shown) < 2.2 * half).all()
    assert (np.abs(x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi) - shown) > 1e-3).all()
    assert (np.abs(x / 2 * (1 + np.tanh(2 / np.pi * (x + 0.044715 * x**3))) - shown) > 1e-3).all()


@pytest.mark.frameworks
def test_what_is_said_of_torch():
    torch = pytest.importorskip("torch")
    assert inspect.signature(torch.nn.GELU).parameters["approximate"].default == "none"
    for form in ("none", "tanh"):
        torch.nn.GELU(form)(torch.zeros(1))
    with pytest.raises(RuntimeError):
        torch.nn.GELU("other")(torch.zeros(1))
    with pytest.raises(TypeError):
        format(torch.zeros(3), "6.2f")
