"""JUnit XML, as Jenkins, GitLab, GitHub actions and test dashboards read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree

from ..errors import printable
from .cases import Case

_ELEMENTS = {"failed": "failure", "not measured": "error", "skipped": "skipped"}


def junit(title: str, cases: Sequence[Case]) -> bytes:
    """One test case for each case. The same cases give the same bytes: there is no time and no host in it."""
    verdicts = Counter(each.verdict for each in cases)
    counts = {"tests": len(cases), "failures": verdicts["failed"], "errors": verdicts["not measured"]}
    numbers = {name: str(count) for name, count in counts.items()}
    root = ElementTree.Element("testsuites", {"name": title, **numbers})
    suite = ElementTree.SubElement(root, "testsuite", {"name": title, **numbers, "skipped": str(verdicts["skipped"])})
    for each in cases:
        attributes = {"name": printable(each.key), "classname": title.replace(" ", ".")}
        case = ElementTree.SubElement(suite, "testcase", attributes)
        lines = "\n".join(map(printable, each.lines()))
        if element := _ELEMENTS.get(each.verdict):
            told = {"type": each.verdict, "message": printable(each.reason)}
            ElementTree.SubElement(case, element, told).text = lines
        elif lines:
            ElementTree.SubElement(case, "system-out").text = lines
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"
