"""A search kept in a folder: its state between two rounds, so that the same command goes on where it was."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..atomic_files import replace_file
from ..errors import ResultsError
from .intervals import COLUMNS
from .state import Asked, Place, State

FILE = "state.npz"
_PLAIN = ("evaluations", "rounds", "looked_at", "tried_in_order", "of_source", "counts", "nonfinite", "wrong_sign")


def save(folder: Path, state: State, seconds: float, identity: dict[str, str]) -> None:
    """Write the state, or replace it at once."""
    facts = {name: getattr(state, name) for name in _PLAIN} | {"seconds": seconds, "identity": identity}
    facts["places"] = [[cell, asdict(place)] for cell, place in state.places.items()]
    facts["asked"] = asdict(state.asked)
    content = io.BytesIO()
    arrays: dict[str, Any] = {name: getattr(state.intervals, name) for name in COLUMNS}
    np.savez(content, facts=np.frombuffer(json.dumps(facts).encode(), np.uint8), **arrays)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / FILE, content.getvalue())
    except OSError as error:
        raise ResultsError(f"{folder}: cannot be written: {error.strerror}") from None


def restored(folder: Path, asked: Asked, identity: dict[str, str]) -> tuple[State, float] | None:
    """The state and its seconds; None where nothing is kept there.

    Raises
    ------
    ResultsError : it is of another search, or cannot be read
    """
    path = folder / FILE
    if not path.exists():
        return None
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            facts = json.loads(file["facts"].tobytes())
            columns = {name: file[name] for name in COLUMNS}
        there = {**facts["identity"], **{name: str(value) for name, value in facts["asked"].items()}}
    except Exception as error:  # noqa: BLE001 - of a damaged file zipfile and NumPy raise a dozen kinds
        raise ResultsError(f"{path}: is not the state of a search: {error}") from None
    here = {**identity, **{name: str(value) for name, value in json.loads(json.dumps(asdict(asked))).items()}}
    for name, value in here.items():
        if there.get(name) != value:
            raise ResultsError(f"{folder}: holds another search: its {name} is {there.get(name)}, not {value}")
    state = State.start(asked)
    for name in COLUMNS:
        setattr(state.intervals, name, columns[name])
    for name in _PLAIN:
        value = facts[name]
        setattr(state, name, tuple(value) if isinstance(value, list) else value)
    state.places = {cell: Place(**place) for cell, place in facts["places"]}
    return state, float(facts["seconds"])
