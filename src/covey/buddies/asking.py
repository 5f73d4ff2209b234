"""Ask a buddy how it is: `GET /status` and `POST /buddy-check` on its own port, or a health ping (B2, B3). No brain is asked (A9)."""

from __future__ import annotations

import asyncio
from typing import Any, Literal, NamedTuple

import msgspec

from covey.buddies.calling import call
from covey.buddies.model import PATIENCE_S, Reply, Verdict, judge

Ping = Literal["healthy", "degraded", "paused", "none"]


class Place(NamedTuple):
    """An agent and where it serves."""

    name: str
    host: str
    port: int


class Asker(NamedTuple):
    """Who asks, by which token."""

    name: str
    token: str


async def ask(place: Place, asker: Asker, check_id: str, now: float, patience_s: float = PATIENCE_S) -> Verdict:
    """What the buddy's two answers come to; both are asked at once, each with the whole patience."""
    body = msgspec.json.encode({"from": asker.name, "checkId": check_id, "timestamp": now})
    status, check = await asyncio.gather(
        call("GET", place.host, place.port, "/status", token=asker.token, patience_s=patience_s),
        call("POST", place.host, place.port, "/buddy-check", token=asker.token, body=body, patience_s=patience_s),
    )
    return judge(place.name, check_id, status, check)


async def ping(place: Place, patience_s: float = PATIENCE_S) -> Ping:
    """How its process says it is, from memory; `none` if it says nothing that counts (A5)."""
    reply = await call("GET", place.host, place.port, "/health", patience_s=patience_s)
    return health_of(reply) if isinstance(reply, Reply) else "none"


def health_of(reply: Reply) -> Ping:
    """What a health answer says. Pure."""
    if reply.status != 200:
        return "none"
    try:
        found: Any = msgspec.json.decode(reply.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return "none"
    said = found.get("status") if isinstance(found, dict) else None
    if said == "healthy":
        return "healthy"
    if said == "degraded":
        return "degraded"
    return "paused" if said == "paused" else "none"
