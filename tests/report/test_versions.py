"""The page, CSV, JSON and feed of the releases of a library, of releases that were never measured."""

import csv
import io
import json
import re
from datetime import datetime
from xml.etree import ElementTree

import pytest
from lxml import html
from repository import ROOT
from synthetic_history import ERF, NEW, OLD, write_history

from gelu_verify.report.versions_files import MOST_ENTRIES, feed, versions_files
from gelu_verify.versions.store import read_history
from gelu_verify.versions.timeline import timeline

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return write_history(tmp_path_factory.mktemp("versions"))


@pytest.fixture(scope="module")
def files(root):
    return dict(versions_files(root))


@pytest.fixture(scope="module")
def page(files):
    return html.fromstring(files["torch.html"].decode())


def with_class(node, name, inside=""):
    """Elements of a class, or those inside of them."""
    return node.xpath(f".//*[contains(concat(' ', @class, ' '), ' {name} ')]{inside}")


def row_of(page, dtype, levels):
    """The bars of a row: (columns, text)."""
    row, *_ = [
        each
        for each in with_class(page, "timeline", "//tr")
        if (head := each.xpath("th[@scope='row']")) and head[0].text_content().split() == [dtype, *levels]
    ]
    return [(int(each.get("colspan", 1)), " ".join(each.text_content().split())) for each in row.xpath("td")]


def test_every_file_is_there(files):
    of_each = {f"{library}.{kind}" for library in ("numpy", "torch") for kind in ("html", "json", "csv")}
    assert set(files) == of_each | {"libraries.html", "libraries.json", "changes.atom"}


def test_a_bar_is_as_long_as_its_releases_are_equal_and_has_grade_and_error(page):
    heads = [" ".join(each.text_content().split()) for each in with_class(page, "timeline", "//thead//*[@class='up']")]
    assert heads[:3] == ["1.9.0 2021-06-15", "2.0.0 2023-03-15", "3.0.0 2026-01-21"]  # 1.10.0 could not be measured
    assert row_of(page, "float32", ["avx512"])[1:] == [(1, "▲A○ 2.5"), (1, "≠A○ 2.5")]
    assert row_of(page, "float32", ["avx2"]) == [(1, "×● 1.6e7"), (2, "▲A○ 2.5")]  # noqa: RUF001
    half = row_of(page, "float16", ["avx2,", "avx512"])
    assert half[0][1].startswith("–absent: NotImplementedError")  # noqa: RUF001
    assert half[1] == (2, "F○ 0.75")


def test_every_bar_says_all_of_it_and_leads_to_a_place_of_the_page(page):
    ids = [each.get("id") for each in page.xpath("//*[@id]")]
    assert len(ids) == len(set(ids))
    for bar in with_class(page, "bar"):
        assert bar.get("href").removeprefix("#") in ids
        assert re.search(r"grade: . \w+", bar.get("title"))
        assert re.match(r"[\d.]+( to [\d.]+)?, ", bar.get("aria-label"))
    assert any("NaN at -inf" in bar.get("title") for bar in with_class(page, "bar"))


def test_a_change_has_both_sides_an_input_and_both_curves(page):
    panel = page.get_element_by_id("2.0.0_torch.gelu_gelu_float32")
    cells = [[" ".join(cell.itertext()) for cell in row] for row in panel.xpath(".//tbody/tr")]
    assert ["grade", "● broken", "○ accurate"] in cells
    worst = next(row for row in cells if row[0] == "worst input")
    assert all(f"{name} " in worst[1] for name in ("x", "got", "want"))
    drawn = [each.get("href") for each in panel.xpath(".//use")]
    assert drawn == ["#frame-float32", f"#k{OLD.digest}", f"#k{NEW.digest}"]
    defined = {each.get("id"): each for each in with_class(page, "drawings", "//path[@id]")}
    assert all(defined[name.removeprefix("#")].get("d").startswith("M") for name in drawn[1:])
    assert with_class(page, "drawings", "//*[@id='frame-float32']//text")
    assert "check tail_zero" in panel.text_content()


def test_a_curve_is_drawn_once_however_many_changes_show_it(page):
    names = [each.get("id") for each in with_class(page, "drawings", "//path[@id]")]
    assert len(names) == len(set(names)) == 3  # of what changed of the library's own calls


def test_nothing_comes_from_elsewhere_and_no_text_is_markup(root, files, tmp_path):
    for name, content in files.items():
        if name.endswith(".html"):
            assert not re.search(r'(src|href)="(https?:)?//', content.decode())
    hostile = "<script>alert(1)</script>"
    write_history(tmp_path)
    path = tmp_path / "torch" / "1.10.0.json"
    path.write_text(path.read_text().replace("no wheel for Linux", hostile))
    assert hostile.encode() not in dict(versions_files(tmp_path))["torch.html"]


def test_what_could_not_be_measured_is_named_with_its_reason(page):
    assert "1.10.0 (2021-10-21): no wheel for Linux" in page.text_content()


def test_csv_has_a_line_for_each_state(files):
    rows = [*csv.DictReader(io.StringIO(files["torch.csv"].decode()))]
    assert len(rows) == 1 + 2 + 3 + 2
    first = next(row for row in rows if row["target"] == "torch.gelu" and row["dtype"] == "float32")
    assert (first["first"], first["first_released"], first["levels"]) == ("1.9.0", "2021-06-15", "avx2")
    assert (first["grade"], float(first["max_ulp"]), first["failed_checks"]) == ("broken", 16774748.2, "tail_zero")


@pytest.mark.parametrize(("name", "schema"), [("torch", "versions"), ("numpy", "versions"), ("libraries", "libraries")])
def test_json_follows_its_schema(files, name, schema):
    jsonschema = pytest.importorskip("jsonschema")
    document = json.loads(files[f"{name}.json"])
    jsonschema.validate(document, json.loads((ROOT / "data" / "schema" / f"{schema}.json").read_text()))
    if name == "torch":
        assert {f"{each['target']}/{each['function']}/{each['dtype']}" for each in document["series"]} >= {ERF}


def test_the_feed_is_atom(files):
    """RFC 4287: what a feed and each entry must have, and dates that are those of the releases."""
    top = ElementTree.fromstring(files["changes.atom"])
    assert top.tag == f"{ATOM}feed"
    entries = top.findall(f"{ATOM}entry")
    for each in (top, *entries):
        for name in ("id", "title", "updated"):
            assert len(each.findall(ATOM + name)) == 1
            assert each.findtext(ATOM + name)
        datetime.strptime(each.findtext(f"{ATOM}updated"), "%Y-%m-%dT%H:%M:%SZ")
    assert top.findtext(f"{ATOM}author/{ATOM}name")
    ids = [each.findtext(f"{ATOM}id") for each in entries]
    assert ids == ["urn:gelu-verify:versions:torch:3.0.0", "urn:gelu-verify:versions:torch:2.0.0"]
    assert entries[0].findtext(f"{ATOM}updated") == top.findtext(f"{ATOM}updated") == "2026-01-21T00:00:00Z"
    assert entries[1].find(f"{ATOM}link").get("href") == "torch.html#2.0.0"
    content = html.fromstring(entries[1].findtext(f"{ATOM}content"))
    assert "got better: broken to accurate" in content.text_content()
    assert "sigmoid" not in content.text_content()  # a formula is not the library's


def test_an_entry_leads_to_its_release(files, page):
    top = ElementTree.fromstring(files["changes.atom"])
    for link in top.findall(f"{ATOM}entry/{ATOM}link"):
        assert page.get_element_by_id(link.get("href").partition("#")[2]) is not None


def test_the_page_of_all_libraries_leads_to_each_and_to_every_change(files, page):
    index = html.fromstring(files["libraries.html"].decode())
    links = [each.get("href") for each in index.xpath("//main//a")]
    assert {"torch.html", "numpy.html"} <= {*links}
    (change,) = [each for each in links if "#" in each]
    assert page.get_element_by_id(change.partition("#")[2]) is not None
    assert (
        "torch 2.0.0: torch.nn.functional.gelu(x) float32 got better" in with_class(index, "latest")[0].text_content()
    )


def test_nothing_was_measured_yet(tmp_path):
    files = dict(versions_files(tmp_path))
    assert set(files) == {"libraries.html", "libraries.json", "changes.atom"}
    assert "No release was measured" in files["libraries.html"].decode()
    assert json.loads(files["libraries.json"]) == {"libraries": [], "changes": []}
    assert ElementTree.fromstring(files["changes.atom"]).findtext(f"{ATOM}updated")


def test_a_feed_ends_somewhere(root):
    found = timeline(read_history(root, "torch"))
    top = ElementTree.fromstring(feed([found] * MOST_ENTRIES))
    assert len(top.findall(f"{ATOM}entry")) == MOST_ENTRIES
