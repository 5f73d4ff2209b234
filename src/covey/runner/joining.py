"""An external agent at work: it claims, renews and settles by its own calls, under the same leases as any other (A5b, K4).

It keeps no state here: what a token stands for is read from the store each time.
"""

from __future__ import annotations

from typing import NamedTuple

from covey.agents import roster
from covey.base.errors import Conflict
from covey.brains.model import Outcome
from covey.healing import lending
from covey.messages import handling
from covey.messages.model import Message
from covey.runner import holding, settling, taking
from covey.runner.holding import RUN_OF_TOKEN
from covey.runner.work import Lane, Limits, Work
from covey.store import Transaction, relaxed
from covey.tasks import reading, runs, working

NOWHERE = ""
"""The node of a run that no node of ours can end."""


@relaxed
def claim(tx: Transaction, agent: str, lanes: tuple[Lane, ...], limits: Limits) -> Work | None:
    """What the agent does next, leased to it, from the first of these lanes that has something; None if nothing is ready.

    Raises:
        Conflict: It is no external agent: its own process does its work.
    """
    found = roster.find(tx, agent)
    if found.brain != "external":
        raise Conflict(
            f'{agent} has a {found.brain} brain, whose process takes its work; only an agent with `brain = "external"` claims by hand.'
        )
    if lending.has_lent(tx, agent):
        lending.take_back(tx, agent)
    for lane in lanes:
        work = taking.take(tx, agent, lane, NOWHERE, None, limits)
        if work is not None:
            holding.started(tx, work)
            return work
    return None


def work_of(tx: Transaction, agent: str, token: str) -> Work:
    """What a current token of this agent stands for.

    Raises:
        LeaseLost: The token is not current, or another agent's.
    """
    row = tx.one(RUN_OF_TOKEN, token=token)
    run = runs.find(tx, row.run_id) if row is not None and row.run_id is not None else None
    if run is None or run.agent != agent:
        raise working.lost(agent)
    held = tx.one(working.HELD, token=token)
    if held is None and run.kind == "task":
        raise working.lost(agent)
    task = reading.with_needs(tx, held) if held is not None else None
    mail = [Message.from_row(each) for each in tx.all(handling.TAKEN, token=token)]
    main = mail.pop(0) if run.kind == "message" and mail else None
    return Work(agent, "task" if task else "mail", run.kind, token, run.id, run.attempt, run.item, main, task, mail)


def settle(tx: Transaction, agent: str, token: str, outcome: Outcome, limits: Limits) -> Work:
    """What was settled: the item closed, replies and mail sent, tasks made, decisions kept, all in one commit.

    An outcome that can't be carried out (nobody takes the task over, a part is wrong) is the caller's to correct: the lease stands.

    Raises:
        LeaseLost: The lease ended meanwhile; nothing of the outcome is stored.
        Conflict: Mail is neither split nor handed over.
        CoveyError: The outcome can't be carried out.
    """
    work = work_of(tx, agent, token)
    if work.task is None and outcome.kind in ("split", "handoff"):
        raise Conflict("this is mail, and only a task is split or handed over; answer it, or give somebody a task.", field="token")
    settling.settle(tx, work, outcome, limits, None, strict=True)
    return work


@relaxed
def renew(tx: Transaction, agent: str, token: str, lease_s: float) -> float:
    """Until when the lease stands now.

    Raises:
        LeaseLost: The token is not current.
    """
    work_of(tx, agent, token)
    working.renew(tx, token, lease_s=lease_s)
    handling.renew(tx, token, lease_s=lease_s)
    return tx.now + lease_s


def give_back(tx: Transaction, agent: str, token: str, reason: str) -> Work:
    """What waits again as if it had not been claimed.

    Raises:
        LeaseLost: The token is not current.
    """
    work = work_of(tx, agent, token)
    holding.give_back(tx, work, reason)
    return work


class Held(NamedTuple):
    """Something under a lease: the id of a task or message, what kind of turn it is, and the token that settles it."""

    item: str
    kind: str
    token: str


def held(tx: Transaction, agent: str) -> list[Held]:
    """What the agent has under a lease now: an assistant that lost its context finds here what it began."""
    found = []
    for token in holding.tokens_of(tx, agent):
        row = tx.one(RUN_OF_TOKEN, token=token)
        run = runs.find(tx, row.run_id) if row is not None and row.run_id is not None else None
        if run is not None:
            found.append(Held(run.item, run.kind, token))
    return found


def progress(tx: Transaction, agent: str, token: str, text: str, lease_s: float) -> float:
    """Until when the lease stands, renewed by a word on how far the work is; of a task the word is kept (K4a).

    Raises:
        LeaseLost: The token is not current.
    """
    work = work_of(tx, agent, token)
    if work.task is not None:
        working.progress(tx, agent, token, text)
    return renew(tx, agent, token, lease_s)
