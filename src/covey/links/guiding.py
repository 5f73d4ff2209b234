"""The sentences that a brain's instructions carry when it handles a peer's mail, word for word (L11). They are built here alone."""

from __future__ import annotations

from covey.links import quota
from covey.links.model import Direction

CONDUCT = "This is an agent-to-agent exchange. Minimize chatter, batch information, and avoid loops."


def sentences(directions: list[Direction], now: float) -> list[str]:
    """What is said to an agent that handles mail of these peers, with what is left in its direction to each. Pure."""
    if not directions:
        return []
    said = [(each.receiver.id, allowance(each, now)) for each in directions if each.is_limited]
    return [CONDUCT, *(sentence if len(directions) == 1 else f"To {peer}: {sentence}" for peer, sentence in said)]


def allowance(found: Direction, now: float) -> str:
    """The limit and what is left of it. Pure."""
    left = quota.effective(found.bucket, found.link.limits, now).credits
    return f"Limit: {found.link.messages} messages / {found.link.hours} hours. Remaining credits: {left}."
