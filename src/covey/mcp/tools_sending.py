"""Tools that send mail: say something, answer, ask and wait."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from mcp.types import CallToolResult
from msgspec import Meta

from covey.base.errors import Invalid
from covey.doors import waiting
from covey.mcp.errors import problem_result
from covey.mcp.letters import Letter, letter
from covey.mcp.tooling import Asking, Call, Given, Ident, Receiver, Tool, Wait
from covey.messages import answering, sending
from covey.messages.model import MessageType, Priority, Receipt, draft
from covey.reports import told
from covey.reports.told import RepliesNow

Text = Annotated[str, Meta(min_length=1, description="plain text, at most 256 KiB; say all that is needed at once")]
Subject = Annotated[str, Meta(max_length=500)]
MessageId = Annotated[Ident, Meta(description="bring your own id to make a repeated call harmless")]


class Sending(Asking):
    """A message to send."""

    text: Text
    to: Annotated[Receiver, Meta(description="an agent or `operator`")] | None = None
    to_all: Annotated[
        list[Annotated[str, Meta(max_length=129)]],
        Meta(max_length=100, description="several receivers: names, or `@capability` for all who are able"),
    ] = []
    subject: Subject = ""
    type: MessageType = "notification"
    priority: Priority = "medium"
    thread_id: Annotated[Ident, Meta(description="go on in this conversation")] | None = None
    message_id: MessageId | None = None


class Replying(Asking):
    """A reply to a message."""

    message_id: Annotated[Ident, Meta(description="the message that is answered")]
    text: Text
    priority: Priority = "medium"


class Question(Asking):
    """A question."""

    to: Annotated[Receiver, Meta(description="an agent or `operator`")]
    text: Text
    subject: Subject = ""
    priority: Priority = "medium"
    wait_s: Wait = 30.0
    message_id: Annotated[Ident, Meta(description="of a question that you asked before: waits on for its answer")] | None = None


class Sent(Given):
    """What became of it, receiver by receiver. `delivered` means that it is on disk there, not that it was read."""

    message_id: str
    thread_id: str
    status: str
    sentence: str
    outcomes: dict[str, str] = {}
    left: dict[str, int] = {}
    """How many more messages each link lets you send in its window."""


class Answered(Given):
    """The question, and the answers so far; `waiting`: none yet, and one may still come."""

    message_id: str
    thread_id: str
    waiting: bool
    replies: list[Letter]
    todo: str = ""


async def send_agent_message(call: Call[Sending]) -> Sent | CallToolResult:
    """Send a message to another agent, to several, or to the operator. It is on disk there before you hear yes, and is read later.

    Nobody answers into this call: use `ask` if you need the answer now. Links have limits and every message may cost a colleague a
    turn: put what belongs together into one message, and send no thanks. To answer a message use `reply`.
    """
    asked = call.args
    to = [*([asked.to] if asked.to else []), *asked.to_all]
    if not to:
        raise Invalid("to is missing: name an agent, or several in toAll.", field="to")
    words = draft(
        to[0] if len(to) == 1 else to,
        asked.text,
        subject=asked.subject,
        type=asked.type,
        priority=asked.priority,
        thread_id=asked.thread_id,
        message_id=asked.message_id,
    )
    return sent(await call.door.store.write(sending.send, words, call.by, wait_s=call.door.settings.wait_s))


def sent(receipt: Receipt) -> Sent | CallToolResult:
    """A receipt; a message that no receiver got is a refusal, which says when to try again."""
    if receipt.http >= 400:
        return problem_result(_refusal(receipt))
    return Sent(
        message_id=receipt.message_id,
        thread_id=receipt.thread_id,
        status=receipt.status,
        sentence=receipt.sentence,
        outcomes={name: each.status for name, each in receipt.outcomes.items()},
        left={name: each.remaining_credits for name, each in receipt.outcomes.items() if each.remaining_credits is not None},
    )


def _refusal(receipt: Receipt) -> dict[str, Any]:
    waits = [each.retry_at for each in receipt.outcomes.values() if each.retry_at is not None]
    found = {"code": receipt.status, "detail": receipt.sentence, "receipt": msgspec.to_builtins(receipt)}
    return found | ({"retryAt": min(waits)} if waits else {})


async def reply(call: Call[Replying]) -> Sent | CallToolResult:
    """Answer a message: the answer goes to its sender, in its thread, and the message is closed in your mailbox.

    Mail that you took with `claim_task` is answered by `finish_task` instead.
    """
    asked = call.args
    words = draft(None, asked.text, priority=asked.priority, in_reply_to=asked.message_id)
    return sent(await call.door.store.write(answering.answer, words, call.by, wait_s=call.door.settings.wait_s))


async def ask(call: Call[Question]) -> Answered | CallToolResult:
    """Ask another agent or the operator, and wait up to `waitS` seconds for the answer.

    If none came in time the question stands: go on with something else, the answer will be in your inbox; or call again with the
    same `messageId` to wait on. Don't ask the same thing twice.
    """
    asked = call.args
    words = draft(asked.to, asked.text, subject=asked.subject, priority=asked.priority, requires_response=True, message_id=asked.message_id)
    receipt = await call.door.store.write(sending.send, words, call.by, wait_s=call.door.settings.wait_s)
    if receipt.http >= 400:
        return problem_result(_refusal(receipt))
    found = await waiting.until(call.door, lambda: _replies(call, receipt.message_id), RepliesNow.is_over, asked.wait_s, call.client)
    return Answered(
        message_id=receipt.message_id,
        thread_id=receipt.thread_id,
        waiting=found.waiting and not found.items,
        replies=[letter(each) for each in found.items],
        todo=_todo(found),
    )


async def _replies(call: Call[Any], ident: str) -> RepliesNow:
    return await call.door.store.read(told.replies, ident, call.by)


def _todo(found: RepliesNow) -> str:
    if found.items:
        return ""
    if found.waiting:
        return "no answer yet: go on with other work, or call ask again with this messageId to wait on."
    return "no answer will come: ask somebody else, or go on without it."


_NAMES = {"content.body": "text"}
_REPLIED = {"id": "messageId", "inReplyTo": "messageId"}

TOOLS: tuple[Tool[Any], ...] = (
    Tool(handler=send_agent_message, takes=Sending, gives=Sent, title="Send a message", profile="worker", effect="adds", names=_NAMES),
    Tool(handler=reply, takes=Replying, gives=Sent, title="Answer a message", profile="worker", effect="adds", names=_NAMES | _REPLIED),
    Tool(handler=ask, takes=Question, gives=Answered, title="Ask and wait", profile="worker", effect="adds", names=_NAMES),
)
