"""data/gallery: the file, its recorded run and its page belong together, and what they say is so.

The results are checked by calling the libraries alone, against mpmath: nothing of gelu-verify computes there. All of it
is measured by `tox -e gallery`; elsewhere what the system and the test environment have.
"""

import json
import math
import os
import re
import shlex
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest
import requiring
from called_alone import EXACT, called_alone, error_in_ulp, exact, smallest_normal
from marking import nightly
from packaging.utils import canonicalize_name
from repository import tool

from gelu_verify.cli import main
from gelu_verify.formats import get_format, numpy_dtype
from gelu_verify.targets import families

GALLERY = tool("make_gallery")
TARGETS, SOURCES = GALLERY.TARGETS, GALLERY.SOURCES
RECORD = json.loads((GALLERY.DATA / "measured.json").read_text(encoding="utf-8"))
RESULTS = RECORD["results"]
HERE = nightly("glibc-erff", "libmvec-expf")  # what takes no download
CHOSEN = TARGETS if "gallery" in requiring.REQUIRED else HERE
FEW = 1 / 8192  # inputs above 4 ULP in a range: docs/grades.md


def value(dtype, bits):
    fmt = get_format(dtype)
    return float(np.array([int(bits, 16)], fmt.uint).view(numpy_dtype(dtype))[0])


def second_of(row):
    """The second input with which it was worst; None of a function of x alone."""
    return row["second"]["value"] if "second" in row else None


# ---- the file ------------------------------------------------------------------------------------


def test_forty_targets_of_many_projects_of_which_most_need_no_line_and_the_others_one_or_two():
    lines = [GALLERY.adapter_lines(each) for each in TARGETS.values()]
    assert len(TARGETS) >= 40
    assert len({each["project"] for each in TARGETS.values()}) >= 25
    assert lines.count(0) >= 30
    assert set(lines) <= {0, 1, 2}


@pytest.mark.parametrize("name", TARGETS)
def test_what_is_measured_is_pinned_and_can_be_checked(name):
    target = TARGETS[name]
    assert {"from", "packages", "glibc", "system"} & set(target)
    assert set(target.get("packages", [])) <= set(GALLERY.PINNED)
    assert len({"python", "c", "c++", "cuda", "javascript", "r", "octave", "go", "rust"} & set(target)) == 1
    assert target["grade"] == RESULTS[name]["grade"]
    options = {option for parameter in main.commands["run"].params for option in parameter.opts}
    words = shlex.split(target["command"].partition("gelu-verify ")[2])
    assert {word for word in words if word.startswith("--")} <= options


def test_every_archive_has_a_hash_and_is_used():
    used = {source for target in TARGETS.values() for source in target.get("from", [])}
    assert used == set(SOURCES)
    for each in SOURCES.values():
        assert re.fullmatch(
            "[0-9a-f]{40}" if "git" in each else "[0-9a-f]{64}", each["version" if "git" in each else "sha256"]
        )
    pinned = (GALLERY.DATA / "requirements.txt").read_text(encoding="utf-8").splitlines()[1:]
    assert all(re.fullmatch(r"[\w.-]+==\S+ --hash=sha256:[0-9a-f]{64}", line) for line in pinned)
    named = (GALLERY.DATA / "requirements.in").read_text(encoding="utf-8")
    asked = re.findall(r"^([\w-]+)(?:\[\w+\])?==(\S+)", named, re.MULTILINE)
    assert len(asked) == named.count("==")
    assert set(asked) <= {(canonicalize_name(name), version) for name, version in GALLERY.PINNED.items()}


def test_the_page_is_written_from_the_file_and_the_recorded_run():
    assert GALLERY.PAGE.read_text(encoding="utf-8") == GALLERY.page(RECORD), "run: python tools/make_gallery.py"


def test_the_readme_names_what_is_found_without_configuration():
    text = (GALLERY.ROOT / "README.md").read_text(encoding="utf-8").lower().replace(" ", "")
    ours = {"kernels", "published", "cuda", "ptx"}
    named = {family.partition("_")[0] for family in families() if family not in ours}
    assert [family for family in sorted(named) if family not in text.partition("##fourcalls")[0]] == []


# ---- the recorded run ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", RESULTS)
def test_the_largest_error_is_what_mpmath_says_of_that_output(name):
    row = RESULTS[name]
    x, got = (value(row["dtype"], row["witness"][bits]) for bits in ("x_bits", "got_bits"))
    error = error_in_ulp(row["function"], row["dtype"], x, got, second_of(row))
    assert error == pytest.approx(row["max_ulp"], rel=1e-6)


def test_a_wrong_form_is_not_taken_for_the_right_one():
    """Of the check itself: gelu's formulas are told apart, and half an ULP is seen."""
    assert error_in_ulp("gelu", "float32", 1.0, float(EXACT["gelu_tanh"](1))) > 1000
    nearest = np.float32(float(EXACT["gelu"](1)))
    assert error_in_ulp("gelu", "float32", 1.0, nearest) <= 0.5
    assert 0.5 <= error_in_ulp("gelu", "float32", 1.0, np.nextafter(nearest, np.float32(2))) <= 1.5


# ---- measured now --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    kept = os.environ.get("GELU_VERIFY_GALLERY")
    place = Path(kept) if kept else tmp_path_factory.mktemp("gallery")
    place.mkdir(exist_ok=True, parents=True)
    return place.resolve()


@pytest.fixture(scope="module", params=CHOSEN)
def row(request, folder):
    """A target with its result of now."""
    target = TARGETS[request.param]
    try:
        return target, GALLERY.measured(target, folder), GALLERY.folder_of(target, folder)
    except GALLERY.NotMeasured as reason:
        pytest.skip(f"{request.param} is not measured: {reason}")


def test_grade_and_range_are_as_expected(row):
    target, result, _ = row
    assert result["grade"] == target["grade"], result["sentence"]
    assert GALLERY.ends(result["accurate_range"]) == pytest.approx(target["range"], rel=0.05)


@pytest.fixture
def alone(row, tmp_path):
    target, result, folder = row
    if "cuda" in target:
        pytest.skip("CUDA, which nothing runs alone without a GPU")
    kind, second = numpy_dtype(result["dtype"]), {"second": second_of(result)} if "second" in result else {}
    return lambda x: called_alone(target, result["dtype"], np.asarray(x, kind), folder, tmp_path, **second)


def test_called_alone_the_worst_input_gives_that_output(row, alone):
    """In a call of a thousand of it: vectors and what is left over may differ."""
    _, result, _ = row
    witness, dtype = result["witness"], result["dtype"]
    got = alone(np.full(1001, value(dtype, witness["x_bits"])))
    outputs = set(got.view(get_format(dtype).uint).tolist())
    assert int(witness["got_bits"], 16) in outputs


def test_called_alone_it_is_within_4_ulp_in_the_range_and_soon_not_beyond_it(row, alone):
    target, result, _ = row
    if max(map(abs, target["range"])) < 1e-30:
        pytest.skip("its range is that of subnormal numbers, which count for nothing")
    function, dtype, second = result["function"], result["dtype"], second_of(result)

    def is_normal(x, y):
        """Subnormal results count for nothing."""
        tiny = smallest_normal(dtype)
        return abs(y) >= tiny or not 0 < abs(exact(function, x, second)) < tiny

    draw, inside, beyond = np.random.default_rng(0), [], []
    for end in target["range"]:
        inside.append(math.copysign(min(abs(end), 64) * 0.97, end) * 2.0 ** draw.uniform(-23, 0, 2000))
        if abs(end) < 1e30:
            beyond.append(end * draw.uniform(1, 1.25, 20000))
    parts = [part.astype(numpy_dtype(dtype)) for part in (*inside, *beyond)]
    outputs = np.split(alone(np.concatenate(parts)), np.cumsum([part.size for part in parts])[:-1])
    errors = [
        np.array(
            [error_in_ulp(function, dtype, *point, second) for point in zip(x, y, strict=True) if is_normal(*point)]
        )
        for x, y in zip(parts, outputs, strict=True)
    ]
    if not any(map(len, errors[:2])):
        pytest.skip("every result in its range is 0 or subnormal, which counts for nothing")
    assert all(np.mean(~(each <= 4)) <= FEW for each in errors[:2])  # a NaN is above
    assert not any((each <= 4).all() for each in errors[2:])


def test_called_alone_it_shows_what_was_found(row, alone):
    target, *_ = row
    for x, y in target.get("shows", {}).items():
        got = alone(np.full(1001, float(x)))[:1000]
        assert np.isclose(got, float(y), rtol=1e-2, atol=0, equal_nan=True).any(), (x, y, got[:8])


# ---- fetching ------------------------------------------------------------------------------------


def test_an_archive_with_another_hash_is_refused(monkeypatch, tmp_path):
    def of_pypi(source, folder):
        (folder / "a.tar.gz").write_bytes(b"something else")
        return folder / "a.tar.gz"

    monkeypatch.setattr(GALLERY, "_of_pypi", of_pypi)
    with pytest.raises(GALLERY.NotMeasured, match=r"a\.tar\.gz has the hash [0-9a-f]{64}, not f4c3"):
        GALLERY.fetched("vllm", tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_is_missing_is_said(monkeypatch, tmp_path):
    with pytest.raises(GALLERY.NotMeasured, match=r"needs glibc 1\.0, here is "):
        GALLERY.folder_of({"glibc": "1.0"}, tmp_path)
    with pytest.raises(GALLERY.NotMeasured, match="needs a-compiler-that-is-not"):
        GALLERY.folder_of({"needs": ["a-compiler-that-is-not"]}, tmp_path)
    with pytest.raises(
        GALLERY.NotMeasured, match=r"needs Debian's no-such-package 1\.0, here is none|needs dpkg-query"
    ):
        GALLERY.folder_of({"system": {"no-such-package": "1.0"}}, tmp_path)
    monkeypatch.setitem(GALLERY.PINNED, "absent", "1.0")
    with pytest.raises(GALLERY.NotMeasured, match=r"needs absent 1\.0 \(pip install"):
        GALLERY.folder_of({"packages": ["absent"]}, tmp_path)


def test_of_a_repository_only_a_clone_at_the_commit_is_measured(monkeypatch, tmp_path):
    git = requiring.program("git")
    clone = tmp_path.resolve() / "there"
    subprocess.run([git, "init", "-q", clone], check=True)
    commit = [git, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "."]
    subprocess.run(commit, cwd=clone, check=True)
    head = subprocess.run(
        [git, "rev-parse", "HEAD"], cwd=clone, capture_output=True, text=True, check=True
    ).stdout.strip()
    for name, version in (("there", head[::-1]), ("elsewhere", head)):
        monkeypatch.setitem(SOURCES, name, {"git": "https://example.org/a", "version": version})
        with pytest.raises(
            GALLERY.NotMeasured, match=f"git clone https://example.org/a .*/{name} && .* checkout {version}"
        ):
            GALLERY.fetched(name, tmp_path.resolve())
    monkeypatch.setitem(SOURCES, "there", {"git": "https://example.org/a", "version": head})
    assert GALLERY.fetched("there", tmp_path.resolve()) == clone


def test_the_programs_of_a_wheel_can_be_run(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as file:
        for name, mode in (("program", 0o755), ("text", 0)):
            about = zipfile.ZipInfo(name)
            about.external_attr = mode << 16
            file.writestr(about, "")
    GALLERY._unpack(tmp_path / "a.whl", tmp_path / "a")
    assert [bool((tmp_path / "a" / name).stat().st_mode & 0o100) for name in ("program", "text")] == [True, False]
