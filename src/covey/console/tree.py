"""A team run as a tree: groups of workers with their steps, and the steps that nobody has yet. What is shown of it has a bound. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from covey.teams.runs.model import Bound, TeamPart, TeamRun, TeamStep

SHOWN = Bound(each=20_000, whole=200_000)
"""So much of results is read for a page and shown on it."""
LINE = 120
"""A result of so many characters needs no folding."""


class Twig(NamedTuple):
    """One step, how long it took if it has ended, and what came of it as far as there is room for it."""

    step: TeamStep
    took_s: float | None
    words: str
    head: str
    """The first words of those, where they don't fit into one line."""
    elsewhere: bool
    """Whether there is more, which its task has."""
    whole: int
    """How many characters its whole result has, as JSON."""


class Branch(NamedTuple):
    """A group of workers under a sub-supervisor; with no `lead`, the steps that no group has."""

    lead: str
    workers: Sequence[str]
    quality: float
    branches: Sequence[Branch]
    twigs: Sequence[Twig]


class Tree(NamedTuple):
    """A run: its groups, or its steps where one supervisor is enough."""

    branches: Sequence[Branch]
    twigs: Sequence[Twig]


def tree_of(run: TeamRun) -> Tree:
    """The run as a tree."""
    twigs = {twig.step.step: twig for twig in _twigs(run.results)}
    if not run.teams:
        return Tree((), list(twigs.values()))
    branches = [_branch(part, twigs) for part in run.teams]
    rest = [twig for twig in twigs.values() if not any(twig.step.step in part.steps for part in run.teams)]
    return Tree([*branches, *([Branch("", (), 0.0, (), rest)] if rest else [])], ())


def _branch(part: TeamPart, twigs: dict[int, Twig]) -> Branch:
    own = [] if part.teams else [twigs[number] for number in part.steps]
    return Branch(part.supervisor, part.workers, part.quality_score, [_branch(each, twigs) for each in part.teams], own)


def _twigs(steps: Sequence[TeamStep]) -> Iterator[Twig]:
    room = SHOWN.whole
    for step in steps:
        words = words_of(step.result)
        shown = words[: min(SHOWN.each, room)]
        room -= len(shown)
        ends = step.finished_at is not None and step.started_at is not None
        took_s = step.finished_at - step.started_at if ends else None  # type: ignore[operator]
        yield Twig(step, took_s, shown, head_of(shown), step.left_out or len(shown) < len(words), step.result_chars)


def head_of(words: str) -> str:
    """The first words of a text that takes more than a line; empty of one that does not."""
    if len(words) <= LINE and "\n" not in words:
        return ""
    first = words.partition("\n")[0]
    return f"{first[:LINE]} …"


def words_of(result: Any) -> str:
    """A result word for word: its text, then its data."""
    if result is None:
        return ""
    if not isinstance(result, dict):
        return _json(result)
    text = str(result.get("summary") or "")
    rest = result.get("data")
    return f"{text}\n{_json(rest)}" if rest else text


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value)).decode()
