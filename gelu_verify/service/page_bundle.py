"""The web page as one document: styles, modules and the catalogue of functions inside, so that one request shows it.

The modules (`page/*.js`) stay as they are for a static copy. Here each becomes a function that returns its exports;
that needs no build step, because they use named imports and exports at the beginning of lines only.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from html import escape
from importlib.metadata import metadata
from importlib.resources import files

from .encoding import json_bytes
from .tables import catalogue

MEDIA_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_IMPORT = re.compile(r'^import (?:\* as (\w+)|\{([^}]*)\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|const|let) (\w+))", re.MULTILINE)
_SCRIPT = '<script type="module" src="assets/app.js"></script>\n'
_STYLE = '<link rel="stylesheet" href="assets/page.css">'
_ICON = "assets/icon.svg"
_LINKS = "<!-- links -->"


@dataclass(frozen=True)
class Page:
    """A page and its Content-Security-Policy."""

    content: bytes
    policy: str


@cache
def assets() -> dict[str, bytes]:
    """{name: content} of the page's files."""
    folder = files("gelu_verify.service") / "page"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name.rpartition(".")[2] in MEDIA_TYPES}


def linked(page: str, documentation: str | None, source: str | None) -> str:
    """The page with links to documentation and source: these, or those of `project.urls` where it has them."""
    urls = dict(each.split(", ", 1) for each in metadata("gelu-verify").get_all("Project-URL", []))
    given = {"Documentation": documentation, "Source": source}
    found = {name: url or urls.get(name) for name, url in given.items()}
    links = "".join(f' <a href="{escape(url)}">{name}</a>' for name, url in found.items() if url)
    assert page.count(_LINKS) == 1
    return page.replace(_LINKS, links)


@cache
def index(documentation: str | None = None, source: str | None = None) -> Page:
    """The page, which links to documentation and source."""
    script, css = bundle("app"), text("page.css")
    icon = base64.b64encode(assets()["icon.svg"]).decode()
    data = json_bytes(catalogue(static=False)).decode().replace("<", "\\u003c")
    data_block = f'<script type="application/json" id="catalogue">{data}</script>\n'
    content = linked(text("index.html"), documentation, source)
    for old, new in {
        _SCRIPT: f'{data_block}<script type="module">{script}</script>\n',
        _STYLE: f"<style>{css}</style>",
        _ICON: f"data:image/svg+xml;base64,{icon}",
    }.items():
        assert content.count(old) == 1, old
        content = content.replace(old, new)
    return Page(content.encode(), policy(css, script))


def policy(css: str, script: str | None = None, frames: str = "'none'") -> str:
    """A policy that allows this style and script, and requests to this server."""
    return (
        f"default-src 'none'; script-src {hash_of(script)}; style-src {hash_of(css)}; img-src 'self' data:; "
        f"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors {frames}"
    )


def text(name: str) -> str:
    return assets()[name].decode()


def bundle(name: str, done: set[str] | None = None) -> str:
    """A module and those that it imports, each before the first that needs it, as one script."""
    done = set() if done is None else done
    if name in done:
        return ""
    done.add(name)
    source = text(f"{name}.js")
    before = "".join(bundle(other, done) for _, _, other in _IMPORT.findall(source))
    exported = [found for _, found in _EXPORT.findall(source)]
    body = _EXPORT.sub(r"\1", _IMPORT.sub(_as_constant, source))
    return f"{before}const ${name} = (() => {{\n{body}return {{ {', '.join(exported)} }};\n}})();\n"


def _as_constant(found: re.Match[str]) -> str:
    whole, names, module = found.groups()
    return f"const {whole} = ${module};" if whole else f"const {{{names.replace(' as ', ': ')}}} = ${module};"


@lru_cache(maxsize=8)
def hash_of(content: str | None) -> str:
    """A script or style as a policy names it."""
    return "'none'" if content is None else f"'sha256-{base64.b64encode(sha256(content.encode()).digest()).decode()}'"
