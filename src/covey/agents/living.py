"""An agent's life: its process is registered, its heart beats, its flags are set (A7, A8). Only its own process beats."""

from __future__ import annotations

from covey.agents import breaking, roster
from covey.agents.model import Caller
from covey.base.errors import Conflict, Forbidden
from covey.store import Transaction, relaxed, statement

ARRIVE = statement(__package__, "arrive")
LEAVE = statement(__package__, "leave")
BEAT = statement(__package__, "beat", is_quiet=True)
END_PROCESSES = statement(__package__, "end_processes")
SHIFT_BEATS = statement(__package__, "shift_beats")
PAUSE = statement(__package__, "pause")
STOP = statement(__package__, "stop")
RESUME = statement(__package__, "resume")
FAIL = statement(__package__, "fail")
ACTED = statement(__package__, "acted")
FAILED_ONCE = statement(__package__, "failed_once")
STALLED = statement(__package__, "stalled")
DIGESTED = statement(__package__, "digested")


def arrive(tx: Transaction, name: str, *, node: str, pid: int, start_ticks: int, boot_id: str, port: int) -> None:
    """The agent's process runs; its address stands in the store from now on."""
    agent = roster.find(tx, name)
    if agent.failed_at is not None:
        try_again(tx, name)
    row = tx.one(ARRIVE, agent=name, node=node, pid=pid, start_ticks=start_ticks, boot_id=boot_id, now=tx.now)
    tx.happened(
        "agent.started", agent=name, pid=pid, node=node, port=port, restarts=row.restarts if row else 0, paused=not agent.takes_work
    )


def leave(tx: Transaction, name: str, *, pid: int, reason: str) -> None:
    """The agent's process has ended, known by its pid; another one that has taken over since is not touched."""
    if tx.run(LEAVE, agent=name, pid=pid):
        tx.happened("agent.ended", agent=name, pid=pid, reason=reason)


@relaxed
def beat(tx: Transaction, name: str, *, pid: int) -> None:
    """A heartbeat, from the agent's own process only (A8).

    Raises:
        Unknown: There is no such agent; nothing is recorded for anybody.
        Conflict: Another process is this agent now.
    """
    if tx.run(BEAT, agent=name, pid=pid, now=tx.now) == 0:
        alive = roster.vitals(tx, name)
        raise Conflict(f"process {pid} is not {name}: process {alive.pid} is. End this one.", pid=alive.pid)


def end_processes(tx: Transaction) -> None:
    """No process is anybody's, in a restored store that says so of processes long gone."""
    tx.run(END_PROCESSES)


def shift_beats(tx: Transaction, seconds: float) -> None:
    """Store time stepped forward by so much: heartbeats and open breakers move with it, so that nobody looks stale (T2)."""
    tx.run(SHIFT_BEATS, seconds=seconds)
    breaking.shift(tx, seconds)


def pause(tx: Transaction, name: str, by: Caller, reason: str = "") -> None:
    """The agent takes nothing new until `resume`; its mail is held (M5). One that is stopped stays so.

    Raises:
        Forbidden: The caller is neither the operator nor the lead.
    """
    _check_command(tx, name, by)
    tx.run(PAUSE, id=name, reason=reason or None, now=tx.now)
    _tell(tx, name, "agent.paused", by, reason)


def stop(tx: Transaction, name: str, by: Caller, reason: str = "") -> None:
    """The agent takes nothing and its running brain ends; survives restarts until `resume` (A7).

    Raises:
        Forbidden: The caller is neither the operator nor the lead.
    """
    _check_command(tx, name, by)
    tx.run(STOP, id=name, reason=reason or None, now=tx.now)
    _tell(tx, name, "agent.stopped", by, reason)


def resume(tx: Transaction, name: str, by: Caller) -> None:
    """The agent takes mail and work again; restarts that were given up are tried again."""
    _check_command(tx, name, by)
    tx.run(RESUME, id=name)
    try_again(tx, name)
    _tell(tx, name, "agent.resumed", by, "")
    tx.ring("node")


def _check_command(tx: Transaction, name: str, by: Caller) -> None:
    if not may_command(tx, by):
        raise Forbidden(f"{by.name} may not do this to {name}: only the operator and the lead may.")
    roster.find(tx, name)


def _tell(tx: Transaction, name: str, kind: str, by: Caller, reason: str) -> None:
    tx.happened(kind, agent=name, by=by.name, reason=reason)
    tx.ring(name)


def may_command(tx: Transaction, by: Caller) -> bool:
    """Whether the caller is the operator, the system or the lead (A7)."""
    return by.commands or by.name == roster.lead(tx)[0]


def give_up(tx: Transaction, name: str, reason: str) -> None:
    """No more restarts: status `error` until `resume` (H7)."""
    tx.run(FAIL, agent=name, at=tx.now, reason=reason)
    tx.happened("agent.given_up", agent=name, reason=reason)


def try_again(tx: Transaction, name: str) -> None:
    """Restarts that were given up are tried again; flags stay as they are."""
    tx.run(FAIL, agent=name, at=None, reason=None)


def acted(tx: Transaction, name: str, *, tasks: int = 0, task_s: float = 0.0, messages: int = 0) -> None:
    """The agent finished something: its counts rise, its failures in a row end, its breaker is closed (H6)."""
    row = tx.one(ACTED, agent=name, tasks=tasks, task_s=task_s, messages=messages, now=tx.now)
    if row is not None and row.streak is not None:
        breaking.worked(tx, name)


def failed_once(
    tx: Transaction, name: str, item: str, reason: str, *, tasks: int = 0, refused: bool = False, not_started: bool = False
) -> None:
    """The agent's brain failed on something, which its breaker counts (H6).

    `refused`: it was well, and what it was given can't be done, which is no failure of the agent's. `not_started`: it could not start.
    """
    tx.run(FAILED_ONCE, agent=name, tasks=tasks, now=tx.now)
    if not_started or not refused:
        breaking.failed(tx, name, item, reason, not_started=not_started)


def stalled(tx: Transaction, name: str) -> None:
    """The agent has stalled once more."""
    tx.run(STALLED, agent=name)


def digested(tx: Transaction, name: str) -> None:
    """The agent's quiet mail has been handed to it just now (M4b)."""
    tx.run(DIGESTED, agent=name, now=tx.now)
