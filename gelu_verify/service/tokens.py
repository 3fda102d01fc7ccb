"""The token that permits storing and deleting runs."""

from __future__ import annotations

import hmac
from typing import Annotated

from fastapi import Header

from .problems import Problem
from .state import AppState

Authorization = Annotated[str | None, Header(description="`Bearer` and the token of this server.")]


def check_token(state: AppState, authorization: str | None) -> None:
    """Problem 401 unless the header has the token."""
    scheme, _, token = (authorization or "").partition(" ")
    expected = state.settings.token
    right = expected is not None and hmac.compare_digest(token.strip().encode(), expected.encode())
    if scheme.lower() != "bearer" or not right:
        detail = "wrong token (accepted: `Bearer` and the token of this server)"
        raise Problem(401, "token", detail, {"WWW-Authenticate": "Bearer"})
