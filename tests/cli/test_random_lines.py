"""Whatever is typed ends with a documented exit code and a line that says why, and leaves nothing half written."""

import json
import random
import shutil

import pytest
from click.testing import CliRunner
from commands import call, commands
from marking import nightly
from random_lines import line

from gelu_verify.atomic_files import PARTIAL, UNFINISHED
from gelu_verify.cli import main

COMMANDS = dict(commands(main))
KERNEL = "#include <math.h>\nfloat silu_f32(float x) { return x / (1 + expf(-x)); }\n"
OPS = """\
import numpy as np


def silu(x):
    return x / (1 + np.exp(-x))


def raises(x):
    raise ValueError("never")


def half(x):
    return x[: len(x) // 2]
"""
# installs releases, trains networks for minutes, writes a site, proves all facts
LEFT_OUT = ("versions", "upgrade", "study", "export site", "facts")
SLOW = ("attribute", "bench", "compare", "gate", "list", "run", "search", "stochastic")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With a kernel, a module, and runs, one of them torn."""
    place = tmp_path_factory.mktemp("lines")
    (place / "k.c").write_text(KERNEL)
    (place / "ops.py").write_text(OPS)
    (place / "empty").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        words = ("--dtype", "float16", "--plan", "landmarks", "--no-throughput", "--no-report")
        assert call("run", "ops:silu", "--function", "silu", *words, "--out", "runs/a")[0] == 0
    for copy in ("b", "torn"):
        shutil.copytree(place / "runs/a", place / f"runs/{copy}")
    (place / "runs/torn/manifest.json").write_text((place / "runs/a/manifest.json").read_text()[:500])
    return place


@pytest.mark.parametrize("seed", [1, *nightly(*range(2, 42))])
def test_any_line_ends_as_it_should(folder, tmp_path, monkeypatch, seed):
    names = [name for name in COMMANDS if name not in LEFT_OUT and (seed > 1 or name not in SLOW)]
    place, rng = tmp_path / "work", random.Random(seed)
    shutil.copytree(folder, place)
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(place)
    for _ in range(15 if seed == 1 else 50):
        name = rng.choice(names)
        words = line(rng, name, COMMANDS[name])
        done = CliRunner().invoke(main, words)
        assert done.exception is None or isinstance(done.exception, SystemExit), (words, done.exception)
        assert done.exit_code in (0, 1, 2, 3), (words, done.output)
        if done.exit_code > 1:
            assert "gelu-verify: " in done.stderr, (words, done.output)
        elif "--json" in words and done.stdout:
            json.loads(done.stdout)
        assert not [each for each in place.rglob("*") if each.name.startswith((UNFINISHED, PARTIAL))], words
