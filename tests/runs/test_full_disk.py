"""A disk that is really full: one error that names the file, and the same command continues to the same bytes."""

import re
import subprocess
import sys

import pytest
from killing import stored
from marking import nightly
from requiring import program

SIZE = 8192  # KiB of the disk
REPORT = 4000  # KiB in which the run fits, but not its report
SCRIPT = """
set -u
mount -t tmpfs -o size={size}k none disk && cd disk
head -c $(({fill} * 1024)) /dev/zero > filler
"$@"; echo "exit code $?" >&2
rm filler
"$@"; echo "exit code $?" >&2
ls -A >&2
cp -rL {made} ../made
"""
RUN = ["run", "kernels.gelu_as7126", "kernels.gelu_tanh_tanh", "--dtype", "float16", "--dtype", "float32",
       "--no-throughput", "--no-own", "--workers", "2", "--budget", "0"]  # fmt: skip
SEARCH = ["search", "kernels.gelu_as7126", "--dtype", "float64", "--evaluations", "3000000", "--out", "made"]


def command(arguments):
    return [sys.executable, "-m", "gelu_verify", *arguments]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    for arguments, name in ((RUN, "run"), (SEARCH, "made")):
        out = [] if arguments is SEARCH else ["--out", name]
        subprocess.run(command([*arguments, *out]), cwd=folder, check=True, capture_output=True)
    return {"run": stored("run", folder / "run"), "search": stored("search", folder / "made")}


def on_a_small_disk(folder, left, made, *arguments):
    """Twice: with so many KiB left, and with all of them; the lines on stderr of both."""
    (folder / "disk").mkdir()
    script = SCRIPT.format(size=SIZE, fill=SIZE - left, made=made)
    words = [program("unshare"), "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", *command(arguments)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no disk can be mounted here: {done.stderr.splitlines()[0]}")
    first, _, second = done.stderr.partition("exit code ")
    return first.splitlines(), second.splitlines()


@pytest.mark.parametrize(
    ("left", "file"),
    nightly(
        (0, "/journal: "), (40, r"00[01].parquet: "), (1000, "002.parquet: "), (3500, "003.parquet: "),
        (REPORT, "results.parquet: "),
    ),
)  # fmt: skip
@pytest.mark.parametrize("named", [True, False])
def test_a_run_on_a_full_disk(undisturbed, tmp_path, left, file, named):
    """Full before, while it measures, when it is stored, and when its report is written."""
    arguments, made = ([*RUN, "--out", "made"], "made") if named else (RUN, "reports/latest")
    first, second = on_a_small_disk(tmp_path, left, made, *arguments)
    (error,) = (line for line in first if "error: " in line)
    assert re.search(f"{file}No space left on device{'; the same command continues' if left else ''}$", error)
    assert (second[0], "exit code 0" in second) == ("2", True)
    only_the_report_was_missing = named and left == REPORT
    continued = any("continues the interrupted run" in line for line in second)
    assert continued == (left > 0 and not only_the_report_was_missing)
    assert stored("run", tmp_path / "made") == undisturbed["run"]


@pytest.mark.parametrize(("left", "file"), nightly((0, "state"), (16, "search.json"), (40, "state")))
def test_a_search_on_a_full_disk(undisturbed, tmp_path, left, file):
    """Full before, so that nothing more is written, and for the state, which grows, but not for the result."""
    first, second = on_a_small_disk(tmp_path, left, "made", *SEARCH)
    (error,) = (line for line in first if "error: " in line)
    assert error.endswith(f"made/{file}: No space left on device")
    assert any("the search goes on" in line for line in first) == (left > 0)
    assert (second[0], "exit code 0" in second) == ("2", True)
    assert stored("search", tmp_path / "made") == undisturbed["search"]
