"""The report in Chromium, from a file: sort, filter, links, plots, the panel of a result; on a desk and on a phone.

Needs playwright, a Chromium and axe-core, as tests/service does: `tox -e service` has them.
"""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
import requiring
from browsing import SIZES, assert_accessible, chromium, opened
from graded_runs import graded_run
from synthetic_runs import SyntheticRun

from gelu_verify.report import write_report

requiring.module("playwright.sync_api")
requiring.module("axe_playwright_python")
pytestmark = pytest.mark.service
CALLS = {"torch.gelu": "torch.nn.functional.gelu(x)", "jax.gelu_tanh": "jax.nn.gelu(x)"}
SHOWN = "NaN at \N{MINUS SIGN}\N{INFINITY}"
ROWS = "#ranking tbody tr:not(.group):visible"


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    out, run = tmp_path_factory.mktemp("report"), graded_run()
    results = [replace(r, expression=CALLS.get(r.target)) for r in run.results]
    write_report([SyntheticRun(run.manifest, results)], out)
    return (out / "index.html").as_uri()


@pytest.fixture
def page(browser, url):
    found = opened(browser, url)
    yield found
    complaints = found.complaints
    found.context.close()
    assert complaints == []


def names(page):
    return page.locator(f"{ROWS} th[scope=row]").all_inner_texts()


def cells(page, place):
    """Without the marks of grades."""
    return [text.lstrip("●○").strip() for text in page.locator(f"{ROWS} > :nth-child({place})").all_inner_texts()]


def test_the_worst_is_first_and_ours_are_last(page):
    assert cells(page, 1)[0] == "broken"
    assert page.locator("#ranking tbody").first.get_attribute("data-group") == "library"
    assert names(page)[-1].startswith("kernels.")
    assert "torch.gelu float32 (infinite for x ≥ 1.701e38)" in page.locator("h1").inner_text()


@pytest.mark.parametrize(
    "key", ["grade", "target", "function", "dtype", "sentence", "range", "max_ulp", "units", "bits", "rate"]
)
def test_every_column_sorts_both_ways(page, key):
    body = page.locator("#ranking tbody").first
    order = []
    for _ in range(2):
        page.locator(f"#ranking th[data-k={key}] button").click()
        order.append(
            (
                page.locator(f"#ranking th[data-k={key}]").get_attribute("aria-sort"),
                body.locator("tr").all_inner_texts(),
            )
        )
    assert {direction for direction, _ in order} == {"ascending", "descending"}
    assert order[0][1] != order[1][1]
    assert sorted(order[0][1]) == sorted(order[1][1])
    assert f"sort={'-' if order[1][0] == 'descending' else ''}{key}" in page.url or key == "grade"


def test_filters_act_on_the_table_and_on_the_charts_and_a_link_restores_them(page, browser, url):
    before = len(names(page))
    page.select_option("#f-function", "gelu_tanh")
    page.select_option("#f-dtype", "bfloat16")
    page.fill("#f-q", "torch")
    shown = names(page)
    assert 0 < len(shown) < before
    assert set(cells(page, 3)) == {"gelu_tanh"}
    assert set(cells(page, 4)) == {"bfloat16"}
    page.locator("#compare").scroll_into_view_if_needed()
    page.wait_for_selector("#compare .key-table")
    plotted = page.locator("#compare .key-table tbody tr:visible th").all_inner_texts()
    assert sorted(name.strip() for name in plotted) == sorted(name.split()[0] for name in shown)
    assert set(
        page.locator("#speed figure:visible").evaluate_all("all => all.map(f => f.dataset.fn + f.dataset.d)")
    ) == {"gelu_tanhbfloat16"}
    again = opened(browser, url, fragment=f"#{page.url.partition('#')[2]}")
    assert names(again) == shown
    assert again.input_value("#f-q") == "torch"
    again.context.close()
    page.click("#clear")
    assert len(names(page)) == before


@pytest.mark.parametrize("words", ["NaN at -inf", f"nan {SHOWN[4:]}"])
def test_signs_are_found_as_they_are_typed_and_as_they_are_shown(page, words):
    page.fill("#f-q", words)
    assert names(page)
    assert all(SHOWN in text for text in page.locator(ROWS).all_inner_texts())


def test_a_number_in_the_search_box_is_an_x(page):
    page.select_option("#f-function", "gelu")
    page.select_option("#f-dtype", "float32")
    left = names(page)
    page.fill("#f-q", "-6")
    page.wait_for_selector("#at tr")
    assert names(page) == left
    told = page.locator("#at tr").all_inner_texts()
    assert len(told) == len(left)
    assert all("ULP" in text or "no correct bit" in text or "not known" in text for text in told)
    assert any("gelu-verify ask" in text and " float32 -6" in text for text in told)
    page.fill("#f-q", "torch")
    assert page.locator("#at").is_hidden()


def test_the_page_begins_with_the_calls_and_a_click_tells_what_to_write_instead(page):
    calls = page.locator("#calls")
    assert "BROKEN" in calls.locator("tr", has_text="torch.nn.functional.gelu(x)").first.inner_text()
    assert not calls.locator("h3").first.is_visible()
    calls.locator("a", has_text="jax.nn.gelu(x)").click()
    assert calls.locator("h3", has_text="jax.nn.gelu(x), which computes gelu_tanh").is_visible()


ORDER = [
    "correctly rounded",
    "faithful",
    "accurate",
    "accurate on a range",
    "accurate in absolute error only",
    "coarse",
    "broken",
]


def test_a_grade_or_better_and_the_best_of_equal_grades_first(page):
    page.select_option("#f-function", "gelu")
    page.select_option("#f-dtype", "float32")
    everything = cells(page, 1)
    page.select_option("#f-grade", "accurate-or-better")
    assert sorted(cells(page, 1)) == sorted(grade for grade in everything if ORDER.index(grade) <= 2)
    page.select_option("#f-grade", "")
    body = page.locator("#ranking tbody").first.locator("tr:not(.group):visible")
    worst = body.locator("th").all_inner_texts()
    page.locator("#ranking th[data-k=grade] button").click()
    assert body.locator("th").all_inner_texts() == worst[::-1]


def test_a_cell_of_the_matrix_filters(page):
    page.locator(".overview a[href='#family=torch&function=gelu&dtype=float32']").click()
    assert {name.partition(".")[0] for name in names(page)} == {"torch"}
    assert set(cells(page, 4)) == {"float32"}


def test_other_columns_are_shown_and_sorted(page):
    options = page.locator("#f-view option").evaluate_all("all => all.map(o => o.value)")
    assert len(options) > 8
    for view in options:
        page.select_option("#f-view", view)
        headings = page.locator("#ranking thead th:visible button")
        assert headings.count() > 4
        headings.last.click()
        assert page.locator("#ranking thead th[aria-sort]").count() == 1
    page.select_option("#f-view", "regions")
    assert "view=regions" in page.url
    assert len(cells(page, 11)[0]) > 0


def test_a_row_opens_by_click_and_by_key_and_back_closes_it(page):
    page.locator(ROWS).nth(1).click()
    page.wait_for_selector("#result[open] .chart canvas")
    address = page.url
    assert "r=A-" in address
    page.go_back()
    page.wait_for_selector("#result", state="hidden")
    page.locator(ROWS).nth(1).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#result[open]")
    assert page.url == address
    page.keyboard.press("Escape")
    page.wait_for_selector("#result", state="hidden")
    assert "r=" not in page.url


@pytest.fixture
def panel(browser, url):
    """The panel of torch.gelu in float32, by its link."""
    found = opened(browser, url, fragment="#r=A-2")
    found.wait_for_selector("#result[open] .chart canvas")
    yield found
    complaints = found.complaints
    found.context.close()
    assert complaints == []


def test_the_panel_tells_what_only_the_json_has(panel):
    text = panel.locator("#result").inner_text()
    for part in (
        "Worst input",
        "Error against x",
        "Signed errors",
        "Regions of x",
        "Special values",
        "Checks",
        "Repeat",
    ):
        assert part in text
    assert "gelu-verify run torch.gelu --function gelu --dtype float32" in text


def view(page):
    """What is in view, by the key under the plot: the largest errors."""
    return page.locator("#result .key-table tbody td:nth-child(4)").first.inner_text()


def test_zoom_by_buttons_by_drag_and_back(panel):
    whole = view(panel)
    panel.get_by_role("button", name="−1 to 1", exact=True).click()  # noqa: RUF001
    near = view(panel)
    assert near != whole
    panel.locator("#result .chart").focus()
    panel.keyboard.press("Escape")
    assert panel.locator("#result").is_visible()
    assert view(panel) == whole
    box = panel.locator("#result .u-over").bounding_box()
    panel.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + box["height"] * 0.2)
    panel.mouse.down()
    panel.mouse.move(box["x"] + box["width"] * 0.95, box["y"] + box["height"] * 0.9, steps=4)
    panel.mouse.up()
    assert view(panel) != whole
    panel.locator("#result .u-over").dblclick()
    assert view(panel) == whole


def test_an_overlay_keeps_its_colour_and_errors_can_be_signed(panel):
    other = panel.locator("#result .key-table tbody tr").nth(1)
    colour = other.locator("line").get_attribute("style")
    other.locator("input").check()
    name = other.locator("label").inner_text().strip()
    panel.get_by_role("button", name="signed", exact=True).click()
    assert panel.locator("#result button[aria-pressed=true]").inner_text() == "signed"
    panel.get_by_role("button", name="close").click()
    panel.select_option("#f-function", "gelu")
    panel.locator("#compare").scroll_into_view_if_needed()
    panel.locator("#compare .key-table").wait_for()
    rows = panel.locator("#compare .key-table tbody tr")
    place = [text.strip() for text in rows.locator("label").all_inner_texts()].index(name)
    assert rows.nth(place).locator("line").get_attribute("style") == colour


def ticked(page, plot):
    """The targets that a plot draws, and what is in view of them."""
    rows = page.locator(f"{plot} .key-table tbody tr:has(input:checked)")
    return rows.locator("label").all_inner_texts(), rows.locator("td:nth-child(4)").all_inner_texts()


def test_a_link_restores_overlays_and_zoom_of_the_panel(panel, browser, url):
    panel.locator("#result .key-table tbody tr input").nth(2).check()
    panel.get_by_role("button", name="signed", exact=True).click()
    panel.get_by_role("button", name="−3 to 3", exact=True).click()  # noqa: RUF001
    box = panel.locator("#result .u-over").bounding_box()
    panel.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.2)
    panel.mouse.down()
    panel.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] * 0.9, steps=4)
    panel.mouse.up()
    panel.wait_for_function("new URLSearchParams(location.hash.slice(1)).get('zoom')?.split('_').length === 4")
    shown = ticked(panel, "#result")
    assert len(shown[0]) == 2
    again = opened(browser, url, fragment=f"#{panel.url.partition('#')[2]}")
    again.wait_for_selector("#result[open] .chart canvas")
    assert ticked(again, "#result") == shown
    assert again.locator("#result button[aria-pressed=true]").inner_text() == "signed"
    again.get_by_role("button", name="next").click()
    assert not {"with", "zoom", "signed"} & {part.split("=")[0] for part in again.url.partition("#")[2].split("&")}
    assert again.complaints == []
    again.context.close()


@pytest.mark.parametrize("zoom", ["300000_700000", "5_1", "NaN_3", "1_2_9_1e99", "x"])
def test_a_zoom_that_cannot_be_shows_all(browser, url, zoom):
    page = opened(browser, url, fragment=f"#r=A-2&zoom={zoom}&with=nobody")
    page.wait_for_selector("#result[open] .chart canvas")
    assert page.locator("#result .key-table tbody td:nth-child(4)").first.inner_text() != "–"  # noqa: RUF001
    assert page.complaints == []
    page.context.close()


def test_a_link_restores_the_plot_of_many(page, browser, url):
    page.locator("#compare").scroll_into_view_if_needed()
    page.wait_for_selector("#compare .key-table")
    page.select_option("#compare select >> nth=0", "silu")
    page.wait_for_function("location.hash.includes('plot=silu')")
    page.wait_for_selector("#compare .chart canvas")
    page.locator("#compare .key-table input").first.uncheck()
    page.get_by_role("button", name="−1 to 1", exact=True).click()  # noqa: RUF001
    shown = ticked(page, "#compare")
    again = opened(browser, url, fragment=f"#{page.url.partition('#')[2]}")
    again.locator("#compare").scroll_into_view_if_needed()
    again.wait_for_selector("#compare .chart canvas")
    assert again.locator("#compare select").first.input_value() == "silu"
    assert ticked(again, "#compare") == shown
    again.get_by_role("button", name="all x", exact=True).click()
    assert "plot-zoom" not in again.url
    again.select_option("#f-function", "gelu")
    assert "plot-with" not in again.url
    again.context.close()


def test_a_click_on_the_plot_gives_the_worst_input_there(panel):
    box = panel.locator("#result .u-over").bounding_box()
    panel.mouse.click(box["x"] + box["width"] * 0.2, box["y"] + box["height"] * 0.3)
    found = panel.locator("#result .answer-box")
    found.locator("code").first.wait_for()
    bits = found.locator("code").first.inner_text()
    assert bits.startswith("0xc")  # negative x
    assert f"gelu-verify ask torch.gelu float32 {bits} " in found.inner_text()
    assert {"x", "got", "want"} == set(found.locator("th").all_inner_texts())


def test_copy_buttons_copy(browser, url):
    page = opened(browser, url, fragment="#r=A-2", permissions=["clipboard-read", "clipboard-write"])
    page.wait_for_selector("#result[open]")
    page.locator("#result .command button").first.click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("gelu-verify ask torch.gelu float32 0x")
    page.get_by_role("button", name="copy as text").click()
    assert "largest error" in page.evaluate("navigator.clipboard.readText()")
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_it_is_accessible_and_fits_its_window(browser, url, size, scheme):
    page = opened(browser, url, size, color_scheme=scheme)
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (min(map(int, paper[4:-1].split(","))) > 200) == (scheme == "light")
    page.evaluate("document.querySelectorAll('details').forEach(node => { node.open = true; })")
    assert_accessible(page)
    page.goto(f"{url}#r=A-2")
    page.wait_for_selector("#result[open] .chart canvas")
    page.wait_for_timeout(200)
    assert page.evaluate("document.getElementById('result').scrollWidth <= window.innerWidth")
    assert_accessible(page)
    assert page.complaints == []
    page.context.close()


def test_nothing_scrolls_inside_of_what_scrolls(page):
    nested = """[...document.querySelectorAll('main *')].filter(node => {
        const own = getComputedStyle(node);
        return ['auto', 'scroll'].includes(own.overflowY) && node.scrollHeight > node.clientHeight + 1;
    }).map(node => node.outerHTML.slice(0, 80))"""
    assert page.evaluate(nested) == []


def test_print_has_the_table_and_the_appendix_and_no_controls(page):
    page.emulate_media(media="print")
    assert page.locator("#ranking").is_visible()
    assert page.locator("#witnesses").is_visible()
    assert not page.locator(".filters").is_visible()
    assert not page.locator("nav").is_visible()


def test_without_javascript_the_table_is_there(browser, url):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(url)
    assert page.locator(ROWS).count() > 200
    assert page.locator("#ranking svg").first.is_visible()
    assert not page.locator(".filters").is_visible()
    context.close()


FIGURES = {
    "speed": ("#speed figure:visible .save", "error against speed"),
    "functions": ("#gallery figure .save", "Functions"),
    "plot of many": ("#compare .save", "largest error |E| against x"),
    "plot of one": ("#result .plot .save", "largest error |E| against x"),
    "histogram": ("#result .columns .save", "signed errors"),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_is_saved_as_a_file_for_a_paper(browser, url, name, scheme, tmp_path):
    button, title = FIGURES[name]
    page = opened(browser, url, fragment="#r=A-2" if button.startswith("#result") else "", color_scheme=scheme)
    page.locator("#plots").scroll_into_view_if_needed()
    page.wait_for_selector(".chart canvas")
    with page.expect_download() as download:
        page.locator(button).first.click()
    download.value.save_as(tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    assert not re.search(r"class=|style=|var\(|href|data-|nan|undefined", text, re.IGNORECASE)
    svg = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring(text)
    assert root[0].get("fill") == "rgb(255, 255, 255)"
    texts = [each.text for each in root.iter(f"{svg}text") if each.text]
    assert title in texts[0]
    assert len([each for each in texts if re.search("ULP|elements per second|x|f", each)]) >= 2  # the axes
    inks = {each.get("fill") for each in root.iter(f"{svg}text")}
    assert all(sum(map(int, re.findall(r"\d+", ink)[:3])) < 400 for ink in inks), inks  # dark on white
    assert not page.locator("svg.paper").count()
    assert page.complaints == []
    page.context.close()


def test_curves_of_a_saved_plot_are_those_of_the_view(panel, tmp_path):
    panel.locator("#result .key-table tbody tr input").nth(1).check()
    panel.get_by_role("button", name="−1 to 1", exact=True).click()  # noqa: RUF001
    with panel.expect_download() as download:
        panel.locator("#result .plot .save").click()
    download.value.save_as(tmp_path / "figure.svg")
    root = ElementTree.parse(tmp_path / "figure.svg").getroot()
    paths = [each for each in root if each.get("stroke-width") == "1.6px"]
    assert len(paths) == 2 * 2  # each with its entry in the key
    assert len({each.get("stroke") for each in paths}) == len({each.get("stroke-dasharray") for each in paths}) == 2
    texts = [each.text for each in root if each.tag.endswith("text")]
    assert set(ticked(panel, "#result")[0]) <= set(texts)
    assert "−4" not in texts  # noqa: RUF001
