"""A table as JSON and named arrays, and both as text, for the way from the process that made it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from ..formats import get_format
from ..work.packing import compressed, uncompressed
from .table import Columns, Facts, Table


def text_of_table(table: Table) -> str:
    """The text that `table_of_text` reads."""
    return base64.b64encode(compressed(*parts_of_table(table))).decode()


def table_of_text(text: str) -> Table:
    """The table that `text_of_table` wrote."""
    return table_of_parts(*uncompressed(base64.b64decode(text)))


def parts_of_table(table: Table) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What `table_of_parts` makes it of: JSON, and arrays by name."""
    arrays = {f"columns.{name}": column for name, column in table.columns.items()}
    arrays |= {f"regions.{name}": column for name, column in table.regions.items()}
    arrays |= {name: getattr(table, name) for name in ("hist", "segments", "samples")}
    return {"dtype": table.fmt.name, "facts": asdict(table.facts)}, arrays


def table_of_parts(fields: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Table:
    """The table of `parts_of_table`."""
    facts: dict[str, Any] = {
        name: tuple(key) if isinstance(key, list) else key for name, key in fields["facts"].items()
    }
    rest: dict[str, Any] = {name: arrays[name] for name in ("hist", "segments", "samples")}
    rest |= {part: _columns(arrays, part) for part in ("columns", "regions")}
    return Table(get_format(fields["dtype"]), **rest, facts=Facts(**facts))


def _columns(arrays: Mapping[str, np.ndarray], part: str) -> Columns:
    return {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{part}.")}
