"""Build the source distribution and, from it, a wheel; check both; install the wheel in a clean environment and try it.

    python tools/check_dist.py DIR

writes them to DIR, which is made anew. `tox -e dist` installs what this needs.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main(dist: Path) -> None:
    shutil.rmtree(dist, ignore_errors=True)
    run("build", "--outdir", str(dist), str(ROOT))  # the wheel from what the source distribution has
    (sdist,), (wheel,) = dist.glob("*.tar.gz"), dist.glob("*.whl")
    run("twine", "check", "--strict", str(sdist), str(wheel))
    if "-abi3-" in wheel.name:
        run("abi3audit", "--strict", str(wheel))
    if sys.platform == "linux":
        run("auditwheel", "show", str(wheel))
    with tempfile.TemporaryDirectory() as name:
        venv.create(name, with_pip=True)
        python = str(Path(name, "bin", "python"))
        subprocess.run([python, "-m", "pip", "install", "--quiet", str(wheel)], check=True)
        subprocess.run([python, str(ROOT / "tools" / "try_installed.py")], check=True)
    print(f"built and tried: {sdist}, {wheel}")


def run(module: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", module, *arguments], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
