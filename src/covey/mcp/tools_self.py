"""Tools about the fleet as a whole: who I am, who else is there, why something stands where it stands."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from covey.agents import roster
from covey.agents.model import Caller
from covey.brains.prompting import fenced
from covey.mcp.tooling import Asking, Call, Given, Ident, Nothing, Tool
from covey.messages import reading as mail
from covey.reports import status, told
from covey.runner import joining
from covey.store import Transaction


class Held(Given):
    """Something under a lease: its token is what progress, finish_task and the like show."""

    item: str
    kind: str
    token: str


class Me(Given):
    """Who the caller is, and what waits for it."""

    name: str
    role: str = ""
    capabilities: list[str] = []
    buddy: str | None = None
    lead: str = ""
    status: str = ""
    flags: list[str] = []
    unread: int = 0
    queued: int = 0
    held: list[Held] = []
    profile: str = ""


class Who(Asking):
    """Whom to list."""

    capability: Annotated[str, Meta(max_length=128, description="only those who are able to do this")] | None = None


class Colleague(Given):
    """An agent, as others may know it."""

    name: str
    role: str
    capabilities: list[str]
    status: str
    flags: list[str] = []
    queued: int = 0
    unread: int = 0


class Colleagues(Given):
    """Agents in the fleet's order; `more` is how many are left out."""

    items: list[Colleague]
    lead: str
    more: int = 0


class About(Asking):
    """What is asked about."""

    id: Annotated[Ident, Meta(description="a task, message, agent, vote, handoff or incident")]


class Told(Given):
    """What is known of it, in words, between marks: they quote what others wrote."""

    id: str
    kind: str
    text: str


MOST = 100


async def whoami(call: Call[Nothing]) -> Me:
    """Who you are in this fleet: your name, role, lead and buddy, how much mail and work waits, and what you hold under a lease.

    Call this first, and again after you lost your context: `held` has the tokens of work you began and have not finished.
    """
    if call.by.kind != "agent":
        return Me(name=call.by.name, role="the person who runs this fleet", profile=call.profile)
    found = await call.door.store.read(_me, call.by, call.door.settings.stale_s)
    found.profile = call.profile
    return found


def _me(tx: Transaction, by: Caller, stale_s: float) -> Me:
    state = status.agent_state(tx, by.name, stale_s)
    return Me(
        name=by.name,
        role=state["role"],
        capabilities=state["capabilities"],
        buddy=state["buddyId"],
        lead=roster.lead(tx)[0],
        status=state["status"],
        flags=_flags(state),
        unread=mail.unread_count(tx, by.name),
        queued=state["queueLength"],
        held=[Held(item=each.item, kind=each.kind, token=each.token) for each in joining.held(tx, by.name)],
    )


def _flags(state: dict[str, Any]) -> list[str]:
    return [flag for flag in ("stopped", "paused", "away") if state["flags"].get(flag)]


async def agents(call: Call[Who]) -> Colleagues:
    """The agents of this fleet: what each is for, able to do, and how busy it is.

    Use it to choose whom to ask or to hand work to. `away`, `paused` and `stopped` agents keep their mail but answer late or not.
    """
    return await call.door.store.read(_colleagues, call.args.capability, call.door.settings.stale_s)


def _colleagues(tx: Transaction, capability: str | None, stale_s: float) -> Colleagues:
    found = [each for each in status.fleet(tx, stale_s) if capability in (None, *each["capabilities"])]
    items = [
        Colleague(
            name=each["agentId"],
            role=each["role"],
            capabilities=each["capabilities"],
            status=each["status"],
            flags=_flags(each),
            queued=each["queueLength"],
            unread=each["unread"],
        )
        for each in found[:MOST]
    ]
    return Colleagues(items=items, lead=roster.lead(tx)[0], more=max(0, len(found) - MOST))


async def why(call: Call[About]) -> Told:
    """Why a task, message, agent, vote or handoff stands where it stands, and what it waits for: one paragraph from the records.

    Use it before you ask a person or a colleague why something takes long.
    """
    found = await call.door.store.read(told.why_of, call.args.id, call.by, call.door.settings)
    return Told(id=found.id, kind=found.kind, text=fenced("why", found.sentence))


TOOLS: tuple[Tool[Any], ...] = (
    Tool(handler=whoami, takes=Nothing, gives=Me, title="Who am I", profile="reader", effect="reads"),
    Tool(handler=agents, takes=Who, gives=Colleagues, title="Who is in the fleet", profile="reader", effect="reads"),
    Tool(handler=why, takes=About, gives=Told, title="Why it stands where it stands", profile="reader", effect="reads"),
)
