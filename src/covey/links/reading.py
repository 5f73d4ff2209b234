"""Links and peer states as they are shown: the quota is always the effective one (L9). Whoever asks sees what is theirs (L15)."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import msgspec

from covey.agents import roster
from covey.agents.model import Caller
from covey.base.errors import Forbidden, NotFound
from covey.links import directions, guiding, quota
from covey.links.model import Direction, End, Link, Policy, link_of, policy_of, recent_of, why_not_linkable
from covey.store import Transaction, statement

POLICY = statement(__package__, "policy")
PAGE = statement(__package__, "page")
PAGE_OF_OWNER = statement(__package__, "page_of_owner")
PEERS = statement(__package__, "peers")
STATES = statement(__package__, "states")

LOOKED_AT = 500
"""Among so many agents at once an agent's links, or candidates of one, are looked for: in a fleet of thousands a call stays short."""


class Allowance(msgspec.Struct, rename="camel"):
    """What one direction has left now."""

    credits_remaining: int | None
    """null: there is no limit."""
    window_reset_at: float | None
    last_message_at: float | None


class LinkShown(msgspec.Struct, rename="camel", kw_only=True):
    """A link as it is shown. `directions` has what each of its agents may still send to the other."""

    id: str
    agents: list[str]
    status: Literal["linked", "unlinked", "disabled", "gone"]
    why: str | None
    """Why it carries no mail."""
    messages_per_window: int
    window_hours: int
    debounce_s: float
    limits: Literal["on", "off"]
    enabled: bool
    feature_flag: str | None
    endpoints: dict[str, str]
    implied: bool
    version: int
    created_at: float | None
    created_by: str
    removed_at: float | None
    directions: dict[str, Allowance]


class Page(NamedTuple):
    """A part of a list, the cursor of the next one (None at the end), and what the configuration says of links."""

    items: list[LinkShown]
    cursor: str | None
    policy: Policy


def policy(tx: Transaction) -> Policy:
    """What the configuration says of links."""
    row = tx.one(POLICY)
    return policy_of(row.value if row is not None else None)


def show(tx: Transaction, one: str, other: str, by: Caller) -> LinkShown:
    """The link of two agents, one that the mesh implies or that was removed too.

    Raises:
        NotFound: They are not linked and never were, or they are one and the same.
        Unknown: There is no such agent.
        Forbidden: Neither of them is the caller's.
    """
    found = directions.find(tx, one, other) if one != other else None
    if found is None:
        for name in (one, other):
            roster.find(tx, name)
        raise NotFound(f"{one} is not linked with itself.", field="id")
    if not _sees(by, found.sender, found.receiver):
        raise Forbidden(f"the link between {one} and {other} is none of yours, and the token is {by.name}'s.")
    if found.link.version == 0 and found.refusal is not None:
        raise NotFound(f"{one} and {other} are not linked; `covey link add {one} {other}` links them, if they may be.", field="id")
    return shown(tx, found)


def page(tx: Transaction, by: Caller, *, agent: str | None = None, after: str = "", limit: int = 50) -> Page:
    """The links that have a row; of one agent also those that the mesh implies. In the order of their ids, or of the peers' names.

    Of one agent a call looks at LOOKED_AT peers at most: its page may be short, even empty, while its cursor goes on.

    Raises:
        Unknown, Gone: There is no such agent.
        Forbidden: It is not the caller's.
    """
    said = policy(tx)
    if agent is None and by.kind == "agent":
        agent = by.name
    if agent is not None:
        return _of_agent(tx, by, agent, after, limit, said)
    owner = by.owner
    rows = (
        tx.all(PAGE_OF_OWNER, owner=owner, after=after, limit=limit + 1)
        if owner is not None
        else tx.all(PAGE, after=after, limit=limit + 1)
    )
    links = [Link(*row) for row in rows[:limit]]
    items = [shown(tx, found) for link in links if (found := directions.find(tx, link.one, link.other)) is not None]
    return Page(items, links[-1].id if len(rows) > limit else None, said)


def _of_agent(tx: Transaction, by: Caller, agent: str, after: str, limit: int, said: Policy) -> Page:
    found = roster.find(tx, agent, field="agent")
    if not _sees(by, End(agent, found.owner, found.organisation)):
        raise Forbidden(f"{agent} is none of your agents, and the token is {by.name}'s.")
    items: list[LinkShown] = []
    peers = tx.all(PEERS, after=after, limit=LOOKED_AT + 1)
    for row in peers[:LOOKED_AT]:
        way = directions.find(tx, agent, row.id) if row.id != agent else None
        if way is not None and (way.link.version or way.refusal is None):
            items.append(shown(tx, way))
            if len(items) == limit:
                return Page(items, row.id, said)
    return Page(items, peers[LOOKED_AT - 1].id if len(peers) > LOOKED_AT else None, said)


class Candidate(NamedTuple):
    """An agent that another is not linked with: why it can't be (None if it can), and the version that its link has."""

    id: str
    refusal: str | None
    version: int


class Candidates(NamedTuple):
    """A part of a list, and the cursor of the next one."""

    items: list[Candidate]
    cursor: str | None


def candidates(tx: Transaction, agent: str, *, after: str = "", limit: int = LOOKED_AT) -> Candidates:
    """Who is not linked with an agent, among so many agents after a name (L1).

    Raises:
        Unknown, Gone: There is no such agent.
    """
    roster.find(tx, agent, field="agent")
    peers = tx.all(PEERS, after=after, limit=limit + 1)
    found = [way for row in peers[:limit] if row.id != agent and (way := directions.find(tx, agent, row.id)) is not None]
    items = [Candidate(way.receiver.id, why_not_linkable(way.sender, way.receiver), way.link.version) for way in found if not way.is_linked]
    return Candidates(items, peers[limit - 1].id if len(peers) > limit else None)


def candidate(tx: Transaction, agent: str, peer: str) -> Candidate:
    """One agent as a candidate of a link with another, whether they are linked or not.

    Raises:
        Unknown, Gone: There is no such agent.
    """
    for name in (agent, peer):
        roster.find(tx, name, field="agents")
    found = directions.find(tx, agent, peer)
    assert found is not None
    return Candidate(peer, why_not_linkable(found.sender, found.receiver), found.link.version)


def _sees(by: Caller, *ends: End) -> bool:
    """Whether the caller may see a link of these agents (L15)."""
    if by.kind in ("operator", "system"):
        return True
    return any(end.owner == by.owner if by.owner is not None else end.id == by.name for end in ends)


def shown(tx: Transaction, found: Direction) -> LinkShown:
    """A link with both its directions as they count now."""
    link, refusal = found.link, found.refusal
    back = directions.find(tx, found.receiver.id, found.sender.id)
    assert back is not None
    ways = sorted((found, back), key=lambda way: way.sender.id)
    return LinkShown(
        id=link.id,
        agents=[link.one, link.other],
        status=refusal.status if refusal is not None else "linked",
        why=refusal.sentence if refusal is not None else None,
        messages_per_window=link.messages,
        window_hours=link.hours,
        debounce_s=link.debounce_s,
        limits="on" if found.is_limited else "off",
        enabled=bool(link.enabled),
        feature_flag=link.feature,
        endpoints={link.one: link.endpoint_of(link.one), link.other: link.endpoint_of(link.other)},
        implied=bool(link.implied),
        version=link.version,
        created_at=link.created_at or None,
        created_by=link.created_by,
        removed_at=link.removed_at,
        directions={way.sender.id: allowance(way, tx.now) for way in ways},
    )


def allowance(found: Direction, now: float) -> Allowance:
    """What one direction has left now (L9). Pure."""
    if not found.is_limited:
        return Allowance(None, None, found.last_at)
    left = quota.effective(found.bucket, found.link.limits, now)
    return Allowance(left.credits, left.reset_at, found.last_at)


def guidance(tx: Transaction, agent: str, peers: list[str]) -> list[str]:
    """The sentences of L11 for an agent that handles mail of these peers."""
    ways = [found for peer in peers if (found := directions.find(tx, agent, peer)) is not None]
    return guiding.sentences(ways, tx.now)


class PeerState(msgspec.Struct, rename="camel"):
    """What is stored of one direction on one channel, for inspection; `creditsRemaining` is the effective one beside what is stored."""

    link_id: str
    channel: str
    sender: str
    credits_stored: int
    credits_remaining: int | None
    window_reset_at: float | None
    last_message_at: float | None
    last_run: str | None
    recent: list[dict[str, Any]]


class States(NamedTuple):
    """A part of all peer states, and the cursor of the next one."""

    items: list[PeerState]
    cursor: str | None


def states(tx: Transaction, *, after: str = "", limit: int = 50) -> States:
    """All peer states as they are stored."""
    link, channel, sender = [*after.split("|"), "", ""][:3]
    rows = tx.all(STATES, after=link, channel=channel, sender=sender, limit=limit + 1)
    items = [
        PeerState(
            row.link_id,
            row.channel,
            row.sender,
            row.credits,
            _effective(tx, row),
            row.reset_at,
            row.last_at,
            row.last_run,
            [{"digest": digest, "at": at} for digest, at in recent_of(row.recent)],
        )
        for row in rows[:limit]
    ]
    last = rows[limit - 1] if len(rows) > limit else None
    return States(items, f"{last.link_id}|{last.channel}|{last.sender}" if last is not None else None)


def _effective(tx: Transaction, row: Any) -> int | None:
    _, one, other = row.link_id.split(":")
    found = directions.find(tx, row.sender, other if row.sender == one else one) if row.channel == "dm" else None
    return allowance(found, tx.now).credits_remaining if found is not None else None


def ends_of(ident: str) -> tuple[str, str]:
    """The two agents of a link's id.

    Raises:
        NotFound: It is no link's id.
    """
    parts = ident.split(":")
    if len(parts) != 3 or parts[0] != "link" or link_of(parts[1], parts[2]) != ident:
        raise NotFound(f"there is no link {ident[:200]!r}; a link's id is link:A:B, with the names in order.", field="id")
    return parts[1], parts[2]
