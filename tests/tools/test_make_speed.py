"""docs/speed.md is what tools/make_speed.py writes from the committed timings."""

import runpy

from repository import ROOT


def test_the_page_is_written_from_the_committed_timings():
    script = runpy.run_path(str(ROOT / "tools" / "make_speed.py"))
    assert script["page"]() == script["PAGE"].read_text(encoding="utf-8"), "run: python tools/make_speed.py"


def test_a_ratio_has_its_place():
    ratios = runpy.run_path(str(ROOT / "tools" / "make_speed.py"))["ratios"]
    row = {"function": "silu", "dtype": "float32", "n": 1024, "scale": 10, "rival": "torch", "ratio": 1.254}
    ours, theirs = {"elements_per_s": 2.5e9, "spread": 0.1}, {"spread": 0.1}
    run = {"results": [row | {"ours": ours, "theirs": theirs}, row | {"dtype": "float64"}]}
    assert ratios(run, "float32") == ["| float32 | 10*randn, 2^10 |", "|---|---|", "| silu | 1.25 (2500) |"]
    theirs["spread"] = 0.3
    assert ratios(run, "float32")[2] == "| silu | ~1.25 (2500) |"
