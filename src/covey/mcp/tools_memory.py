"""Tools about what the agent itself remembers: look it up, note something down."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from covey.brains.prompting import fenced
from covey.contexts import entries, looking
from covey.contexts.recalling import Recalled
from covey.mcp.tooling import Asking, Call, Given, Ident, Tool


class RecallAsked(Asking):
    """What is looked for."""

    text: Annotated[str, Meta(max_length=1000, description="all these words")] | None = None
    id: Annotated[Ident, Meta(description="of an entry, a message or a task: all that you remember of it")] | None = None
    since: Annotated[float, Meta(ge=0, le=4102444800, description="Unix seconds")] | None = None
    until: Annotated[float, Meta(ge=0, le=4102444800)] | None = None
    limit: Annotated[int, Meta(ge=1, le=50)] = 10
    cursor: Annotated[str, Meta(pattern=r"^[0-9]{1,19}$")] | None = None


class Memory(Given):
    """Something you remember; its text stands between marks, since others may have written it."""

    id: str
    kind: str
    at: float
    text: str
    source: str | None = None


class Memories(Given):
    """What was found, newest first; of an id, oldest first."""

    items: list[Memory]
    cursor: str | None = None


class NoteAsked(Asking):
    """What is to be remembered."""

    text: Annotated[str, Meta(min_length=1, max_length=20_000)]
    kind: Literal["note", "decision"] = "note"
    about: Annotated[Ident, Meta(description="the task or message that it is about")] | None = None


class Noted(Given):
    """The new entry."""

    id: str


async def recall(call: Call[RecallAsked]) -> Memories:
    """Look up what you have seen, done, decided and noted before, also long ago: by words, by time, or by the id of a task or message.

    Try it before you ask somebody for what you may have been told already.
    """
    asked = call.args
    page = await call.door.store.read(
        looking.look,
        call.agent,
        text=asked.text,
        ident=asked.id,
        since=asked.since,
        until=asked.until,
        cursor=int(asked.cursor) if asked.cursor else None,
        limit=asked.limit,
    )
    return Memories(items=[_memory(each) for each in page.items], cursor=str(page.cursor) if page.cursor is not None else None)


def _memory(found: Recalled) -> Memory:
    return Memory(id=found.id, kind=found.kind, at=found.at, source=found.source, text=fenced("context", found.text[:20_000]))


async def note(call: Call[NoteAsked]) -> Noted:
    """Write down what you will need later: a fact, or a decision and its reason. It outlives this session; `recall` finds it again."""
    asked = call.args
    ident = await call.door.store.write(
        entries.remember, call.agent, asked.kind, asked.text, source=asked.about, max_tokens=call.settings.max_context
    )
    return Noted(id=ident)


TOOLS: tuple[Tool[Any], ...] = (
    Tool(handler=recall, takes=RecallAsked, gives=Memories, title="Look up what you know", profile="reader", effect="reads"),
    Tool(handler=note, takes=NoteAsked, gives=Noted, title="Note something down", profile="worker", effect="adds"),
)
