"""What a user reads has no private vocabulary: pages, help, error messages, the report and the web page."""

import ast
import re

from repository import ROOT

from gelu_verify.cli import main

# What was private here, and what it is called now. Only words and phrases that have no plain meaning in these texts.
BANNED = {
    r"\bhalls?\b": "app state",
    r"\brooms?\b(?! for\b)": "queue, worker pool, memory",
    r"\bdoors?\b": "route, middleware, table of kernels",
    r"\bshel(f|ves)\b": "cache",
    r"\bdoz(e|es|ing)\b": "stop when idle",
    r"\bfloor-mates?\b|\bfloors? (below|imports?)\b": "layer",
    r"\bcombs?\b|\bteeth\b": "strided order, stride",
    r"\bzoos?\b(?!-\d)": "matrix",
    r"\bhang(s|ing)? on\b": "depends on",
    r"\bis no (number|file|folder|JSON|size|manifest|model|callable|derivative|flush|difference|HTTP)\b": "is not a",
    r"\bthe world codes\b|\bas the world\b": "as deployed",
    r"\bfound by looking\b": "found automatically",
    r"\bjudge (everything|your own)\b": "test",
    r"\bcannot be believed\b": "cannot be trusted",
    r"\btaken? apart\b": "attributed",
    r"\btake turns\b|\bin turns with\b": "interleaved",
    r"\bplaced before\b": "preallocated",
    r"\bthe family of functions\b": "the functions",
    r"\bmostly:": "main cause",
    r"\bnothing is rounded\b": "there is no rounding error",
}
PAGES = [
    *(path for path in sorted(ROOT.glob("*.md")) if path.name != "CHANGELOG.md"),
    *(
        path
        for folder in ("docs", "examples", "reports", "src/export")
        for path in sorted((ROOT / folder).rglob("*.md"))
    ),
]
TEMPLATES = [
    path
    for folder in ("report", "service/page")
    for path in sorted((ROOT / "gelu_verify" / folder).glob("*"))
    if path.suffix in (".html", ".js", ".css")
]


def literals(text):
    """Every string of Python code that is a message rather than a name or a docstring."""
    tree = ast.parse(text)
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements
        if is_text and " " in node.value.strip():
            yield node.value


def messages():
    anything = re.compile("|".join(BANNED), re.IGNORECASE)
    for path in sorted((ROOT / "gelu_verify").rglob("*.py")):
        code = path.read_text(encoding="utf-8")
        if anything.search(code):  # few files: parsing all of them takes seconds
            yield from ((path, text) for text in literals(code))


def help_texts(command=main, name="gelu-verify"):
    yield name, command.help or ""
    for parameter in command.params:
        yield f"{name} {parameter.name}", getattr(parameter, "help", None) or ""
    for each in getattr(command, "commands", {}).values():
        yield from help_texts(each, f"{name} {each.name}")


def texts():
    """(where, text) of everything that a user meets."""
    for path in (*PAGES, *TEMPLATES):
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for path, text in messages():
        yield str(path.relative_to(ROOT)), text
    yield from help_texts()


def test_no_private_word_is_left():
    found = [
        f"{where}: ...{text[max(match.start() - 40, 0) : match.end() + 30]}... (plain: {plain})"
        for where, text in texts()
        for banned, plain in BANNED.items()
        for match in re.finditer(banned, text, re.IGNORECASE)
    ]
    assert not found, "\n".join(found)


def test_a_private_word_would_be_found():
    planted = "Sizes hang on the hall. It is no number, and the kernels are found by looking."
    assert sum(bool(re.search(banned, planted, re.IGNORECASE)) for banned in BANNED) == 4
    assert list(literals('"""is no number"""\nx = f"a {y} is no number", "name"\n')) == [" is no number"]
