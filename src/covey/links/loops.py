"""Conversations that go round: how deep a chain is, whether it closes, how often two agents took turns (L10). Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

MOST_DEPTH = 8
MOST_TURNS = 10


def depth(chain: Sequence[str]) -> int:
    """How deep a chain has gone. Two agents that answer each other go no deeper; their turns are counted apart."""
    passed: list[str] = []
    for agent in chain:
        if len(passed) > 1 and passed[-2] == agent:
            passed[-2:] = [passed[-1], agent]
        elif not passed or passed[-1] != agent:
            passed.append(agent)
    return len(passed)


def closes(chain: Sequence[str], receiver: str, answered: Collection[str]) -> bool:
    """Whether waking this receiver would lead the conversation back to where it has been. To answer is no way back."""
    return receiver in chain[:-1] and receiver not in answered


class Last(NamedTuple):
    """The last message of a thread: who sent it, to whom (None: to several), how many turns two agents had taken by then."""

    sender: str
    receiver: str | None
    turns: int | None


def turns(last: Last | None, sender: str, receiver: str) -> int:
    """The how manieth turn in a row of these two agents a message is, with nobody else between them."""
    if last is None or {last.sender, last.receiver} != {sender, receiver}:
        return 1
    before = max(last.turns or 0, 0)
    return max(before, 1) if last.sender == sender else before + 1
