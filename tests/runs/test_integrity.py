"""Evidence that was edited: a run follows from its buckets, or it is refused by name, with 2, in one line."""

import copy
import json
import math
import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import call
from forged import edited, relabelled, seal
from marking import nightly
from mutants import faulty, target, where
from repository import TESTS
from synthetic_runs import manifest

from gelu_verify.buckets.bins import folded
from gelu_verify.checks import CHECKS
from gelu_verify.cli.program import USAGE
from gelu_verify.errors import ResultsError
from gelu_verify.gate import budgets as gate
from gelu_verify.inputs.plans import make_plan
from gelu_verify.machine import machine
from gelu_verify.measure.jobs import find_jobs
from gelu_verify.measure.request import Request
from gelu_verify.measure.sweep import sweep
from gelu_verify.records.parts import Throughput
from gelu_verify.records.schema import CHECKS_OF_1, FIRST_CHECKS
from gelu_verify.runs import committed
from gelu_verify.runs.bucket_files import IDENTITY, read_columns
from gelu_verify.runs.integrity import verified
from gelu_verify.runs.store import read_run, sealed, write_run

RUNS = TESTS / "data"
OLD = [RUNS / "one_size", *(RUNS / "stores" / "version-1" / "runs").iterdir()]
TIMES = {"elements_per_s": 1e8, "spread": 0.1, "copy_ratio": 0.2, "n": 100}


def crash(dtype, x):
    raise RuntimeError("no")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of our kernels in three dtypes, and of one that failed."""
    results = []
    for name, dtype in (
        ("kernels.gelu_erf", "float32"),
        ("kernels.silu_exp", "float16"),
        ("kernels.gelu_grad_erf", "float64"),
    ):
        plan = "quick" if dtype != "float16" else "default"
        (job,) = find_jobs(Request(targets=(name,), dtypes=(dtype,), plan=plan)).jobs
        results.append(sweep(job.target, job.plan).updated(throughput=Throughput(**TIMES)))
    results.append(relabelled(sweep(target("gelu", crash), make_plan("quick", "gelu", "float32")), family="torch"))
    facts = {key: manifest()[key] for key in ("versions", "git", "copy_bytes_per_s")} | {"machine": machine()}
    place = tmp_path_factory.mktemp("whole") / "run"
    return write_run(results, place, command="run", seed=0, plan="quick", absent={"jax": "not here"}, facts=facts)


@pytest.fixture
def run(whole, tmp_path):
    return Path(shutil.copytree(whole, tmp_path / "run"))


@pytest.fixture(scope="module")
def budgets(whole, tmp_path_factory):
    path = tmp_path_factory.mktemp("budgets") / "budgets.toml"
    results = [record for record in read_run(whole).results if record.failure is None]
    made = gate.make_budgets(results, machine(), "2026-11-22")
    gate.write_budgets(path, made, "gelu-verify budget RUN")
    return path


def commands(run, budgets):
    fresh = run.parent / "fresh.toml"
    return (
        ("gate", run, "--budgets", budgets),
        ("budget", run, "--budgets", fresh),
        ("report", run, "--out", run.parent / "report"),
    )


def refused(run, budgets):
    """What all who read a run say of it; each in one line, with 2."""
    outcomes = [call(*words) for words in commands(run, budgets)]
    for code, line in outcomes:
        assert (code, line.count("\n"), line.startswith("gelu-verify: error: ")) == (USAGE, 1, True), line
    return outcomes[0][1]


def test_a_run_that_nobody_touched_is_believed(run, budgets):
    assert [call(*words)[0] for words in commands(run, budgets)] == [0, 0, 0]
    assert verified(read_run(run)).results[0].max_ulp > 1


# ---- one bit -------------------------------------------------------------------------------------


@pytest.mark.few(1)
@pytest.mark.parametrize("flips", [8, *nightly(500)])
@pytest.mark.parametrize("name", ["manifest.json", "buckets/000.parquet", "buckets/001.parquet"])
def test_every_flipped_bit_is_refused(run, budgets, name, flips):
    path, rng = run / name, np.random.default_rng(7)
    content = path.read_bytes()
    for k, place in enumerate(rng.integers(len(content), size=3 * flips if name == "manifest.json" else flips)):
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(flipped)
        with pytest.raises(ResultsError) as error:
            verified(read_run(run))
        assert "\n" not in str(error.value)
        if k < flips // 4:  # reading a run is the same for all
            refused(run, budgets)


@pytest.mark.parametrize("flips", [20, *nightly(500)])
@pytest.mark.parametrize("old", OLD, ids=lambda path: path.name)
def test_runs_of_the_first_schema_are_read_and_derived_again(old, tmp_path, flips):
    assert verified(read_run(old)).manifest["schema"] == 1
    place = Path(shutil.copytree(old, tmp_path / "run"))
    assert call("report", place)[0] == 0
    path, rng = place / "manifest.json", np.random.default_rng(7)
    content = path.read_bytes()
    for place_of_bit in rng.integers(len(content), size=flips):
        flipped = bytearray(content)
        flipped[place_of_bit] ^= 1 << int(rng.integers(8))
        path.write_bytes(flipped)
        code, outcomes = call("report", place)
        assert code in (0, USAGE), outcomes  # it has no hash: texts may change, nothing that follows from the buckets


@pytest.mark.parametrize("old", OLD, ids=lambda path: path.name)
def test_runs_of_the_first_schema_do_not_decide(old, budgets):
    for words in (("gate", old, "--budgets", budgets), ("budget", old, "--budgets", budgets)):
        code, outcomes = call(*words)
        assert (code, "schema 1 has no content hash" in outcomes) == (USAGE, True)


# ---- sealed again --------------------------------------------------------------------------------


def put(*path, value):
    def change(manifest):
        holder = manifest
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = value

    return change


def swap(*keys):
    def change(manifest):
        first, second, *_ = manifest["results"]
        for key in keys:
            first[key], second[key] = second[key], first[key]

    return change


def drop(*path):
    def change(manifest):
        holder = manifest
        for key in path[:-1]:
            holder = holder[key]
        del holder[path[-1]]

    return change


WRONG = [math.nan, math.inf, -1, -0.25, 0.0, 0.125, 10**400, 1e300, "x", "\udc80", "", [], {}, True]
DERIVED = [
    *("n", "max_ulp", "mean_ulp", "p50_ulp", "p99_ulp", "correctly_rounded", "faithful", "bits_sha256", "witness"),
    *("nonfinite", "regions", "intervals", "checks", "bound", "buckets", "sha256", "findings", "max_rank", "dtype"),
]


@pytest.mark.few(5)
@pytest.mark.parametrize("key", DERIVED)
def test_a_measure_that_does_not_follow_is_refused_though_the_hash_is_right(whole, run, budgets, key):
    for value in [*WRONG, None]:
        edited(run, put("results", 0, key, value=value))
        with pytest.raises(ResultsError) as error:
            verified(read_run(run))
        assert "\n" not in str(error.value)
        shutil.copy(whole / "manifest.json", run / "manifest.json")
    edited(run, put("results", 0, key, value={}))
    refused(run, budgets)


CHANGES = {
    "witness": put("results", 0, "witness", "got_bits", value="0x00000000"),
    "region": put("results", 0, "regions", 3, "max_ulp", value=0.5),
    "region witness": put("results", 0, "regions", 3, "witness", "x_bits", value="0xbf900000"),
    "no regions": put("results", 0, "regions", value=[]),
    "interval": put("results", 0, "intervals", 9, "max_ulp", value=0.25),
    "counts": put("results", 0, "intervals", 9, "correct", value=1),
    "no checks": put("results", 0, "checks", value={}),
    "a check less": drop("results", 0, "checks", "repeatable"),
    "a first check less": drop("results", 0, "checks", "nan"),
    "a check that passes": put("results", 0, "checks", "monotone", value="pass"),
    "another severity": put("results", 0, "findings", "monotone", "severity", value="convention"),
    "no severity": put("results", 0, "findings", "monotone", "severity", value=None),
    "a severity left out": drop("results", 0, "findings", "monotone", "severity"),
    "an unknown verdict": put("results", 0, "checks", "nan", value="passed"),
    "swapped tables": swap("buckets", "sha256"),
    "swapped names": swap("target"),
    "a result twice": lambda manifest: manifest["results"].append(copy.deepcopy(manifest["results"][0])),
    "a table elsewhere": put("results", 0, "buckets", value="../run/buckets/000.parquet"),
    "an absolute table": put("results", 0, "buckets", value="/dev/zero"),
    "no table": put("results", 0, "buckets", value=None),
    "exhaustive": put("results", 0, "bound", value="="),
    "another plan": put("results", 0, "plan", value="default"),
    "another schema": put("schema", value=3),
    "the first schema": put("schema", value=1),
    "no machine": put("machine", value={}),
    "a machine of numbers": put("machine", "isa", value=[1, 2]),
    "another width": put("results", 0, "witness", "x_bits", value="0x1234"),
    "a failure that measured": put("results", 3, "max_ulp", value=0.5),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", CHANGES)
def test_an_edited_run_is_refused_though_the_hash_is_right(run, budgets, name):
    edited(run, CHANGES[name])
    if name in ("a result twice", "no machine", "a check less"):  # only who decides by it must have it
        code, outcomes = call("gate", run, "--budgets", budgets)
        assert (code, outcomes.count("\n")) == (USAGE, 1), outcomes
    else:
        refused(run, budgets)


def test_who_decides_by_a_machine_is_told_that_there_is_none(run, budgets):
    edited(run, CHANGES["no machine"])
    for command in (("gate", run, "--budgets", budgets), ("budget", run, "--budgets", budgets)):
        code, outcomes = call(*command)
        assert code == USAGE, outcomes
        assert "error: the run does not record the libm, architecture, isa of its machine" in outcomes.splitlines()[-1]


def test_the_line_says_which_result_and_what_the_buckets_say(run, budgets):
    edited(run, put("results", 0, "max_ulp", value=2.5e7))  # larger than any that the record has beside the buckets
    outcomes = refused(run, budgets)
    assert "kernels.gelu_erf/gelu/float32: max_ulp is 2.5e+07, and the buckets say " in outcomes


TEXTS = {
    "nested": '{"schema": 2, "results": ' + "[" * 200_000,
    "a key twice": '{"schema": 2, "schema": 2',
    "a long number": '{"schema": ' + "9" * 5000,
    "half a character": '{"schema": 2, "command": "\\udc80"',
    "NaN": '{"schema": NaN',
    "nothing": "",
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_no_strict_json_is_refused(run, budgets, name):
    seal(run, TEXTS[name])
    assert "is truncated or not JSON" in refused(run, budgets)


@pytest.mark.parametrize("edits", [20, *nightly(200)])
def test_random_edits_end_in_an_answer_or_in_one_line(whole, run, budgets, edits):
    """Any value of the manifest replaced by any other: nobody ends in a traceback, or with 1 for a file."""
    rng = np.random.default_rng(11)
    told = json.loads((whole / "manifest.json").read_text())
    places = [path for path in paths(told) if path and path != ("content_sha256",)]
    for _ in range(edits):
        path = places[rng.integers(len(places))]
        edited(run, put(*path, value=[*WRONG, None][rng.integers(len(WRONG) + 1)]))
        for words in commands(run, budgets):
            code, outcomes = call(*words)
            assert code in (0, USAGE), outcomes
            assert code == 0 or outcomes.count("\n") == 1, outcomes
        (run.parent / "fresh.toml").unlink(missing_ok=True)
        shutil.copy(whole / "manifest.json", run / "manifest.json")


def paths(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(each, (*path, key))


# ---- tables --------------------------------------------------------------------------------------


def retold(run, index, change, as_it_is=False):
    """The run with another bucket table, and hashes that belong to it; `as_it_is`: outputs, where these stand alone."""
    import hashlib

    path = run / f"buckets/{index:03d}.parquet"
    stored = pq.read_table(path)
    whole = pa.table(read_columns(path.read_bytes())).replace_schema_metadata(stored.schema.metadata)
    pq.write_table(change(stored if as_it_is else whole), path)
    edited(run, put("results", index, "sha256", value=hashlib.sha256(path.read_bytes()).hexdigest()))


def column(name, of):
    def change(table):
        values = of(table.column(name).to_numpy().copy())
        return table.set_column(table.schema.get_field_index(name), name, pa.array(values))

    return change


TABLES = {
    "rows gone": lambda table: table.slice(0, table.num_rows - 3),
    "no rows": lambda table: table.slice(0, 0),
    "rows twice": lambda table: pa.concat_tables([table, table]),
    "a column less": lambda table: table.drop_columns(["n"]),
    "a column more": lambda table: table.append_column("more", table.column("n")),
    "no metadata": lambda table: table.replace_schema_metadata(None),
    "another target": lambda table: table.replace_schema_metadata(
        {"gelu_verify": json.dumps(dict.fromkeys(IDENTITY, 1))}
    ),
    "smaller errors": column("max_error", lambda error: np.minimum(error, 0.4)),
    "no errors": column("max_error", lambda error: np.full_like(error, np.nan)),
    "negative errors": column("max_error", lambda error: -error),
    "more inputs": column("n", lambda n: n + np.uint32(1)),
    "all right": column("correct", lambda correct: correct + np.uint32(1)),
    "another sum": column("error_sum", lambda total: np.zeros_like(total)),
    "another hash": column("bits_hash", lambda bits: np.zeros_like(bits)),
    "another histogram": column("hist_00", lambda hist: hist + np.uint32(1)),
    "another witness": column("max_error_got", lambda got: got ^ got.dtype.type(1)),
    "another bucket": column("max_error_x", lambda x: x[::-1].copy()),
    "other types": column("n", lambda n: n.astype(np.int64)),
    "nothing rises": column("rises", lambda count: np.zeros_like(count)),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", TABLES)
def test_an_edited_table_is_refused_though_the_hashes_are_right(run, budgets, name):
    index = 1 if name == "nothing rises" else 0
    if name == "nothing rises":  # the check still fails: nothing contradicts that, and it excuses nothing
        retold(run, index, TABLES[name])
        verified(read_run(run))
        return
    retold(run, index, TABLES[name])
    refused(run, budgets)


OUTPUTS = {
    "rows gone": lambda table: table.slice(0, table.num_rows - 3),
    "no rows": lambda table: table.slice(0, 0),
    "rows twice": lambda table: pa.concat_tables([table, table]),
    "no metadata": lambda table: table.replace_schema_metadata(None),
    "an unknown function": lambda table: table.replace_schema_metadata(
        {"gelu_verify": json.dumps({"function": "no", "dtype": "float16"})}
    ),
    "another format": lambda table: table.replace_schema_metadata(
        {"gelu_verify": json.dumps({"function": "silu", "dtype": "float32"})}
    ),
    "another output": column(
        "got", lambda got: np.where(np.arange(len(got)) == 30_000, got ^ 1, got).astype(np.uint16)
    ),
    "another count": column("correct", lambda correct: 1 - correct),
    "other types": column("got", lambda got: got.astype(np.uint32)),
    "no output": lambda table: table.set_column(1, "got", pa.array([None] * len(table), pa.uint16())),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", OUTPUTS)
def test_edited_outputs_are_refused_though_the_hashes_are_right(run, budgets, name):
    retold(run, 1, OUTPUTS[name], as_it_is=True)
    refused(run, budgets)


@pytest.mark.parametrize(("factor", "is_right"), [(1 + 2**-30, True), (1 + 2**-12, False)])
def test_the_last_bits_of_an_error_are_those_of_the_version_that_stored_it(run, budgets, factor, is_right):
    def change(manifest):
        for place in (manifest["results"][1], *manifest["results"][1]["regions"], *manifest["results"][1]["intervals"]):
            if place["max_ulp"] is not None:
                place["max_ulp"] *= factor

    edited(run, change)
    if is_right:
        verified(read_run(run))
    else:
        refused(run, budgets)


def test_16_bits_are_stored_as_outputs_alone_and_a_whole_table_as_it_was_stored_before_is_read(whole, run):
    path = run / "buckets/001.parquet"
    assert pq.read_schema(path).names == ["bucket", "got", "n", "correct"]
    assert path.stat().st_size < 10_000 < (run / "buckets/000.parquet").stat().st_size
    before = path.stat().st_size
    retold(run, 1, lambda table: table)
    assert len(pq.read_schema(path).names) > 40
    assert path.stat().st_size > 20 * before
    assert verified(read_run(run)).table(1).equals(read_run(whole).table(1))


def test_wider_tables_are_stored_without_correct_values_and_a_whole_one_as_it_was_stored_before_is_read(whole, run):
    path = run / "buckets/000.parquet"
    names = pq.read_schema(path).names
    assert "max_error_rank" in names
    assert {"max_error_got", "max_error_want"}.isdisjoint(names)
    retold(run, 0, lambda table: table)
    names = pq.read_schema(path).names
    assert {"max_error_got", "max_error_want"} <= set(names)
    assert verified(read_run(run)).table(0).equals(read_run(whole).table(0))


RANKS = {
    "another rank": column("max_error_rank", lambda rank: rank + 1),
    "a rank beyond all numbers": column("max_error_rank", lambda rank: np.full_like(rank, 1 << 62)),
    "other types": column("max_error_rank", lambda rank: rank.astype(np.int32)),
    "no rank": lambda table: table.set_column(
        table.schema.get_field_index("max_error_rank"), "max_error_rank", pa.array([None] * len(table), pa.int64())
    ),
    "no metadata": lambda table: table.replace_schema_metadata(None),
    "another function": lambda table: table.replace_schema_metadata(
        {"gelu_verify": json.dumps({"function": "silu", "dtype": "float32"})}
    ),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", RANKS)
def test_edited_ranks_are_refused_though_the_hashes_are_right(run, budgets, name):
    retold(run, 0, RANKS[name], as_it_is=True)
    refused(run, budgets)


def into_bins(table):
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    return pa.table(folded(columns, "float32")).replace_schema_metadata(table.schema.metadata)


def test_folded_buckets_are_believed_of_our_kernels_alone_and_as_far_as_they_go(run, budgets):
    retold(run, 0, into_bins)
    assert verified(read_run(run)).results[0] == read_run(run).results[0]
    edited(run, put("results", 0, "family", value="torch"))
    assert "has not the columns" in refused(run, budgets).replace("have", "has")
    edited(run, put("results", 0, "family", value="kernels"))
    retold(run, 0, column("max_error", lambda error: error / 2), as_it_is=True)
    assert "not what the buckets say" in refused(run, budgets)


def test_links_and_folders_are_no_files_of_a_run(run, budgets):
    path = run / "buckets" / "000.parquet"
    path.rename(run.parent / "elsewhere")
    path.symlink_to(run.parent / "elsewhere")
    assert "it is not a file" in refused(run, budgets)
    path.unlink()
    path.mkdir()
    assert "it is not a file" in refused(run, budgets)
    path.rmdir()
    os.mkfifo(path)
    assert "it is not a file" in refused(run, budgets)


# ---- recorded runs -------------------------------------------------------------------------------


@pytest.fixture
def kept(run, tmp_path):
    committed.commit(read_run(run), tmp_path / "runs")
    return tmp_path / "runs"


def test_a_recorded_run_follows_from_its_folded_buckets(kept):
    (folder,) = kept.iterdir()
    assert len(verified(read_run(folder)).results) == 4


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "change",
    [
        put("results", 0, "max_ulp", value=0.5),
        put("results", 0, "intervals", 9, "max_ulp", value=0.25),
        put("results", 0, "nonfinite", "count", value=7),
        swap("buckets", "sha256"),
        drop("results", 0, "checks", "nan"),
    ],
)
def test_an_edited_record_is_refused(kept, run, budgets, change):
    (folder,) = kept.iterdir()
    edited(folder, change)
    for words in (
        ("gate", run, "--budgets", budgets, "--recorded", kept, "--require", "cuda"),
        ("report", run, "--recorded", kept),
    ):
        code, outcomes = call(*words)
        assert (code, outcomes.count("\n"), folder.name in outcomes) == (USAGE, 1, True), outcomes


# ---- what is measured ----------------------------------------------------------------------------


def test_old_check_names_are_frozen():
    """Schema 1 is read for ever: a check that is renamed must not change what its runs may say."""
    assert set(FIRST_CHECKS) < set(CHECKS_OF_1)
    assert len(CHECKS_OF_1) == 20
    assert set(FIRST_CHECKS) <= set(CHECKS), "read_run asks every run for these"


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_runs_of_faulty_implementations_follow_from_their_buckets(dtype, tmp_path):
    faults = [
        where(lambda x: x == 1, "nan"), where(lambda x: x < -3, "0"), where(lambda x: x > 2, "inf"),
        where(lambda x: abs(x) < 1e30, "nan"), where(lambda x: x < 0, "1"),
    ]  # fmt: skip
    plan = "quick" if dtype in ("float32", "float64") else "default"
    results = [
        sweep(faulty(name, fault), make_plan(plan, name, dtype), few_calls=True)
        for name in ("gelu", "gelu_grad") for fault in faults
    ]  # fmt: skip
    facts = {"versions": {}, "machine": {}, "git": None, "copy_bytes_per_s": None}
    place = write_run(results, tmp_path / "run", command="", seed=0, plan=plan, absent={}, facts=facts)
    assert len(verified(read_run(place)).results) == len(results)
    folder = committed.commit(read_run(place), tmp_path / "runs")
    assert len(verified(read_run(folder)).results) == len(results)


def test_a_command_that_is_no_text_can_be_stored(tmp_path):
    body = sealed({**manifest(), "schema": 2, "command": "run \udcff"}, [])
    (tmp_path / "manifest.json").write_bytes(body)
    assert read_run(tmp_path).manifest["command"] == "run ?"
