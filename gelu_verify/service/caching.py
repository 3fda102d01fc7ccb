"""What may be kept, by whom, for how long: ETag, Cache-Control, 304."""

from __future__ import annotations

from hashlib import blake2b

from starlette.requests import Request
from starlette.responses import Response

FOR_EVER = "public, max-age=31536000, immutable"
REVALIDATED = "public, no-cache"
FOR_NOBODY = "no-store"


def etag(content: bytes | bytearray | memoryview) -> str:
    return f'"{blake2b(content, digest_size=12).hexdigest()}"'


def matches(if_none_match: str | None, tag: str) -> bool:
    """Whether the client already has what bears this tag."""
    if if_none_match is None:
        return False
    known = [text.strip().removeprefix("W/") for text in if_none_match.split(",")]
    return tag in known or "*" in known


def kept(request: Request, content: bytes, media_type: str, control: str = FOR_EVER, name: str = "") -> Response:
    """`content` with its ETag, or 304 where the client has it; `name` is what a browser saves it as."""
    tag = etag(content)
    headers = {"ETag": tag, "Cache-Control": control}
    if matches(request.headers.get("if-none-match"), tag):
        return Response(status_code=304, headers=headers)
    if name:
        headers["Content-Disposition"] = f'inline; filename="{name}"'
    return Response(content, headers=headers, media_type=media_type)
