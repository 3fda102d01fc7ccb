"""JUnit XML, as Jenkins, GitLab, GitHub actions and test dashboards read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree

from ..errors import printable
from .verdicts import Verdict

_ELEMENTS = {"failed": "failure", "not measured": "error", "skipped": "skipped"}


def junit(title: str, verdicts: Sequence[Verdict]) -> bytes:
    """One test case for each verdict. The same verdicts give the same bytes: there is no time and no host in it."""
    outcomes = Counter(each.outcome for each in verdicts)
    counts = {"tests": len(verdicts), "failures": outcomes["failed"], "errors": outcomes["not measured"]}
    numbers = {name: str(count) for name, count in counts.items()}
    root = ElementTree.Element("testsuites", {"name": title, **numbers})
    suite = ElementTree.SubElement(root, "testsuite", {"name": title, **numbers, "skipped": str(outcomes["skipped"])})
    for each in verdicts:
        attributes = {"name": printable(each.key), "classname": title.replace(" ", ".")}
        case = ElementTree.SubElement(suite, "testcase", attributes)
        lines = "\n".join(map(printable, each.lines()))
        if element := _ELEMENTS.get(each.outcome):
            told = {"type": each.outcome, "message": printable(each.reason)}
            ElementTree.SubElement(case, element, told).text = lines
        elif lines:
            ElementTree.SubElement(case, "system-out").text = lines
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"
