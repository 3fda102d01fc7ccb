"""What a chart must keep, read from its SVG alone: title, names of axes, curves that differ without colour, and texts
that cover nothing."""

import re
from collections import Counter
from itertools import pairwise
from xml.etree import ElementTree

from gelu_verify.show.labels import box_of, crosses, overlap

BOLD = 6.8  # width of a letter of a title
_COMMAND = re.compile(r"([MLHVhvlmz])([^MLHVhvlmz]*)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_KINDS = {"line", "area", "dashes", "stairs"}


def faults(text):
    """What is wrong with a chart, a sentence each."""
    root = ElementTree.fromstring(re.sub(r' xmlns="[^"]*"', "", text))
    texts = [each for each in root.iter("text") if not _is_hidden(each)]
    yield from _words(root, texts)
    yield from _series(root)
    yield from _places(root, texts)


def _words(root, texts):
    width = float(root.get("viewBox").split()[2])
    titles = [each for each in texts if each.get("class") == "title"]
    if not root.get("aria-label"):
        yield "no title"
    yield from (f"the title is cut off: {each.text}" for each in titles if 8 + BOLD * len(each.text) > width)
    names = [each.text.rstrip(" \N{RIGHTWARDS ARROW}") for each in texts if each.get("data-part") == "axis"]
    if len(names) != 2 or not all(names):
        yield f"names of axes: {names}"


def _series(root):
    """Those of one chart differ in more than their colour, or have a number beside each."""
    body = root.find("g[@data-part='body']")
    seen = Counter(_dashes(each) for each in body.iter("path") if each.find("title") is not None and _dashes(each))
    notes = sum(each.get("class") == "label" for each in body.iter("text"))
    for dashes, count in seen.items():
        if count > 1 and notes < sum(seen.values()):
            yield f"{count} curves are drawn as {dashes}"
    spots = Counter(_outline(each) for each in _key(root) if "mark" in (each.get("class") or ""))
    yield from (f"{count} kinds of points look alike" for count in spots.values() if count > 1)


def _dashes(path):
    """What tells a curve from others without colour: its kind, and the colour's number, which has dashes of its own."""
    classes = set((path.get("class") or "").split())
    return " ".join(sorted(classes - {"curve"})) if classes & _KINDS else ""


def _key(root):
    key = root.find("g[@data-part='key']")
    return [] if key is None else list(key.iter())


def _outline(spot):
    if spot.tag == "circle":
        return "circle"
    (x, y), *rest = [tuple(map(float, pair.split())) for pair in re.findall(r"[\d.]+ [\d.]+", spot.get("d"))]
    return tuple((round(a - x), round(b - y)) for a, b in rest)


def _places(root, texts):
    """Names cover neither curves, points, reference lines nor each other."""
    body = root.find("g[@data-part='body']")
    inside = set(body.iter("text"))
    boxes = [(_box(each), each) for each in texts if each in inside and "".join(each.itertext()).strip()]
    for at, (box, each) in enumerate(boxes):
        for other, one in boxes[:at]:
            if overlap(_inner(box), _inner(other)):
                yield f"{_said(each)!r} covers {_said(one)!r}"
    named = [(box, each) for box, each in boxes if (each.get("class") == "label" or each.get("data-part") == "name")]
    lines = [(line, path) for path in body.iter("path") if _is_drawn(path) for line in _segments(path.get("d"))]
    for box, each in named:
        if any(crosses(line, _inner(box)) for line, _ in lines):
            yield f"a line goes through {_said(each)!r}"
        if any(overlap(_inner(box), spot) for spot in _spots(body)):
            yield f"a point lies on {_said(each)!r}"


def _is_hidden(element):
    return (element.get("class") or "") == "hidden"


def _is_drawn(path):
    classes = set((path.get("class") or "").split())
    return bool(classes & {"curve", "area", "rule", "reach", "zero"})


def _said(element):
    return " ".join(element.itertext())


def _box(element):
    text = "\n".join(element.itertext())
    return box_of((float(element.get("x")), float(element.get("y")), element.get("text-anchor", "start")), text)


def _inner(box):
    """Without the room around the letters."""
    return box[0] + 0.5, box[1] + 1.5, box[2] - 0.5, box[3] - 1


def _spots(body):
    for circle in body.iter("circle"):
        x, y, r = (float(circle.get(name)) for name in ("cx", "cy", "r"))
        yield x - r, y - r, x + r, y + r


def _segments(data):
    """The straight pieces of a path."""
    x = y = 0.0
    start = (0.0, 0.0)
    for command, rest in _COMMAND.findall(data):
        numbers = [float(each) for each in _NUMBER.findall(rest)]
        if command == "z":
            yield (x, y, *start)
            x, y = start
            continue
        if command in "Mm":
            x, y = (numbers[0] + (x if command == "m" else 0), numbers[1] + (y if command == "m" else 0))
            start, numbers = (x, y), numbers[2:]
        for end in _ends(command, numbers, x, y):
            yield (x, y, *end)
            x, y = end


def _ends(command, numbers, x, y):
    if command in "Hh":
        return [(each + (x if command == "h" else 0), y) for each in numbers]
    if command in "Vv":
        return [(x, each + (y if command == "v" else 0)) for each in numbers]
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
    if command in "lm":
        points = [(x, y)]
        for dx, dy in pairs:
            points.append((points[-1][0] + dx, points[-1][1] + dy))
        return [b for _, b in pairwise(points)]
    return pairs
