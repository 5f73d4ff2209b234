"""What a link is, what is left of its limits, and who may be linked: data, bounds and pure rules (L1, L2, L14). No I/O."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import msgspec

from covey.base.errors import Invalid
from covey.links.quota import Bucket, Limits

PROTOCOL = "protocol"
"""Where mail of the protocol itself is counted (L12)."""
MESSAGES = 30
HOURS = 6
DEBOUNCE_S = 5.0
"""The limits of a link that names none (L2, L4)."""
MOST_MESSAGES = 500
MOST_HOURS = 168
MOST_DEBOUNCE_S = 60.0

Endpoint = Literal["http", "mcp", "a2a", "hook"]
ENDPOINTS: tuple[Endpoint, ...] = ("http", "mcp", "a2a", "hook")
Recent = tuple[tuple[str, float], ...]
"""What was accepted of late in one direction, oldest first: the digest of its words, and when."""
_recent = msgspec.json.Decoder(Recent).decode
_FLAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Policy(msgspec.Struct, frozen=True):
    """What the configuration says of links."""

    links: Literal["mesh", "none"] = "mesh"
    limits: Literal["on", "off"] = "on"
    features: dict[str, dict[str, bool]] = {}
    """Organisation (or owner) → feature flag → on or off; one not named is on (L14)."""


@lru_cache(maxsize=16)
def policy_of(text: str | None) -> Policy:
    """The policy that stands in the fleet's facts; the usual one if none does. Pure."""
    return msgspec.json.decode(text, type=Policy) if text else Policy()


class End(NamedTuple):
    """One of the two agents of a link."""

    id: str
    owner: str
    organisation: str
    removed: bool = False


class Link(NamedTuple):
    """The permission of two agents to write to each other, with its limits. `one` sorts before `other`."""

    id: str
    one: str
    other: str
    messages: int = MESSAGES
    hours: int = HOURS
    debounce_s: float = DEBOUNCE_S
    limited: int = 1
    enabled: int = 1
    feature: str | None = None
    one_endpoint: Endpoint | None = None
    other_endpoint: Endpoint | None = None
    implied: int = 1
    """Whether the mesh made it, and nobody has touched it since."""
    version: int = 0
    """How often it was changed; 0: it has no row yet."""
    created_at: float = 0.0
    created_by: str = "mesh"
    removed_at: float | None = None
    removed_why: str | None = None

    @property
    def limits(self) -> Limits:
        """How much each direction may carry."""
        return Limits(self.messages, self.hours * 3600.0)

    def endpoint_of(self, agent: str) -> Endpoint:
        """How this end is best woken."""
        return (self.one_endpoint if agent == self.one else self.other_endpoint) or "http"


class Refusal(NamedTuple):
    """Why a link does not carry mail: the outcome of a send over it, and a sentence for a model (L13)."""

    status: Literal["gone", "unlinked", "disabled"]
    sentence: str


class Direction(NamedTuple):
    """One direction of a pair: its ends, its link as it is or would be, and what was sent of late."""

    sender: End
    receiver: End
    link: Link
    policy: Policy
    refusal: Refusal | None
    """Why mail may not go this way now; None if it may."""
    is_limited: bool
    """Whether credits, debounce and duplicates are looked at."""
    bucket: Bucket
    last_at: float | None
    last_run: str | None
    recent: Recent

    @property
    def is_linked(self) -> bool:
        """Whether there is a link, if only the mesh's; mail may be refused on it all the same."""
        if self.link.removed_at is not None:
            return False
        return not self.link.implied or (self.policy.links == "mesh" and may_be_linked(self.sender, self.receiver))

    @classmethod
    def from_row(cls, row: Any) -> Direction:
        """The direction of a row that begins with the columns of `direction.sql`."""
        standing = _standing(row[:_STANDING])
        link = standing[2]
        bucket = Bucket(link.messages, None) if row.credits is None else Bucket(row.credits, row.reset_at, row.began_at)
        return cls(*standing, bucket, row.last_at, row.last_run, recent_of(row.recent))


_STANDING = 23
"""So many columns of a direction's row tell how a pair stands, whatever was sent."""


@lru_cache(maxsize=2048)
def _standing(columns: tuple[Any, ...]) -> tuple[End, End, Link, Policy, Refusal | None, bool]:
    """How a pair stands: kept, since the same is read again with each message. Pure."""
    sender, receiver = _end(*columns[:4]), _end(*columns[4:8])
    policy = policy_of(columns[8])
    one, other = sorted((sender.id, receiver.id))
    ident = link_of(one, other)
    version = columns[18]
    link = Link(ident, one, other) if version is None else Link(ident, one, other, *columns[9:])
    refusal = why_not(sender, receiver, link, policy)
    return sender, receiver, link, policy, refusal, policy.limits == "on" and bool(link.limited)


def _end(name: str, owner: str, organisation: str, removed_at: float | None) -> End:
    return End(name, owner, organisation, removed_at is not None)


def recent_of(text: str | None) -> Recent:
    """What was accepted of late, from its JSON text. Pure."""
    return _recent(text) if text else ()


def link_of(one: str, other: str) -> str:
    """The id of a pair's one link; the same whoever is named first (L1). Pure."""
    return f"link:{one}:{other}" if one < other else f"link:{other}:{one}"


def may_be_linked(one: End, other: End) -> bool:
    """Whether two agents have one owner or one organisation in common; where none is set, all have the same owner (L1). Pure."""
    return one.owner == other.owner or bool(one.organisation and one.organisation == other.organisation)


def why_not_linkable(one: End, other: End) -> str | None:
    """Why two agents can't be linked, in words; None if they can (L1). Pure."""
    if may_be_linked(one, other):
        return None
    return (
        f"{one.id} and {other.id} can't be linked, since they have no owner and no organisation in common: {one.owner or '-'} of"
        f" {one.organisation or '-'}, {other.owner or '-'} of {other.organisation or '-'}."
    )


def why_not(sender: End, receiver: End, link: Link, policy: Policy) -> Refusal | None:
    """Why mail may not go this way now, by the rules of L1 and L14; None if it may. Pure."""
    if receiver.removed:
        return Refusal("gone", f"{receiver.id} was removed from the fleet.")
    if not may_be_linked(sender, receiver):
        said = f"{sender.id} and {receiver.id} have no owner and no organisation in common, so they may not write to each other."
        return Refusal("unlinked", f"{said} Tell the operator what you need.")
    if link.removed_at is not None:
        why = f" ({link.removed_why})" if link.removed_why else ""
        return Refusal("unlinked", f"the link between {link.one} and {link.other} was removed{why}. Ask the operator for `{add(link)}`.")
    if policy.links == "none" and link.implied:
        return Refusal(
            "unlinked",
            f"{sender.id} and {receiver.id} are not linked, and this fleet links nobody by itself. Ask the operator for `{add(link)}`.",
        )
    if not link.enabled:
        said = f"the link between {link.one} and {link.other} is disabled. Don't try again; the operator can enable it."
        return Refusal("disabled", said)
    if link.feature is not None and is_off(link.feature, policy, sender, receiver):
        said = f"the link between {link.one} and {link.other} stands behind the feature flag {link.feature}, which is off for them."
        return Refusal("disabled", f"{said} Don't try again.")
    return None


def add(link: Link) -> str:
    """The command that makes a link."""
    return f"covey link add {link.one} {link.other}"


def is_off(flag: str, policy: Policy, one: End, other: End) -> bool:
    """Whether a feature flag is off for the organisation or the owner of either agent (L14). Pure."""
    groups = {one.organisation, one.owner, other.organisation, other.owner} - {""}
    return any(policy.features.get(group, {}).get(flag) is False for group in groups)


class LinkChange(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """What is to be different about a link; what is left out stays."""

    messages_per_window: int | None = None
    window_hours: int | None = None
    debounce_s: float | None = None
    limits: Literal["on", "off"] | None = None
    enabled: bool | None = None
    feature_flag: str | msgspec.UnsetType | None = msgspec.UNSET
    """null takes the link from behind its flag."""
    endpoints: dict[str, Endpoint] = {}
    """Agent → how it is best woken, for either end."""


def changed(link: Link, change: LinkChange) -> Link:
    """The link with the change. Pure.

    Raises:
        Invalid: A value out of its bounds; `field` names it.
    """
    wanted: dict[str, Any] = {}
    if change.messages_per_window is not None:
        wanted["messages"] = _whole("messagesPerWindow", change.messages_per_window, MOST_MESSAGES)
    if change.window_hours is not None:
        wanted["hours"] = _whole("windowHours", change.window_hours, MOST_HOURS)
    if change.debounce_s is not None:
        wanted["debounce_s"] = _seconds(change.debounce_s)
    if change.limits is not None:
        wanted["limited"] = int(change.limits == "on")
    if change.enabled is not None:
        wanted["enabled"] = int(change.enabled)
    if change.feature_flag is not msgspec.UNSET:
        wanted["feature"] = _flag(change.feature_flag)
    return link._replace(**wanted, **_endpoints(link, change.endpoints))


def _whole(field: str, value: object, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise Invalid(f"{field} is {value!r}; give a whole number from 1 to {most}.", field=field)
    return value


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or not 0 <= value <= MOST_DEBOUNCE_S:
        raise Invalid(f"debounceS is {value!r}; give seconds from 0 to {MOST_DEBOUNCE_S:g}.", field="debounceS")
    return float(value)


def _flag(value: object) -> str | None:
    if value is not None and not (isinstance(value, str) and _FLAG.fullmatch(value)):
        raise Invalid(f"featureFlag is {str(value)[:100]!r}; it is a word of letters, digits and . _ -", field="featureFlag")
    return value


def _endpoints(link: Link, given: dict[str, Endpoint]) -> dict[str, Any]:
    names = {link.one: "one_endpoint", link.other: "other_endpoint"}
    for agent, endpoint in given.items():
        if agent not in names:
            raise Invalid(
                f"endpoints names {agent[:60]!r}, which is no end of this link; it joins {link.one} and {link.other}.", field="endpoints"
            )
        if endpoint not in ENDPOINTS:
            raise Invalid(f"endpoints.{agent} is {str(endpoint)[:60]!r}; it may be {', '.join(ENDPOINTS)}.", field=f"endpoints.{agent}")
    return {names[agent]: endpoint for agent, endpoint in given.items()}
