"""The Agent Contacts of one agent: its links with their quota, who else may be linked with it and who may not; and one link alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec
from markupsafe import Markup

from covey.console import pieces, views
from covey.console.console import console_of
from covey.console.pages.contacts import STANDING, limit_of, reset_of
from covey.console.rendering import render
from covey.console.routes import Operations, page, shared
from covey.console.story import lines_of
from covey.console.views import ContactsView, LinkView
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.links.reading import LinkShown

V = TypeVar("V")


class After(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Where the list of those who are not linked goes on."""

    after: str = ""


async def read_contacts(call: Call[After, Nothing]) -> ContactsView:
    """An agent's contacts, read once for all parts of the page and all who look."""
    name, after = call.named("name"), call.query.after
    return await console_of(call).shared.get(f"contacts {name} {after}", lambda: call.door.store.read(views.contacts, name, after))


async def read_link(call: Call[Any, Any]) -> LinkView:
    """A link, read once for all parts of the page and all who look."""
    name, peer = call.named("name"), call.named("peer")
    return await console_of(call).shared.get(f"link {name} {peer}", lambda: call.door.store.read(views.link, name, peer))


def links_part(view: ContactsView) -> Markup:
    """Its links. Pure."""
    rows = [(peer_of(link, view.name), link) for link in view.links if link.status in STANDING]
    return render("contacts/links.html", name=view.name, rows=rows, more=view.more, **WORDS)


def others_part(view: ContactsView) -> Markup:
    """Who is not linked with it: those who may be, and those who may not. Pure."""
    free = [each for each in view.candidates.items if each.refusal is None]
    barred = [each for each in view.candidates.items if each.refusal is not None]
    return render("contacts/others.html", name=view.name, free=free, barred=barred, cursor=view.candidates.cursor)


def now_part(view: LinkView) -> Markup:
    """How a link stands, and what can be done with it. Pure."""
    return render(
        "contacts/now.html",
        name=view.name,
        peer=peer_of(view.link, view.name),
        link=view.link,
        waiting=view.waiting,
        policy=view.policy,
        **WORDS,
    )


def story_part(view: LinkView) -> Markup:
    """What happened to a link, the latest first. Pure."""
    return render("story.html", lines=lines_of(view.story))


def peer_of(link: LinkShown, name: str) -> str:
    """The other end. Pure."""
    return next(each for each in link.agents if each != name)


WORDS: dict[str, Callable[..., Any]] = {"quota": pieces.quota, "limit_of": limit_of, "reset_of": reset_of, "agent": pieces.agent}


async def get_contacts(call: Call[After, Nothing]) -> Answer:
    """The page of an agent's contacts."""
    view = await read_contacts(call)
    text = f"?after={quote(call.query.after)}" if call.query.after else ""
    return console_of(call).whole(
        call, "contacts/agent.html", name=view.name, links=links_part(view), others=others_part(view), after=text, policy=view.policy
    )


async def get_link(call: Call[Nothing, Nothing]) -> Answer:
    """The page of one link."""
    view = await read_link(call)
    peer = peer_of(view.link, view.name)
    return console_of(call).whole(call, "contacts/link.html", name=view.name, peer=peer, now=now_part(view), story=story_part(view))


async def _get_part(read: Callable[[Call[Any, Nothing]], Any], make: Callable[[V], Markup], call: Call[Any, Nothing]) -> Answer:
    async def made() -> Markup:
        return make(await read(call))

    return await shared(call, made)


OPERATIONS: Operations = (
    page("/contacts/{name}", get_contacts, "An agent's contacts.", query=After),
    page("/contacts/{name}/~links", partial(_get_part, read_contacts, links_part), "An agent's links.", query=After),
    page("/contacts/{name}/~others", partial(_get_part, read_contacts, others_part), "Who may be linked with it.", query=After),
    page("/contacts/{name}/{peer}", get_link, "One link."),
    page("/contacts/{name}/{peer}/now", partial(_get_part, read_link, now_part), "One link: how it stands."),
    page("/contacts/{name}/{peer}/story", partial(_get_part, read_link, story_part), "One link: what happened to it."),
)
