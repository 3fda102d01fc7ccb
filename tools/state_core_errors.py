"""Hold the core's double-double values against Arb and write the largest error found above its function in src/math/.

    python tools/state_core_errors.py            write what is found
    python tools/state_core_errors.py --check    exit with 1 if that would change a header

Needs python-flint. The bound itself is proved by `tox -e prove`; this shows how much of it is used, and where.
A new function needs an empty block to write to: `/* Error of NAME */`.
"""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path

import flint
import numpy as np
from flint import arb

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from arb import ARB  # noqa: E402 - the second witness of the tests

from gelu_verify.truth import _core  # noqa: E402

HEADERS = ROOT / "src" / "math"
BLOCK = re.compile(r"/\* Error of (\w+)\b.*?\*/", re.DOTALL)
SEED, COUNT, BITS = 0, 20_000, 2000  # erfc(x) beside 2 cancels a thousand bits


def inputs() -> list[float]:
    """Both signs: half by exponent from 2^-45 to 2^6, half uniform up to 40."""
    rng = np.random.default_rng(SEED)
    spread = rng.uniform(1, 2, COUNT // 2) * 2.0 ** rng.integers(-45, 6, COUNT // 2)
    x = np.concatenate([spread, rng.uniform(0, 40, COUNT // 2)])
    return (x * rng.choice([-1.0, 1.0], COUNT)).tolist()


def found(name: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Largest (share of err, x) and (relative error, x); not of exact values, nor of those beside a limit."""
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


def statement(name: str) -> str:
    """The comment above a function."""
    (share, at), (relative, there) = found(name)
    if not share:
        return f"/* Error of {name}: none, every value is exact */"
    return (
        f"/* Error of {name}: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in\n"
        f"   {COUNT:,} inputs by tools/state_core_errors.py: >= {share:.2g} err at {at.hex()},\n"
        f"   >= 2^{math.log2(relative):.1f} |f| at {there.hex()} */"
    )


def main(arguments: list[str]) -> int:
    flint.ctx.prec = BITS
    changed = False
    for header in sorted(HEADERS.glob("*.h")):
        old = header.read_text(encoding="utf-8")
        new = BLOCK.sub(lambda block: statement(block[1]), old)
        if new != old:
            changed = True
            print(f"{header.name} {'would change' if '--check' in arguments else 'written'}", file=sys.stderr)
            if "--check" not in arguments:
                header.write_text(new, encoding="utf-8")
    return int(changed and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
