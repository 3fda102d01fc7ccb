"""The typed record: one declaration from which JSON, what is refused, and the key tables derive."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Literal, get_origin

import pytest
from repository import ROOT, TESTS, tool
from synthetic_runs import result

from gelu_verify.cli import main
from gelu_verify.formats import FORMATS
from gelu_verify.records import manifest, parts, schema
from gelu_verify.records.asking import repeat_command
from gelu_verify.records.grades import GRADED
from gelu_verify.records.result import Record
from gelu_verify.records.rules import rules_of
from gelu_verify.records.serialize import bare_type, from_json, keys_of, record_from_json, to_json, without_none
from gelu_verify.runs.store import MANIFEST, read_run, sealed

DECLARED = {**vars(parts), **vars(manifest), "Record": Record}
KINDS = [kind for kind in DECLARED.values() if dataclasses.is_dataclass(kind)]
STORED = [
    *(TESTS / "data").rglob(MANIFEST),
    *(ROOT / "data" / "runs").rglob(MANIFEST),
]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A run with timed results, pairs, failures and several dtypes, as the command writes it."""
    from click.testing import CliRunner

    folder = tmp_path_factory.mktemp("fresh")
    (folder / "mine.py").write_text("def raises_float32(x):\n    raise ValueError('\\udcff')\n")
    words = ["run", "kernels.gelu_erf", "kernels.silu_grad_exp", "numpy", f"{folder / 'mine.py'}:raises_float32"]
    options = ["--function", "gelu", "--plan", "landmarks", "--json", "--no-own"]
    done = CliRunner().invoke(main, [*words, *options, "--out", str(folder / "run")])
    assert done.exit_code == 1, done.output
    return folder / "run", json.loads(done.stdout)


@pytest.fixture(scope="module")
def record():
    return result("torch.gelu", "gelu", "float16")


# ---- the serialiser ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.parent.name)
def test_stored_results_are_written_back_as_they_were(path):
    documents = json.loads(path.read_text())["results"]
    again = [to_json(record_from_json(document)) for document in documents]
    assert json.dumps(again) == json.dumps(documents)


def test_a_stored_run_is_written_back_byte_for_byte(fresh):
    content = (fresh[0] / MANIFEST).read_bytes()
    run = read_run(fresh[0])
    facts = {key: value for key, value in run.manifest.items() if key != "content_sha256"}
    assert sealed(facts, run.results) == content
    assert run.document() == json.loads(content)


def test_what_is_printed_from_memory_is_what_is_stored(fresh):
    path, printed = fresh
    assert printed == json.loads((path / MANIFEST).read_text())["results"]
    assert any(record["failure"] for record in printed)
    assert any(record["throughput"] for record in printed)


def test_a_size_that_was_not_timed_has_no_numbers():
    times = {"elements_per_s": 1e9, "bytes_per_s": 4e9, "spread": 0.1, "copy_ratio": 0.5, "copy_bytes_per_s": 8e9}
    timed = {"level": "L1", "n": 4096, "threads": 1, **times, "repeats": 9}
    left_out = {"level": "memory", "n": 1 << 25, "threads": 2, "left_out": "it would take about 9 s"}
    document = {"elements_per_s": 1e9, "spread": 0.1, "copy_ratio": 0.5, "n": 4096, "sizes": [timed, left_out]}
    found = from_json(parts.Throughput, document)
    assert (found.sizes[0].left_out, found.sizes[1].elements_per_s) == (None, None)
    assert json.dumps(to_json(found)) == json.dumps(document)


def test_keys_of_a_later_version_are_kept(record):
    document = to_json(record) | {"later": {"a": [1, None]}}
    record = record_from_json(document)
    assert record.unknown["later"] == {"a": [1, None]}
    assert to_json(record) == document


def test_a_record_cannot_be_changed(record):
    for holder, name in ((record, "max_ulp"), (record.witness, "x_bits"), (record.regions[0], "n")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(holder, name, 1)


# ---- the declarations ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_key_says_what_it_is_and_when_it_is_null(kind):
    for each in keys_of(kind):
        assert each.text
        assert "|" not in each.text.replace("\\|", ""), "breaks the table"
        may_be_none = without_none(each.hint) is not each.hint
        never_null_once_there = each.omitted or each.key in ("inputs_sha256", "bound_kind")
        assert may_be_none == (each.null is not None) or never_null_once_there, each.key


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_rule_of_a_key_refuses_other_types(kind):
    values = {str: "x", int: 7, float: 0.5, bool: True, list: [[]], dict: {"": {"": 0}}, type(None): None}
    rules = rules_of(kind, FORMATS["float32"])
    for each in keys_of(kind):
        passing = {name for name, value in values.items() if rules[each.key](value) is None}
        assert (type(None) in passing) == (each.null is not None), each.key
        declared = bare_type(each.hint)
        expected = {float: {float, int}, int: {int}, str: {str}, bool: {bool}}
        containers = {tuple: {list}, Mapping: {dict}, Literal: {str}}
        allowed = expected.get(declared) or containers.get(get_origin(declared)) or {dict}
        assert passing - {type(None)} <= allowed, each.key


def test_all_that_schema_2_never_lacks_is_asked_for(record):
    needed = {each.key for each in keys_of(Record)} - {
        "rounding_mode",
        "failure_length",
        "coverage",
        "beside",
        "zero_sign",
        "own_faults",
        "executed",
        "executions",
        "expression",
        "dispatch",
        "second",
        *GRADED,
    }
    for key in sorted(needed):
        document = {name: value for name, value in to_json(record).items() if name != key}
        assert key in str(schema._wrong_document(document, 2)), key


# ---- the pages -----------------------------------------------------------------------------------


def test_the_key_tables_are_those_of_the_code():
    for path, text in tool("make_key_tables").pages().items():
        assert path.read_text(encoding="utf-8") == text, "run: python tools/make_key_tables.py"


def test_what_depends_on_the_call_is_repeated_as_a_whole():
    record = dataclasses.replace(result("k.c:gelu", "gelu", "float32"), repeat="gelu-verify run k.c:gelu --plan quick")
    assert repeat_command(record, "0x3f800000") == "gelu-verify ask k.c:gelu float32 0x3f800000"
    assert repeat_command(record, None) == record.repeat
    for check in ("lane", "lengths", "repeatable"):
        assert repeat_command(dataclasses.replace(record, checks={check: "fail"}), "0x3f800000") == record.repeat
    assert repeat_command(dataclasses.replace(record, checks={"lane": "pass"}), "0x3f800000") != record.repeat
