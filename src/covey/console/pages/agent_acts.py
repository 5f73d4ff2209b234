"""What a person does with an agent: stop, pause, resume, restart. Each is asked before, and told truly after."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from covey.agents import living, roster
from covey.agents.model import Caller
from covey.base.errors import Conflict
from covey.console.asking import Field, confirm
from covey.console.routes import Form, Operations, act, done, page
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.nodes import restarting
from covey.store import Transaction

REASON = 500


class Because(Form):
    """Why, in the person's words."""

    reason: str = ""


class Deed(NamedTuple):
    """Something that can be done with an agent."""

    name: str
    title: str
    explain: str
    verb: Callable[[Transaction, str, Caller, str], str]
    """What came of it, in words."""
    grave: bool = False


def stop(tx: Transaction, name: str, by: Caller, reason: str) -> str:
    """The agent is stopped."""
    if roster.find(tx, name).stopped_at is not None:
        raise Conflict(f"{name} is stopped already; nothing was done.")
    living.stop(tx, name, by, reason)
    return f"{name} is stopped: it takes nothing, and its running brain ends. Its mail waits."


def pause(tx: Transaction, name: str, by: Caller, reason: str) -> str:
    """The agent is paused."""
    found = roster.find(tx, name)
    if not found.takes_work:
        raise Conflict(f"{name} is {'stopped' if found.stopped_at is not None else 'paused'} already; nothing was done.")
    living.pause(tx, name, by, reason)
    return f"{name} is paused: what it does now it finishes, and it takes nothing new."


def resume(tx: Transaction, name: str, by: Caller, _reason: str) -> str:
    """The agent works again."""
    found = roster.find(tx, name)
    if found.takes_work and found.failed_at is None:
        raise Conflict(f"{name} is neither stopped nor paused; nothing was done.")
    living.resume(tx, name, by)
    return f"{name} takes mail and work again."


def restart(tx: Transaction, name: str, by: Caller, reason: str) -> str:
    """A new process was asked for."""
    restarting.ask(tx, name, by, reason)
    node = roster.vitals(tx, name).node
    return f"The node{f' {node}' if node else ''} was asked to start {name} anew; the story shows when it has."


DEEDS = {
    deed.name: deed
    for deed in (
        Deed(
            "stop",
            "Stop",
            "It takes nothing and its running brain ends, until it is resumed; restarts do not change that.",
            stop,
            True,
        ),
        Deed("pause", "Pause", "It finishes what it does and takes nothing new until it is resumed. Its mail is held.", pause),
        Deed("resume", "Resume", "It takes mail and work again; restarts that were given up are tried again.", resume),
        Deed("restart", "Restart", "Its node ends its process and starts a new one. What its brain is at is tried again.", restart, True),
    )
}


def _operations(deed: Deed) -> Operations:
    path = f"/agents/{{name}}/{deed.name}"

    async def ask(call: Call[Nothing, Nothing]) -> Answer:
        name = call.named("name")
        await call.door.store.read(roster.find, name)
        fields = [Field("reason", "Why (others read this)")] if deed.name != "resume" else []
        return confirm(
            call,
            title=f"{deed.title} {name}?",
            lines=[deed.explain],
            action=f"/agents/{name}/{deed.name}",
            fields=fields,
            go=f"{deed.title} {name}",
            grave=deed.grave,
        )

    async def do(call: Call[Nothing, Because]) -> Answer:
        said = await call.door.store.write(deed.verb, call.named("name"), call.by, call.body.reason[:REASON])
        return done(call, said)

    return (page(path, ask, f"Ask before: {deed.title.lower()}."), act(path, do, f"{deed.title} an agent.", takes=Because))


OPERATIONS: Operations = tuple(each for deed in DEEDS.values() for each in _operations(deed))
