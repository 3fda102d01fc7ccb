"""docs/versions.md is what tools/make_versions.py writes from the committed releases."""

import pytest
from repository import tool
from synthetic_history import write_history

from gelu_verify.report.versions_files import versions_files

versions = tool("make_versions")


def test_the_page_is_written_from_the_committed_releases():
    assert versions.PAGE.read_text(encoding="utf-8") == versions.page(), "run python tools/make_versions.py"


def test_it_says_what_holds_since_when_and_what_changed(tmp_path):
    text = versions.page(write_history(tmp_path))
    for line in (
        "| torch | 3 | 1.9.0 to 3.0.0 | 3 | 1 | 0 | 3.0.0 |",
        "3 releases, 1.9.0 (2021-06-15) to 3.0.0 (2026-01-21). 1 of 2 results of its own calls changed, the last in "
        "3.0.0.",
        "| `torch.nn.functional.gelu(x)` | ○ faithful, 2.0.0 | avx2: ○ accurate, 2.0.0<br>avx512: ○ accurate, 3.0.0 |",
        "**2.0.0 (2023-03-15)**: 1 better, 1 appeared.",
        "- torch.nn.functional.gelu(x) float32 got better: broken to accurate, from >=1.67e7 to >=2.50 ULP",
        "- 1.10.0 (2021-10-21): no wheel for Linux",
    ):
        assert f"{line}\n" in text
    assert "sigmoid" not in text  # a formula is on the page of the library


@pytest.mark.nightly
def test_no_page_of_the_committed_releases_is_too_large():
    pages = {name: len(text) for name, text in versions_files(versions.STORED) if name.endswith(".html")}
    assert "libraries.html" in pages
    assert max(pages.values()) < 3_000_000, pages
