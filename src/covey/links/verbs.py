"""Links made, changed and removed. Who may do it is the owners' and the operator's matter (L15); what waits for credit is the messages'."""

from __future__ import annotations

from collections.abc import Iterable

from covey.agents import roster
from covey.agents.model import Caller
from covey.base.errors import ChangedMeanwhile, Forbidden, Invalid, NotFound, NotLinkable
from covey.links import directions, quota
from covey.links.model import Direction, End, Link, LinkChange, changed, may_be_linked, why_not_linkable
from covey.links.model import add as add_command
from covey.links.quota import Limits
from covey.store import Row, Transaction, statement

PUT = statement(__package__, "put")
TOUCHED = statement(__package__, "touched")


def add(tx: Transaction, one: str, other: str, change: LinkChange, by: Caller, *, if_version: int | None = None) -> Link:
    """The link of two agents, made, or made again with the bucket that it had (L1).

    Raises:
        Invalid: An agent and itself, or a limit out of its bounds.
        Unknown, Gone: There is no such agent.
        NotLinkable: The two have no owner and no organisation in common.
        ChangedMeanwhile: `if_version` is not its version any more.
        Forbidden: They are not the caller's.
    """
    found = _pair(tx, one, other)
    _may(by, found, both=True)
    _check_linkable(found)
    _check_version(found.link, if_version)
    before = found.link
    base = before if before.removed_at is None else before._replace(enabled=1)
    wanted = changed(base, change)._replace(removed_at=None, removed_why=None)
    return _put(
        tx, before, wanted, by, "link.added" if before.version == 0 or before.removed_at is not None or before.implied else "link.changed"
    )


def change(tx: Transaction, one: str, other: str, wanted: LinkChange, by: Caller, *, if_version: int | None = None) -> Link:
    """The link with other limits; what is left of each bucket follows them (L7). A link that the mesh implies gets its row.

    Raises:
        NotFound: They are not linked.
        ChangedMeanwhile: `if_version` is not its version any more.
        Invalid, Unknown, Gone, Forbidden: As `add`.
    """
    found = _standing(tx, one, other)
    _may(by, found, both=True)
    _check_version(found.link, if_version)
    return _put(tx, found.link, changed(found.link, wanted), by, "link.changed")


def enable(tx: Transaction, one: str, other: str, by: Caller, *, if_version: int | None = None) -> Link:
    """The link, open for mail again."""
    found = _standing(tx, one, other)
    _may(by, found, both=True)
    _check_version(found.link, if_version)
    return _put(tx, found.link, found.link._replace(enabled=1), by, "link.enabled")


def disable(tx: Transaction, one: str, other: str, by: Caller, *, if_version: int | None = None) -> Link:
    """The link, closed for mail until it is enabled; it keeps its limits."""
    found = _standing(tx, one, other)
    _may(by, found, both=False)
    _check_version(found.link, if_version)
    return _put(tx, found.link, found.link._replace(enabled=0), by, "link.disabled")


def remove(tx: Transaction, one: str, other: str, by: Caller, *, if_version: int | None = None) -> Link:
    """The link, removed: no mesh brings it back, only `add` does. Its bucket stays (L1)."""
    found = _standing(tx, one, other)
    _may(by, found, both=False)
    _check_version(found.link, if_version)
    return _put(tx, found.link, found.link._replace(removed_at=tx.now, removed_why=f"by {by.name}"), by, "link.removed")


def part_strangers(tx: Transaction, agents: Iterable[str]) -> list[Link]:
    """The links of these agents, whose owner may have changed, that may stand no longer: they are removed, their history stays (L1)."""
    removed = []
    for agent in agents:
        for row in tx.all(TOUCHED, agent=agent):
            link = Link(*row[: len(Link._fields)])
            if not may_be_linked(_end(row, "one"), _end(row, "other")):
                why = "its agents have no owner and no organisation in common any more"
                removed.append(_write(tx, link._replace(removed_at=tx.now, removed_why=why, version=link.version + 1)))
                tx.happened("link.removed", agent=link.one, subject=link.id, one=link.one, other=link.other, by="system", why=why)
    return removed


def _end(row: Row, part: str) -> End:
    return End(getattr(row, part), getattr(row, f"{part}_owner"), getattr(row, f"{part}_organisation"))


def _pair(tx: Transaction, one: str, other: str) -> Direction:
    """The two agents' direction, under the locks of both."""
    if one == other:
        raise Invalid(f"{one} can't be linked with itself; name two agents.", field="agents")
    for name in (one, other):
        roster.find(tx, name, field="agents")
    directions.lock(tx, one, other)
    found = directions.find(tx, one, other)
    assert found is not None
    return found


def _standing(tx: Transaction, one: str, other: str) -> Direction:
    found = _pair(tx, one, other)
    if not found.is_linked:
        raise NotFound(f"{one} and {other} are not linked; `{add_command(found.link)}` links them.", field="agents")
    return found


def _check_linkable(found: Direction) -> None:
    refusal = why_not_linkable(found.sender, found.receiver)
    if refusal is not None:
        raise NotLinkable(refusal, field="agents")


def _may(by: Caller, found: Direction, *, both: bool) -> None:
    """An owner may open its own agents to each other, and close them to anybody; an agent changes no link (L15, M12)."""
    if by.kind in ("operator", "system"):
        return
    mine = [by.owner is not None and end.owner == by.owner for end in (found.sender, found.receiver)]
    if not (all(mine) if both else any(mine)):
        whose = "the operator's or an owner's" if by.kind == "agent" else "not your agents'"
        raise Forbidden(f"the link between {found.link.one} and {found.link.other} is {whose} to change, and the token is {by.name}'s.")


def _check_version(link: Link, wanted: int | None) -> None:
    if wanted is not None and wanted != link.version:
        raise ChangedMeanwhile(
            f"the link between {link.one} and {link.other} was changed meanwhile (version {link.version}, not {wanted}); look at it again.",
            version=link.version,
        )


def _put(tx: Transaction, before: Link, wanted: Link, by: Caller, kind: str) -> Link:
    """Store it; both buckets follow the new limits."""
    stored = wanted._replace(implied=0, version=before.version + 1)
    if before.version == 0:
        stored = stored._replace(created_at=tx.now, created_by=by.name)
    _write(tx, stored)
    if before.limits != stored.limits:
        _relimit(tx, stored, before.limits)
    tx.happened(
        kind,
        agent=stored.one,
        subject=stored.id,
        one=stored.one,
        other=stored.other,
        by=by.name,
        messages=stored.messages,
        hours=stored.hours,
        debounceS=stored.debounce_s,
        limits="on" if stored.limited else "off",
        feature=stored.feature,
    )
    return stored


def _write(tx: Transaction, link: Link) -> Link:
    tx.run(PUT, **{name: value for name, value in link._asdict().items() if name != "implied"})
    return link


def _relimit(tx: Transaction, link: Link, old: Limits) -> None:
    for sender, receiver in ((link.one, link.other), (link.other, link.one)):
        found = directions.find(tx, sender, receiver)
        assert found is not None
        directions.set_bucket(tx, link.id, sender, quota.relimited(found.bucket, old, link.limits, tx.now))
