"""The two verbs of an agent at work: take what comes next under a lease, and settle what the brain made of it.

`settle` is the one transaction in which all effects of a turn happen, once, whatever dies when (M3, K4).
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import msgspec

from covey.agents import configuring, external, living, roster
from covey.agents.model import OPERATOR, SYSTEM, as_agent
from covey.base.errors import CoveyError
from covey.base.processes import Identity
from covey.brains.model import Asked, Cost, Outcome, Turn, TurnKind
from covey.contexts import entries
from covey.messages import handling, reading as mail, sending
from covey.messages.envelope import enveloped
from covey.messages.model import MAX_ATTEMPTS, Message, draft
from covey.store import Transaction, relaxed
from covey.tasks import adding, reading as tasks, runs, working
from covey.tasks.model import Task

Lane = Literal["mail", "task"]
REPLY_CHARS = 60_000
ENTRY_CHARS = 4_000


class Limits(NamedTuple):
    """The times of a fleet that taking and settling go by."""

    lease_s: float
    digest_s: float
    wait_s: float
    hard_cap_s: float
    max_context: int


class Work(msgspec.Struct, frozen=True):
    """One thing taken: what it is, under which token, in which run."""

    agent: str
    lane: Lane
    kind: TurnKind
    token: str
    run_id: str
    attempt: int
    item: str
    main: Message | None
    task: Task | None
    riders: list[Message]

    @property
    def visited(self) -> tuple[str, ...]:
        """Whom the conversation or the work has passed through so far (L10)."""
        if self.task is not None:
            return tuple(self.task.visited)
        return tuple(self.main.visited) if self.main is not None else ()


@relaxed
def take(tx: Transaction, agent: str, lane: Lane, node: str, pid: int | None, limits: Limits) -> Work | None:
    """What the agent does next in this lane, leased to it; None if nothing is ready or it takes nothing (A7, K2, M4).

    `pid` is None for an external agent, which has no process of ours: its call is its heartbeat (A5b).
    """
    if not roster.find(tx, agent).takes_work:
        return None
    work = _take_mail(tx, agent, limits) if lane == "mail" else _take_task(tx, agent, limits)
    if work is None:
        return None
    runs.open_run(tx, work.run_id, item=work.item, kind=work.kind, agent=agent, node=node, attempt=work.attempt)
    _beat(tx, agent, pid)
    return work


def _beat(tx: Transaction, agent: str, pid: int | None) -> None:
    if pid is None:
        external.seen(tx, agent)
    else:
        living.beat(tx, agent, pid=pid)


def _take_mail(tx: Transaction, agent: str, limits: Limits) -> Work | None:
    while True:
        run_id = tx.new_id("run")
        claimed = handling.claim(tx, agent, run_id, lease_s=limits.lease_s, digest_s=limits.digest_s)
        if claimed is None:
            return None
        if claimed.main is None:
            living.digested(tx, agent)
        elif _resumes_a_task(tx, agent, claimed.main):
            handling.close(tx, agent, claimed.token)
            continue
        first = claimed.main or claimed.riders[0]
        kind: TurnKind = "message" if claimed.main is not None else "digest"
        return Work(agent, "mail", kind, claimed.token, run_id, claimed.attempt, first.message_id, claimed.main, None, claimed.riders)


def _resumes_a_task(tx: Transaction, agent: str, message: Message) -> bool:
    """Whether this mail is the answer, or the notice, that a blocked task of the agent waited for."""
    return message.in_reply_to is not None and bool(working.answer_came(tx, agent, message.in_reply_to))


def _take_task(tx: Transaction, agent: str, limits: Limits) -> Work | None:
    run_id = tx.new_id("run")
    claimed = working.claim(tx, agent, run_id, lease_s=limits.lease_s)
    if claimed is None:
        return None
    task, token = claimed
    riders = handling.ride_along(tx, agent, token, run_id, lease_s=limits.lease_s)
    return Work(agent, "task", "task", token, run_id, task.attempts, task.task_id, None, task, riders)


def turn_of(tx: Transaction, work: Work, estimate_s: float, hard_cap_s: float) -> Turn:
    """The turn that a brain is given for this work, with the agent's context and colleagues. Read outside the write lock."""
    me = roster.find(tx, work.agent)
    everyone = roster.everyone(tx)
    task = work.task
    return Turn(
        run_id=work.run_id,
        kind=work.kind,
        agent=work.agent,
        role=me.role,
        attempt=work.attempt,
        max_attempts=task.max_attempts if task is not None else MAX_ATTEMPTS,
        now=tx.now,
        message=_asked(work.main) if work.main is not None else None,
        task=task,
        also=[_asked(message) for message in work.riders],
        answer=_answer(tx, task) if task is not None and task.waiting_for is not None else None,
        parts=tasks.children(tx, task.task_id) if task is not None else [],
        context=[{"kind": entry.kind, "text": entry.text, "at": entry.at} for entry in entries.live(tx, work.agent)],
        colleagues=[{"id": each.id, "role": each.role, "capabilities": each.capabilities} for each in everyone if each.id != work.agent],
        project=_project(
            tx, task.project_id if task is not None else work.main.context.get("projectId") if work.main is not None else None
        ),
        deadline_s=run_timeout_s(task.estimated_seconds if task is not None else estimate_s, hard_cap_s),
    )


def run_timeout_s(estimate_s: float, hard_cap_s: float) -> float:
    """How long one try may take: four times the estimate, under the hard cap (K4a). Pure."""
    return min(4 * estimate_s, hard_cap_s)


def _asked(message: Message) -> Asked:
    return Asked(message=message, enveloped=enveloped(message))


def _answer(tx: Transaction, task: Task) -> Asked | None:
    answers = mail.answers(tx, task.waiting_for or "")
    return _asked(answers[-1]) if answers else None


def _project(tx: Transaction, name: str | None) -> dict[str, Any] | None:
    return next(
        ({"name": each.name, "path": each.path, "agents": each.agents} for each in configuring.projects(tx) if each.name == name), None
    )


def settle(tx: Transaction, work: Work, outcome: Outcome, limits: Limits, pid: int | None) -> None:
    """Everything a turn comes to, in one commit: the item closed, replies and mail sent, tasks made, decisions kept.

    Raises:
        LeaseLost: The lease ended meanwhile; nothing of the outcome is stored (K4).
    """
    if work.task is not None:
        _settle_task(tx, work, outcome, limits)
    else:
        _settle_mail(tx, work, outcome, limits)
    for decision in outcome.decisions[:20]:
        entries.remember(tx, work.agent, "decision", decision[:ENTRY_CHARS], source=work.item, max_tokens=limits.max_context)
    for note in outcome.notes[:20]:
        entries.remember(tx, work.agent, "note", note[:ENTRY_CHARS], source=work.item, max_tokens=limits.max_context)
    cost = outcome.cost or Cost()
    tokens = cost.tokens_in + cost.tokens_out
    runs.close(tx, work.run_id, outcome.kind, cost_usd=cost.usd or None, tokens=tokens or None, exit_code=outcome.exit_code)
    _beat(tx, work.agent, pid)


def settle_and_take(tx: Transaction, work: Work, outcome: Outcome, limits: Limits, node: str, pid: int) -> Work | None:
    """As `settle`, and what comes next in the same lane, in one commit."""
    settle(tx, work, outcome, limits, pid)
    return take(tx, work.agent, work.lane, node, pid, limits)


def _settle_task(tx: Transaction, work: Work, outcome: Outcome, limits: Limits) -> None:
    agent, token = work.agent, work.token
    if outcome.kind == "waiting":
        sent = _send_all(tx, work, outcome, limits)
        asked = next((ident for ident, waits in sent if waits), None)
        if asked is None:
            working.fail(
                tx, agent, token, "its brain wants to wait for an answer, but no message of its outcome that requires a response was sent"
            )
        else:
            working.wait_for_answer(tx, agent, token, asked)
    elif outcome.kind == "split" and outcome.tasks:
        try:
            with tx.attempt():
                working.split(tx, agent, token, outcome.tasks)
        except CoveyError as error:
            working.fail(tx, agent, token, f"its brain split it, but a part was refused: {error.message}")
        _send_all(tx, work, outcome, limits)
    elif outcome.kind == "done":
        working.finish(tx, agent, token, outcome.summary, outcome.data)
        _send_all(tx, work, outcome, limits)
        _add_tasks(tx, work, outcome)
    else:
        reason = outcome.error or outcome.summary or f"its brain gave no reason ({outcome.kind})"
        working.fail(tx, agent, token, reason, permanent=outcome.permanent)
    _close_riders(tx, work)
    _remember_task(tx, work, outcome, limits)


def _close_riders(tx: Transaction, work: Work) -> None:
    """Quiet mail that rode along with a task was handed over, whatever became of the task."""
    if work.riders:
        handling.handled(tx, work.agent, work.token)
        for message in work.riders:
            _remember_mail(tx, work, message)


def _settle_mail(tx: Transaction, work: Work, outcome: Outcome, limits: Limits) -> None:
    if outcome.kind == "failed":
        _fail_mail(tx, work, outcome.error or outcome.summary or "its brain gave no reason")
        return
    handling.close(tx, work.agent, work.token)
    living.acted(tx, work.agent, messages=1 + len(work.riders) if work.main is not None else len(work.riders))
    sent = _send_all(tx, work, outcome, limits)
    _reply(tx, work, outcome, {ident for ident, _ in sent})
    _add_tasks(tx, work, outcome)
    for message in [work.main, *work.riders]:
        if message is not None:
            _remember_mail(tx, work, message, limits)


def _fail_mail(tx: Transaction, work: Work, reason: str) -> None:
    """Tried again later, or dead; who waits for an answer to a dead letter is woken with the reason (M8)."""
    living.failed_once(tx, work.agent)
    for dead in handling.failed(tx, work.agent, work.token, reason, main=work.main.message_id if work.main is not None else None):
        bury(tx, work.agent, dead, reason)


def bury(tx: Transaction, agent: str, dead: Message, reason: str) -> None:
    """Tell of a dead letter: its sender if it waits for an answer, and the operator."""
    words = f"{agent} could not handle the message {dead.message_id} in {dead.attempts} tries: {reason[:2000]}"
    if dead.requires_response and dead.from_ not in (SYSTEM, OPERATOR):
        sending.notify(
            tx, dead.from_, f"No answer: {dead.content['subject'] or dead.body[:80]}", words, in_reply_to=dead.message_id, prompts=True
        )
    sending.notify(
        tx, OPERATOR, f"Dead letter at {agent}", f"{words}. `covey dead requeue {dead.message_id}` tries it again, `covey dead drop {dead.message_id}` drops it.",
        type="alert", priority="high", in_reply_to=dead.message_id if dead.from_ == OPERATOR else None,
    )  # fmt: skip


def _reply(tx: Transaction, work: Work, outcome: Outcome, sent: set[str]) -> None:
    """Answer what asked for an answer, unless the brain did so itself."""
    asked = work.main
    if asked is None or not asked.requires_response or asked.from_ == SYSTEM:
        return
    if any(each.in_reply_to == asked.message_id for each in outcome.messages) and sent:
        return
    body = outcome.summary.strip() or f"{work.agent} handled this and had nothing to say."
    reply = draft(asked.from_, body[:REPLY_CHARS], subject=_re(asked), in_reply_to=asked.message_id, data=outcome.data or None)
    _send(tx, work, reply, sending.WAIT_S)


def _re(asked: Message) -> str:
    subject = str(asked.content["subject"])
    return subject if not subject or subject.lower().startswith("re: ") else f"Re: {subject}"[:500]


def _send_all(tx: Transaction, work: Work, outcome: Outcome, limits: Limits) -> list[tuple[str, bool]]:
    """The ids of the outcome's messages that were stored, and whether each waits for an answer."""
    return [
        (ident, message.content.requires_response)
        for message in outcome.messages[:100]
        if (ident := _send(tx, work, message, limits.wait_s)) is not None
    ]


def _send(tx: Transaction, work: Work, message: Any, wait_s: float) -> str | None:
    """One message of an outcome; a refused one is an event and a note to the agent, and stops nothing else."""
    try:
        with tx.attempt():
            receipt = sending.send(tx, message, as_agent(work.agent), sending.Prompt(work.visited), wait_s=wait_s)
    except CoveyError as error:
        tx.happened("message.refused", agent=work.agent, subject=work.item, to=message.to, code=error.code, why=error.message[:500])
        entries.remember(tx, work.agent, "note", f"A message to {message.to} was not sent: {error.message}"[:ENTRY_CHARS], source=work.item)
        return None
    return receipt.message_id if any(each.stored for each in receipt.outcomes.values()) else None


def _add_tasks(tx: Transaction, work: Work, outcome: Outcome) -> None:
    for wanted in outcome.tasks[:100]:
        try:
            with tx.attempt():
                adding.add(tx, wanted, as_agent(work.agent), visited=work.visited)
        except CoveyError as error:
            tx.happened("task.refused", agent=work.agent, subject=work.item, code=error.code, why=error.message[:500])
            entries.remember(tx, work.agent, "note", f"A task was not added: {error.message}"[:ENTRY_CHARS], source=work.item)


def _remember_mail(tx: Transaction, work: Work, message: Message, limits: Limits | None = None) -> None:
    text = f"{message.from_}: {message.content['subject'] + ' — ' if message.content['subject'] else ''}{message.body}"
    entries.remember(
        tx, work.agent, "message", text[:ENTRY_CHARS], source=message.message_id, max_tokens=limits.max_context if limits else 8192
    )


def _remember_task(tx: Transaction, work: Work, outcome: Outcome, limits: Limits) -> None:
    assert work.task is not None
    text = f"{work.task.description[:500]}: {outcome.kind}. {outcome.summary or outcome.error}"
    entries.remember(tx, work.agent, "result", text[:ENTRY_CHARS], source=work.item, max_tokens=limits.max_context)


@relaxed
def give_back(tx: Transaction, work: Work, reason: str) -> bool:
    """The work waits again as if it had not been taken; whether the lease still stood (K4)."""
    stood = bool(handling.give_back(tx, work.token))
    if work.task is not None:
        stood = working.give_back(tx, work.token, reason) is not None
    runs.close(tx, work.run_id, "returned")
    return stood


@relaxed
def drop_run(tx: Transaction, work: Work) -> None:
    """The lease was lost: only the run is closed, its mail that rode along goes back."""
    handling.give_back(tx, work.token)
    runs.close(tx, work.run_id, "lost")


@relaxed
def started(tx: Transaction, work: Work, process: Identity | None = None, pgid: int = 0) -> None:
    """The brain has started on the work; the process that thinks is recorded before it gets its input (K4a, K4c)."""
    if process is not None:
        runs.started(tx, work.run_id, pid=process.pid, pgid=pgid, start_ticks=process.start_ticks, boot_id=process.boot_id)
    if work.task is not None:
        working.started(tx, work.agent, work.token)


@relaxed
def renew(tx: Transaction, agent: str, pid: int, held: list[Work], lease_s: float) -> list[str]:
    """A heartbeat, and longer leases for all that is held; the run ids of leases that are lost (A8, K4)."""
    living.beat(tx, agent, pid=pid)
    lost = []
    for work in held:
        stands = working.renew(tx, work.token, lease_s=lease_s) if work.task is not None else False
        stands = handling.renew(tx, work.token, lease_s=lease_s) or stands
        if not stands:
            lost.append(work.run_id)
    return lost


def free_predecessor(tx: Transaction, agent: str) -> list[str]:
    """Give up what a dead process of this agent held, once its brains are known to be gone; the ids of its runs (M3, H4)."""
    for row in working.held_by(tx, agent):
        working.lose(tx, row.token, "the agent's process ended while its brain was at work")
    for dead in handling.free_all(tx, agent):
        bury(tx, agent, dead, "the agent's process ended each time its brain was at work")
    freed = runs.open_of(tx, agent)
    for run in freed:
        runs.close(tx, run.id, "lost")
    return [run.id for run in freed]
