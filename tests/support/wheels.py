"""Wheels of a small package, and environments with one of them that need no network."""

import sys
import sysconfig
import venv
import zipfile
from contextlib import contextmanager
from pathlib import Path

from gelu_verify.versions.environments import CannotBeInstalled, Installed

GELU = """import math
import numpy as np
erfc = np.vectorize(math.erfc, otypes=[np.float64])
def gelu(x):
    wide = x.astype(np.float64)
    return (0.5 * wide * erfc(-wide * {constant})).astype(x.dtype)
"""
RIGHT, WRONG = GELU.format(constant="0.5**0.5"), GELU.format(constant="0.70")
BROKEN = "raise ImportError('of another Python')\n"
CRASHES = "import os\ndef gelu(x):\n    os.abort()\n"


def wheel_of(folder, version, source, name="my_package"):
    """A wheel with one module."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", source)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


class Unpacking:
    """An installer that unpacks wheels beside the NumPy that is here."""

    def __init__(self, find_links):
        self.find_links, self.python_version, self.made = find_links, sys.version_info[:3], 0

    @contextmanager
    def environment(self, requirements, released="", alone=(), besides=()):
        self.made += 1
        (requirement,) = requirements
        name, _, version = requirement.partition("==")
        wheel = self.find_links / f"{name}-{version}-py3-none-any.whl"
        if not wheel.exists():
            raise CannotBeInstalled(f"no {requirement}")
        place = self.find_links / f"environment-{self.made}"
        venv.create(place, symlinks=True)
        packages = next(place.glob("lib/python*/site-packages"))
        (packages / "here.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
        zipfile.ZipFile(wheel).extractall(packages)
        yield Installed(Path(place / "bin" / "python"), "3.11", {"numpy": "2.4", "my_package": version})
