"""The reference data that are committed."""

import csv

from gelu_verify.paths import resource

DATA = resource("data")


def hard_cases(name, dtype):
    with (DATA / "hard_cases" / f"{name}-{dtype}.csv").open(encoding="utf-8") as file:
        return [(int(row["x_bits"], 16), int(row["y_bits"], 16), row["kind"]) for row in csv.DictReader(file)]
