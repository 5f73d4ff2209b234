"""One agent: how it is and why, what it does, what waits for it, what it remembers, its contacts, what happened, what it printed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from covey.console import ring, views
from covey.console.console import console_of
from covey.console.rendering import render
from covey.console.routes import Operations, page, shared
from covey.console.story import lines_of
from covey.console.views import AgentView
from covey.contexts.model import Entry
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing

PRINTED = 40
ENTRIES = 30
TIERS = {"raw": "hot", "ends": "hot", "warm": "warm", "cold": "cold", "pinned": "pinned"}
"""What the forms of a context's entries are called where a person looks."""

Part = Callable[[AgentView], Markup]


async def read_agent(call: Call[Any, Any]) -> AgentView:
    """The agent of the path, read once for all parts of the page and all who look."""
    name, settings = call.named("name"), call.door.settings
    return await console_of(call).shared.get(f"agent {name}", lambda: call.door.store.read(views.agent, name, settings))


async def get_agent(call: Call[Nothing, Nothing]) -> Answer:
    """The page."""
    view = await read_agent(call)
    parts = {name: make(view) for name, make in PARTS.items()}
    return console_of(call).whole(call, "agent.html", name=view.state["agentId"], parts=parts | {"printed": await printed_part(call)})


def now_part(view: AgentView) -> Markup:
    """How it is, and what can be done with it. Pure."""
    flags = view.state["flags"]
    return render("agent/now.html", state=view.state, why=view.why, held=flags["stopped"] or flags["paused"])


def work_part(view: AgentView) -> Markup:
    """Its current task and its queue. Pure."""
    return render("agent/work.html", state=view.state)


def context_part(view: AgentView) -> Markup:
    """What it remembers, by how far it has moved on. Pure."""
    tiers: dict[str, list[Entry]] = {name: [] for name in ("pinned", "hot", "warm", "cold")}
    for entry in view.context.entries:
        tiers[TIERS[entry.form]].append(entry)
    sizes = [(name, len(found), sum(entry.tokens for entry in found)) for name, found in tiers.items() if found]
    latest = view.context.entries[: -ENTRIES - 1 : -1]
    return render("agent/context.html", context=view.context, sizes=sizes, latest=[(TIERS[entry.form], entry) for entry in latest])


def contacts_part(view: AgentView) -> Markup:
    """Whom it may write to, and how much of that is used. Pure."""
    name = view.state["agentId"]
    rows = [(next(each for each in link.agents if each != name), link, *ring.used_of(link)) for link in view.links]
    return render("agent/contacts.html", name=name, rows=rows)


def story_part(view: AgentView) -> Markup:
    """What happened to it, the latest first. Pure."""
    return render("story.html", lines=lines_of(view.story, view.state["agentId"]))


PARTS: dict[str, Part] = {"now": now_part, "work": work_part, "context": context_part, "contacts": contacts_part, "story": story_part}


async def printed_part(call: Call[Any, Any]) -> Markup:
    """What its process printed last, where it runs on this machine."""
    lines = await asyncio.to_thread(console_of(call).printed, call.door.settings, call.named("name"), PRINTED)
    return render("agent/printed.html", lines=lines)


async def get_printed(call: Call[Nothing, Nothing]) -> Answer:
    """What its process printed last."""
    await read_agent(call)
    return await shared(call, lambda: printed_part(call))


def _part_of(make: Part) -> Callable[[Call[Nothing, Nothing]], Any]:
    async def get_part(call: Call[Nothing, Nothing]) -> Answer:
        async def made() -> Markup:
            return make(await read_agent(call))

        return await shared(call, made)

    return get_part


def address(name: str) -> str:
    """An agent's page. Pure."""
    return f"/agents/{quote(name, safe='')}"


OPERATIONS: Operations = (
    page("/agents/{name}", get_agent, "One agent."),
    page("/agents/{name}/printed", get_printed, "What its process printed."),
    *(page(f"/agents/{{name}}/{name}", _part_of(make), f"One agent: {name}.") for name, make in PARTS.items()),
)
