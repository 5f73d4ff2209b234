"""What the lists of copies that wait for a person have alike: whose they are and what they say, and how they are looked for."""

from __future__ import annotations

from covey.console import pieces
from covey.console.looking import has_words
from covey.console.pages.threads import words_of
from covey.console.tables import Column, Query
from covey.messages.model import Message


class CopyQuery(Query):
    """Copies with these words, from this agent, to this one."""

    sender: str = ""
    receiver: str = ""


def is_wanted(query: CopyQuery, copy: Message, *also: str) -> bool:
    """Whether a copy is what a query asks for; its words may stand in `also` too. Pure."""
    return (
        query.sender in ("", copy.from_)
        and query.receiver in ("", copy.receiver)
        and has_words(query.q, copy.message_id, str(copy.content["subject"]), copy.body, *also)
    )


SAID: tuple[Column[Message], ...] = (
    Column(name="message", title="Message", value=words_of, words=True),
    Column(name="from", title="From", value=lambda m: m.from_, cell=lambda m: pieces.agent(m.from_)),
    Column(name="to", title="To", value=lambda m: m.receiver, cell=lambda m: pieces.agent(m.receiver)),
)
"""The first columns of each list."""
