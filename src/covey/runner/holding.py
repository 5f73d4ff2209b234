"""Work in hand: its lease renewed, its brain's start recorded, given back, or lost with the process that held it (K4, M3)."""

from __future__ import annotations

from covey.agents import living
from covey.base.processes import Identity
from covey.healing import breakers, incidents, lives, quarantine
from covey.healing.quarantine import DIED
from covey.messages import handling, sweeping
from covey.runner.work import Work
from covey.store import Row, Transaction, relaxed, statement
from covey.tasks import runs, working

RUN_OF_TOKEN = statement(__package__, "run_of_token")

GONE = "the agent's process ended while its brain was at work"
TOO_LATE = "its lease ended before its brain did"


@relaxed
def started(tx: Transaction, work: Work, process: Identity | None = None, pgid: int = 0) -> None:
    """The brain has started on the work; the process that thinks is recorded before it gets its input (K4a, K4c).

    Raises:
        LeaseLost: The lease ended meanwhile.
    """
    if process is not None:
        runs.started(tx, work.run_id, pid=process.pid, pgid=pgid, start_ticks=process.start_ticks, boot_id=process.boot_id)
    if work.task is not None:
        working.started(tx, work.agent, work.token)


@relaxed
def renew(tx: Transaction, agent: str, pid: int, held: list[Work], lease_s: float) -> list[str]:
    """A heartbeat, and longer leases for all that is held; the run ids of those whose own lease is lost (A8, K4).

    An agent that was thought silent is live again at once (H7a); a task that it is thought to hold and does not goes back.

    Raises:
        Conflict: Another process is this agent now.
    """
    living.beat(tx, agent, pid=pid)
    if incidents.open_ids(tx, agent, "heartbeat_stale"):
        lives.back(tx, agent, "its heart beats again")
    _return_unknown(tx, agent, {work.run_id for work in held}, lease_s / 2)
    return [work.run_id for work in held if not _renewed(tx, work, lease_s)]


def _return_unknown(tx: Transaction, agent: str, known: set[str], after_s: float) -> None:
    """Tasks that the agent's own process knows nothing of go back: their claim was stored and its answer lost, so no brain began (K4a)."""
    for row in working.held_by(tx, agent):
        if row.run_id not in known and row.claimed_at <= tx.now - after_s:
            working.give_back(tx, row.token, "the answer to its claim was lost, so its brain did not start")
            runs.close(tx, row.run_id, "returned")


def _renewed(tx: Transaction, work: Work, lease_s: float) -> bool:
    """Whether the lease on what made the turn stands; what rides along with a task says nothing of that."""
    mail = handling.renew(tx, work.token, lease_s=lease_s) if work.task is None or work.riders else False
    return working.renew(tx, work.token, lease_s=lease_s) if work.task is not None else mail


@relaxed
def give_back(tx: Transaction, work: Work, reason: str) -> bool:
    """The work waits again as if it had not been taken; whether the lease still stood (K4)."""
    stood = bool(handling.give_back(tx, work.token))
    if work.task is not None:
        stood = working.give_back(tx, work.token, reason) is not None
    runs.close(tx, work.run_id, "returned")
    return stood


def drop(tx: Transaction, work: Work) -> None:
    """A run that was ended since its lease was lost: closed. If the store thinks that it stands, the try counts."""
    free(tx, work.agent, work.token, work.run_id, TOO_LATE)


def free(tx: Transaction, agent: str, token: str, run_id: str, why: str, outcome: str = "lost") -> None:
    """A lease whose brain is known to be gone ends: what it held is tried again, and the try counts. An old token changes nothing."""
    run = runs.find(tx, run_id)
    if run is not None:
        runs.close(tx, run_id, outcome)
    if tx.one(working.HELD, token=token) is not None or (run is not None and run.kind == "task"):
        handling.give_back(tx, token)
        _lose_task(tx, token, why)
    elif handling.is_leased(tx, token):
        main = run.item if run is not None and run.kind == "message" else None
        for dead in handling.failed(tx, agent, token, why, main=main):
            sweeping.bury(tx, agent, dead, why)


def _lose_task(tx: Transaction, token: str, why: str) -> None:
    """Tried again, or failed; one that brains die of is quarantined (H7a)."""
    row = tx.one(working.HELD, token=token)
    if row is None:
        return
    poisonous = quarantine.verdict(tx, row.id)
    working.fail(tx, row.holder, token, poisonous or why, permanent=poisonous is not None, poisonous=poisonous is not None)
    if poisonous is not None:
        quarantine.set_apart(tx, row.holder, row.id, poisonous)
    breakers.failed(tx, row.holder)


def lose_all(tx: Transaction, agent: str) -> list[str]:
    """Give up what a dead process of this agent held, once its brains are known to be gone; the ids of its runs (M3, H4)."""
    freed = [run.id for run in runs.open_of(tx, agent)]
    for token in tokens_of(tx, agent):
        run = tx.one(RUN_OF_TOKEN, token=token)
        free(tx, agent, token, run.run_id or "" if run is not None else "", GONE, DIED)
    _close(tx, agent, DIED)
    return freed


def return_all(tx: Transaction, agent: str, reason: str) -> list[str]:
    """What an agent held waits again as if it had not been taken, since its process was told to end (K4); the ids of its runs."""
    freed = [run.id for run in runs.open_of(tx, agent)]
    for token in tokens_of(tx, agent):
        handling.give_back(tx, token)
        working.give_back(tx, token, reason)
    _close(tx, agent, "returned")
    return freed


def tokens_of(tx: Transaction, agent: str) -> list[str]:
    """The tokens of all that an agent holds under a lease, tasks first."""
    held: list[Row] = [*working.held_by(tx, agent), *tx.all(handling.TOKENS_OF, receiver=agent)]
    return list(dict.fromkeys(row.token for row in held))


def _close(tx: Transaction, agent: str, outcome: str) -> None:
    for run in runs.open_of(tx, agent):
        runs.close(tx, run.id, outcome if run.kind != "split" else "lost")  # the attempt that it ran beside counts, and it alone
