"""Which releases there are, and which of them can be installed here."""

import io
import json
import sys
import urllib.request

import pytest

from gelu_verify.errors import MissingMeasurement, UsageError
from gelu_verify.versions.releases import Release, chosen, of_folder, of_index

HERE = f"cp{sys.version_info[0]}{sys.version_info[1]}"


def file(name, day="2024-01-01", **facts):
    return {
        "filename": name,
        "upload-time": f"{day}T10:00:00.123456Z",
        "requires-python": None,
        "yanked": False,
        **facts,
    }


def index_of(monkeypatch, *files):
    def answer(request, timeout):
        return io.BytesIO(json.dumps({"files": files}).encode())

    monkeypatch.setattr(urllib.request, "urlopen", answer)
    return {each.version: each for each in of_index("Some_Library")}


def test_versions_are_sorted_as_versions(monkeypatch):
    found = index_of(monkeypatch, *(file(f"l-{v}-py3-none-any.whl") for v in ("1.10", "1.9", "2.0", "1.9.post1")))
    assert [*found] == ["1.9", "1.9.post1", "1.10", "2.0"]


def test_why_a_release_cannot_be_installed(monkeypatch):
    found = index_of(
        monkeypatch,
        file("l-1-cp27-cp27m-win32.whl"),
        file("l-2.tar.gz"),
        file("l-3-py3-none-any.whl", yanked="it eats files"),
        file("l-4-py3-none-any.whl", **{"requires-python": ">=9.9"}),
        file("l-5-cp27-cp27m-win32.whl", "2024-03-02"),
        file("l-5-py3-none-any.whl", "2024-03-01"),
        file("l-6rc1-py3-none-any.whl"),
        file("no name of a wheel.whl"),
        file("l-7-py3-none-any.whl", yanked=True),
    )
    assert {version: each.missing for version, each in found.items()} == {
        "1": "no wheel for this Python and system",
        "2": "no wheel, only sources",
        "3": "withdrawn: it eats files",
        "4": "it needs Python >=9.9",
        "5": "",
        "7": "withdrawn",
    }
    assert found["5"].day == "2024-03-01"
    assert found["5"].complete[:10] == "2024-03-01"
    assert found["1"].complete == ""


def test_a_wheel_for_another_python_is_found_for_that(monkeypatch):
    monkeypatch.setattr(
        urllib.request,
        "urlopen",
        lambda *_, **__: io.BytesIO(json.dumps({"files": [file("l-1-cp39-none-any.whl")]}).encode()),
    )
    assert of_index("l", (3, 9, 1))[0].missing == ""
    assert of_index("l", (3, 8, 1))[0].missing


@pytest.mark.parametrize("answer", [b"<html>", b"[]", b'{"files": 1}'])
def test_an_index_that_says_something_else(monkeypatch, answer):
    monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: io.BytesIO(answer))
    with pytest.raises(MissingMeasurement, match="does not say which releases there are"):
        of_index("l")


def test_a_folder_of_wheels(tmp_path):
    for name in ("my_package-1.0-py3-none-any.whl", "my_package-0.9.tar.gz", "other-2.0-py3-none-any.whl", "notes.txt"):
        (tmp_path / name).touch()
    assert [(each.version, each.missing) for each in of_folder("My.Package", tmp_path)] == [("0.9", ""), ("1.0", "")]
    with pytest.raises(UsageError, match="no wheel of nothing"):
        of_folder("nothing", tmp_path)


def test_which_are_chosen():
    releases = [Release(f"1.{n}", missing="withdrawn" if n == 3 else "") for n in range(10)]

    def versions(*asked):
        return [each.version for each in chosen(releases, *asked)]

    assert versions("1.2", "1.4", None) == ["1.2", "1.3", "1.4"]
    assert versions(None, None, 3) == ["1.0", "1.5", "1.9"]
    assert versions(None, None, 1) == ["1.9"]
    assert len(versions(None, None, 100)) == 9
    with pytest.raises(UsageError, match="accepted: a version"):
        versions("new", None, None)
    for first, last, why in (
        ("1.3", "1.3", "withdrawn"),
        ("1.5", "1.4", "the first is the later"),
        ("2", "3", "is none"),
    ):
        with pytest.raises(UsageError, match=rf"no release from {first} to {last} can be installed here: .*{why}"):
            versions(first, last, None)
