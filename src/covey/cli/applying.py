"""Settings taken over by a fleet that may be running: what would change, who must start anew, and what happens to those who leave.

`plan` and `as_it_can_be` are pure; `apply` writes the snapshot, then the store, whose event the node acts on.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from covey.agents import roster
from covey.agents.model import THE_OPERATOR
from covey.app import opening, outer, snapshot
from covey.app.groups import groups_of
from covey.app.opening import open_store
from covey.app.starting import running_node
from covey.app.tokens import tokens_of
from covey.base.config.changes import FLEET_RESTARTS, Change, diff
from covey.base.errors import Conflict, CoveyError
from covey.base.settings import Settings
from covey.cli.reach import Reach
from covey.messages import leaving as mail_of
from covey.messages import reading as mail
from covey.store import Store, Transaction
from covey.tasks import changing
from covey.tasks import reading as tasks

COUNTED = 1000


class Plan(msgspec.Struct, frozen=True, rename="camel"):
    """What new settings mean for the fleet as it is."""

    running: bool
    changes: list[Change]
    starts: list[str] = []
    ends: list[str] = []
    restarts: list[str] = []
    at_next_start: list[str] = []
    """Keys of the fleet that come into force only when all of it starts anew."""


def plan(old: Settings, new: Settings, *, running: bool) -> Plan:
    """What differs, and which processes start, end or start anew by it. Pure."""
    changes = diff(old, new)
    if not running:
        return Plan(running, changes)
    later = [field for change in changes if change.restart == "fleet" for field in change.fields]
    before = {group.name: group for group in groups_of(old)}
    after = {group.name: group for group in groups_of(as_it_can_be(old, new))}
    return Plan(
        running,
        changes,
        starts=[name for name in after if name not in before],
        ends=[name for name in before if name not in after],
        restarts=[name for name, group in after.items() if name in before and before[name] != group],
        at_next_start=later,
    )


def as_it_can_be(old: Settings, new: Settings) -> Settings:
    """The new settings but for what a running fleet can't change: where its data, its store and its API are. Pure."""
    return msgspec.structs.replace(new, **{field: getattr(old, field) for field in FLEET_RESTARTS})


def in_its_light(reach: Reach) -> Settings:
    """The settings as covey.toml has them now, in the light of the flags and variables that a running fleet was started with."""
    return reach.load(flags_of(reach)) if running_node(reach.settings) is not None else reach.settings


def flags_of(reach: Reach) -> dict[str, object]:
    """What the fleet was started with, and over it what this command was given."""
    return outer.given(reach.settings) | {name: value for name, value in reach.flags.items() if value is not None}


class Stand(NamedTuple):
    """How the fleet stands: the settings it was last started with (None: never), and whether it runs."""

    settings: Settings | None
    running: bool


def stand(settings: Settings) -> Stand:
    """How the fleet with this data folder stands."""
    path = snapshot.path_of(settings)
    return Stand(snapshot.read(path) if path.exists() else None, running_node(settings) is not None)


# who leaves


class Leaver(NamedTuple):
    """An agent that the settings no longer have, and what it leaves undone."""

    name: str
    tasks: int
    mail: int

    def __str__(self) -> str:
        return f"{self.name} has {_counted(self.tasks, 'open task')} and {_counted(self.mail, 'unread message')}"


def _counted(number: int, what: str) -> str:
    return f"{number}{' or more' if number == COUNTED else ''} {what}{'' if number == 1 else 's'}"


def leavers(tx: Transaction, settings: Settings) -> list[Leaver]:
    """Those who leave with something undone."""
    gone = [name for name in roster.all_names(tx) if settings.agent(name) is None]
    found = [
        Leaver(name, len(tasks.listed(tx, state="open", agent=name, limit=COUNTED).items), mail.unread_count(tx, name)) for name in gone
    ]
    return [each for each in found if each.tasks or each.mail]


def refuse_leavers(found: list[Leaver]) -> None:
    """Let nobody leave with something undone.

    Raises:
        Conflict: Somebody would; it names who, and with how much.
    """
    if found:
        said = "; ".join(map(str, found[:10]))
        names = [each._asdict() for each in found]
        raise Conflict(
            f"{said}. Nothing was changed; say who takes it over, by --tasks-to AGENT of `covey config apply` or `config remove-agent`.",
            field="--tasks-to",
            leavers=names,
        )


def take_over(tx: Transaction, settings: Settings, heir: str | None, *, changed: bool) -> dict[str, int]:
    """The stored fleet is what the settings say; how many tasks and messages of those who left went to the heir.

    Raises:
        Conflict: Somebody leaves with something undone and there is no heir, or is at work on it right now.
    """
    undone = leavers(tx, settings)
    if heir is None:
        refuse_leavers(undone)
    changes = opening.apply(tx, settings)
    if changed and not any(changes):
        tx.happened("fleet.configured", added=(), changed=(), removed=())
    moved = {"tasks": 0, "messages": 0}
    for each in undone if heir is not None else ():
        moved["tasks"] += changing.hand_over(tx, each.name, str(heir), THE_OPERATOR)
        moved["messages"] += mail_of.hand_over(tx, each.name, str(heir))
    return moved


async def apply(settings: Settings, before: Stand, heir: str | None = None) -> tuple[Plan, dict[str, int]]:
    """Take the settings over; the plan that is carried out, and what was handed over. On an error all is as it was.

    Raises:
        Conflict: As `take_over`.
    """
    made = plan(before.settings or settings, settings, running=before.running)
    live = as_it_can_be(before.settings, settings) if before.running and before.settings is not None else settings
    store = open_store(live)
    try:
        moved = await _written(store, live, heir, changed=bool(made.changes))
    finally:
        await store.close()
    return made, moved


async def _written(store: Store, live: Settings, heir: str | None, *, changed: bool) -> dict[str, int]:
    """The snapshot comes first: the node reads it at the store's event."""
    await tokens_of(store, live)
    path = snapshot.path_of(live)
    kept = path.read_bytes() if path.exists() else None
    snapshot.write(live)
    try:
        return await store.write(take_over, live, heir, changed=changed)
    except CoveyError:
        _put_back(path, kept)
        raise


def _put_back(path: Path, kept: bytes | None) -> None:
    if kept is None:
        path.unlink(missing_ok=True)
        return
    part = path.with_suffix(f".{os.getpid()}")
    part.touch(mode=0o600)
    part.write_bytes(kept)
    part.replace(path)


async def undone(settings: Settings) -> list[Leaver]:
    """Who would leave with something undone if the fleet were started so."""
    store = open_store(settings)
    try:
        return await store.read(leavers, settings)
    finally:
        await store.close()


def told(made: Plan) -> dict[str, Any]:
    """The plan as JSON shows it."""
    found: dict[str, Any] = msgspec.to_builtins(made)
    return found
