"""What MkDocs does beside its own work: the menu from docs/contents.md, pages from outside of docs/, generated pages.

A link between pages is written as GitHub reads it, as a path in the repository. Here it becomes a link between pages of
the site; what the site does not have becomes a link to the repository, where `repo_url` of mkdocs.yml names one, and
plain text otherwise.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import pages as generated  # noqa: E402 - files of this folder, and of the one above
from list_decisions import anchor  # noqa: E402

ROOT = Path(__file__).parents[2]
CONTENTS = "docs/contents.md"
HOME = "README.md"
LOOKUP = "lookup/index.html"  # `gelu-verify export site`, beside the pages
RELEASES = "versions/libraries.html"  # of `generated.texts`
SHIM = "tools/site/iframe-worker/index.js"  # of the package iframe-worker 1.0.4: search without a server
SHIM_ELSEWHERE, SHIM_HERE = "https://unpkg.com/iframe-worker/shim", "assets/iframe-worker.js"
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def site_path(path: str) -> str:
    """Where a page of the repository is on the site: docs/json.md is json.md, README.md is index.md."""
    if path == HOME:
        return "index.md"
    inside = path.removeprefix("docs/")
    return inside if inside != path else path.replace("README.md", "readme.md")


def contents() -> dict[str, list[tuple[str, str]]]:
    """{section: [(title, path in the repository)]}, as docs/contents.md has them."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for line in (ROOT / CONTENTS).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            sections[line[3:]] = []
        elif match := re.fullmatch(r"- \[(.+)\]\((.+)\)", line):
            sections[list(sections)[-1]].append((match[1], posixpath.normpath(f"docs/{match[2]}")))
    return sections


def menu() -> list[dict[str, Any]]:
    """The `nav` of MkDocs."""
    made: list[dict[str, Any]] = [{"Home": "index.md"}]
    for section, entries in contents().items():
        made.append({section: [{title: site_path(path)} for title, path in entries]})
        if section == "How-to guides":
            made[-1][section].append({"Look up in the browser": LOOKUP})
        if section == "Reference":
            made[-1][section].append({"Every release, path by path": RELEASES})
            made[-1][section] += [{title: entries} for title, entries in generated.SECTIONS.items()]
        if section == "Explanation":
            topics = sorted((ROOT / "docs" / "decisions").glob("*.md"))
            made[-1][section].append({"Decisions by topic": [f"decisions/{path.name}" for path in topics]})
    return made


def on_config(config: Any) -> Any:
    """Before anything is read."""
    config.nav = menu()
    config.mdx_configs["toc"]["slugify"] = lambda title, _: anchor(title)
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add what does not lie in docs/."""
    outside = [path for entries in contents().values() for _, path in entries if not path.startswith("docs/")]
    texts = {site_path(path): (ROOT / path).read_text(encoding="utf-8") for path in (HOME, *outside)}
    sources = {site_path(path): path for path in (HOME, *outside)}
    texts["index.md"] = f"---\nhide: [navigation]\n---\n{texts['index.md']}"
    texts[SHIM_HERE] = (ROOT / SHIM).read_text(encoding="utf-8")
    for path, text in {**texts, **generated.texts()}.items():
        file = File.generated(config, path, content=text)
        file.repository_path = sources.get(path)
        files.append(file)
    contents_file = files.get_file_from_path("contents.md")
    if contents_file:
        files.remove(contents_file)  # the menu
    return files


def on_page_markdown(markdown: str, page: Page, config: Any, files: Files) -> str:
    """Links of the repository become links of the site; names of checks lead to their pages."""
    path = getattr(page.file, "repository_path", None) or (
        f"docs/{page.file.src_uri}" if page.file.generated_by is None else None
    )
    if path is None:
        return markdown
    folder, here = posixpath.dirname(path), page.file.src_uri
    if path == "docs/checks.md":
        named = "|".join(generated.CHECKS)
        markdown = re.sub(rf"^\| `({named})` \|", r"| [`\1`](../docs/checks/\1.md) |", markdown, flags=re.MULTILINE)
    if path == "docs/versions.md":
        markdown = re.sub(
            r"^## (\w+)$",
            r"## \1\n\n[Every release of \1, path by path](versions/\1.html)",
            markdown,
            flags=re.MULTILINE,
        )
    code = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
    kept = code.findall(markdown)
    bare = code.sub("\0", markdown)  # links inside of code are none

    def linked(match: re.Match[str]) -> str:
        text, target = match[1], match[2]
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        name, mark, anchor = target.partition("#")
        place = posixpath.normpath(posixpath.join(folder, name))
        if place == CONTENTS:
            return text
        for known in (place, f"{place}/README.md"):
            if files.get_file_from_path(site_path(known)):
                relative = posixpath.relpath(site_path(known), posixpath.dirname(here) or ".")
                return f"[{text}]({relative}{mark}{anchor})"
        base = config.repo_url
        return f"[{text}]({base.rstrip('/')}/blob/HEAD/{place})" if base else text

    bare = _LINK.sub(linked, bare)
    bare = re.sub(r"!\[(.*?)\]\(docs/", r"![\1](", bare)
    parts = iter(kept)
    return re.sub("\0", lambda _: next(parts), bare)


def on_post_page(output: str, page: Page, config: Any) -> str:
    """The one script that the theme takes from elsewhere is a file of the site."""
    return output.replace(SHIM_ELSEWHERE, "../" * page.url.count("/") + SHIM_HERE)


def on_post_template(output: str, template_name: str, config: Any) -> str:
    """The same in 404.html."""
    return output.replace(SHIM_ELSEWHERE, f"/{SHIM_HERE}")
