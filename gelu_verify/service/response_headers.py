"""Headers of every response: security, CORS, the id of the request."""

from __future__ import annotations

Headers = list[tuple[bytes, bytes]]
_SECURITY_HEADERS: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
OPEN = (
    "/v1/reference/",
    "/v1/files/",
    "/v1/functions",
    "/v1/tables/",
    "/v1/inputs/",
    "/v1/runs",
    "/v1/matrix",
    "/v1/versions",
    "/v1/openapi.json",
)
"""Paths that pages of other sites may read: data, and nothing that starts a process, stores or tells of the server."""
_API_HEADERS: Headers = [
    *_SECURITY_HEADERS,
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
]
OPEN_HEADERS: Headers = [
    *_API_HEADERS,
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"*"),
    (b"cross-origin-resource-policy", b"cross-origin"),
]
CLOSED_HEADERS: Headers = [*_API_HEADERS, (b"cross-origin-resource-policy", b"same-origin")]
PAGE_HEADERS: Headers = [*_SECURITY_HEADERS, (b"cross-origin-resource-policy", b"same-origin")]


def completed(headers: Headers, path: str, request: str) -> Headers:
    """The headers of a response and ours; a response with its own Content-Security-Policy is a page."""
    names = {name for name, _ in headers}
    if b"content-security-policy" in names:
        ours = PAGE_HEADERS
    else:
        ours = OPEN_HEADERS if path.startswith(OPEN) else CLOSED_HEADERS
    added = ((name, value) for name, value in ours if name not in names)
    own = (
        [(name, _weak(value)) if name == b"etag" else (name, value) for name, value in headers]
        if (b"content-encoding" in names)
        else headers
    )
    return [*own, *added, (b"x-request-id", request.encode())]


def _weak(tag: bytes) -> bytes:
    """The ETag of a compressed response: the bytes are others than those of the response that is not compressed."""
    return tag if tag.startswith(b"W/") else b"W/" + tag
