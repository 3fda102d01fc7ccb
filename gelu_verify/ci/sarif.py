"""SARIF 2.1.0: what failed and what was not measured, as code scanning shows it beside the code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from .. import __version__
from ..errors import printable
from .cases import VERDICTS, Case, worst_first

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES = {
    "failed": (
        "accuracy",
        "A result is less accurate than its limits allow.",
        "The message has each limit that is exceeded, an input that shows it, what was returned for it, what is right, "
        "and the command that measures it again.",
    ),
    "not measured": (
        "not-measured",
        "A result that is required was not measured.",
        "The message says what is missing: a library, a device, a budget, an up-to-date run.",
    ),
}
JUDGED = (0, 1, 3)  # exit codes of a command that came to its end
_PARTS = ("bits", "hex_float", "decimal")
_SHOWN = tuple(verdict for verdict in VERDICTS if verdict in _RULES)


def sarif(title: str, cases: Sequence[Case], exit_code: int) -> bytes:
    """One log of one run. What passed is left out: code scanning would show it as an alert."""
    rules = [_rule(*_RULES[verdict]) for verdict in _SHOWN]
    run = {
        "tool": {"driver": {"name": "gelu-verify", "version": __version__, "rules": rules}},
        "automationDetails": {"id": f"{title.replace(' ', '/')}/"},
        "invocations": [{"executionSuccessful": exit_code in JUDGED, "exitCode": exit_code}],
        "results": [_result(each) for each in worst_first(cases) if each.verdict in _RULES],
        "columnKind": "utf16CodeUnits",
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return (json.dumps(log, indent=1, allow_nan=False) + "\n").encode()


def _rule(name: str, text: str, advice: str) -> dict[str, Any]:
    return {
        "id": name,
        "shortDescription": {"text": text},
        "fullDescription": {"text": text},
        "help": {"text": advice},
    }


def _result(each: Case) -> dict[str, Any]:
    key = printable(each.key)
    location: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": key}]}
    if each.place is not None:
        artifact = {"uri": quote(each.place.path, errors="replace")}
        location["physicalLocation"] = {"artifactLocation": artifact, "region": {"startLine": each.place.line}}
    values = {f"{value.name}_{part}": getattr(value, part) for value in each.values for part in _PARTS}
    facts = {"key": key, "grade": each.grade, "sentence": each.sentence, "repeat": each.repeat, **values}
    return {
        "ruleId": _RULES[each.verdict][0],
        "ruleIndex": _SHOWN.index(each.verdict),
        "level": "error",
        "message": {"text": f"{key}: " + "\n".join(map(printable, each.lines()))},
        "locations": [location],
        # of the result and not of its numbers: an alert stays the same one while they change
        "partialFingerprints": {"geluVerifyResult/v1": hashlib.sha256(each.key.encode(errors="replace")).hexdigest()},
        "properties": {name: printable(fact) for name, fact in facts.items() if fact},
    }
