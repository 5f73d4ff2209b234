"""Links carried from one store to another (S4): their limits, what is left of them, and those that were removed."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from covey.agents import roster
from covey.base.errors import Invalid
from covey.links import directions
from covey.links.model import Endpoint, Link, LinkChange, Recent, changed, link_of, recent_of
from covey.links.verbs import PUT
from covey.store import Transaction, statement

PAGE = statement(__package__, "page")
STATES_OF = statement(__package__, "states_of")
IMPORT_STATE = statement(__package__, "import_state")


class CarriedState(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """What is left in one direction, and what was accepted there of late."""

    credits: int
    reset_at: float | None = None
    began_at: float | None = None
    last_at: float | None = None
    last_run: str | None = None
    recent: Recent = ()


class CarriedLink(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """A link as one line of an export has it; `directions` by the sender's name."""

    one: str
    other: str
    messages: int
    hours: int
    debounce_s: float
    limited: bool = True
    enabled: bool = True
    feature: str | None = None
    one_endpoint: Endpoint | None = None
    other_endpoint: Endpoint | None = None
    implied: bool = False
    version: int = 1
    created_at: float
    created_by: str
    removed_at: float | None = None
    removed_why: str | None = None
    directions: dict[str, CarriedState] = {}


CARRIED = Link._fields[1:]
"""What is carried of a link: all but its id, which its two names make."""


class Page(NamedTuple):
    """Some links, and where to read on; the last page is empty."""

    items: list[CarriedLink]
    cursor: str


def page(tx: Transaction, after: str = "", limit: int = 200) -> Page:
    """All links that have a row, the removed ones too, by id."""
    links = [Link(*row) for row in tx.all(PAGE, after=after, limit=limit)]
    return Page([_carried(tx, link) for link in links], links[-1].id if links else after)


def _carried(tx: Transaction, link: Link) -> CarriedLink:
    states = {
        row.sender: CarriedState(
            credits=row.credits,
            reset_at=row.reset_at,
            began_at=row.began_at,
            last_at=row.last_at,
            last_run=row.last_run,
            recent=recent_of(row.recent),
        )
        for row in tx.all(STATES_OF, link_id=link.id)
    }
    known: dict[str, Any] = link._asdict() | {name: bool(getattr(link, name)) for name in ("limited", "enabled", "implied")}
    return CarriedLink(**{name: known[name] for name in CARRIED}, directions=states)


def put(tx: Transaction, carried: CarriedLink) -> bool:
    """Whether the link was taken over, with what is left of it; one that this fleet has made or changed itself stays as it is.

    Raises:
        Invalid: A limit out of its bounds, or names that are no pair in order.
        Unknown, Gone: One of the two is not of this fleet.
    """
    if not carried.one < carried.other:
        raise Invalid(f"one is {carried.one!r} and other {carried.other!r}; name two agents, in the order of their names.", field="one")
    for field, name in (("one", carried.one), ("other", carried.other)):
        roster.find(tx, name, field=field)
    directions.lock(tx, carried.one, carried.other)
    found = directions.find(tx, carried.one, carried.other)
    assert found is not None
    if found.link.version and (carried.implied or not found.link.implied):
        return False
    limits = LinkChange(messages_per_window=carried.messages, window_hours=carried.hours, debounce_s=carried.debounce_s)
    wanted = changed(Link(link_of(carried.one, carried.other), carried.one, carried.other), limits)
    if carried.implied:
        directions.imply(tx, wanted)
    else:
        rest = {name: getattr(carried, name) for name in CARRIED if name != "implied"}
        tx.run(PUT, id=wanted.id, **rest | {"limited": int(carried.limited), "enabled": int(carried.enabled)})
    for sender in (carried.one, carried.other):
        _put_state(tx, wanted, sender, carried.directions.get(sender))
    return True


def _put_state(tx: Transaction, link: Link, sender: str, state: CarriedState | None) -> None:
    if state is None:
        return
    recent = msgspec.json.encode(state.recent).decode()
    left = max(0, min(state.credits, link.messages))
    tx.run(
        IMPORT_STATE,
        link_id=link.id,
        sender=sender,
        credits=left,
        reset_at=state.reset_at,
        began_at=state.began_at,
        last_at=state.last_at,
        last_run=state.last_run,
        recent=recent,
    )
