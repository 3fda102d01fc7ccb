"""How to cite the runs of a report: what was measured with which version, when, on what, as text and as BibTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import printable
from ..gpu.info import label
from ..paths import resource
from ..show.latex import escaped
from .frames import RunLike

AUTHOR = "gelu-verify maintainers"  # as CITATION.cff has it


def citation_texts(runs: Sequence[RunLike]) -> list[str]:
    """One line for each run."""
    return [_line(run) for run in runs]


def bibtex(runs: Sequence[RunLike]) -> str:
    """One entry for each run; runs of one second are told apart by a letter."""
    keys: dict[str, int] = {}
    entries = []
    for run in runs:
        key = "gelu-verify-" + re.sub("[^0-9A-Za-z]", "", str(run.manifest["created"]))
        keys[key] = keys.get(key, 0) + 1
        entries.append(_entry(run, key + (f"-{keys[key]}" if keys[key] > 1 else "")))
    return "\n".join(["% The runs of this report, for a bibliography.\n", *entries])


def _line(run: RunLike) -> str:
    facts = "; ".join(f"{name} {value}" for name, value in _facts(run).items())
    link = f" https://doi.org/{doi()}." if doi() else ""
    return f"{AUTHOR}. {_title(run)}. {str(run.manifest['created'])[:10]}. {facts}.{link}"


def _entry(run: RunLike, key: str) -> str:
    date = str(run.manifest["created"])
    note = "; ".join(f"{name} {_escaped(str(value))}" for name, value in _facts(run).items())
    fields = {
        "author": f"{{{AUTHOR}}}",
        "title": f"{{{_escaped(_title(run))}}}",
        "year": date[:4],
        "month": date[5:7],
        "version": _escaped(str(run.manifest["versions"].get("gelu-verify", "unknown"))),
        "doi": doi(),
        "note": note,
    }
    lines = (f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@misc{{{key},\n{''.join(lines)}}}\n"


def doi() -> str:
    """The DOI that CITATION.cff has for all versions or for this one; empty where none is issued."""
    text = resource("data/CITATION.cff").read_text(encoding="utf-8")
    found = re.search(r"""^(?:doi:|  - type: doi\n    value:) *["']?(10\.\d+/[^\s"']+)""", text, re.MULTILINE)
    return found[1] if found else ""


def _title(run: RunLike) -> str:
    names = sorted({record.family for record in run.results})
    few = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    version = run.manifest["versions"].get("gelu-verify", "of an unknown version")
    return f"gelu-verify {version}: {len(run.results)} results ({few or 'none'})"


def _escaped(line: str) -> str:
    """One line in an entry, where braces must balance."""
    return escaped(printable(line).translate(str.maketrans("{}", "()")))


def _libraries(run: RunLike) -> str:
    """ "jax 0.10.2 and torch 2.13.0", of those that were measured."""
    measured = {record.family for record in run.results} & set(run.manifest["versions"])
    return " and ".join(f"{name} {run.manifest['versions'][name]}" for name in sorted(measured))


def _facts(run: RunLike) -> Mapping[str, Any]:
    """Where and of what: date and time, processor, device, commit, plan, libraries, hash of the manifest."""
    manifest, git = run.manifest, run.manifest["git"] or {}
    found = {
        "run of": manifest["created"],
        "processor": manifest["machine"].get("cpu"),
        "device": label(manifest.get("device")),
        "commit": git.get("commit", "")[:12] + (" with local changes" if git.get("dirty") else ""),
        "plan": f"{manifest['plan']}, seed {manifest['seed']}",
        "libraries": _libraries(run),
        "sha256 of the manifest": manifest.get("content_sha256"),
    }
    return {name: value for name, value in found.items() if value}
