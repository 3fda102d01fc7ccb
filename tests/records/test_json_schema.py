"""The JSON Schema says what the rules of a stored run say."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
import requiring

import gelu_verify
from gelu_verify.errors import ResultsError
from gelu_verify.records.schema import parsed_results
from gelu_verify.records.serialize import to_json

FOLDER = Path(__file__).parents[2] / "data" / "schema"
OF_CONDENSED = Path(__file__).parents[2] / "data" / "runs" / "matrix-2026-11-22"


@pytest.fixture(scope="module")
def validators():
    jsonschema = requiring.module("jsonschema")
    found = {path.stem: json.loads(path.read_text()) for path in FOLDER.glob("*.json")}
    for schema in found.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    return {name: jsonschema.Draft202012Validator(schema) for name, schema in found.items()}


@pytest.fixture(scope="module")
def results():
    """A good result, one with a failing check, and one that failed."""

    def wrong(x):
        return np.where(x < -3, 1, x).astype(np.float32)

    def raises(x):
        raise ValueError("no")

    found = [gelu_verify.verify(f, "gelu", dtype="float32", plan="quick") for f in (np.tanh, wrong, raises)]
    return [to_json(result.record) for result in found]


def test_what_is_printed_is_valid(validators, results):
    validators["results"].validate(results)


def test_stored_runs_are_valid_but_for_what_condensed_ones_lack(validators):
    document = json.loads((OF_CONDENSED / "manifest.json").read_text())
    errors = [error for error in validators["run"].iter_errors(document) if error.validator != "required"]
    assert not errors
    assert not list(validators["run"].iter_errors(document | {"results": []}))


def test_random_changes_that_the_schema_refuses_are_refused_on_reading(validators, results):
    rng, refused = random.Random(5), 0
    for _ in range(300):
        result = json.loads(json.dumps(rng.choice(results)))
        place = result
        while True:
            key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
            if not isinstance(place[key], dict | list) or not place[key] or rng.random() < 0.3:
                break
            place = place[key]
        place[key] = rng.choice([None, -1, 0.5, "no such", [], {}, True, 1e400, "0x12"])
        if not validators["results"].is_valid([result]):
            refused += 1
            with pytest.raises(ResultsError):
                parsed_results(MANIFEST | {"results": [result]})
    assert refused > 100


MANIFEST = {"schema": 2, "command": "", "created": "2026-11-23T00:00:00Z", "seed": 0, "plan": "quick", "versions": {},
            "machine": {}, "git": None, "copy_bytes_per_s": None, "absent": {}}  # fmt: skip
