"""The pages of releases in Chromium: with and without scripts, by keyboard, light and dark, wide and narrow."""

import pytest
import requiring
from browsing import assert_accessible, chromium, opened
from synthetic_history import write_history

from gelu_verify.report.versions_files import versions_files

requiring.module("playwright.sync_api")
requiring.module("axe_playwright_python")
pytestmark = pytest.mark.service
CHANGE = "2.0.0_torch.gelu_gelu_float32"


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = write_history(tmp_path_factory.mktemp("versions"))
    out = tmp_path_factory.mktemp("pages")
    for name, content in versions_files(root):
        (out / name).write_bytes(content)
    return out


@pytest.fixture(scope="module")
def url(folder):
    return (folder / "torch.html").as_uri()


@pytest.fixture
def page(browser, url):
    found = opened(browser, url)
    yield found
    complaints = found.complaints
    found.context.close()
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 420])
def test_pages_are_accessible_and_fit_the_window(browser, url, width, scheme):
    page = opened(browser, url, color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    assert_accessible(page)
    page.locator(".bar.step").first.click()
    page.locator("tr.opened .panel").wait_for()
    assert_accessible(page)
    for fold in page.locator("details:not([open]) > summary").all():
        if fold.is_visible():
            fold.click()
    assert_accessible(page)
    assert page.complaints == []
    page.context.close()


@pytest.mark.parametrize("width", [1400, 420])
def test_the_page_of_all_libraries_is_accessible(browser, folder, width):
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.goto((folder / "libraries.html").as_uri())
    assert_accessible(page)
    page.locator(".latest a").first.click()
    page.wait_for_url("**/torch.html#*")
    assert page.locator(f"[id='{CHANGE}']").is_visible()
    context.close()


def test_a_bar_opens_what_changed_below_its_row_and_escape_closes_it(page):
    bar = page.locator(f".bar[href='#{CHANGE}']").first
    bar.click()
    panel = page.locator("tr.opened .panel")
    assert bar.evaluate("node => node.closest('tr').nextElementSibling.className") == "opened"
    assert bar.get_attribute("aria-expanded") == "true"
    text = panel.inner_text()
    assert "broken" in text
    assert "got -0 (0x80000000)" in text
    lines = panel.locator(".curves use.curve").evaluate_all("all => all.map(each => each.getBBox().width)")
    assert len(lines) == 2
    assert min(lines) > 400
    page.keyboard.press("Escape")
    assert page.locator("tr.opened").count() == 0
    assert bar.evaluate("node => node === document.activeElement")
    assert page.locator(f".change [id='{CHANGE}']").count() == 1  # where it was


def test_one_is_open_at_a_time_and_its_button_closes_it(page):
    for place in (0, 1):
        page.locator(".bar.step").nth(place).click()
        assert page.locator("tr.opened").count() == 1
    page.get_by_role("button", name="close").click()
    assert page.locator("tr.opened").count() == 0
    page.locator(".bar:not(.step)").first.click()  # what did not change: the table of its path
    assert "float16" in page.locator("tr.opened .panel td, tr.opened .panel th").all_inner_texts()


def test_the_keyboard_reaches_every_bar(page):
    first = page.locator(".timeline .bar").first
    first.focus()
    moves = (
        ("ArrowDown", "2.0.0 to 3.0.0, ▲ better"),
        ("ArrowLeft", "1.9.0, broken"),
        ("ArrowDown", "1.9.0, broken"),
        ("ArrowRight", "2.0.0, ▲ better"),
        ("ArrowRight", "3.0.0, ≠"),
    )
    for key, label in moves:
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.ariaLabel").startswith(label), key
    page.keyboard.press("Enter")
    assert page.locator("tr.opened .panel").is_visible()


def test_an_address_opens_what_it_names(browser, url):
    page = opened(browser, url, fragment=f"#{CHANGE}")
    assert page.locator(f"[id='{CHANGE}']").is_visible()
    page.context.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_only_what_changed(browser, url, scripts):
    context = browser.new_context(java_script_enabled=scripts)
    page = context.new_page()
    page.goto(url)
    rows = page.locator(".timeline tbody tr:not(.call)").locator("visible=true")
    before = rows.count()
    page.get_by_label("only what changed").check()
    assert 0 < rows.count() < before
    context.close()


def test_without_scripts_a_bar_leads_to_what_changed(browser, url):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(url)
    assert "1.9.0" in page.locator(".timeline thead").first.inner_text()
    page.locator(f".bar[href='#{CHANGE}']").first.click()
    assert page.url.endswith(f"#{CHANGE}")
    page.locator(f"[id='{CHANGE}'] .curves svg").wait_for()
    context.close()


def test_a_table_wider_than_the_window_begins_with_the_newest_release(browser, url):
    page = opened(browser, url)
    page.set_viewport_size({"width": 320, "height": 800})
    page.reload()
    box = page.locator(".timeline").first
    assert box.evaluate("node => node.scrollLeft + node.clientWidth >= node.scrollWidth - 1")
    assert page.locator(".timeline tbody th[scope=row]").first.is_visible()
    page.context.close()
