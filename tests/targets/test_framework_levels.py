"""Switches of the libraries that are installed: each acts as it says, or is said not to."""

import pytest
import requiring
from commands import call
from marking import nightly

from gelu_verify import isa
from gelu_verify.isolation.hosts import Hosts, supported
from gelu_verify.targets import switches_of

HEAVY = ("torch", "openvino", "tensorflow")

pytestmark = pytest.mark.skipif(not supported() or "avx2" not in isa.runnable(), reason="needs AVX2, and Linux")


@pytest.fixture(scope="module")
def hosts():
    with Hosts() as hosts:
        yield hosts


def found(hosts, family, level=""):
    targets, absent = hosts.find([family], function="gelu_sigmoid", dtype="float32", level=level)
    if absent:
        assert not requiring.REQUIRED & {family, "frameworks"}, f"{family} is required: {absent[family]}"
        pytest.skip(absent[family])
    return targets[0]


@pytest.mark.parametrize(
    "family",
    ["jax", *nightly("numpy", "scipy"), *(pytest.param(each, marks=pytest.mark.frameworks) for each in HEAVY)],
)
def test_a_switch_acts_and_is_seen_to(hosts, family):
    """Limited to a level, a library chooses nothing above it; what it chooses itself is at least as high."""
    chosen = found(hosts, family)
    assert chosen.level == ""
    ranks = list(isa.LEVELS)
    for level in ("sse4_2", "avx2"):
        limited = found(hosts, family, level)
        assert limited.name == f"{chosen.name}@{level}"
        assert limited.switches.items() >= switches_of(family).levels[level].items()
        assert limited.seen.keys() == chosen.seen.keys()
        assert bool(limited.seen) == (family != "tensorflow")
        for component, words in limited.seen.items():
            ran, before = isa.level_of(words), isa.level_of(chosen.seen[component])
            assert ranks.index(ran) <= min(ranks.index(level), ranks.index(before)), (component, words)


@pytest.mark.nightly
@pytest.mark.frameworks
def test_what_inductor_compiled_for_a_processor_is_not_taken_at_a_lower_level(tmp_path, monkeypatch):
    """From its cache of graphs, which does not know levels: the second is in a process of its own."""
    pytest.importorskip("torch")
    if "avx512" not in isa.runnable():
        pytest.skip("one level here")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    names = ["torch_compiled.silu", "torch_compiled.silu@avx2"]
    options = ["--function", "silu", "--dtype", "float16", "--plan", "quick", "--no-own", "--no-throughput"]
    code, said = call("run", *names, *options, "--min-grade", "accurate")
    assert code == 0, said
