"""The fleet as a ring: agents as nodes, buddies and links between them. Geometry alone; the template draws it. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from covey.links.reading import LinkShown

WIDTH, HEIGHT = 560.0, 360.0
MOST = 48
"""A ring of more agents than this is no drawing any more."""
HIGH = 0.8


class Node(NamedTuple):
    """One agent's place."""

    name: str
    x: float
    y: float
    state: str
    flag: str
    radius: float


class Line(NamedTuple):
    """A line between two agents: an SVG path, what quota is used, and what it says."""

    path: str
    quota: str
    title: str


class Ring(NamedTuple):
    """All there is to draw."""

    nodes: Sequence[Node]
    buddies: Sequence[Line]
    links: Sequence[Line]


def ring(agents: Sequence[Mapping[str, Any]], links: Sequence[LinkShown]) -> Ring:
    """The drawing of these agents (as `status.fleet` gives them) and of the links that are used among them."""
    radius = max(9.0, min(24.0, 420.0 / max(1, len(agents))))
    nodes = {each["agentId"]: _node(each, *_place(place, len(agents)), radius) for place, each in enumerate(agents)}
    pairs = {tuple(sorted((each["agentId"], each["buddyId"]))) for each in agents if each["buddyId"] in nodes}
    buddies = [Line(_straight(nodes[one], nodes[other]), "", f"{one} and {other} are buddies") for one, other in sorted(pairs)]
    drawn = [_link(each, nodes) for each in links if each.status == "linked" and all(name in nodes for name in each.agents)]
    return Ring(list(nodes.values()), buddies, drawn)


def _place(place: int, of: int) -> tuple[float, float]:
    angle = 2 * math.pi * place / max(1, of) - math.pi / 2
    return WIDTH / 2 + (WIDTH / 2 - 60) * math.cos(angle), HEIGHT / 2 + (HEIGHT / 2 - 32) * math.sin(angle)


def _node(agent: Mapping[str, Any], x: float, y: float, radius: float) -> Node:
    flags = [name for name in ("stopped", "paused", "away") if agent["flags"][name]]
    return Node(agent["agentId"], round(x, 1), round(y, 1), agent["status"], flags[0] if flags else "", round(radius, 1))


def _straight(one: Node, other: Node) -> str:
    return f"M{one.x} {one.y}L{other.x} {other.y}"


def _link(link: LinkShown, nodes: Mapping[str, Node]) -> Line:
    """A link bends towards the middle, so that it lies beside the line of two buddies."""
    one, other = (nodes[name] for name in link.agents)
    middle_x, middle_y = (one.x + other.x + WIDTH / 2) / 3, (one.y + other.y + HEIGHT / 2) / 3
    used, title = used_of(link)
    quota = "" if used is None or used < HIGH else "out" if used >= 1 else "high"
    return Line(f"M{one.x} {one.y}Q{middle_x:.1f} {middle_y:.1f} {other.x} {other.y}", quota, title)


def used_of(link: LinkShown) -> tuple[float | None, str]:
    """Which share of its window's messages the busier direction has used (None without limits), and that in words."""
    ways = [(sender, left.credits_remaining) for sender, left in link.directions.items() if left.credits_remaining is not None]
    one, other = link.agents
    if not ways:
        return None, f"{one} and {other}: no limit"
    words = ", ".join(f"{sender} has {left} of {link.messages_per_window} left" for sender, left in ways)
    return max(1 - left / link.messages_per_window for _, left in ways), f"{one} and {other}: {words}"
