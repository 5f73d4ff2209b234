"""The operator speaks: a new message, a reply in a thread; and a paused thread goes on. What is said is the operator's, and says so."""

from __future__ import annotations

from covey.agents import roster
from covey.console.asking import Field, confirm
from covey.console.routes import Form, Operations, act, done, page
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.messages import handling, pausing, reading, sending
from covey.messages.model import Receipt, draft

NAMED = 200
PRIORITIES = ("urgent", "high", "medium", "low")
YES = "yes"


class Words(Form):
    """A message as a person writes it."""

    to: str
    body: str
    subject: str = ""
    priority: str = "medium"
    thread: str = ""
    answer: str = "no"


async def ask_new(call: Call[Nothing, Nothing]) -> Answer:
    """The form of a message that begins a thread."""
    names = await call.door.store.read(roster.all_names)
    choice = (*names, "*") if len(names) <= NAMED else ()
    return _form(call, "Write a message", Field("to", "To", options=choice, needed=True, help="* is everybody."), thread="")


async def ask_reply(call: Call[Nothing, Nothing]) -> Answer:
    """The form of a message in a thread, to who spoke there last."""
    ident = call.named("id")
    last = (await call.door.store.read(reading.thread_end, ident, limit=1)).items[0]
    to = last.from_ if last.from_ not in ("operator", "system") else last.receiver or ""
    return _form(call, "Speak in this thread", Field("to", "To", to, needed=True), thread=ident)


def _form(call: Call[Nothing, Nothing], title: str, to: Field, thread: str) -> Answer:
    return confirm(
        call,
        title=title,
        lines=["It is from you, the operator: agents know it from what their peers say."],
        action="/threads",
        hidden={"thread": thread},
        fields=[
            to,
            Field("subject", "Subject", bounds={"maxlength": 500}),
            Field("body", "Text", lines=6, needed=True),
            Field("priority", "Priority", "medium", options=PRIORITIES),
            Field("answer", "You want an answer", "no", options=("no", YES)),
        ],
        go="Send",
    )


async def send(call: Call[Nothing, Words]) -> Answer:
    """Send it; what became of each copy is said as the receipt has it."""
    form = call.body
    words = draft(
        form.to.strip(),
        form.body,
        subject=form.subject,
        priority=form.priority,
        requires_response=form.answer == YES,
        thread_id=form.thread or None,
    )
    receipt = await call.door.store.write(sending.send, words, call.by, wait_s=call.door.settings.wait_s)
    return done(call, said_of(receipt), "good" if receipt.http < 300 else "bad", 200 if receipt.http < 400 else receipt.http)


def said_of(receipt: Receipt) -> str:
    """What a receipt says to a person. Pure."""
    if len(receipt.outcomes) == 1:
        ((name, outcome),) = receipt.outcomes.items()
        return f"{name}: {outcome.status}. {outcome.sentence}"
    kept = sum(outcome.stored for outcome in receipt.outcomes.values())
    refused = [f"{name}: {outcome.sentence}" for name, outcome in receipt.outcomes.items() if not outcome.stored]
    return " ".join([f"{kept} of {len(receipt.outcomes)} copies are stored.", *refused[:3]])


async def ask_resume(call: Call[Nothing, Nothing]) -> Answer:
    """The question before a paused thread goes on."""
    ident = call.named("id")
    lines = ["Its agents may send in it again; their turns are counted anew."]
    return confirm(call, title="Let this thread go on?", lines=lines, action=f"/threads/{ident}/resume", go="Let it go on")


async def resume(call: Call[Nothing, Form]) -> Answer:
    """A paused thread goes on (L10)."""
    await call.door.store.write(pausing.resume, call.named("id"), call.by)
    return done(call, "The thread goes on.")


async def ask_read(call: Call[Nothing, Nothing]) -> Answer:
    """The question before a message to the operator is marked as read."""
    ident = call.named("id")
    lines = ["It waits for you no more. If its sender wants an answer, it still waits for that."]
    return confirm(call, title="Mark as read?", lines=lines, action=f"/messages/{ident}/read", go="Mark as read")


async def mark_read(call: Call[Nothing, Form]) -> Answer:
    """A message to the operator was read and needs no more."""
    await call.door.store.write(handling.acknowledge, call.by.name, call.named("id"))
    return done(call, "Marked as read.")


OPERATIONS: Operations = (
    page("/messages/{id}/read", ask_read, "Ask before a message is marked as read."),
    act("/messages/{id}/read", mark_read, "A message was read.", takes=Form),
    page("/threads/~new", ask_new, "The form of a new message."),
    act("/threads", send, "Send a message as the operator.", takes=Words),
    page("/threads/{id}/speak", ask_reply, "The form of a message in a thread."),
    page("/threads/{id}/resume", ask_resume, "Ask before a paused thread goes on."),
    act("/threads/{id}/resume", resume, "A paused thread goes on.", takes=Form),
)
