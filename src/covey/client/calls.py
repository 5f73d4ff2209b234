"""What can be asked of a fleet's API, each as a function that makes the request. `Client` and `AsyncClient` have them all as methods.

Ids, names and bounds are the API's; it refuses what is wrong, and names the field. Times are Unix seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, Literal, TypeVar

import msgspec

from covey.api.shapes import AgentState, Answered, Claimed, Done, Remembered, Renewed, Replies, Settled
from covey.brains.model import Cost
from covey.client.request import Request, asking, doing, error_in, part
from covey.messages.model import Draft, Message, Receipt, draft
from covey.reports.model import Glance, Why
from covey.tasks.model import Task, TaskDraft
from covey.teams.handoffs.model import Handoff, HandoffDraft
from covey.teams.votes.model import VoteDraft, VoteShown

T = TypeVar("T")
ASK_S = 60.0
"""So long an answer is waited for unless told otherwise; 300 s at most."""


class Page(msgspec.Struct, Generic[T], rename="camel"):
    """A part of a list, and the cursor of the next part; None at the end."""

    items: list[T]
    cursor: str | None = None


# mail


def send(to: str | list[str] | None, body: str, *, message_id: str | None = None, **fields: Any) -> Request[Receipt]:
    """What became of a message to an agent, a list of them, `*` or `@capability`: an outcome a receiver. A refusal is one too.

    `fields`: subject, type, priority, data, thread_id, in_reply_to, related_tasks, requires_response, deadline.
    With your own `message_id` the same message is stored once however often it is sent.
    """
    return send_draft(draft(to, body, message_id=message_id, **fields))


def send_draft(message: Draft) -> Request[Receipt]:
    """As `send`, of a whole draft."""
    return replace(doing(Receipt, "/api/v1/messages", message), read=_receipt)


def reply(to: Message, body: str, **fields: Any) -> Request[Receipt]:
    """What became of a reply to a message. It costs no credit where the message wanted an answer."""
    return send(to.from_, body, in_reply_to=to.message_id, **fields)


def ask(to: str, body: str, *, wait_s: float = ASK_S, **fields: Any) -> Request[Answered]:
    """The answer to a question, waited for up to 300 s; later ones are in `replies`. Of a refusal the receipt says why."""
    return replace(doing(Answered, "/api/v1/ask", draft(to, body, requires_response=True, **fields), wait_s=wait_s), read=_answered)


def replies(message_id: str, *, wait_s: float = 0.0) -> Request[Replies]:
    """The replies to a message, and whether one is still waited for."""
    return asking(Replies, f"/api/v1/messages/{part(message_id)}/replies", wait_s=wait_s)


def message(message_id: str) -> Request[Page[Message]]:
    """A message, once for each copy, with what became of it."""
    return asking(Page[Message], f"/api/v1/messages/{part(message_id)}")


def inbox(agent: str, *, unread: bool = False, limit: int = 50, cursor: str | None = None) -> Request[Page[Message]]:
    """An agent's mail, newest first. Looking does not acknowledge."""
    return asking(Page[Message], f"/api/v1/agents/{part(agent, 'agent')}/inbox", unread=unread, limit=limit, cursor=cursor)


def acknowledge(agent: str, message_id: str) -> Request[Done]:
    """A message of the agent's that was read and needs no more is closed."""
    return doing(Done, f"/api/v1/agents/{part(agent, 'agent')}/ack", {"messageId": message_id})


def thread(thread_id: str, *, limit: int = 50, cursor: str | None = None) -> Request[Page[Message]]:
    """A thread's messages in order."""
    return asking(Page[Message], f"/api/v1/threads/{part(thread_id)}", limit=limit, cursor=cursor)


def search(text: str, *, limit: int = 50) -> Request[Page[Message]]:
    """Messages whose subject or body has all these words."""
    return asking(Page[Message], "/api/v1/search", q=text, limit=limit)


# agents


def agents(*, limit: int | None = None, cursor: str | None = None) -> Request[Page[AgentState]]:
    """Agents with their states, in the fleet's order: all of them, or so many."""
    return asking(Page[AgentState], "/api/v1/agents", limit=limit, cursor=cursor)


def agent(name: str) -> Request[AgentState]:
    """One agent's state."""
    return asking(AgentState, f"/api/v1/agents/{part(name, 'agent')}")


def why(ident: str) -> Request[Why]:
    """Where a task, message, agent, vote, handoff, team run or incident stands, in one paragraph, and the facts."""
    return asking(Why, f"/api/v1/why/{part(ident)}")


def glance(agent: str, *, after: str = "", idle: bool = False, wait_s: float = 0.0) -> Request[Glance]:
    """What waits for an agent, in few words for a model; what is fresh since the `mark` of an earlier one, waited for if asked.

    `idle`: only what wakes an idle brain. Looking acknowledges nothing.
    """
    return asking(Glance, f"/api/v1/agents/{part(agent, 'agent')}/glance", after=after or None, idle=idle, wait_s=wait_s)


def recall(agent: str, text: str | None = None, *, ident: str | None = None, limit: int = 50) -> Request[Page[Remembered]]:
    """What an agent's archive has by words or by id, newest first."""
    return asking(Page[Remembered], f"/api/v1/contexts/{part(agent, 'agent')}/recall", text=text, id=ident, limit=limit)


# tasks


def add_task(description: str, agent: str | None = None, **fields: Any) -> Request[Task]:
    """A task, added for an agent, a `@capability` or whoever is free.

    `fields` are those of `TaskDraft`: task_id, priority, dependencies, deadline, dedupe_key, data …
    """
    return doing(Task, "/api/v1/tasks", TaskDraft(description=description, agent=agent, **fields))


def tasks(*, state: str | None = None, agent: str | None = None, limit: int = 50, cursor: str | None = None) -> Request[Page[Task]]:
    """Tasks, newest first; of one state (`open` is queued, blocked or running), of one agent, or all."""
    return asking(Page[Task], "/api/v1/tasks", state=state, agent=agent, limit=limit, cursor=cursor)


def task(task_id: str, *, wait_s: float | None = None) -> Request[Task]:
    """One task; with `wait_s` once it has ended, or as it stands when that time is over."""
    if wait_s is None:
        return asking(Task, f"/api/v1/tasks/{part(task_id)}")
    return asking(Task, f"/api/v1/tasks/{part(task_id)}/wait", wait_s=wait_s)


def cancel_task(task_id: str, reason: str = "") -> Request[Task]:
    """A task, cancelled; its brain is ended."""
    return doing(Task, f"/api/v1/tasks/{part(task_id)}/cancel", {"reason": reason})


# an external agent's own work


def claim(
    agent: str, *, lane: Literal["mail", "task"] | None = None, lease_s: float | None = None, wait_s: float = 0.0
) -> Request[Claimed]:
    """What an external agent does next, under a lease whose token each further step shows; its token is None if nothing is ready."""
    body = {"wait": wait_s} | _there(lane=lane, leaseS=lease_s)
    return replace(doing(Claimed, f"/api/v1/agents/{part(agent, 'agent')}/claim", body), wait_s=wait_s)


def renew(agent: str, token: str, *, lease_s: float | None = None) -> Request[Renewed]:
    """Until when the lease stands now."""
    return doing(Renewed, f"/api/v1/agents/{part(agent, 'agent')}/renew", {"token": token} | _there(leaseS=lease_s))


def progress(agent: str, token: str, text: str) -> Request[Done]:
    """A word on how far a task is, noted; it renews nothing."""
    return doing(Done, f"/api/v1/agents/{part(agent, 'agent')}/progress", {"token": token, "text": text})


def finish(
    agent: str,
    token: str,
    summary: str = "",
    *,
    kind: Literal["done", "split", "waiting"] = "done",
    data: Mapping[str, Any] | None = None,
    decisions: Sequence[str] = (),
    messages: Sequence[Draft] = (),
    tasks: Sequence[TaskDraft] = (),
    cost: Cost | None = None,
) -> Request[Settled]:
    """What was claimed, settled with what came of it, in one commit; of mail that wants an answer `summary` is the answer."""
    body = {
        "token": token, "kind": kind, "summary": summary, "data": data or {}, "decisions": list(decisions),
        "messages": list(messages), "tasks": list(tasks),
    }  # fmt: skip
    return doing(Settled, f"/api/v1/agents/{part(agent, 'agent')}/finish", body | _there(cost=cost))


def fail(agent: str, token: str, error: str, *, permanent: bool = False) -> Request[Settled]:
    """What was claimed, failed: tried again, or given up if trying again is no use."""
    return doing(Settled, f"/api/v1/agents/{part(agent, 'agent')}/fail", {"token": token, "error": error, "permanent": permanent})


def give_back(agent: str, token: str, reason: str = "") -> Request[Settled]:
    """What was claimed, waiting again as if it had not been."""
    return doing(Settled, f"/api/v1/agents/{part(agent, 'agent')}/give-back", {"token": token, "reason": reason})


# handoffs and votes


def offer_handoff(task_id: str, to: str, reason: str = "", **fields: Any) -> Request[Handoff]:
    """The offer of a task to another agent. `fields` are those of `HandoffDraft`: task_state, progress, context, deadline."""
    return doing(Handoff, "/api/v1/handoffs", HandoffDraft(task_id=task_id, to=to, reason=reason, **fields))


def handoff(handoff_id: str, *, wait_s: float | None = None) -> Request[Handoff]:
    """One handoff; with `wait_s` once it is answered, or as it stands when that time is over."""
    if wait_s is None:
        return asking(Handoff, f"/api/v1/handoffs/{part(handoff_id)}")
    return asking(Handoff, f"/api/v1/handoffs/{part(handoff_id)}/wait", wait_s=wait_s)


def handoffs(
    *, task: str | None = None, agent: str | None = None, state: str | None = None, limit: int = 50, cursor: str | None = None
) -> Request[Page[Handoff]]:
    """Handoffs, newest first; of one task, of one agent on either side, in one state, or all."""
    return asking(Page[Handoff], "/api/v1/handoffs", task=task, agent=agent, state=state, limit=limit, cursor=cursor)


def accept_handoff(handoff_id: str, *, consent: bool = False) -> Request[Handoff]:
    """An offer to the caller, accepted: the task is its own now. `consent` to take back what was its own before."""
    return doing(Handoff, f"/api/v1/handoffs/{part(handoff_id)}/accept", {"consent": consent})


def decline_handoff(handoff_id: str, reason: str = "") -> Request[Handoff]:
    """An offer declined, or an own one withdrawn: the task stays with its giver."""
    return doing(Handoff, f"/api/v1/handoffs/{part(handoff_id)}/decline", {"reason": reason})


def open_vote(topic: str, options: list[str], voters: list[str], **fields: Any) -> Request[VoteShown]:
    """A vote, opened; its voters are asked by mail. `fields` are those of `VoteDraft`: quorum, deadline_s, expertise, tie, debate."""
    return doing(VoteShown, "/api/v1/votes", VoteDraft(topic=topic, options=options, voters=voters, **fields))


def cast_ballot(vote_id: str, selection: str | None, *, confidence: float = 1.0, argument: str = "") -> Request[VoteShown]:
    """The caller's ballot, cast or revised: an option word for word, or None to abstain."""
    body = {"selection": selection, "confidence": confidence, "argument": argument}
    return doing(VoteShown, f"/api/v1/votes/{part(vote_id)}/cast", body)


def vote(vote_id: str, *, wait_s: float | None = None) -> Request[VoteShown]:
    """One vote; with `wait_s` once it is closed, or as it stands when that time is over. Ballots are secret until it is closed."""
    if wait_s is None:
        return asking(VoteShown, f"/api/v1/votes/{part(vote_id)}")
    return asking(VoteShown, f"/api/v1/votes/{part(vote_id)}/wait", wait_s=wait_s)


def close_vote(vote_id: str) -> Request[VoteShown]:
    """A vote, ended and counted."""
    return doing(VoteShown, f"/api/v1/votes/{part(vote_id)}/close")


def _there(**words: Any) -> dict[str, Any]:
    return {name: value for name, value in words.items() if value is not None}


def _receipt(status: int, body: bytes) -> Receipt:
    """A receipt; a message that nobody got has it within the problem."""
    if status < 400:
        return msgspec.json.decode(body, type=Receipt)
    error = error_in(status, body)
    if "receipt" not in error.details:
        raise error
    return msgspec.convert(error.details["receipt"], Receipt)


def _answered(status: int, body: bytes) -> Answered:
    if status < 400:
        return msgspec.json.decode(body, type=Answered)
    return Answered(receipt=_receipt(status, body), replies=[], waiting=False)
