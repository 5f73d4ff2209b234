"""How each agent stands right now: its record, what its brain has, what waits for it. A few queries, whatever the fleet's size."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

import msgspec

from covey.agents import breaking, configuring, roster
from covey.agents.breaking import Opened
from covey.agents.external import is_away
from covey.agents.model import SILENT, STALLS, Agent, Facts, Status, Vitals, status_of
from covey.base.settings import AgentSettings
from covey.buddies import checking, covering
from covey.buddies.model import Last
from covey.reports.phrases import head
from covey.store import Row, Transaction, statement
from covey.tasks import takers

WAITING_MAIL = statement(__package__, "waiting_mail")
MAIL_AT_WORK = statement(__package__, "mail_at_work")
TASKS_AT_WORK = statement(__package__, "tasks_at_work")
OPEN_TASKS = statement(__package__, "open_tasks")
READY_QUEUES = statement(__package__, "ready_queues")
READY_MAIL = statement(__package__, "ready_mail")
CONTEXT_SIZES = statement(__package__, "context_sizes")
OPEN_INCIDENTS = statement(__package__, "open_incidents")
PROJECTS_AT_WORK = statement(__package__, "projects_at_work")

REASON_CHARS = 500
_EVERYBODY = ("", "z" * 33)
"""A range of names with every agent's in it: one is at most 32 characters of a-z, 0-9 and the hyphen."""


class Pulse(NamedTuple):
    """How one agent stands at store time `now`."""

    now: float
    stale_s: float
    agent: Agent
    settings: AgentSettings
    vitals: Vitals
    running: tuple[Row, ...]
    """Its running tasks: rows of `tasks_at_work`."""
    mail_at_work: int
    unread: int
    unread_since: float | None
    queue_length: int
    """How many tasks wait in its own queue, the blocked too."""
    ready: bool
    context_size: int
    too_large: str | None
    """Why what its context must keep does not fit into its bound, if it does not (C3)."""
    context_overflows: int
    """How often its context had to be cut back to what it must keep (C3)."""
    projects: tuple[str, ...]
    breaker: Opened | None
    """Its breaker, if it is not closed (H6)."""
    incidents: tuple[Row, ...]
    """Its open incidents: rows of id, kind, subject, cause, opened_at."""
    covering: tuple[str, ...] = ()
    """Whom it covers, since they are down (B5)."""
    checks: Last | None = None
    """What came of its checks of its buddy (B2)."""

    @property
    def external(self) -> bool:
        """Whether it has no process of ours (A5b)."""
        return self.settings.brain.kind == "external"

    @property
    def heartbeat_at(self) -> float | None:
        """Its last sign of life; an external agent's calls are its heartbeat (A5b)."""
        return self.vitals.seen_at if self.external else self.vitals.heartbeat_at

    @property
    def away(self) -> bool:
        """Whether an external agent was not seen for its cadence (A5b)."""
        return self.external and is_away(self.vitals.seen_at, self.settings.cadence_s, self.now)

    @property
    def silent(self) -> bool:
        """Whether it should beat and does not (A3)."""
        beat = self.vitals.heartbeat_at
        return not self.external and (beat is None or self.now - beat > self.stale_s)

    @property
    def error(self) -> str | None:
        """What keeps it from work until somebody or something helps; None if nothing does (A3)."""
        agent, breaker = self.agent, self.breaker
        if agent.failed_at is not None:
            reason = agent.failed_reason or "no reason is recorded"
            return f"it has no brain: {reason}" if self.brainless else f"it is not started any more: {reason}"
        if breaker is not None:
            often = f"{breaker.failures} failures in a row" if breaker.failures > 1 else "its brain can't start"
            how = "open" if breaker.phase == "open" else "half-open, so that one thing is let through"
            return f"its breaker is {how}: {often}, at last: {head(breaker.reason, REASON_CHARS)}"
        full = next((each for each in self.incidents if each.kind == "context_overflow"), None)
        return f"its context is too large: {full.cause if full is not None else self.too_large}" if full or self.too_large else None

    @property
    def brainless(self) -> bool:
        """Whether its process serves and has nothing that could think."""
        return any(each.kind == "no_brain" for each in self.incidents)

    @property
    def stall(self) -> Row | None:
        """The open incident that makes it `stalled`; what says that its heart is silent does so only while that is so (A3, H7a)."""
        return next((each for each in self.incidents if each.kind in STALLS and (self.silent or each.kind not in SILENT)), None)

    @property
    def status(self) -> Status:
        """Its status, derived from facts (A3). Who is away has nobody at work on what waits for it (A5b)."""
        vitals = self.vitals
        facts = Facts(
            now=self.now,
            heartbeat_at=vitals.heartbeat_at,
            last_active_at=None if self.away else vitals.last_active_at,
            error=self.error,
            stalled=self.stall is not None,
            busy=bool(self.running) or self.mail_at_work > 0,
            ready=self.ready and not self.away,
            external=self.external,
        )
        return status_of(facts, self.stale_s)

    @property
    def why_not_able(self) -> str | None:
        """Why it takes no work now, as `is paused: …`; None if it does (A1a)."""
        until, cause = (self.breaker.until, self.breaker.reason) if self.breaker is not None else (None, None)
        bar = takers.bar_of(self.agent, until, cause, self.now, away=self.away)
        down = not self.external and not takers.beats(self.vitals.pid, self.vitals.heartbeat_at, self.now, self.stale_s)
        return str(bar) if bar is not None else "is down: it has no process that beats" if down else None


def of_one(tx: Transaction, name: str, stale_s: float | None = None) -> Pulse:
    """How one agent stands.

    Raises:
        Unknown, Gone: There is no such agent.
    """
    agent = roster.find(tx, name)
    return _pulses(tx, [agent], {name: roster.vitals(tx, name)}, (name, name), stale_s)[0]


def of_all(tx: Transaction, stale_s: float | None = None) -> list[Pulse]:
    """How every agent stands, in the fleet's order."""
    return _pulses(tx, roster.everyone(tx), roster.all_vitals(tx), _EVERYBODY, stale_s)


def of_some(tx: Transaction, agents: list[Agent], stale_s: float | None = None) -> list[Pulse]:
    """How these agents stand, in their order."""
    names = [agent.id for agent in agents] or [""]
    return _pulses(tx, agents, roster.all_vitals(tx), (min(names), max(names)), stale_s)


def _pulses(tx: Transaction, agents: list[Agent], vitals: dict[str, Vitals], names: tuple[str, str], stale_s: float | None) -> list[Pulse]:
    low, high = names
    stale_s = roster.stale_s(tx) if stale_s is None else stale_s
    mail = {row.receiver: row for row in tx.all(WAITING_MAIL, low=low, high=high)}
    at_mail = Counter(row.receiver for row in tx.all(MAIL_AT_WORK))
    running: dict[str, list[Row]] = defaultdict(list)
    for row in tx.all(TASKS_AT_WORK, low=low, high=high):
        running[row.holder].append(row)
    open_tasks = {row.agent: row.tasks for row in tx.all(OPEN_TASKS, low=low, high=high)}
    queues = {row.queue for row in tx.all(READY_QUEUES, low=low, high=high, now=tx.now)}
    woken = {row.id for row in tx.all(READY_MAIL, low=low, high=high, now=tx.now)}
    contexts = {row.agent: row for row in tx.all(CONTEXT_SIZES, low=low, high=high)}
    projects = _projects(tx, low, high)
    breakers = breaking.opened(tx)
    incidents: dict[str, list[Row]] = defaultdict(list)
    for row in tx.all(OPEN_INCIDENTS, low=low, high=high):
        incidents[row.agent].append(row)
    covers = covering.by_buddy(covering.coverings(tx, low, high))
    checks = checking.last_of_all(tx, low, high)
    found = []
    for agent in agents:
        name, held = agent.id, running[agent.id]
        found.append(
            Pulse(
                now=tx.now,
                stale_s=stale_s,
                agent=agent,
                settings=msgspec.convert(agent.settings, AgentSettings),
                vitals=vitals[name],
                running=tuple(held),
                mail_at_work=at_mail[name],
                unread=mail[name].unread if name in mail else 0,
                unread_since=mail[name].since if name in mail else None,
                queue_length=max(0, open_tasks.get(name, 0) - sum(row.agent == name for row in held)),
                ready=name in woken or not queues.isdisjoint(configuring.queues_of(name, agent.capabilities)),
                context_size=int(contexts[name].tokens) if name in contexts else 0,
                too_large=contexts[name].too_large if name in contexts else None,
                context_overflows=contexts[name].overflows if name in contexts else 0,
                projects=tuple(sorted(projects[name])),
                breaker=breakers.get(name),
                incidents=tuple(incidents.get(name, ())),
                covering=tuple(covers.get(name, ())),
                checks=checks.get(name),
            )
        )
    return found


def _projects(tx: Transaction, low: str, high: str) -> defaultdict[str, set[str]]:
    """Each agent's projects: those it is assigned to and those of its open tasks (A1b)."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for project in configuring.projects(tx):
        for name in project.agents:
            found[name].add(project.name)
    for row in tx.all(PROJECTS_AT_WORK, low=low, high=high):
        found[row.agent].add(row.project_id)
    return found
