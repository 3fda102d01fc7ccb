"""Write what follows from the records: the tables of keys in docs/json.md, docs/compare.md, docs/search.md and
docs/stochastic.md, and data/schema/; from the report's columns the tables of reports/README.md; the table of
docs/compare.md of what is worse; and that of the routes in docs/http.md.

python tools/make_key_tables.py            write them, those of pages between the marks
python tools/make_key_tables.py --check    exit with 1 if that would change one
"""

from __future__ import annotations

import sys
from json import dumps
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from key_tables import key_tables

from gelu_verify.checks import own_checks
from gelu_verify.compare.comparison import Comparison
from gelu_verify.compare.trend import Trend
from gelu_verify.judge.rules import RULES
from gelu_verify.judge.sides import Change
from gelu_verify.records.json_schema import list_schema, schema_of
from gelu_verify.records.manifest import Manifest
from gelu_verify.records.result import Record
from gelu_verify.report.columns import KEYS, RESULT, RESULTS, SUMMARY, TABLES, Column
from gelu_verify.search.record import SearchRecord
from gelu_verify.stochastic.report import MapVerdict
from gelu_verify.versions.overview import Libraries
from gelu_verify.versions.timeline import Timeline

ROOT = Path(__file__).parents[1]
COMMAND = "python tools/make_key_tables.py"
BEGIN, END = f"<!-- keys: written by `{COMMAND}` -->\n", "<!-- /keys -->\n"


def column_tables() -> str:
    """The columns that every CSV file has, then those of each."""
    parts = [_table("column of every file", (*KEYS, RESULT))]
    parts += [
        f"`{name}.csv`, one row per {table.rows}:\n\n{_table('column', table.columns)}"
        for name, table in TABLES.items()
    ]
    checks = {f"check_{name}" for name in own_checks()}
    more = [column for column in RESULTS.columns if column not in SUMMARY.columns and column.name not in checks]
    more.append(Column("check_NAME", "outcome of the check NAME: `pass`, `fail`, `not applicable`"))
    parts.append(
        f"`results.parquet`, one row per result, has those of `summary.csv` and:\n\n{_table('column', (*more,))}"
    )
    return "\n".join(parts)


def _table(head: str, columns: tuple[Column, ...]) -> str:
    """One line for each column; those of bits and their decimal share one."""
    lines = [f"| {head} | unit | value |", "|---|---|---|"]
    decimals = {column.name.removesuffix("_bits") for column in columns if column.name.endswith("_bits")}
    for column in columns:
        bare = column.name.removesuffix("_bits")
        if column.name not in decimals:
            names = f"`{column.name}`, `{bare}`" if column.name != bare else f"`{bare}`"
            lines.append(f"| {names} | {column.unit} | {column.text} |")
    return "\n".join(lines) + "\n"


def comparison_tables() -> str:
    """What counts as worse, and the keys of a comparison and of a trend."""
    lines = [
        "| `what` | name | when the new result is worse | what a budget of another machine allows |",
        "|---|---|---|---|",
    ]
    lines += [f"| `{name}` | {rule.title} | {rule.worse} | {rule.elsewhere} |" for name, rule in RULES.items()]
    comparison, trend = key_tables(Comparison), key_tables(Trend)
    rules = "\n".join(lines)
    return f"{rules}\n\n## `compare --json`\n\n{comparison}\n## `trend --json`\n\n{trend}"


def release_tables() -> str:
    """The keys of the releases of a library, and of all libraries."""
    return f"{key_tables(Timeline, elsewhere=Change)}\n### All libraries\n\n{key_tables(Libraries)}"


def route_table() -> str:
    """Every route of the service, in the order of its OpenAPI document."""
    from starlette.testclient import TestClient

    from gelu_verify.service.app import create_app

    with TestClient(create_app()) as client:
        paths = client.get("/v1/openapi.json").json()["paths"]
    lines = ["| method | route | what it answers |", "|---|---|---|"]
    for path, operations in paths.items():
        lines += [f"| {method.upper()} | `{path}` | {each['summary']} |" for method, each in operations.items()]
    return "\n".join(lines) + "\n"


PAGES = {
    ROOT / "docs" / "json.md": (key_tables, lambda: key_tables(Manifest, elsewhere=Record), release_tables),
    ROOT / "docs" / "compare.md": (comparison_tables,),
    ROOT / "docs" / "stochastic.md": (lambda: key_tables(MapVerdict),),
    ROOT / "docs" / "search.md": (lambda: key_tables(SearchRecord),),
    ROOT / "docs" / "http.md": (route_table,),
    ROOT / "reports" / "README.md": (column_tables,),
}
SCHEMAS = {
    "results": list_schema(Record),
    "run": schema_of(Manifest),
    "comparison": schema_of(Comparison),
    "trend": schema_of(Trend),
    "versions": schema_of(Timeline),
    "libraries": schema_of(Libraries),
}


def pages() -> dict[Path, str]:
    """Each page with the tables of today, and the JSON Schemas."""
    found = {
        ROOT / "data" / "schema" / f"{name}.json": f"{dumps(found, indent=1)}\n" for name, found in SCHEMAS.items()
    }
    for path, tables in PAGES.items():
        text, *marked = path.read_text(encoding="utf-8").split(BEGIN)
        for table, after in zip(tables, marked, strict=True):
            text += BEGIN + table() + END + after.partition(END)[2]
        found[path] = text
    return found


def main(arguments: list[str]) -> int:
    if "--check" in arguments:
        return int(any(not path.exists() or path.read_text(encoding="utf-8") != text for path, text in pages().items()))
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
