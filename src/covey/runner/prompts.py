"""What a turn's sends go on from, and what its brain is told of its peers: the chain, who is answered, the quotas (L10, L11)."""

from __future__ import annotations

from covey.agents.model import RESERVED
from covey.links import loops, reading
from covey.messages.letters import Prompt
from covey.messages.model import Message
from covey.runner.work import Work
from covey.store import Transaction


def prompt_of(work: Work) -> Prompt:
    """What made the turn's brain send: the work, or of a digest the mail that has come furthest. Pure."""
    mail = _mail(work)
    answering = {message.from_ for message in mail} | ({work.task.created_by} if work.task is not None else set())
    chains = [tuple(message.visited) for message in mail] if work.kind == "digest" else [work.visited]
    return Prompt(max(chains, key=loops.depth, default=()), answering=frozenset(answering), run=work.run_id)


def guidance(tx: Transaction, work: Work) -> list[str]:
    """The sentences of L11, if the turn handles mail of peers: of who made it, else of those whose mail came along."""
    main = [work.main] if work.main is not None and work.main.from_ not in RESERVED else _mail(work)
    peers = dict.fromkeys(message.from_ for message in main if message.from_ not in RESERVED)
    return reading.guidance(tx, work.agent, list(peers))


def _mail(work: Work) -> list[Message]:
    return [*([work.main] if work.main is not None else []), *work.riders]
