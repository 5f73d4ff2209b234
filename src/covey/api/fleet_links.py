"""The fleet's port: links and what is left of their limits, deferred mail, paused threads. An owner does the same for its own (L15)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from covey.api.link_shapes import (
    DeferredQuery,
    Links,
    LinksQuery,
    NewLink,
    PausedThread,
    Pauses,
    PausesQuery,
    PeerStates,
    Resumed,
    StatesQuery,
)
from covey.api.shapes import Count, Messages
from covey.base.errors import ChangedMeanwhile, Invalid
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.operations import Nothing, get, post
from covey.links import reading
from covey.links.model import LinkChange
from covey.links.reading import LinkShown
from covey.messages import pausing, releasing, relinking

_TAG = re.compile(r'"([0-9]{1,18})"')


def link_shown(link: LinkShown) -> Answer:
    """A link with the tag of its version."""
    return shown(link)._replace(headers=((b"etag", b'"%d"' % link.version),))


def _made(link: LinkShown) -> Answer:
    return link_shown(link)._replace(status=201)


def if_version(call: Call[Any, Any]) -> int | None:
    """The version that the link must still have, by If-Match; None if any will do.

    Raises:
        Invalid: It is no tag.
        ChangedMeanwhile: It is a tag that no link ever has.
    """
    given = call.headers.get(b"if-match", b"*").decode("latin-1").strip()
    if given == "*":
        return None
    found = _TAG.fullmatch(given)
    if found is not None:
        return int(found[1])
    if given.startswith(('"', "W/")):
        raise ChangedMeanwhile(f"If-Match is {given[:100]}, which is no link's tag now; look at it again.", field="If-Match")
    raise Invalid(f'If-Match is {given[:100]!r}; give the ETag of the link as you saw it, as "3", or *.', field="If-Match")


async def get_links(call: Call[LinksQuery, Nothing]) -> Answer:
    """Links, with what each direction has left (L9)."""
    asked = call.query
    page = await call.door.store.read(reading.page, call.by, agent=asked.agent, after=asked.cursor or "", limit=asked.limit)
    return shown(Links(items=page.items, links=page.policy.links, limits=page.policy.limits, cursor=page.cursor))


async def get_link(call: Call[Nothing, Nothing]) -> Answer:
    """One link."""
    return link_shown(await call.door.store.read(reading.show, *reading.ends_of(call.named("id")), call.by))


async def add_link(call: Call[Nothing, NewLink]) -> Answer:
    """Link two agents (L1)."""
    one, other = call.body.agents
    return await call.write(_made, relinking.add, one, other, call.body.limits_of_it, call.by)


async def change_link(call: Call[Nothing, LinkChange]) -> Answer:
    """Change a link's limits; mail that waits goes if they are raised (L7)."""
    one, other = reading.ends_of(call.named("id"))
    return await call.write(link_shown, relinking.change, one, other, call.body, call.by, if_version=if_version(call))


async def enable_link(call: Call[Nothing, Nothing]) -> Answer:
    """Open a link for mail again."""
    return await _do(call, relinking.enable)


async def disable_link(call: Call[Nothing, Nothing]) -> Answer:
    """Close a link for mail."""
    return await _do(call, relinking.disable)


async def remove_link(call: Call[Nothing, Nothing]) -> Answer:
    """Remove a link, for good until it is added again."""
    return await _do(call, relinking.remove)


async def _do(call: Call[Nothing, Nothing], verb: Callable[..., LinkShown]) -> Answer:
    return await call.write(link_shown, verb, *reading.ends_of(call.named("id")), call.by, if_version=if_version(call))


async def get_peer_states(call: Call[StatesQuery, Nothing]) -> Answer:
    """What is stored of each direction."""
    found = await call.door.store.read(reading.states, after=call.query.cursor or "", limit=call.query.limit)
    return shown(PeerStates(items=found.items, cursor=found.cursor))


async def get_deferred(call: Call[DeferredQuery, Nothing]) -> Answer:
    """Mail that waits for credit."""
    page = await call.door.store.read(releasing.deferred, call.by, after=call.query.cursor or 0, limit=call.query.limit)
    return shown(Messages(items=page.items, cursor=str(page.cursor) if page.cursor is not None else None))


async def cancel_deferred(call: Call[Nothing, Nothing]) -> Answer:
    """Take a deferred message back (L6)."""
    ident = call.named("id")
    return await call.write(lambda copies: shown(Count(id=ident, copies=copies)), releasing.cancel, ident, call.by)


async def release_deferred(call: Call[Nothing, Nothing]) -> Answer:
    """Deliver a deferred message at once."""
    ident = call.named("id")
    return await call.write(lambda copies: shown(Count(id=ident, copies=copies)), releasing.release, ident, call.by)


async def get_paused_threads(call: Call[PausesQuery, Nothing]) -> Answer:
    """The threads that are paused (L10)."""
    found = await call.door.store.read(pausing.pauses, after=call.query.cursor or "", limit=call.query.limit)
    items = [PausedThread(thread_id=row.thread_id, at=row.at, reason=row.reason) for row in found.items]
    return shown(Pauses(items=items, cursor=found.cursor))


async def resume_thread(call: Call[Nothing, Nothing]) -> Answer:
    """Let agents send in a paused thread again."""
    ident = call.named("id")
    return await call.write(lambda _: shown(Resumed(thread_id=ident)), pausing.resume, ident, call.by)


OPERATIONS = (
    get("/api/v1/links", get_links, "links", "Links, with what each direction has left.", query=LinksQuery, gives=Links, verb=reading.page),
    post("/api/v1/links", add_link, "owner", "Link two agents.", takes=NewLink, gives=LinkShown, status=201, verb=relinking.add),
    get("/api/v1/links/{id}", get_link, "links", "One link, by the id link:A:B, with its ETag.", gives=LinkShown, verb=reading.show),
    post(
        "/api/v1/links/{id}",
        change_link,
        "owner",
        "Change a link; If-Match refuses what was changed meanwhile.",
        takes=LinkChange,
        gives=LinkShown,
        verb=relinking.change,
    ),
    post("/api/v1/links/{id}/enable", enable_link, "owner", "Open a link for mail again.", gives=LinkShown, verb=relinking.enable),
    post("/api/v1/links/{id}/disable", disable_link, "owner", "Close a link for mail.", gives=LinkShown, verb=relinking.disable),
    post("/api/v1/links/{id}/remove", remove_link, "owner", "Remove a link.", gives=LinkShown, verb=relinking.remove),
    get(
        "/api/v1/peer-states",
        get_peer_states,
        "operator",
        "What is stored of each direction.",
        query=StatesQuery,
        gives=PeerStates,
        verb=reading.states,
    ),
    get(
        "/api/v1/deferred",
        get_deferred,
        "links",
        "Mail that waits for credit.",
        query=DeferredQuery,
        gives=Messages,
        verb=releasing.deferred,
    ),
    post("/api/v1/deferred/{id}/cancel", cancel_deferred, "links", "Take a deferred message back.", gives=Count, verb=releasing.cancel),
    post("/api/v1/deferred/{id}/release", release_deferred, "operator", "Deliver it at once.", gives=Count, verb=releasing.release),
    get(
        "/api/v1/paused-threads",
        get_paused_threads,
        "operator",
        "Threads in which no agent may send.",
        query=PausesQuery,
        gives=Pauses,
        verb=pausing.pauses,
    ),
    post(
        "/api/v1/threads/{id}/resume", resume_thread, "operator", "Let agents send in a thread again.", gives=Resumed, verb=pausing.resume
    ),
)
