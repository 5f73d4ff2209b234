"""What a webhook sends and how it is signed, what an answer to it means, and when it is tried again. Pure, no I/O.

The body is a CloudEvent 1.0 in structured JSON; id, time and signature are in the headers of the Standard Webhooks convention.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from covey.base.wire import encode
from covey.store.events import Event

MEDIA = "application/cloudevents+json; charset=utf-8"
TRIES = 10
"""So often in vain, and the receiver is down (tried each hour from then on), or the event is one that it won't take (given up)."""
FIRST_S, LONGEST_S = 5.0, 600.0
DOWN_S = 3600.0
OWN = "webhook."
"""Kinds that no webhook tells: they would tell of themselves."""
PREFIX = "whsec_"
SECRET_BYTES = 16
"""A secret is so long at least."""
_PASSING = frozenset({401, 403, 404, 408, 410, 425, 429})
"""Refusals that say something of the receiver, not of the event: a wrong address or secret, too many calls."""


class Health(NamedTuple):
    """How a webhook fares: tries in vain since it last worked, when it is tried next, since when it is down, how much it has sent."""

    name: str
    tries: int = 0
    retry_at: float | None = None
    down_since: float | None = None
    said: str = ""
    """What was wrong the last time."""
    sent: int = 0
    sent_at: float | None = None
    given_up: int = 0


class Verdict(NamedTuple):
    """What came of one request. `refused`: the receiver won't take this very event."""

    taken: bool
    said: str = ""
    refused: bool = False
    after_s: float = 0.0
    """The receiver asks not to be called for so long."""


def body_of(event: Event) -> bytes:
    """The event as a CloudEvent. Pure."""
    told: dict[str, Any] = {
        "specversion": "1.0",
        "id": str(event.cursor),
        "source": f"/covey/agents/{event.agent}" if event.agent else "/covey",
        "type": f"covey.{event.kind}",
        "time": datetime.fromtimestamp(event.at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "datacontenttype": "application/json",
        "data": {"agent": event.agent, **event.data},
    }
    if event.subject:
        told["subject"] = event.subject
    return encode(told)


def key_of(secret: str) -> bytes:
    """The key of a secret: what follows `whsec_` is base64, any other secret is the key itself. Pure.

    Raises:
        ValueError: It is too short, or no base64.
    """
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True) if secret.startswith(PREFIX) else secret.encode()
    except binascii.Error as error:
        raise ValueError("what follows whsec_ is no base64") from error
    if len(key) < SECRET_BYTES:
        raise ValueError(f"it is shorter than {SECRET_BYTES} bytes")
    return key


def headers_of(ident: str, at: int, body: bytes, key: bytes) -> dict[str, str]:
    """The headers that name, date and sign a body. Pure."""
    signature = hmac.new(key, f"{ident}.{at}.".encode() + body, hashlib.sha256).digest()
    return {
        "Content-Type": MEDIA,
        "User-Agent": "covey-webhooks",
        "webhook-id": ident,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{base64.b64encode(signature).decode()}",
    }


def verdict_of(status: int, retry_after: str = "") -> Verdict:
    """What an answer means: only 2xx is taken; nobody follows a redirect. Pure."""
    if 200 <= status < 300:
        return Verdict(taken=True)
    after_s = min(float(retry_after), DOWN_S) if retry_after.isdigit() and len(retry_after) < 10 else 0.0
    return Verdict(False, f"it answered with HTTP status {status}", refused=400 <= status < 500 and status not in _PASSING, after_s=after_s)


def pause_s(tries: int) -> float:
    """How long the next try waits after so many in vain: 5, 10, 20 … 600 s, then an hour. Pure."""
    return DOWN_S if tries >= TRIES else min(FIRST_S * 2.0 ** min(tries - 1, 20), LONGEST_S)


class WebhookShown(msgspec.Struct, rename="camel", kw_only=True):
    """A webhook of the settings and how it fares. Its address is shown without path and secrets."""

    name: str
    at: str
    kinds: list[str]
    state: str
    """new: has no place in the story yet; works; retries; down."""
    sent: int = 0
    sent_at: float | None = None
    given_up: int = 0
    tries: int = 0
    retry_at: float | None = None
    down_since: float | None = None
    said: str = ""


def state_of(health: Health, *, begun: bool) -> str:
    """A webhook's state in a word. Pure."""
    if health.down_since is not None:
        return "down"
    return "retries" if health.tries else "works" if begun else "new"
