"""Tasks that hang together as a drawing: what comes earlier stands on the left. Geometry alone; the template draws it. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from covey.reports.task_graph import Graph, Knot, Tie

BOX_WIDTH, BOX_HEIGHT, GAP_X, GAP_Y, EDGE = 170, 40, 60, 14, 8
LETTERS = 26


class Box(NamedTuple):
    """One task's place."""

    knot: Knot
    x: int
    y: int
    label: str
    is_here: bool


class Arrow(NamedTuple):
    """One tie, as an SVG path."""

    path: str
    kind: str
    title: str


class Drawing(NamedTuple):
    """All there is to draw, and how large it is."""

    boxes: Sequence[Box]
    arrows: Sequence[Arrow]
    width: int
    height: int
    more: bool


def drawing(graph: Graph, here: str) -> Drawing:
    """The drawing of these tasks; `here` stands out."""
    columns: defaultdict[int, list[Knot]] = defaultdict(list)
    rank = ranks([knot.id for knot in graph.knots], graph.ties)
    for knot in graph.knots:
        columns[rank[knot.id]].append(knot)
    tallest = max((len(each) for each in columns.values()), default=0)
    boxes = [box for number, knots in columns.items() for box in _column(number, knots, tallest, here)]
    places = {box.knot.id: box for box in boxes}
    arrows = [_arrow(tie, places) for tie in graph.ties if tie.earlier in places and tie.later in places]
    width = len(columns) * (BOX_WIDTH + GAP_X) - GAP_X + 2 * EDGE
    return Drawing(boxes, arrows, width, tallest * (BOX_HEIGHT + GAP_Y) - GAP_Y + 2 * EDGE, graph.more)


def ranks(names: Sequence[str], ties: Sequence[Tie]) -> dict[str, int]:
    """For each task the longest way to it from one that nothing comes before, without gaps. Ties never close a circle (K3)."""
    rank = dict.fromkeys(names, 0)
    for _ in names:
        moved = False
        for tie in ties:
            if tie.earlier in rank and tie.later in rank and rank[tie.later] <= rank[tie.earlier] < len(names):
                rank[tie.later] = rank[tie.earlier] + 1
                moved = True
        if not moved:
            break
    closed = {value: place for place, value in enumerate(sorted(set(rank.values())))}
    return {name: closed[value] for name, value in rank.items()}


def _column(number: int, knots: Sequence[Knot], tallest: int, here: str) -> list[Box]:
    top = EDGE + (tallest - len(knots)) * (BOX_HEIGHT + GAP_Y) // 2
    x = EDGE + number * (BOX_WIDTH + GAP_X)
    return [Box(knot, x, top + place * (BOX_HEIGHT + GAP_Y), _label(knot.text), knot.id == here) for place, knot in enumerate(knots)]


def _label(text: str) -> str:
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"


def _arrow(tie: Tie, places: dict[str, Box]) -> Arrow:
    one, other = places[tie.earlier], places[tie.later]
    x1, y1 = one.x + BOX_WIDTH, one.y + BOX_HEIGHT // 2
    x2, y2 = other.x, other.y + BOX_HEIGHT // 2
    middle = (x1 + x2) // 2
    what = "is a part of" if tie.is_part else "is needed by"
    done = ", which is met" if tie.met and not tie.is_part else ""
    return Arrow(f"M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}", _kind(tie), f"{one.knot.text} {what} {other.knot.text}{done}")


def _kind(tie: Tie) -> str:
    return "part" if tie.is_part else "met" if tie.met else "open"
