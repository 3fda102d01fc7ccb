"""The HTML page: whole without JavaScript, small, and made of nothing but itself; what its scripts read."""

import base64
import json
import math
import re
import zlib
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from graded_runs import graded, graded_run
from hypothesis import given
from hypothesis import strategies as st
from marking import nightly
from synthetic_runs import ALL, SyntheticRun, bucket_table, failed, large_run, manifest, result

from gelu_verify.buckets.bins import FLOOR, layout
from gelu_verify.checks import CHECKS
from gelu_verify.formats import buckets, get_format, to_float64
from gelu_verify.functions import FUNCTIONS
from gelu_verify.records.asking import ask_command
from gelu_verify.records.claims import range_text
from gelu_verify.records.grades import GRADES
from gelu_verify.records.parts import AccurateRange
from gelu_verify.report import write_report
from gelu_verify.report.answer import answers, overview
from gelu_verify.report.charts import HEIGHT, strip
from gelu_verify.report.details import DETAILS
from gelu_verify.report.folds import COLUMNS, LEVELS, Fold, position, signed_histogram, strip_layout
from gelu_verify.report.gallery import PICTURES, gallery
from gelu_verify.report.landmarks import FUNCTIONS as FUNCTIONS_WITH_FACTS
from gelu_verify.report.landmarks import fact_rows
from gelu_verify.report.pareto import pareto_chart
from gelu_verify.report.ranking import items_of, places, ranked, up_text
from gelu_verify.report.text import MINUS
from gelu_verify.show.drawing import svg
from gelu_verify.show.labels import overlap

VOID = {"meta", "br", "hr", "input", "link", "img", "wbr"}


# ---- folds -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", *nightly(*(dtype for dtype in ALL if dtype != "float16"))])
@given(data=st.data())
def test_a_fold_keeps_every_peak_with_its_input(dtype, data):
    table = bucket_table(dtype, 1.2, True, -math.inf).copy()
    place = data.draw(st.integers(0, len(table) - 1))
    table.loc[place, "max_error"] = 2.0**60
    table.loc[place, "nonfinite"] = 1
    fine = Fold.of(table, layout(dtype, 32))
    for shape in (fine, fine.into(layout(dtype, 8)), fine.into(layout(dtype, 2)), Fold.of(table, strip_layout(dtype))):
        here = int(np.nanargmax(shape.max_error))
        assert shape.max_error[here] == 2.0**60
        assert shape.x[here] == table["max_error_x"][place]
        assert shape.nonfinite_ranges() == [(here, here)]
        assert shape.n.sum() == len(table)
        assert shape.layout.edges[here] <= table["bucket"][place] < shape.layout.edges[here + 1]


@pytest.mark.parametrize("dtype", ALL)
def test_a_block_holds_levels_means_and_worst_inputs(dtype):
    fmt, bins, coarse = get_format(dtype), layout(dtype, 16), layout(dtype, 8)
    fold = Fold.of(bucket_table(dtype, 8.7, True, -math.inf), bins)
    raw = np.frombuffer(fold.encoded(coarse), np.uint8)
    n, m, size = bins.size, coarse.size, fmt.width // 8
    assert len(raw) == 4 * n + 3 * m * size
    words = raw[: 2 * n].reshape(2, n).astype(np.uint16)
    level = words[0] | words[1] << 8
    found = (level & 0x3FFF) / LEVELS + FLOOR
    assert (2.0**found >= fold.max_error).all()
    assert (2.0**found <= fold.max_error * 2.0 ** (1.01 / LEVELS)).all()
    got, want = (to_float64(fmt, part.astype(fmt.uint)) for part in (fold.got, fold.want))
    assert ((level >> 14 == 3) == (got < want)).all()
    parts = raw[4 * n :].reshape(3, size, m).astype(np.uint64)
    x, want, difference = (sum(part[k] << np.uint64(8 * k) for k in range(size)) for part in parts)
    worst = fold.into(coarse)
    wrong = worst.max_error > 0.51
    assert np.array_equal(x[wrong], worst.x[wrong])
    assert np.array_equal((want ^ difference)[wrong], worst.got[wrong])


def test_buckets_without_inputs_are_gaps_and_exact_results_are_not():
    table = bucket_table("float32", 1.2, False, -math.inf).iloc[:0].copy()
    table.loc[0] = dict.fromkeys(COLUMNS, 0) | {"bucket": 0x8000, "n": 1}
    fold = Fold.of(table, strip_layout("float32"))
    assert np.count_nonzero(fold.levels) == 1
    assert fold.levels.max() == 1
    assert strip(fold)["errors"].count("M") == 1


def test_a_strip_stays_inside_its_box():
    fold = Fold.of(bucket_table("float16", 8.7, True, -math.inf), strip_layout("float16"))
    moves = re.findall(r"([MHV])([\d.]+)(?: ([\d.]+))?", strip(fold)["errors"])
    assert len(moves) > 9
    assert all(0 <= float(y or first) <= HEIGHT for command, first, y in moves if command != "H")
    assert all(0 <= float(first) <= fold.layout.size for command, first, _ in moves if command != "V")


def test_a_mark_where_an_output_is_not_finite_is_wide_enough_to_be_seen():
    table = bucket_table("float32", 1.2, False, -math.inf).iloc[:0].copy()
    table.loc[0] = dict.fromkeys(COLUMNS, 0) | {"bucket": 0x8000, "n": 1, "nonfinite": 1}
    fold = Fold.of(table, strip_layout("float32"))
    place = int(fold.nonfinite.argmax())
    assert strip(fold)["nonfinite"] == f"M{place - 1} 4V0H{place + 2}V4z"


def test_all_strips_share_an_axis():
    sizes = {strip_layout(dtype).size for dtype in ALL}
    assert len(sizes) == 1
    for dtype in ALL:
        fmt, bins = get_format(dtype), strip_layout(dtype)
        assert np.array_equal(bins.edges, 0x10000 - bins.edges[::-1])
        for x, place in ((0.0, 0.5), (1.0, position(strip_layout("float32"), 0x3F800000, get_format("float32")))):
            assert position(bins, fmt.parse(repr(x)), fmt) == pytest.approx(place, abs=1e-3)
        ends = np.array([fmt.max_finite, fmt.max_finite | fmt.sign_mask], fmt.uint)
        assert np.all((buckets(fmt, ends) >= bins.edges[0]) & (buckets(fmt, ends) < bins.edges[-1]))


def test_a_signed_histogram_counts_every_input_once():
    table = bucket_table("float16", 8.7, True, -math.inf)
    low, high = signed_histogram(table)
    assert low.sum() == np.count_nonzero(table["error_sum"] < 0)
    assert low.sum() + high.sum() == len(table)


# ---- the ranked table --------------------------------------------------------------------------


def test_ours_and_textbook_formulas_stand_apart():
    names = {"torch.gelu": "library", "mine.py:gelu": "library", "kernels.gelu_as7126": "specimen"}
    names |= {"published.cephes": "specimen", "kernels.gelu_cr": "ours"}
    run = SyntheticRun(manifest(), [result(name, "gelu", "float32") for name in names])
    assert {r["target"]: group for group, rows in ranked(items_of([run]), {}, False) for r in rows} == names


def test_rows_are_ranked_by_grade_then_function_then_dtype():
    run = SyntheticRun(manifest(), [graded(r) for r in large_run().results[:90]])
    rows = [row for _, members in ranked(items_of([run]), {}, False) for row in members if row["group"] == "library"]
    assert [row["order"] for row in rows] == sorted((row["order"] for row in rows), reverse=True)
    first = [row for row in rows if row["order"] == rows[0]["order"]]
    functions = [list(FUNCTIONS).index(row["function"]) for row in first]
    assert functions == sorted(functions)


def test_one_colour_per_target_and_two_of_one_function_differ():
    items = items_of([large_run()])
    found = places(items)
    for function in {item.record.function for item in items}:
        targets = {item.record.target for item in items if item.record.function == function}
        assert len({found[target] for target in targets}) == len(targets)
    assert found["torch.gelu"] < found["kernels.gelu_erf"]


@pytest.mark.parametrize(
    ("ends", "exceptions", "text"),
    [
        (("-1.3203125", "3.4028235e38"), 0, "● x >= -1.32"),
        (("-3.4028235e38", "9.1875"), 1, "● x <= 9.1875 but for 1 input"),
        (("-3.4028235e38", "3.4028235e38"), 2, "● every finite x but for 2 inputs"),
        (("-2.749e-8", "4.999"), 0, "● -2.74e-08 <= x <= 4.99"),
    ],
)
def test_a_range_is_rounded_inward_or_exact_where_it_tells_its_exceptions(ends, exceptions, text):
    fmt = get_format("float32")
    bits = [fmt.parse(end) for end in ends]
    low, high = ((fmt.bits_text(end), float(fmt.fraction(end))) for end in bits)
    assert range_text("float32", AccurateRange(*low, *high, "=", exceptions), ">=") == text
    assert range_text("float32", AccurateRange(*low, *high, None, exceptions), ">=").startswith("○ ")


@given(st.floats(1e-300, 1e300))
def test_sizes_are_rounded_up(value):
    assert float(up_text(value).replace(MINUS, "-")) >= value


# ---- answers -----------------------------------------------------------------------------------


def test_the_answer_names_what_is_broken_and_what_is_best():
    good = graded(result("scipy.gelu", "gelu", "float32", noise=0.9))
    broken = graded(
        result("torch.gelu", "gelu", "float32"), grade="broken", sentence="infinite for x >= 1.7e+38; more."
    )
    text = " ".join(answers(items_of([SyntheticRun(manifest(), [broken, good])])))
    assert "1 of 2 results is broken: torch.gelu float32 (infinite for x >= 1.7e+38)." in text
    assert "Most accurate gelu: scipy.gelu in float32 (○ faithful)." in text
    assert answers([]) == ["Nothing was measured."]


def test_a_cell_of_the_matrix_has_the_best_and_the_worst_path():
    results = [
        graded(result(f"torch.gelu{k}", "gelu", "float32"), grade=g) for k, g in enumerate(("coarse", "faithful"))
    ]
    [matrix] = overview(items_of([SyntheticRun(manifest(), results)]))
    [(family, [cell])] = matrix["rows"]
    assert (family, cell["best"], cell["worst"]) == ("torch", "faithful", "coarse")


# ---- charts ------------------------------------------------------------------------------------


def points(n, seed=0):
    random = np.random.default_rng(seed)
    grades = list(GRADES)
    return [
        {"target": f"torch.gelu-{k}", "id": f"A-{k}", "rate": float(10 ** random.uniform(7, 9.5)), "spread": 0.02,
         "units": float(2 ** random.uniform(-1, 4)), "grade": grades[k % len(grades)], "order": k % len(grades),
         "title": "", "max_ulp": 1.0, "bound": "=", "place": k}
        for k in range(n)
    ]  # fmt: skip


@pytest.mark.parametrize("n", [1, 5, 40])
def test_labels_of_a_chart_do_not_collide_and_its_line_is_beaten_by_none(n):
    rows = points(n)
    chart = pareto_chart("gelu, float32", rows, [5e9])
    boxes = [(label.x, label.y - 9, label.x + 5.6 * len(label.text), label.y + 2) for label in chart.labels]
    assert not any(overlap(a, b) for k, a in enumerate(boxes) for b in boxes[:k])
    assert len({label.text for label in chart.labels}) == len(boxes) >= min(n, 5)
    assert all(mark.reach[0] <= mark.x <= mark.reach[1] for mark in chart.marks)
    sound = [(row["rate"], math.log2(row["units"])) for row in rows if row["grade"] != "broken"]
    corners = [(x, y) for x, y in sound if not any(a >= x and b <= y and (a, b) != (x, y) for a, b in sound)]
    [line] = chart.curves
    assert line.points == sorted(corners, reverse=True)


def test_points_of_a_chart_open_their_results():
    text = svg(pareto_chart("gelu, float32", points(7), []))
    assert re.findall(r'<a href="#r=(A-\d)" class="pt" data-r="(A-\d)" data-c="(\d)">', text) == [
        (f"A-{k}", f"A-{k}", str(k)) for k in range(7)
    ]
    assert [len(re.findall(f"mark {shape}", text)) for shape in ("dot", "ring", "cross")] == [3, 2, 2]


def test_a_result_without_an_error_lies_on_the_upper_edge():
    rows = [{**points(1)[0], "units": units} for units in (None, math.inf, 2.0**40, 0.0)]
    chart = pareto_chart("gelu, float32", rows, [])
    assert [chart.y_of(mark.y) for mark in chart.marks] == [chart.top] * 3 + [chart.height - chart.bottom]


def test_the_gallery_has_exact_values():
    drawn = gallery()
    assert len(drawn) == len(PICTURES) >= 5
    assert all(svg(chart).count('class="curve line') >= len(chart.curves) for chart in drawn)


def test_the_gallery_marks_what_is_proved():
    drawn = {chart.title: chart for chart in gallery()}
    marks = {
        curve.label: [mark.text.removeprefix(f"{curve.label}, ") for mark in drawn["Functions"].marks
                      if mark.colour == curve.colour]
        for curve in drawn["Functions"].curves
    }  # fmt: skip
    assert marks["gelu"] == [
        "minimum: x = \N{MINUS SIGN}0.751791524694", "inflection: x = 1.41421356237",
        "inflection: x = \N{MINUS SIGN}1.41421356237",
    ]  # fmt: skip
    assert not marks["relu"]
    for chart in drawn.values():
        for curve in chart.curves:
            x, y = np.array(curve.points).T
            for mark in chart.marks:
                if mark.colour == curve.colour:  # on the curve, to a pixel
                    assert abs(chart.y_of(float(np.interp(mark.x, x, y))) - chart.y_of(mark.y)) < 1


def test_the_gallery_lists_what_is_proved():
    rows = list(fact_rows())
    shown = {label: dict(zip(FUNCTIONS_WITH_FACTS, values, strict=True)) for label, values in rows}
    assert shown["zero in float32 below"]["gelu_tanh"][1] == "-10.7708682537461456836755290206477460"
    assert shown["equal to gelu: x"]["gelu"] == ("", "")
    for _, values in rows:
        assert any(digits for _, digits in values)
        for text, digits in values:
            value = text.lstrip("\N{PLUS-MINUS SIGN}").replace(MINUS, "-")
            assert text == "" or abs(float(value) - float(digits)) <= 1e-11 * abs(float(digits))


# ---- files -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run():
    return graded_run()


@pytest.fixture(scope="module")
def page(run, tmp_path_factory):
    return written(tmp_path_factory.mktemp("report"), run)


def written(folder, *runs):
    write_report(runs, folder)
    return (folder / "index.html").read_text(encoding="utf-8")


class Page(HTMLParser):
    """Ids, links and visible text of a page; asserts that elements nest, a cell ended by the next or by its row."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.attributes, self.words = [], [], [], set(), []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag in ("td", "th") and self.open[-1] == "td":
            self.open.pop()
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids.append(value)
            if name == "href":
                self.links.append(value)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag == "tr" and self.open[-1] == "td":
            self.open.pop()
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.words.append(data)

    @property
    def text(self):
        return " ".join("".join(self.words).split())


def plot_data(page):
    data = json.loads(re.search(r'id="plot-data">(.*?)</script>', page, re.DOTALL)[1])
    results = json.loads(zlib.decompress(base64.b64decode(data["results"])))
    return data, results


@pytest.mark.nightly
def test_the_page_of_800_results_stays_under_3_mb(run, tmp_path):
    many = SyntheticRun(run.manifest, (run.results * 4)[:800])
    assert len(many.results) == 800
    assert len(written(tmp_path, many).encode()) < 3_000_000


def test_the_page_stands_alone(page):
    parsed = Page(page)
    assert not {"src", "srcset", "action", "onclick", "onload"} & parsed.attributes
    assert all(link.startswith("#") for link in parsed.links)
    assert "default-src 'none'" in page
    for pattern in (r"url\(", r"@import", r"\bfetch\(", r"XMLHttpRequest", r"\bimport\("):
        assert not re.search(pattern, page), pattern


def test_every_link_leads_somewhere(page):
    parsed = Page(page)
    assert len(parsed.ids) == len(set(parsed.ids))
    sections = {link[1:] for link in parsed.links if "=" not in link}
    assert sections <= set(parsed.ids)
    assert {f"r-{link[3:]}" for link in parsed.links if link.startswith("#r=")} <= set(parsed.ids)


def test_without_javascript_everything_can_be_read(run, page):
    text = Page(page).text
    for r in run.results:
        assert r.target in text
        assert (ask_command(r, r.witness.x_bits) if r.witness else r.repeat) in text
        if r.witness:
            assert r.witness.x_bits in text
    assert f"within 4 ULP for x ≥ {MINUS}1.31" in text
    for line in ("No module named 'tensorflow'", "Could not find an implementation for QuickGelu(1) <node> & co"):
        assert line in text
    assert page.count('class="env"') == sum(r.buckets is not None for r in run.results)


def test_the_legend_has_every_check_and_every_grade(page):
    text = Page(page).text
    assert all(f'id="c-{name}"' in page and name in text for name in CHECKS)
    assert all(definition.title in text for definition in GRADES.values())


def test_the_scripts_get_every_result_and_every_curve(run, page):
    data, results = plot_data(page)
    assert len(results) == len(run.results)
    first = results["A-0"]
    assert first["target"] == run.results[0].target
    assert first["witness"]["x_bits"] == run.results[0].witness.x_bits
    assert sum(len(block["ids"]) for block in data["blocks"].values()) == sum(
        r.buckets is not None for r in run.results
    )
    assert len(DETAILS) > 1
    for key, block in data["blocks"].items():
        shape = data["layouts"][key.split("/")[1]]
        length = 4 * (len(shape["edges"]) - 1) + 3 * len(shape["witness"]) * shape["width"] // 8
        assert len(zlib.decompress(base64.b64decode(block["data"]))) == length * len(block["ids"])


def test_nothing_can_break_out_of_its_place(tmp_path):
    nasty = "evil.py:</script><xx-target>&|`*_"
    results = [
        result(nasty, "gelu", "float32", form="<xx-form>", note="<xx-note>", repeat="run '<xx-repeat>'"),
        failed(nasty, "gelu", "float16", "raised </td><xx-failure> | & `a`\nsecond line"),
    ]
    results[0] = graded(results[0], sentence="</td><xx-sentence> `<xx-code>`", conventions=("<xx-tag>",))
    page = written(tmp_path, SyntheticRun(manifest(command="<xx-command>", absent={"<xx-family>": "</xx>"}), results))
    assert "<xx" not in page
    assert "</xx" not in page
    assert page.count("</script>") == 2
    assert nasty in Page(page).text


def test_a_run_without_grades_has_a_page(tmp_path):
    page = written(tmp_path, SyntheticRun(manifest(), [graded(result("torch.gelu", "gelu", "float32"), grade=None)]))
    assert "not graded" in Page(page).text


def unscored(largest):
    return result("a.b", "gelu", "float32", max_ulp=largest, throughput=None)


def foreign():
    return result("a.b" + 40 * "_long_name", "from_another_version", "float64", zero_from=None)


@pytest.mark.parametrize(
    "runs",
    [
        [],
        [SyntheticRun(manifest(git=None, absent={}, copy_bytes_per_s=None))],
        [SyntheticRun(manifest(), [failed("torch.gelu", "gelu", "float32", "torch.gelu raised ValueError: no")])],
        [SyntheticRun(manifest(), [unscored(m) for m in (None, math.inf)])],
        [SyntheticRun(manifest(), [foreign()])],
    ],
    ids=["no run", "empty", "only failures", "no finite error", "long name, unknown function"],
)  # fmt: skip
def test_sparse_runs_make_whole_pages(runs, tmp_path):
    parsed = Page(written(tmp_path, *runs))
    assert {link[1:] for link in parsed.links if "=" not in link} <= set(parsed.ids)


def test_runs_side_by_side_carry_letters(tmp_path):
    live = SyntheticRun(manifest(), [result("torch.gelu", "gelu", "float32", cancels=True)])
    recorded = SyntheticRun(manifest(created="2026-01-01T00:00:00Z"), [result("torch.gelu", "gelu", "float32")])
    page = written(tmp_path, live, recorded)
    assert 'id="r-A-0"' in page
    assert 'id="r-B-0"' in page
    assert set(plot_data(page)[1]) == {"A-0", "B-0"}


def test_a_row_has_the_version_of_its_own_library(tmp_path):
    results = [result("torch.gelu", "gelu", "float32"), result("torch.gelu-other", "gelu", "float32")]
    results = [replace(record, version=version) for record, version in zip(results, ("2.13.0", "2.12.1"), strict=True)]
    page = written(tmp_path, SyntheticRun(manifest(), results))
    rows = re.findall(r'<tr id="r-[^"]*".*?</tr>', page, re.DOTALL)
    assert ["2.13.0</small>" in row for row in rows] == [
        "torch.gelu<" in row or "torch.<wbr>gelu<" in row for row in rows
    ]
    assert sum("2.12.1</small>" in row for row in rows) == 1
