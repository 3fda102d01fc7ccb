"""The journal: what was appended is found again, whatever a kill, a power cut or a bad disk left of the file."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gelu_verify.errors import ResultsError
from gelu_verify.work import journal as journals
from gelu_verify.work.journal import HEAD, Journal, contents, differing, facts_of

FACTS = {"seed": "0", "version of torch": "2.13.0"}
RECORDS = [("a", 0, b"one"), ("b", 7, b""), ("a", 3, b"x" * 1000), ("a", 4, journals.MARK * 3)]


def written(path, records=RECORDS):
    with Journal(path, FACTS) as journal:
        for record in records:
            assert journal.append(*record)
    return path.read_bytes()


def read(path, facts=FACTS):
    with Journal(path, facts) as journal:
        found = [(key, index, content) for key in ("a", "b") for index, content in journal.records(key)]
        return found, journal.damaged


def expected(records=RECORDS):
    return sorted(records, key=lambda record: record[0])


def test_a_sealed_journal_at_once_is_the_one_that_was_appended(tmp_path):
    path = tmp_path / "journal"
    with Journal(path, FACTS) as journal:
        for record in RECORDS:
            journal.append(*record)
        journal.seal()
    assert journals.sealed(FACTS, RECORDS) == path.read_bytes()


def test_records_are_found_again_and_more_are_appended(tmp_path):
    path = tmp_path / "journal"
    written(path)
    with Journal(path, {"seed": "1"}) as journal:
        assert journal.facts == FACTS, "those that it was made with"
        journal.append("b", 8, b"more")
    assert read(path) == (expected([*RECORDS, ("b", 8, b"more")]), [])
    assert facts_of(path) == FACTS


@settings(max_examples=20)
@given(st.data(), st.booleans())
def test_a_file_that_was_cut_off_anywhere_holds_what_was_whole(tmp_path_factory, data, padded):
    """A power cut may also leave zeros where the file had grown already."""
    path = tmp_path_factory.mktemp("cut") / "journal"
    content = written(path)
    size = data.draw(st.integers(_start(content) if padded else len(journals.MARK), len(content)))
    path.write_bytes(content[:size] + bytes(100 * padded))
    found, damaged = read(path)
    assert found == expected([record for record, end in zip(RECORDS, _ends(content), strict=True) if end <= size])
    if not padded:
        assert not damaged
        assert path.read_bytes() == content[: path.stat().st_size], "what was half written is cut off"


def _start(content):
    """Where the facts end in the file."""
    return _ends(content)[0] - HEAD.size - len(b"a" + RECORDS[0][2])


def _ends(content):
    """Where each of RECORDS ends in the file."""
    lengths = [HEAD.size + len(key.encode()) + len(value) for key, _, value in RECORDS]
    start = len(content) - sum(lengths)
    return [start + sum(lengths[: k + 1]) for k in range(len(lengths))]


@settings(max_examples=20)
@given(st.integers(min_value=0), st.integers(0, 7))
def test_one_damaged_bit_costs_one_record_which_is_named(tmp_path_factory, place, bit):
    path = tmp_path_factory.mktemp("damaged") / "journal"
    content = bytearray(written(path))
    start = _start(content)
    place = start + place % (len(content) - start)
    content[place] ^= 1 << bit
    path.write_bytes(content)
    found, damaged = read(path)
    index = next(k for k, end in enumerate(_ends(content)) if place < end)
    assert found == expected(RECORDS[:index] + RECORDS[index + 1 :])
    assert damaged or index == len(RECORDS) - 1, "at the end, a damaged header cannot be told from half a record"


def test_a_journal_of_other_work_says_what_differs():
    assert differing(FACTS, FACTS) == ""
    assert differing(FACTS, {**FACTS, "seed": "1"}) == "seed is 0 there and 1 here"
    assert differing(FACTS, {"seed": "0"}) == "version of torch is 2.13.0 there and nothing here"
    assert differing(FACTS, {**FACTS, "seed": "1"}, apart_from=("seed",)) == ""


def test_what_is_no_journal_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "journal"
    path.write_bytes(b"my thesis")
    assert facts_of(path) is None
    with pytest.raises(ResultsError, match="is no journal"):
        Journal(path, FACTS)
    assert path.read_bytes() == b"my thesis"


def test_only_a_sealed_journal_is_whole(tmp_path):
    path = tmp_path / "journal"
    written(path)
    assert not contents(path).is_whole
    with Journal(path, FACTS) as journal:
        journal.seal()
    sealed, content = contents(path), path.read_bytes()
    assert sealed.is_whole
    assert sealed.records["a"] == [(index, value) for key, index, value in RECORDS if key == "a"]
    for size in range(0, len(content), 61):
        path.write_bytes(content[:size])
        cut = contents(path)
        assert cut is None or not cut.is_whole
    path.write_bytes(content + b"more")
    assert not contents(path).is_whole
    assert path.read_bytes() == content + b"more"


def test_a_full_disk_stops_the_journal_and_spoils_nothing(tmp_path, monkeypatch):
    path = tmp_path / "journal"
    written(path)
    told = []
    with Journal(path, FACTS, told.append) as journal:
        real, room = journals.os.pwrite, [50]

        def pwrite(file, content, offset):
            if not room[0]:
                raise OSError(28, "No space left on device")
            size = min(room[0], len(content))
            room[0] -= size
            return real(file, content[:size], offset)

        monkeypatch.setattr(journals.os, "pwrite", pwrite)
        assert not journal.append("a", 9, b"y" * 100)
        assert journal.problem == "No space left on device"
        assert not journal.append("a", 10, b"")
        monkeypatch.undo()
        assert journal.append("b", 11, b"there is room again")
        assert not journal.problem
        with pytest.raises(ResultsError, match=r"cannot write .*journal: No space left on device"):
            journal.check_written()
    assert told == [f"cannot write {path}: No space left on device; the work goes on, and is kept again when it can be"]
    assert read(path) == ([*expected(), ("b", 11, b"there is room again")], [])
