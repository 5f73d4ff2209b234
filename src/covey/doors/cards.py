"""An agent's card as it is answered, with what lets a client keep it: ETag, Last-Modified, max-age (A2A)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from email.utils import formatdate
from functools import cache
from importlib.util import find_spec

import msgspec

from covey.agents import roster
from covey.agents.model import Agent
from covey.base.errors import NotFound
from covey.base.settings import Settings
from covey.doors.answer import JSON, Answer
from covey.doors.hosts import EVERYWHERE, name_of
from covey.reports.cards import card
from covey.store import Store, Transaction

PATH = "/.well-known/agent-card.json"
PATH_BEFORE_0_3 = "/.well-known/agent.json"
MAX_AGE_S = 300


async def card_answer(store: Store, settings: Settings, name: str | None, headers: Mapping[bytes, bytes]) -> Answer:
    """The card of this agent, or of the lead; 304 for who has it already.

    Raises:
        Unknown, Gone: There is no such agent.
        NotFound: This fleet has no A2A door that a card could point to.
    """
    if settings.gateway == "off" or not _has_package():
        raise NotFound(
            "this fleet has no door for A2A; it needs the extra covey[a2a], and a gateway that is not switched off.", field="path"
        )
    agent, changed = await store.read(_agent, name)
    body = msgspec.json.encode(card(agent, settings, _host(settings, headers)))
    mark = b'"' + hashlib.blake2b(body, digest_size=16).hexdigest().encode() + b'"'
    kept = (
        (b"etag", mark),
        (b"cache-control", b"public, max-age=%d" % MAX_AGE_S),
        (b"last-modified", formatdate(changed, usegmt=True).encode()),
        (b"vary", b"Host"),
    )
    if _is_known(headers.get(b"if-none-match", b""), mark):
        return Answer(304, b"", JSON, kept)
    return Answer(200, body, JSON, kept)


@cache
def _has_package() -> bool:
    """Whether the A2A package is installed; it is not imported."""
    return find_spec("a2a") is not None


def _agent(tx: Transaction, name: str | None) -> tuple[Agent, float]:
    """The agent, and since when it is what it is: a changed one is started anew."""
    agent = roster.find(tx, name or roster.lead(tx)[0])
    return agent, roster.vitals(tx, agent.id).started_at or agent.created_at


def _host(settings: Settings, headers: Mapping[bytes, bytes]) -> str:
    """The name under which the caller reaches this machine: the one that it has just used."""
    said = name_of(headers.get(b"host", b"").decode("latin-1"))
    return said or (settings.host if settings.host not in EVERYWHERE else "localhost")


def _is_known(header: bytes, mark: bytes) -> bool:
    return header.strip() == b"*" or mark in (each.strip().removeprefix(b"W/") for each in header.split(b","))
