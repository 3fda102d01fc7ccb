"""The tokens that permit storing and deleting runs: one of the operator, or one for each client, with scopes."""

# No annotations of the future here: FastAPI before 0.124 does not find their names where a dependency is an object.
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Request, Security
from fastapi.security import HTTPBearer

from ..errors import UsageError
from .problems import Problem

SCOPES = ("store", "delete", "delete-any")
"""Uploads are stored; runs that were stored with this token can be deleted; all runs can."""
_NAME = re.compile("[a-z0-9_]{1,20}")
_LEAST = 16  # characters


class _Bearer(HTTPBearer):
    """The header as it is: `checked_token` says what is wrong with it."""

    async def __call__(self, request: Request) -> str | None:  # type: ignore[override]
        return request.headers.get("authorization")


Authorization = Annotated[
    str | None, Security(_Bearer(scheme_name="token", description="A token that the operator of the server gave."))
]


@dataclass(frozen=True)
class Token:
    """A token; the operator's has no name."""

    name: str
    scopes: frozenset[str]
    text: str = field(repr=False)

    def may_delete(self, run: str) -> bool:
        """Whether it may delete a stored run, whose name has that of the token with which it was stored."""
        owner = run.split("-")[1:-1]
        return "delete-any" in self.scopes or ("delete" in self.scopes and owner == [self.name])


def parse_tokens(text: str) -> tuple[Token, ...]:
    """One token alone, the operator's; or lines of a name, scopes separated by commas, and a token.

    Raises
    ------
    UsageError : names the line and what is wrong; never the token
    """
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if len(lines) == 1 and len(lines[0]) == 1:
        return (_checked("the token", "", SCOPES, lines[0][0]),)
    found: list[Token] = []
    for number, parts in enumerate(lines, 1):
        if len(parts) != 3:
            raise UsageError(f"token {number} has {len(parts)} fields (accepted: a name, scopes and a token)")
        name, scopes, secret = parts
        if not _NAME.fullmatch(name) or name in (each.name for each in found):
            raise UsageError(f"the name of token {number} is {name[:40]!r} (accepted: {_NAME.pattern}, each once)")
        found.append(_checked(f"token {name}", name, scopes.split(","), secret))
    if not found:
        raise UsageError("there is no token (accepted: one, or lines of a name, scopes and a token)")
    return tuple(found)


def _checked(what: str, name: str, scopes: Sequence[str], text: str) -> Token:
    if unknown := [each for each in scopes if each not in SCOPES]:
        raise UsageError(f"{what} has the scope {unknown[0][:40]!r} (accepted: {', '.join(SCOPES)})")
    if len(text) < _LEAST or not text.isascii() or not text.isprintable():
        raise UsageError(f"{what} must have at least {_LEAST} printable ASCII characters")
    return Token(name, frozenset(scopes), text)


def checked_token(tokens: Sequence[Token], authorization: str | None, *scopes: str) -> Token:
    """The token in the header; Problem 401 if there is none, 403 if it has none of the scopes."""
    scheme, _, text = (authorization or "").partition(" ")
    right = [each for each in tokens if hmac.compare_digest(text.strip().encode(), each.text.encode())]
    if scheme.lower() != "bearer" or not right:
        detail = f"{'wrong' if authorization else 'no'} token (accepted: `Bearer` and a token of this server)"
        raise Problem(401, "token", detail, {"WWW-Authenticate": "Bearer"})
    if right[0].scopes.isdisjoint(scopes):
        raise Problem(403, "scope", f"the token does not permit this (it needs the scope {' or '.join(scopes)})")
    return right[0]
