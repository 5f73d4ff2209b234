"""The console's own files: scripts, styles and what is vendored, each under an address that changes with its content. Read once."""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from covey.base.errors import NotFound
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing, get

FOLDER = Path(__file__).parent / "static"
_MEDIA = {
    ".css": b"text/css; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".svg": b"image/svg+xml",
}
_FOR_EVER = (b"cache-control", b"public, max-age=31536000, immutable")
_ASK_FIRST = (b"cache-control", b"no-cache")


class Asset(NamedTuple):
    """One file as it is served."""

    body: bytes
    packed: bytes
    media: bytes
    edition: str


@cache
def assets() -> dict[str, Asset]:
    """All files by their path below `static/`."""
    return {str(path.relative_to(FOLDER)): _read(path) for path in sorted(FOLDER.rglob("*")) if path.suffix in _MEDIA}


def _read(path: Path) -> Asset:
    body = path.read_bytes()
    return Asset(body, gzip.compress(body, mtime=0), _MEDIA[path.suffix], hashlib.sha256(body).hexdigest()[:12])


@cache
def edition() -> str:
    """What changes whenever any of them does: a page of another edition should be loaded anew."""
    return hashlib.sha256("".join(each.edition for each in assets().values()).encode()).hexdigest()[:12]


def address(name: str) -> str:
    """Where a file is served in its present form."""
    return f"/static/{name}?v={assets()[name].edition}"


class Wanted(msgspec.Struct, forbid_unknown_fields=True):
    """Which form of a file is asked for."""

    v: str = ""


async def get_asset(call: Call[Wanted, Nothing]) -> Answer:
    """One of the files, packed if the browser takes that."""
    name = call.scope["path_params"]["name"]
    found = assets().get(name)
    if found is None:
        raise NotFound(f"the console has no file {name[:100]!r}.", field="path")
    etag = b'"%s"' % found.edition.encode()
    known = call.query.v == found.edition
    headers = ((b"etag", etag), _FOR_EVER if known else _ASK_FIRST, (b"vary", b"accept-encoding"))
    if call.headers.get(b"if-none-match") == etag:
        return Answer(304, b"", found.media, headers)
    if b"gzip" in call.headers.get(b"accept-encoding", b""):
        return Answer(200, found.packed, found.media, (*headers, (b"content-encoding", b"gzip")))
    return Answer(200, found.body, found.media, headers)


OPERATIONS = (get("/static/{name:path}", get_asset, "anyone", "A file of the console.", query=Wanted, gives=str, media="text/css"),)
