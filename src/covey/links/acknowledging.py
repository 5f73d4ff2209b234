"""Whether a message is a bare acknowledgement, which nobody needs to be woken for (L10). Pure, by a table of words.

It must be all thanks or nods: any other word, a number, a question or an address may be a new fact, and goes through.
"""

from __future__ import annotations

import re
from collections.abc import Collection

LONGEST = 160
"""A longer text is no bare acknowledgement, whatever it says."""

_SAYS = (
    "thanks", "thank you", "thank u", "thx", "ty", "tyvm", "many thanks", "thanks a lot", "thanks a bunch", "thanks again", "cheers",
    "noted", "duly noted", "ok", "okay", "k", "kk", "alright", "all right", "got it", "gotcha", "understood", "acknowledged", "ack",
    "acked", "roger", "roger that", "copy that", "copied", "received", "message received", "well received", "great", "perfect",
    "excellent", "awesome", "nice", "cool", "good", "very good", "sounds good", "looks good", "makes sense", "appreciated",
    "much appreciated", "appreciate it", "i appreciate it", "no problem", "no worries", "np", "you are welcome", "you re welcome",
    "youre welcome", "welcome", "my pleasure", "anytime", "glad to help", "happy to help", "fine", "will do", "wilco",
    "have a nice day", "have a good day", "have a great day", "bye", "goodbye", "good night", "take care",
    "danke", "vielen dank", "merci", "gracias", "grazie", "obrigado", "спасибо", "谢谢", "ありがとう",
)  # fmt: skip
_FILLS = (
    "so", "very", "much", "a lot", "again", "all", "everyone", "team", "hi", "hello", "dear", "for", "that", "this", "the", "your", "from",
    "update", "updates", "info", "information", "message", "note", "reply", "heads up", "quick", "help", "and", "i", "too", "on my side",
    "on our side", "confirmation", "sharing", "letting me know", "letting us know", "you too",
)  # fmt: skip
_WORD = re.compile(r"[^\W_]+")
_FACT = re.compile(r"[?？¿\d]|https?:|www\.|[\w.-]+@[\w.-]+|/\w+/|`|\.\w{2,4}\b\S", re.IGNORECASE)
_NOD = re.compile("[\U0001f44d\U0001f44c\U0001f64f\U0001f64c\U0001f44f\u2705\u2714\u2764\U0001f600-\U0001f60f\U0001f389]")


def _phrases(texts: Collection[str]) -> dict[str, list[tuple[str, ...]]]:
    """The phrases by their first word, the longest first."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for text in texts:
        words = tuple(_WORD.findall(text))
        found.setdefault(words[0], []).append(words)
    return {first: sorted(phrases, key=len, reverse=True) for first, phrases in found.items()}


_SAID = _phrases(_SAYS)
_FILLED = _phrases(_FILLS)


def is_bare(body: str, subject: str = "", names: Collection[str] = ()) -> bool:
    """Whether the text says no more than thanks or a nod. `names` are those who talk: to be called by name is no news."""
    text = f"{_own(subject)} {body}".strip()
    if len(text) > LONGEST or _FACT.search(text):
        return False
    words = _WORD.findall(text.casefold())
    called = {name.casefold() for name in names}
    said = bool(_NOD.search(text))
    if not words:
        return said or not re.search(r"\w", text)
    while words:
        phrase = _match(_SAID, words)
        if phrase:
            said = True
        taken = phrase or _match(_FILLED, words) or int(words[0] in called)
        if not taken:
            return False
        words = words[taken:]
    return said


def _own(subject: str) -> str:
    """The subject, unless it is that of what is being answered."""
    return "" if subject.lower().startswith(("re:", "aw:")) else subject


def _match(table: dict[str, list[tuple[str, ...]]], words: list[str]) -> int:
    """How many words the longest phrase takes that stands at the beginning; 0 if none does."""
    return next((len(phrase) for phrase in table.get(words[0], ()) if tuple(words[: len(phrase)]) == phrase), 0)
