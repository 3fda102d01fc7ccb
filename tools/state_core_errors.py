"""Write the largest errors found above the formulas: of the core in src/math/, held against Arb, and of the enclosures
in src/enclosure/, held against the core.

    python tools/state_core_errors.py            write what is found
    python tools/state_core_errors.py --check    exit with 1 if that would change a header

Needs python-flint and a C compiler. The bounds themselves are proved by `tox -e prove`; this shows how much of them is
used, and where. A new function needs an empty block to write to: `/* Error of NAME */`.
"""

from __future__ import annotations

import math
import re
import sys
import tempfile
from pathlib import Path

import flint
import numpy as np
from flint import arb

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from arb import ARB  # noqa: E402 - the second witness of the tests
from compiled_enclosures import NAMES, STAGES, compile_enclosures  # noqa: E402

from gelu_verify.formats import FORMATS  # noqa: E402
from gelu_verify.truth import _core  # noqa: E402

SOURCES = ROOT / "src"
BLOCK = re.compile(r"/\* Error of (\w+)\b.*?\*/", re.DOTALL)
SEED, COUNT, BITS = 0, 20_000, 2000  # erfc(x) beside 2 cancels a thousand bits
STRIDE = 4093  # of the float32 numbers: about 10^6 of each function
VALUE = np.dtype([("hi", "f8"), ("lo", "f8"), ("err", "f8"), ("k", "i4"), ("", "i4")])
Found = tuple[float, float]  # the error, and the input that has it


def inputs() -> list[float]:
    """Both signs: half by exponent from 2^-45 to 2^6, half uniform up to 40."""
    rng = np.random.default_rng(SEED)
    spread = rng.uniform(1, 2, COUNT // 2) * 2.0 ** rng.integers(-45, 6, COUNT // 2)
    x = np.concatenate([spread, rng.uniform(0, 40, COUNT // 2)])
    return (x * rng.choice([-1.0, 1.0], COUNT)).tolist()


def core_errors(name: str) -> tuple[Found, Found]:
    """Largest share of err and relative error; not of exact values, nor of those beside a limit."""
    share, relative = (0.0, math.nan), (0.0, math.nan)
    for x in inputs():
        hi, lo, err, k = _core.value(name, x)
        if not 2.0**-120 * abs(hi) < err < 2.0**-20 * abs(hi):
            continue
        exact = ARB[name](arb(x)) / arb(2) ** k
        off = abs(arb(hi) + lo - exact)
        share = max(share, (float((off / err).mid()), x))
        relative = max(relative, (float((off / abs(exact)).mid()), x))
    return share, relative


def core_statement(name: str) -> str:
    """The comment above a function of src/math."""
    (share, at), (relative, there) = core_errors(name)
    if not share:
        return f"/* Error of {name}: none, every value is exact */"
    return (
        f"/* Error of {name}: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in\n"
        f"   {COUNT:,} inputs by tools/state_core_errors.py: >= {share:.2g} err at {at.hex()},\n"
        f"   >= 2^{math.log2(relative):.1f} |f| at {there.hex()} */"
    )


def enclosure_statements() -> dict[str, str]:
    """The comments of src/enclosure, by the name of their block."""
    fmt, shares = FORMATS["float64"], {}
    bits = np.arange(0, 1 << 32, STRIDE, dtype=np.uint64).astype(np.uint32)
    bits = bits[(bits & 0x7FFFFFFF != 0) & (bits & 0x7FFFFFFF < 0x7F800000)]
    x = bits.view(np.float32).astype(np.float64)
    with tempfile.TemporaryDirectory() as folder:
        evaluate, limits = compile_enclosures(False, Path(folder))
        for name in NAMES:
            exact = np.zeros(x.size, VALUE)
            layout = (fmt.width, fmt.precision, fmt.emin, fmt.emax)
            _core.evaluate(name, layout, x.view(np.uint8), exact.view(np.uint8))
            for stage in STAGES:
                call = f"gv_{name}_{stage}"
                here = np.abs(x) <= limits[name] if stage == "near" else np.ones(x.size, bool)
                shares[call] = largest_share(x[here], exact[here], *evaluate(call, x[here]))
    gelu = {call: found for call, found in shares.items() if re.fullmatch(r"gv_gelu(_grad)?_(near|enclosure)", call)}
    blocks = {"gelu_enclosures": gelu, "logistic_enclosures": {c: f for c, f in shares.items() if c not in gelu}}
    return {block: enclosure_statement(block, found) for block, found in blocks.items()}


def largest_share(x: np.ndarray, exact: np.ndarray, a: np.ndarray, b: np.ndarray) -> Found:
    """|middle - f| in units of half the distance of the ends: of results that are not 0 in float32, and where that
    distance is not the rounding of a last sum alone."""
    hi, lo = (np.ldexp(exact[part], exact["k"]) for part in ("hi", "lo"))
    here = (np.abs(hi) > 2.0**-150) & (np.abs(b - a) > 2.0**-50 * np.abs(hi))
    low, high = ((end[here] - hi[here]) - lo[here] for end in (a, b))
    share = np.abs(low + high) / np.abs(high - low)
    at = int(np.argmax(share))
    return float(share[at]), float(x[here][at])


def enclosure_statement(block: str, shares: dict[str, Found]) -> str:
    rows = "".join(f"     {call:<33} >= {share:.2g} at {x.hex()}\n" for call, (share, x) in shares.items())
    return (
        f"/* Error of {block}: |middle - f| in halves of the distance of the two doubles, 1 or less, proved. Found\n"
        f"   in every {STRIDE}th float32 number, without fma, by tools/state_core_errors.py:\n{rows[:-1]} */"
    )


def main(arguments: list[str]) -> int:
    flint.ctx.prec = BITS
    statements = enclosure_statements()

    def statement(block: re.Match[str]) -> str:
        return statements.get(block[1]) or core_statement(block[1])

    changed = False
    for header in sorted(path for folder in ("math", "enclosure") for path in (SOURCES / folder).glob("*.h")):
        old = header.read_text(encoding="utf-8")
        new = BLOCK.sub(statement, old)
        if new != old:
            changed = True
            print(f"{header.name} {'would change' if '--check' in arguments else 'written'}", file=sys.stderr)
            if "--check" not in arguments:
                header.write_text(new, encoding="utf-8")
    return int(changed and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
