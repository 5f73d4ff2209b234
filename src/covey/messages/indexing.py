"""The search index over subject and body, filled from the events; at most 2 s behind (M13). A text has the same words on both databases."""

from __future__ import annotations

import re
import unicodedata

from covey.store import Transaction, events, relaxed, statement

TEXT = statement(__package__, "text")
INDEX = statement(__package__, "index")
BOOKMARK = "message_words"
PAGES = 20
WORD_CHARS = 64
QUERY_WORDS = 50

_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> list[str]:
    """The words of a text, in order: letters and digits alone, without case and accents. Pure."""
    text = text.casefold()
    if not text.isascii():
        text = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return [word[:WORD_CHARS] for word in _WORD.findall(text)]


def wanted(text: str) -> dict[str, object] | None:
    """What a search for these words asks the index, for either database; None if there is no word in it. Pure."""
    words = list(dict.fromkeys(words_of(text)))[:QUERY_WORDS]
    return {"match": " ".join(f'"{word}"' for word in words), "words": words} if words else None


@relaxed
def index_new(tx: Transaction, limit: int = 200) -> int:
    """How many messages were put into the index; call again while it is at least `limit`."""
    found = 0
    for _ in range(PAGES):
        page = events.after(tx, events.bookmark(tx, BOOKMARK), kinds=("message.sent",), limit=limit)
        for event in page.events:
            index_one(tx, event.subject or "")
        if page.bookmark != page.start:
            events.set_bookmark(tx, BOOKMARK, page.bookmark)
        found += len(page.events)
        if not page.full or found >= limit:
            break
    return found


def index_one(tx: Transaction, ident: str) -> None:
    """Put one message into the index, as its text is now; a second time does nothing."""
    row = tx.one(TEXT, id=ident)
    if row is not None:
        subject, body = words_of(row.subject), words_of(row.body)
        tx.run(INDEX, seq=row.seq, subject=" ".join(subject), body=" ".join(body), words=sorted({*subject, *body}))
