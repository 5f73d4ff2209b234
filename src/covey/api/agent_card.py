"""The agent's card for agents of other systems, at its well-known place (A2A); it points to the gateway."""

from __future__ import annotations

import hashlib
from email.utils import formatdate
from typing import Any

import msgspec

from covey.agents import roster
from covey.api.door import Door
from covey.doors.answer import JSON, Answer
from covey.doors.call import Call
from covey.doors.hosts import EVERYWHERE, name_of
from covey.doors.operations import Nothing, get
from covey.reports.cards import card
from covey.store import Transaction

PATH = "/.well-known/agent-card.json"
PATH_0_3 = "/.well-known/agent.json"
"""Where clients from before version 0.3 look."""
MAX_AGE_S = 300


async def get_card(call: Call[Nothing, Nothing]) -> Answer:
    """The card, or 304 for who has it already."""
    agent, changed = await call.door.store.read(_agent, _here(call).agent)
    body = msgspec.json.encode(card(agent, call.door.settings, _host(call)))
    mark = b'"' + hashlib.blake2b(body, digest_size=16).hexdigest().encode() + b'"'
    headers = (
        (b"etag", mark),
        (b"cache-control", b"public, max-age=%d" % MAX_AGE_S),
        (b"last-modified", formatdate(changed, usegmt=True).encode()),
        (b"vary", b"Host"),
    )
    if _is_known(call.headers.get(b"if-none-match", b""), mark):
        return Answer(304, b"", JSON, headers)
    return Answer(200, body, JSON, headers)


def _here(call: Call[Nothing, Nothing]) -> Door:
    """The door of the agent that was called."""
    assert isinstance(call.door, Door)
    return call.door


def _agent(tx: Transaction, name: str) -> Any:
    """The agent, and since when it is what it is: a changed one is started anew."""
    agent = roster.find(tx, name)
    return agent, roster.vitals(tx, name).started_at or agent.created_at


def _host(call: Call[Nothing, Nothing]) -> str:
    """The name under which the caller reaches this machine: the one that it has just used."""
    said = name_of(call.headers.get(b"host", b"").decode("latin-1"))
    return said or (call.door.settings.host if call.door.settings.host not in EVERYWHERE else "localhost")


def _is_known(header: bytes, mark: bytes) -> bool:
    return header.strip() == b"*" or mark in (each.strip().removeprefix(b"W/") for each in header.split(b","))


OPERATIONS = (
    get(PATH, get_card, "anyone", "The agent's card for agents of other systems (A2A).", gives=dict[str, Any], verb=roster.find),
    get(PATH_0_3, get_card, "anyone", "The same, where older clients look.", gives=dict[str, Any], verb=roster.find),
)
