"""docs/speed.md and its plots are what tools/make_speed.py writes from the committed timings."""

from xml.etree import ElementTree

from repository import tool

speed = tool("make_speed")
import speed_peers  # noqa: E402 - make_speed finds it


def test_page_and_plots_are_written_from_the_committed_timings():
    written = speed.files()
    stale = [path.name for path, text in written.items() if path.read_text(encoding="utf-8") != text]
    assert not stale, f"{stale}: run python tools/make_speed.py"
    assert set(speed.RUNS.glob("*.svg")) == {path for path in written if path.suffix == ".svg"}


def test_a_ratio_has_its_place():
    row = {"function": "silu", "dtype": "float32", "n": 1024, "scale": 10, "rival": "torch", "ratio": 1.254}
    ours, theirs = {"elements_per_s": 2.5e9, "spread": 0.1}, {"spread": 0.1}
    run = {"results": [row | {"ours": ours, "theirs": theirs}, row | {"dtype": "float64"}]}
    assert speed.ratios(run, "float32") == ["| float32 | 10*randn, 2^10 |", "|---|---|", "| silu | 1.25 (2500) |"]
    theirs["spread"] = 0.3
    assert speed.ratios(run, "float32")[2] == "| silu | ~1.25 (2500) |"


def peers():
    """Timings of two rivals, of which one lacks bfloat16, and of a lower level."""
    results = []
    for level, rivals in (("avx512", ("torch", "onnxruntime", "copy")), ("avx2", ("copy",))):
        for dtype in speed_peers.DTYPES:
            for n in (1 << 10, 1 << 14, 1 << 18):
                for rival in rivals:
                    if (dtype, rival) == ("bfloat16", "onnxruntime"):
                        continue
                    ours, theirs = ({"elements_per_s": rate * 1e9, "spread": 0.0} for rate in (3.0, 2.0))
                    case = {"function": "gelu", "dtype": dtype, "n": n, "rival": rival, "level": level}
                    results.append(case | {"ours": ours, "theirs": theirs, "ratio": 1.5})
    machine, versions = {"cpu": "a processor"}, {"torch": "9.9", "numpy": "8.8"}
    return {"results": results, "level": "avx512", "machine": machine, "versions": versions, "missing": ["no bfloat16"]}


def test_rivals_of_a_table():
    lines = speed_peers.section(peers(), "2026-11-22", 0.2)
    assert "a processor; torch 9.9." in lines
    assert "Missing: no bfloat16." in lines
    assert "| bfloat16 | ours | PyTorch | ONNX Runtime | JAX | OpenVINO | copy |" in lines
    assert lines.count("| gelu, 2^14 | 3000 | 1.50 | 1.50 |  |  | 1.50 |") == 3
    assert lines.count("| gelu, 2^14 | 3000 | 1.50 |  |  |  | 1.50 |") == 1


def test_plots_have_a_line_for_each_rival_and_level():
    def labels(svg):
        return [each.text for each in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}title")]

    drawn = speed_peers.plots(peers())
    assert labels(drawn["float32"]) == ["ours", "PyTorch", "copy", "ONNX Runtime"]
    assert labels(drawn["bfloat16"]) == ["ours", "PyTorch", "copy"]
    assert labels(drawn["float64-levels"]) == ["AVX-512", "AVX2"]
