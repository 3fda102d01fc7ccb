"""A Chromium for the tests of pages: of the system, or playwright's own; absent, it is reported by name."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from importlib.resources import files

import requiring

SIZES = {"desk": (1400, 900), "phone": (390, 844)}


@contextmanager
def chromium():
    """The browser, closed at the end."""
    playwright = requiring.module("playwright.sync_api")
    command = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with playwright.sync_playwright() as runner:
        try:
            found = runner.chromium.launch(executable_path=command, args=["--no-sandbox"])
        except playwright.Error as error:
            requiring.missing(f"Chromium ({str(error).splitlines()[0]})")
        yield found
        found.close()


def opened(browser, url, size="desk", fragment="", **options):
    """A page on which any complaint of the browser, and any request but that for the file, is a failure."""
    context = browser.new_context(viewport=dict(zip(("width", "height"), SIZES[size], strict=True)), **options)
    page, complaints = context.new_page(), []
    page.set_default_timeout(15_000)
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda made: made.url.split("#")[0] != url and complaints.append(made.url))
    page.goto(url + fragment)
    page.wait_for_selector("html[data-ready]")
    page.complaints = complaints
    return page


def axe():
    """The script of axe-core."""
    requiring.module("axe_playwright_python")
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def assert_accessible(page):
    """No finding of axe-core, nothing wider than the window."""
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.evaluate(axe())  # not a script element: the policy of a page may forbid those
    found = page.evaluate("axe.run()")["violations"]
    assert not found, [(each["id"], [node["html"] for node in each["nodes"]][:5]) for each in found]
