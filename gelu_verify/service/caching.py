"""HTTP caching: ETag, Cache-Control, 304 Not Modified."""

from __future__ import annotations

from hashlib import blake2b

from starlette.requests import Request
from starlette.responses import Response

from .. import __version__

IMMUTABLE = "public, max-age=31536000, immutable"
"""For URLs that name the version or a hash of the content."""
FRESH = "public, max-age=3600, stale-while-revalidate=86400"
"""For what only a new version of this program changes."""
REVALIDATE = "public, no-cache"
NO_STORE = "no-store"


def control_of(version: str) -> str:
    """How long a response may be cached whose URL names this version of the program, or none."""
    return IMMUTABLE if version == __version__ else FRESH


def etag(content: bytes | bytearray | memoryview) -> str:
    """A strong ETag: a hash of the content."""
    return f'"{blake2b(content, digest_size=12).hexdigest()}"'


def matches(if_none_match: str | None, tag: str) -> bool:
    """Whether the client already has the content with this ETag."""
    if if_none_match is None:
        return False
    tags = [text.strip().removeprefix("W/") for text in if_none_match.split(",")]
    return tag in tags or "*" in tags


def cached_response(
    request: Request, content: bytes, media_type: str, control: str = REVALIDATE, filename: str = ""
) -> Response:
    """`content` with an ETag, or 304 if the client has it; browsers save it as `filename`."""
    tag = etag(content)
    headers = {"ETag": tag, "Cache-Control": control}
    if matches(request.headers.get("if-none-match"), tag):
        return Response(status_code=304, headers=headers)
    if filename:
        headers["Content-Disposition"] = f'inline; filename="{filename}"'
    return Response(content, headers=headers, media_type=media_type)
