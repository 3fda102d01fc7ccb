"""The page in Chromium: look up, share, step, upload, browse; on a desk and on a phone; with a keyboard; no server.

Needs playwright, a Chromium (of the system, or `playwright install chromium`) and the axe-core that
axe-playwright-python brings: `tox -e service` has them.
"""

import functools
import http.server
import re
import shutil
import subprocess
import threading
from pathlib import Path
from urllib.parse import urlsplit

import browsing
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import requiring
from repository import ROOT

pytest.importorskip("uvicorn", reason="needs the extra serve")
from click.testing import CliRunner
from serving import TOKEN, serving

from gelu_verify.cli import main
from gelu_verify.formats import get_format
from gelu_verify.service.upload_record import inputs
from gelu_verify.truth.values import reference_bits

pytestmark = pytest.mark.service
NARROW = [
    ("float16", "-6.5"), ("bfloat16", "0.1"), ("float8_e4m3fn", "-3"), ("float16", "0x1.004p0"), ("float16", "65520"),
    ("bfloat16", "1e-40"), ("float16", "2.9802322387695312e-8"),
]  # fmt: skip
LANGUAGES = {  # of programs, and what compiles or runs them
    "C": "cc", "C++": "c++", "Go": "go", "Rust": "rustc", "JavaScript": "node", "Python": "python3",
}  # fmt: skip
KNOWN = [("float32", "1"), ("float32", "0x1p-149"), ("float64", "-0"), ("float64", "0x1p+0"), ("float64", "inf")]


@pytest.fixture(scope="module")
def browser():
    with browsing.chromium() as found:
        yield found


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    store = tmp_path_factory.mktemp("page") / "store"
    with serving("--store", store, "--answers", "kernels,published,scipy") as found:
        yield found


@pytest.fixture(params=browsing.SIZES)
def page(browser, server, request):
    yield from opened(browser, server.url, browsing.SIZES[request.param])


@pytest.fixture
def desk(browser, server):
    yield from opened(browser, server.url, browsing.SIZES["desk"])


def opened(browser, url, size):
    """A page on which any complaint of the browser, and any request to elsewhere, is a failure."""
    context = browser.new_context(viewport=dict(zip(("width", "height"), size, strict=True)), accept_downloads=True)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page, complaints = context.new_page(), []
    page.set_default_timeout(9000)
    page.on("console", lambda message: is_refused_file(message) or complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda made: urlsplit(made.url).netloc != urlsplit(url).netloc and complaints.append(made.url))
    page.goto(f"{url}#/lookup?x=-6.5")
    page.wait_for_selector("#answers > *", timeout=20_000)
    yield page
    context.close()
    assert complaints == []


def is_refused_file(message):
    """What the browser writes where the server says 409 of an upload."""
    return "status of 409" in message.text and re.search("/v1/(verify|jobs)", message.location["url"])


def accessible(page):
    """No finding of axe-core, nothing wider than the window."""
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.evaluate(browsing.axe())  # not a script element: the policy of the page forbids those
    found = page.evaluate("axe.run()")["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []


def go_to(page, fragment):
    page.evaluate(
        """fragment => new Promise((done) => {
            window.addEventListener("hashchange", () => setTimeout(done), { once: true });
            location.hash = fragment;
        })""",
        fragment,
    )


def lookup_json(page, x, function="gelu", dtype="float32"):
    page.fill("#x", x)
    page.select_option("#function", function)
    page.select_option("#dtype", dtype)
    page.press("#x", "Enter")
    page.wait_for_selector(f"#exact-title:has-text('{function}(')", state="attached")
    page.wait_for_timeout(150)


@pytest.mark.parametrize("size", browsing.SIZES.values())
def test_the_first_screen_says_what_it_is_and_shows_gelu(browser, size):
    with serving("--answers", "none", "--documentation", "/docs", "--source", "/source") as found:
        context = browser.new_context(viewport=dict(zip(("width", "height"), size, strict=True)))
        page = context.new_page()
        page.goto(found.url)
        page.wait_for_selector("#plot svg")
        about = page.locator(".about")
        assert about.inner_text().startswith("The correct value of GELU to the last bit")
        assert "for people who write, port or choose one" in about.inner_text()
        assert about.locator("a").evaluate_all("all => all.map(each => each.pathname)") == ["/docs", "/source"]
        box = about.bounding_box()
        assert box["y"] + box["height"] < size[1] / 3
        assert page.inner_text("#plot-caption").startswith("gelu from -4 to 4, and the point")
        path = page.get_attribute("#plot path.curve", "d")
        x, y = np.array([[float(each) for each in point.split()] for point in path[1:].split("L")]).T
        axis = float(page.locator("#plot svg line.axis").get_attribute("y1"))
        lowest = np.argmax(y)  # SVG counts downward, in tenths here
        assert abs(np.interp(x[y == y[lowest]].mean(), (x[0], x[-1]), (-4, 4)) + 0.7518) < 0.05
        assert abs((y[lowest] - axis) / (axis - y[-1]) - 0.17 / 4) < 0.005
        assert abs(y[0] - axis) < 1
        assert (np.diff(y)[:lowest] >= 0).all()
        assert (np.diff(y)[lowest:] <= 0).all()
        context.close()


def test_a_look_up_shows_every_dtype(page):
    cards = page.locator(".card").all_inner_texts()
    assert len(cards) == 6
    assert any("float32" in card and "0xaf8f821f" in card for card in cards)
    assert page.locator("#exact").inner_text() == "-2.6104003795084265754e-10"
    assert page.locator(".card .bits").first.inner_text().replace(" ", "") == f"{0xC680:016b}"
    page.wait_for_selector("#plot svg")
    assert page.locator("#line svg").count() == page.locator("#plot svg").count() == 1
    page.wait_for_selector("#answers [role=status]:has-text('are correctly rounded')")
    for name in ("kernels", "published", "scipy"):
        group = page.locator(f"#answers tbody:has(th:text-matches('^{name}'))")
        assert group.locator("tr[data-answer]").count() > 1
    assert page.locator("#answers tr:has-text('0xaf8f821f')").first.inner_text().count("right") == 1
    more = page.locator("#answers button")
    hidden = page.locator("#answers tr[hidden]").count()
    more.focus()
    page.keyboard.press("Enter")
    assert hidden > page.locator("#answers tr[hidden]").count() == 0
    accessible(page)


@pytest.mark.parametrize(
    ("x", "function", "dtype"),
    [("0x3f80", "gelu", "bfloat16"), ("-0x1.8p1", "silu", "float64"), ("1e-45", "gelu_tanh", "float32"),
     ("nan", "gelu", "float16"), ("\N{MINUS SIGN}inf", "gelu", "float16"), ("0x7b", "exp", "float8_e4m3fn")],
)  # fmt: skip
def test_any_way_to_write_a_number(desk, x, function, dtype):
    fmt = get_format(dtype)
    lookup_json(desk, x, function, dtype)
    y = fmt.bits_text(reference_bits(function, dtype, fmt.parse(x.replace("\N{MINUS SIGN}", "-"))))
    desk.wait_for_selector(f".card.chosen:has-text('{y}')")


def test_more_digits_on_request(page):
    page.click("#more-digits")
    page.wait_for_selector("#exact:has-text('-2.610400379508426575424994524560446867653')")
    assert len(page.locator("#exact").inner_text()) > 200
    assert page.locator("#more-digits").is_hidden()


def test_another_dtype_keeps_the_value(desk):
    """The bits of a number are another number there."""
    lookup_json(desk, "0x3c01", "gelu", "float16")
    desk.select_option("#dtype", "float32")
    desk.wait_for_selector(".card.chosen:has-text('0x3f802000')")
    assert desk.locator("#x").input_value() == "0x1.004p+0"


def test_the_keyboard_steps_by_a_float_and_by_a_power_of_two(desk):
    for key, x in (("ArrowUp", "0xc0cfffff"), ("ArrowDown", "0xc0d00000"), ("Shift+ArrowUp", "-0x1.ap+3"),
                   ("Shift+ArrowDown", "-0x1.ap+2")):  # fmt: skip
        desk.press("#x", key)
        for _ in range(50):
            desk.wait_for_timeout(100)
            if desk.locator("#x").input_value() == x:
                break
        assert desk.locator("#x").input_value() == x
        desk.wait_for_timeout(200)


@pytest.mark.parametrize(
    ("x", "dtype", "key"),
    [("-6.5", "float32", "ArrowUp"), ("0x8003", "bfloat16", "ArrowUp"), ("1", "float64", "ArrowDown")],
)
def test_a_held_key_steps_through_every_float(desk, x, dtype, key):
    """One request at a time, and no others; x, its neighbours and their results are those of every float on the way."""
    lookup_json(desk, x, "gelu", dtype)
    desk.wait_for_selector("#answers [role=status]:has-text('are correctly rounded')")
    before, asked, busy, most = desk.url, [], set(), []
    desk.on("request", lambda made: (asked.append(made.url), busy.add(made), most.append(len(busy))))
    desk.on("requestfinished", lambda made: busy.discard(made))
    desk.evaluate("""() => {
        window.shown = [];
        const place = document.getElementById("neighbours");
        const rows = () => shown.push([...place.querySelectorAll("tbody tr")].map((row) => row.innerText));
        new MutationObserver(rows).observe(place, { childList: true });
    }""")
    desk.focus("#x")
    for _ in range(60):
        desk.keyboard.down(key)
    desk.evaluate(
        """key => {
        const held = { key, repeat: true, bubbles: true, cancelable: true };
        for (let i = 0; i < 50; i += 1) document.getElementById("x").dispatchEvent(new KeyboardEvent("keydown", held));
    }""",
        key,
    )
    desk.keyboard.up(key)
    desk.wait_for_timeout(100)
    while busy:
        desk.wait_for_timeout(100)
    requests, shown = list(asked), desk.evaluate("shown")
    steps = len(shown)
    assert 0 < steps < 110  # 50 events at once are one step, and on a busy machine so are some of the 60
    assert max(most) == 1
    in_another_binade = re.compile(r"/reference/gelu(_grad)?/float64\.bin\?$")
    curves = [each for each in requests if in_another_binade.search(each)]
    assert len(requests) - len(curves) == len([each for each in requests if f"/gelu/{dtype}/0x" in each]) == steps
    fmt, by = get_format(dtype), 1 if key == "ArrowUp" else -1
    start = fmt.rank(fmt.parse(x))

    def along(step):
        """Both zeros count as one."""
        rank = start + by * step
        return abs(rank) | (fmt.sign_mask if rank < 0 else 0)

    for step, rows in enumerate(shown, 1):
        for beside, row in zip((-by, 0, by), rows, strict=True):
            bits = along(step + beside)
            assert [text.split()[0] for text in row.split("\t")[1:]] == [
                fmt.bits_text(bits), fmt.bits_text(reference_bits("gelu", dtype, bits))
            ]  # fmt: skip
    last = fmt.bits_text(along(steps))
    assert desk.input_value("#x") == last
    assert desk.locator("#neighbours tr.strong").is_visible()
    desk.wait_for_selector("#answers [role=status]:has-text('are correctly rounded')")
    assert f"x={last}" in desk.url
    desk.go_back()
    desk.wait_for_selector(f".card.chosen:has-text('{fmt.bits_text(fmt.parse(x))}')")
    assert desk.url == before


def test_a_rounding_is_chosen_kept_in_the_link_and_reached_by_keyboard(page):
    page.focus("#rounding")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector(".card.chosen:has-text('0xaf8f821e')")
    assert page.url.endswith("dtype=float32&rounding=up")
    assert "float32, rounded up" in page.locator("#facts").inner_text()
    assert "y, rounded up" in page.locator("#line").inner_text()
    page.select_option("#dtype", "float64")
    page.wait_for_selector(".card.chosen:has-text('float64')")
    assert page.url.endswith("dtype=float64&rounding=up")
    page.wait_for_selector("#answers [role=status]:has-text('are correctly rounded to nearest')")
    assert page.locator("#answers .ok").count() > 0  # implementations are compared with the nearest result
    accessible(page)
    page.go_back()
    page.go_back()
    page.wait_for_selector(".card.chosen:has-text('0xaf8f821f')")
    assert page.locator("#rounding").input_value() == "nearest"


def test_a_rounding_that_is_not_known_is_named(desk):
    desk.goto(desk.url.partition("#")[0] + "#/lookup?x=1&rounding=ceil")
    desk.wait_for_selector("#lookup-problem:has-text('accepted: nearest, up, down, zero, odd')")


def test_an_overflow_without_infinity_is_not_said_to_be_nan(desk):
    lookup_json(desk, "100", "exp", "float8_e4m3fn")
    desk.wait_for_selector("#line:has-text('it overflows to NaN')")


@pytest.mark.parametrize(
    ("x", "dtype", "words"),
    [("0.1", "float16", "is rounded to 0.099975"), ("1e9", "float16", "becomes infinite"), ("nan", "float32", "NaN"),
     ("1e-60", "float32", "becomes zero"), ("1e9", "float8_e4m3fn", "becomes NaN"), ("0.5", "float16", None),
     ("0x7fc00001", "float32", "These bits are a NaN")],
)  # fmt: skip
def test_what_becomes_of_a_number_is_said(desk, x, dtype, words):
    lookup_json(desk, x, "gelu", dtype)
    if words is None:
        desk.wait_for_selector("#conversion:empty", state="attached")
    else:
        desk.wait_for_selector(f"#conversion:has-text('{words}')")


def test_numbers_are_copied_as_literals(desk):
    copied = {}
    for index, kind in enumerate(("bits", "hex", "decimal", "C", "Python")):
        desk.locator("#copies .copies").nth(1).locator("button").nth(index).click()
        desk.wait_for_selector("#shared:has-text('Copied')")
        copied[kind] = desk.evaluate("navigator.clipboard.readText()")
    assert copied["bits"] == "0xaf8f821f"
    assert copied["C"] == "-0x1.1f043ep-32f"
    assert eval(copied["Python"]) == float.fromhex(copied["hex"]) == float(copied["decimal"])


def test_a_link_with_an_unknown_name_says_so(desk):
    desk.evaluate("location.hash = '#/lookup?x=1&function=gleu'")
    desk.wait_for_selector("#lookup-problem:has-text('gleu')")
    desk.evaluate("location.hash = '#/lookup?x=1&function=gelu'")
    desk.wait_for_selector("#lookup-problem[hidden]", state="attached")


def test_parameters_are_fields_and_parts_of_links(page):
    page.evaluate("location.hash = '#/lookup?x=1&function=gelu&mu=0.5&sigma=1/3'")
    page.wait_for_selector("#exact:has-text('0.933192')")
    assert page.input_value("#parameters [name=sigma]") == "1/3"
    formulas = page.inner_text("#formula").splitlines()
    assert formulas[0] == "gelu(x) = x Phi((x - mu)/sigma), mu = 0.5, sigma = 1/3"
    assert formulas[1].endswith("phi((x - mu)/sigma), mu = 0.5, sigma = 1/3")
    page.wait_for_selector("#plot-caption:has-text('gelu[mu=0.5,sigma=1/3] from -4 to 4')")
    page.fill("#parameters [name=sigma]", "1/2")
    page.press("#parameters [name=sigma]", "Enter")
    page.wait_for_selector("#exact:has-text('0.841344')")
    assert "mu=0.5&sigma=1%2F2" in page.url
    page.evaluate("location.hash = '#/lookup?x=1&function=' + encodeURIComponent('silu[beta=2]')")
    page.wait_for_selector("#exact:has-text('0.880797')")
    page.select_option("#function", "relu")
    page.wait_for_selector("#exact-title:has-text('relu(1)')")
    assert page.query_selector("#parameters input") is None
    for query, words in (("muu=1", "“muu”, which is not known here"), ("beta=1", "“beta”, which relu does not have")):
        page.evaluate(f"location.hash = '#/lookup?x=1&function=relu&{query}'")
        page.wait_for_selector(f"#lookup-problem:has-text('{words}')")
        assert page.is_hidden("#lookup-result")
    page.evaluate("location.hash = '#/verify?function=silu&beta=1.702&dtype=float16&plan=landmarks'")
    page.wait_for_selector("#inputs-facts:has-text('inputs')")
    assert page.get_attribute("#inputs-link", "href").endswith("float16.bin?function=silu&beta=1.702")


def test_a_busy_server_is_asked_again_and_the_wait_is_shown(browser, server):
    context = browser.new_context()
    page, refused = context.new_page(), []

    def busy(route):
        if refused:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.fulfill(status=429, headers={"Retry-After": "2"}, json={"detail": "busy"})

    page.route("**/v1/reference/**", busy)
    page.goto(server.url)
    page.wait_for_selector("#busy:has-text('asking again in')")
    page.wait_for_selector(".card.chosen:has-text('0xbb84b34c')")
    assert page.locator("#busy").inner_text() == ""
    context.close()


def test_one_request_starts_the_page(browser, server):
    context = browser.new_context()
    page, asked = context.new_page(), []
    page.on("request", lambda made: asked.append(urlsplit(made.url).path))
    page.goto(server.url)
    page.wait_for_selector(".card.chosen")
    assert asked[0] == "/"
    assert not [path for path in asked[1:] if not path.startswith("/v1/")]
    assert "/v1/functions.json" not in asked
    context.close()


def test_errors_around_x_zoom_and_move(page):
    page.wait_for_selector("#around svg path.line")
    first = page.locator("#around-caption").inner_text()
    assert "at 65 floats" in first
    for change in (lambda: page.click("#around-closer"), lambda: page.click("#around-right"),
                   lambda: page.press("#around", "ArrowLeft"), lambda: page.press("#around", "-")):  # fmt: skip
        change()
        page.wait_for_selector(f"#around-caption:not(:has-text('{first}'))")
        first = page.locator("#around-caption").inner_text()
    box = page.locator("#around svg[role=img]").bounding_box()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 20)
    page.mouse.up()
    page.wait_for_selector(f"#around-caption:not(:has-text('{first}'))")
    page.locator("#around svg[role=img]").click(position={"x": 0.7 * box["width"], "y": 30})
    page.wait_for_selector(".card.chosen:not(:has-text('0xc0d00000'))")


def test_all_libraries_in_one_picture_of_errors(page):
    page.wait_for_selector("#around svg path.line")
    names = [name for name in page.locator("#around-family option").all_inner_texts() if name != "all"]
    page.select_option("#around-family", "all")
    page.wait_for_selector("#around .legend li:has-text('scipy')", timeout=60000)
    page.wait_for_selector("#around:not(:has-text('Waiting'))", timeout=60000)
    drawn = page.locator("#around .legend li").all_inner_texts()
    families = [text.replace("━", "").strip().split(".")[0] for text in drawn]
    assert len(set(families)) == len(families) > 2
    assert families == [name for name in names if name in families]


def test_axes_of_the_function(page):
    """Where the result is tiny every binade is equally wide: the point lies below the axis, not on it."""

    def height_above_the_axis():
        axis = float(page.locator("#plot svg line.axis").last.get_attribute("y1"))
        return axis - float(page.locator("#plot svg circle.exactly").get_attribute("cy"))

    assert height_above_the_axis() < -30
    page.click("#plot button:has-text('linear axes')")
    page.wait_for_selector("#plot button:has-text('axes of floats')")
    assert abs(height_above_the_axis()) < 1


PROGRAMS = {  # what is asked for, and what is said of the program as it is printed
    "function=gelu&dtype=float32&plan=quick": "gelu float32 is faithful",
    "function=gelu_tanh&dtype=float16&plan=landmarks": "gelu_tanh float16 is correctly rounded",
    "function=silu&beta=1/3&dtype=bfloat16&plan=default": "silu[beta=1/3] bfloat16 is faithful",
    "function=gelu&mu=0.5&sigma=0x1p-1&dtype=float64&plan=landmarks": "sigma=0.5] float64 is accurate in absolute",
    "function=gelu_sigmoid&dtype=float8_e4m3fn": "all 256 results are correctly rounded",
    "function=mish&dtype=float8_e5m2": f"x 0x3c: 0x3c, correct 0x{reference_bits('mish', 'float8_e5m2', 0x3C):02x}",
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_programs_run_as_they_are_printed(desk, tmp_path, language):
    """For the user's function, dtype and inputs; judged by this server, or compared with its table."""
    compiler = LANGUAGES[language]
    if compiler == "go" and not shutil.which("go"):
        pytest.skip("needs go")
    for command in (compiler, "curl", "cmp"):
        requiring.program(command)
    assert desk.locator("#language option").all_text_contents() == list(LANGUAGES)
    desk.click("nav a[data-view=verify]")
    desk.click("#programs summary")
    desk.select_option("#language", language)
    for number, (query, words) in enumerate(PROGRAMS.items()):
        go_to(desk, f"#/verify?{query}")
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / desk.inner_text("#program-file")).write_text(desk.inner_text("#program"))
        done = subprocess.run(["sh"], input=desk.inner_text("#commands"), cwd=folder, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), query
        assert words in done.stdout, query


def test_a_parameter_that_is_not_a_number_has_no_program(desk):
    for text in ("half", "0x1"):
        go_to(desk, f"#/verify?function=gelu&mu={text}&dtype=float8_e5m2")
        desk.evaluate("document.getElementById('programs').open = true")
        desk.wait_for_selector(f"#program:text-is('{text} is not a number')")


def test_programs_are_copied(desk):
    desk.goto(desk.url.partition("#")[0] + "#/verify?dtype=bfloat16&function=silu")
    desk.click("#programs summary")
    for name in ("program", "commands"):
        desk.click(f"#copy-{name}")
        desk.wait_for_selector("#copied:has-text('Copied.')")
        assert desk.evaluate("navigator.clipboard.readText()") == desk.inner_text(f"#{name}")


def test_a_link_to_an_unknown_function_to_verify_says_so(desk):
    desk.evaluate("location.hash = '#/verify?function=gleu'")
    desk.wait_for_selector("#verify-problem:has-text('gleu')")


def test_a_value_without_javascript(browser, server):
    for size in browsing.SIZES.values():
        context = browser.new_context(
            java_script_enabled=False, viewport=dict(zip(("width", "height"), size, strict=True))
        )
        page = context.new_page()
        page.goto(server.url)
        page.click("noscript a")
        page.fill("#x", "0.1")
        page.select_option("[name=dtype]", "bfloat16")
        page.click("[type=submit]")
        assert "0x3dcd" in page.locator("table").inner_text()
        context.close()


def test_a_wrong_number_is_reported_and_mended(page):
    page.fill("#x", "six")
    page.press("#x", "Enter")
    page.wait_for_selector("#lookup-problem:not([hidden])")
    assert "accepted: decimal" in page.locator("#lookup-problem").inner_text()
    accessible(page)
    lookup_json(page, "6")
    page.wait_for_selector("#lookup-problem[hidden]", state="attached")


def test_a_link_shows_the_same_to_others(page, browser, server):
    lookup_json(page, "0.1", "gelu_grad", "bfloat16")
    page.wait_for_selector(".card.chosen:has-text('0x3dcd')")
    page.click("#share")
    page.wait_for_selector("#shared:has-text('Copied')")
    link = page.evaluate("navigator.clipboard.readText()")
    other = browser.new_context().new_page()
    other.goto(link)
    other.wait_for_selector(".card.chosen:has-text('0x3dcd')")
    assert other.locator("#function").input_value() == "gelu_grad"
    other.context.close()
    page.go_back()
    page.wait_for_selector(".card.chosen:has-text('0x3dcccccd')")  # one step back: the dtype before


def test_steps_to_the_next_float(desk):
    desk.click("#next")
    desk.wait_for_selector(".card.chosen:has-text('0xc0cfffff')")
    desk.click("#previous")
    desk.wait_for_selector(".card.chosen:has-text('0xc0d00000')")


def test_an_upload_gets_its_grade(page, tmp_path):
    page.click("nav a[data-view=verify]")
    page.select_option("#verify-dtype", "float16")
    page.wait_for_selector("#inputs-facts:has-text('65,536')")
    with page.expect_download() as download:
        page.click("#inputs-link")
    x = np.frombuffer(inputs("default", "gelu", "float16", 0), "<u2")
    assert Path(download.value.path()).read_bytes() == x.tobytes()
    y = reference_bits("gelu", "float16", x)
    y[40_000] ^= 1
    (tmp_path / "y.bin").write_bytes(y.tobytes())
    page.set_input_files("#file", tmp_path / "y.bin")
    page.wait_for_selector(".outcome")
    assert "65,536" in page.locator(".outcome").inner_text()
    accessible(page)
    page.click("text=Look up the worst input")
    page.wait_for_selector(f".card.chosen:has-text('0x{int(x[40_000]):04x}')")


@pytest.mark.parametrize("kind", ["npy", "csv", "parquet"])
def test_files_of_other_kinds_get_their_grade(desk, tmp_path, kind):
    """Whatever they are called."""
    desk.goto(desk.url.partition("#")[0] + "#/verify?dtype=float16&plan=landmarks")
    y = reference_bits("gelu", "float16", np.frombuffer(inputs("landmarks", "gelu", "float16", 0), "<u2"))
    path = tmp_path / "outputs.data"
    with path.open("wb") as file:
        if kind == "npy":
            np.save(file, y.view(np.float16))
        elif kind == "csv":
            file.write("\n".join(["y", *map(str, y.view(np.float16))]).encode())
        else:
            pq.write_table(pa.table({"y_bits": y}), file)
    desk.set_input_files("#file", path)
    desk.wait_for_selector(".outcome.correctly_rounded")


def test_what_a_bad_file_is_is_said(page, tmp_path):
    page.goto(page.url.partition("#")[0] + "#/verify?dtype=float16&plan=landmarks")
    np.savez(tmp_path / "y.npz", y=np.zeros(10))
    page.set_input_files("#file", tmp_path / "y.npz")
    page.wait_for_selector("#verify-problem:has-text('is a ZIP archive, such as npz (accepted: npy, Parquet, CSV')")
    accessible(page)


def test_a_dropped_file_is_kept_with_the_token_and_browsed(page):
    page.goto(page.url.split("#")[0] + "#/verify?dtype=bfloat16")
    page.wait_for_selector("#inputs-facts:has-text('65,536')")
    page.click("#storing summary")
    page.fill("#token", TOKEN)
    page.evaluate("""() => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(131072)], "zeros.bin"));
        const drop = new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true});
        document.querySelector("#drop").dispatchEvent(drop);
    }""")
    page.wait_for_selector(".outcome.broken")
    assert "Stored." in page.locator("#outcome").inner_text()
    page.click("nav a[data-view=runs]")
    page.wait_for_selector("#matrix table:has-text('upload.mine')")
    accessible(page)
    page.fill("#matrix-target", "nobody")
    page.wait_for_selector("#matrix .empty")
    page.locator("#run-list input").first.check()
    page.click("#compare")
    page.wait_for_selector("h2:has-text('Results')")


def test_a_file_of_the_wrong_length_is_reported(desk, tmp_path):
    desk.click("nav a[data-view=verify]")
    desk.wait_for_selector("#inputs-facts:has-text('bytes')")
    (tmp_path / "y.bin").write_bytes(bytes(10))
    desk.set_input_files("#file", tmp_path / "y.bin")
    desk.wait_for_selector("#verify-problem:has-text('the file has 10 bytes')")


def test_every_view_has_a_name_and_is_clean(page):
    for view in ("lookup", "verify", "runs", "api"):
        page.click(f"nav a[data-view={view}]")
        page.wait_for_selector(f"nav a[data-view={view}][aria-current=page]")
        page.wait_for_timeout(300)
        assert page.locator("h1:visible").inner_text() in page.title()
        accessible(page)


CUT = """() => [...document.querySelectorAll("body *")].filter((each) => each.clientWidth && !each.closest("svg")
    && each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display !== "inline")
    .map((each) => each.outerHTML)"""


@pytest.mark.parametrize("width", [420, 390])
def test_nothing_is_cut_in_a_narrow_window(browser, width):
    """Nor is there anything to scroll sideways, in tables and programs either."""
    with serving("--answers", "kernels,scipy", "--runs", ROOT / "data" / "runs") as found:
        for page in opened(browser, found.url, (width, 844)):
            for view, ready in {
                "lookup?x=-6.5&function=gelu&dtype=float64": "#answers [role=status]:has-text('are correctly rounded')",
                "lookup?x=-6.5&function=gelu&mu=1/3&dtype=float64": "#answers .empty",
                "verify?dtype=bfloat16&plan=landmarks": "#inputs-facts:has-text('inputs')",
                "verify?dtype=float8_e4m3fn": "#ungraded",
                "runs": "#matrix td",
                "api": "#api pre",
            }.items():
                go_to(page, f"#/{view}")
                page.wait_for_selector(ready)
                page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
                assert page.evaluate(CUT) == [], view
                accessible(page)


def test_a_keyboard_is_enough(desk):
    desk.keyboard.press("Tab")
    assert desk.evaluate("document.activeElement.className") == "skip"
    for _ in range(12):
        desk.keyboard.press("Tab")
        if desk.evaluate("document.activeElement.id") == "x":
            break
    assert desk.evaluate("document.activeElement.id") == "x"
    desk.keyboard.press("Control+a")
    desk.keyboard.type("2")
    desk.keyboard.press("Enter")
    desk.wait_for_selector(".card.chosen:has-text('0x40000000')")


def test_static_files_answer_for_narrow_dtypes_and_hard_cases(browser, tmp_path):
    site = tmp_path / "site"
    assert CliRunner().invoke(main, ["export", "site", str(site), "--function", "gelu"]).exit_code == 0

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site)) as files:
        threading.Thread(target=files.serve_forever, daemon=True).start()
        for page in opened(browser, f"http://127.0.0.1:{files.server_port}", browsing.SIZES["desk"]):
            for dtype, x in (*NARROW, *KNOWN):
                lookup_json(page, x, "gelu", dtype)
                y = reference_bits("gelu", dtype, get_format(dtype).parse(x))
                page.wait_for_selector(f".card.chosen:has-text('{get_format(dtype).bits_text(y)}')")
            for dtype in ("float32", "float64"):
                page.fill("#x", "-6.53")
                page.select_option("#dtype", dtype)
                page.wait_for_selector(f"#lookup-problem:has-text('For {dtype} it has')")
                accessible(page)
                page.locator("#lookup-problem a").first.click()
                page.wait_for_selector(f".card.chosen h3:has-text('{dtype}')")
                x = get_format(dtype).parse(page.locator("#x").input_value())
                y = reference_bits("gelu", dtype, x)
                page.wait_for_selector(f".card.chosen:has-text('{get_format(dtype).bits_text(y)}')")
        files.shutdown()
