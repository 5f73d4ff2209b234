"""A brain for conformance kits: what it does follows from the prefix of the message's id, as the kits of A2A want it.

Ids with none of the prefixes are those of the kit of 0.3, which wants its tasks open: they ask for more.
"""

from __future__ import annotations

import asyncio
from typing import Any

from covey.brains.model import Hands, Outcome, Turn, failure
from covey.messages.model import draft

LONG_S = 4.0
TEXT = {"tck-artifact-text": "Generated text content", "tck-stream-artifact-text": "Streamed text content"}
FILE = {"raw": "dGNr", "filename": "output.txt", "mediaType": "text/plain"}
BY_URL = {"url": "https://example.com/output.txt", "filename": "output.txt", "mediaType": "text/plain"}
STREAMED = {
    "tck-stream-001": "Stream hello from TCK",
    "tck-stream-003": "Stream task lifecycle",
    "tck-stream-ordering-001": "Ordered output",
    "tck-stream-artifact-chunked": "chunk-1 chunk-2",
}


class KitBrain:
    """Does what the message's id says."""

    kind = "python"

    async def think(self, turn: Turn, hands: Hands) -> Outcome:
        if turn.task is None:
            return Outcome(summary="noted")
        return await _done(_id_of(turn), turn, hands)

    def can(self, description: str) -> bool:
        return True

    async def close(self) -> None:
        pass


def _id_of(turn: Turn) -> str:
    """The id of the message that this turn answers: the last one that was given."""
    assert turn.task is not None
    if turn.answer is not None:
        found = turn.answer.message.content.get("data", {}).get("a2a", {})
        if found:
            return str(found.get("messageId", ""))
    return str(turn.task.data.get("a2a", {}).get("messageId", ""))


async def _done(ident: str, turn: Turn, hands: Hands) -> Outcome:
    assert turn.task is not None
    if ident.startswith("tck-input-required") or not ident.startswith(("tck-", "test-resubscribe-message-id")):
        asked = draft(turn.task.created_by, "What next?", requires_response=True)
        return Outcome(kind="waiting", messages=[asked])
    if ident.startswith("tck-reject-task"):
        return failure("rejected", permanent=True)
    if ident.startswith("test-resubscribe-message-id"):
        await hands.progress("still at it")
        await asyncio.sleep(LONG_S)
        return Outcome(summary="done after a while")
    if ident.startswith("tck-message-response"):
        return Outcome(summary="Direct message response", data={"a2a": {"message": True}})
    return _artifacts(ident) or Outcome(summary="Hello from TCK")


def _artifacts(ident: str) -> Outcome | None:
    for prefix, text in (TEXT | STREAMED).items():
        if ident.startswith(prefix):
            return _of({"text": text})
    if ident.startswith("tck-artifact-file-url"):
        return _of(BY_URL)
    if ident.startswith(("tck-artifact-file", "tck-stream-artifact-file")):
        return _of(FILE)
    if ident.startswith("tck-artifact-data"):
        return _of({"data": {"key": "value", "count": 42}})
    return None


def _of(part: dict[str, Any]) -> Outcome:
    return Outcome(data={"a2a": {"artifacts": [{"name": "output", "parts": [part]}]}})
