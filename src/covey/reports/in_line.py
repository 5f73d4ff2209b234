"""Where a queued task stands in line: behind how many, in whose queue, who is able to take it and why the others are not (A1a, K2)."""

from __future__ import annotations

from typing import Any

from covey.agents import configuring, roster
from covey.agents.model import URGENT
from covey.reports import pulse
from covey.reports.phrases import count, head, listed, when
from covey.reports.pulse import Pulse
from covey.store import Row, Transaction, statement
from covey.tasks import refusing

BEFORE_IT = statement(__package__, "before_it")

LINE_BOUND = 1_000
"""A line is counted up to so many."""

Told = tuple[list[str], dict[str, Any]]
"""Sentences, and the same as values."""


def in_line(tx: Transaction, row: Row, stale_s: float | None) -> Told:
    """What can be said of a queued task's place, given its row."""
    before = _before(tx, row, row.queue)
    return _in_own_queue(tx, row, before, stale_s) if row.agent is not None else _in_shared_queue(tx, row, before, stale_s)


def _in_shared_queue(tx: Transaction, row: Row, before: int, stale_s: float | None) -> Told:
    kind = "urgent" if row.queue.startswith(f"{URGENT}:") else "global"
    said = [f"It waits in the {kind} queue for anybody with the capability {row.capability}; {_before_words(before)}."]
    candidates = [each for each in pulse.of_all(tx, stale_s) if row.capability in each.agent.capabilities]
    refused = set(refusing.refused_by(tx, row.id))
    able = [each for each in candidates if each.why_not_able is None and each.agent.id not in refused]
    not_able = {each.agent.id: why for each in candidates if (why := _why_not(each, refused)) is not None}
    if not candidates:
        said.append("Nobody in the fleet has that capability.")
    elif not able:
        said.append(f"Nobody is able to take it now: {listed([f'{name} {why}' for name, why in not_able.items()])}.")
    else:
        said.append(f"{listed([each.agent.id for each in able], word='or')} may take it; {_who_is_free(able)}.")
    return said, {"before": before, "able": [each.agent.id for each in able], "notAble": not_able}


def _why_not(each: Pulse, refused: set[str]) -> str | None:
    return "has said that its brain can't do it" if each.agent.id in refused else each.why_not_able


def _who_is_free(able: list[Pulse]) -> str:
    free = [each.agent.id for each in able if not _busy(each)]
    if free:
        return f"{listed(free)} {'is' if len(free) == 1 else 'are'} free"
    return listed([f"{each.agent.id} is busy {_with_what(each)}" for each in able])


def _in_own_queue(tx: Transaction, row: Row, before: int, stale_s: float | None) -> Told:
    agent = roster.seek(tx, row.agent)
    if agent is None or agent.removed_at is not None:
        gone = f"It waits in the queue of {row.agent}, who was removed from the fleet"
        return [f"{gone}; `covey task reassign {row.id} AGENT` gives it to another."], {"before": before, "able": []}
    found = pulse.of_one(tx, row.agent, stale_s)
    shared = sum(_before(tx, row, queue) for queue in configuring.queues_of(agent.id, agent.capabilities) if queue != row.queue)
    said = [f"It waits in {row.agent}'s own queue; {_before_words(before)}."]
    if shared:
        said.append(f"Up to {shared:,} more, from the queues that {row.agent} shares with others, may go first.")
    why_not = found.why_not_able
    if why_not is not None:
        said.append(f"{row.agent} takes no work now: it {why_not}.")
    elif _busy(found):
        said.append(f"{row.agent} is busy {_with_what(found)}.")
    elif not before and row.not_before <= tx.now:
        said.append(f"{row.agent} is free and takes it when it next looks at its queues.")
    not_able = {row.agent: why_not} if why_not is not None else {}
    return said, {"before": before, "beforeShared": shared, "able": [] if not_able else [row.agent], "notAble": not_able}


def _busy(found: Pulse) -> bool:
    return len(found.running) >= found.settings.task_lanes


def _with_what(found: Pulse) -> str:
    """What an agent's brain is at."""
    return "with " + listed(
        [f"{row.id} (“{head(row.description, 60)}”) since {when(row.claimed_at, found.now)}" for row in found.running], most=2
    )


def _before(tx: Transaction, row: Row, queue: str) -> int:
    found = tx.one(BEFORE_IT, queue=queue, not_urgent=row.not_urgent, sort_key=row.sort_key, seq=row.seq, limit=LINE_BOUND)
    return int(found.tasks) if found else 0


def _before_words(before: int) -> str:
    if not before:
        return "it is the first in line"
    return f"{'at least ' if before >= LINE_BOUND else ''}{count(before, 'task')} {'is' if before == 1 else 'are'} before it"
