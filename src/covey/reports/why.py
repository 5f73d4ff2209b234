"""`why ID`: one paragraph on where a task, message, agent, incident, team run, vote or handoff stands, and the facts behind it (K8)."""

from __future__ import annotations

from difflib import get_close_matches

from covey.agents import roster
from covey.base.errors import NotFound
from covey.reports import why_agent, why_handoff, why_incident, why_message, why_task, why_team, why_vote
from covey.reports.in_line import Told
from covey.reports.model import Kind, Why
from covey.reports.phrases import when
from covey.store import Transaction, events, statement
from covey.tasks import reading

MESSAGE = statement(__package__, "message")
LATEST_IDS = statement(__package__, "latest_ids")

DIGEST_S = 900.0
"""How often quiet mail is handed over, unless the settings say otherwise (M4b)."""
_TOLD = frozenset({"task", "message", "agent", "incident", "team", "vote", "handoff"})
"""The kinds of events about what this explains for as long as it is kept."""
_LOOKED_AT = 200
_LONGEST = 64
_ALIKE = 6


def why(tx: Transaction, ident: str, *, stale_s: float | None = None, digest_s: float = DIGEST_S) -> Why:
    """Why a task, message, agent, incident, team run, vote or handoff stands where it stands.

    Raises:
        NotFound: Nothing has this id; `details["nearest"]` lists ids that come near.
    """
    agent = roster.seek(tx, ident)
    if agent is not None:
        return _why(ident, "agent", why_agent.explain(tx, agent, stale_s))
    task = reading.seek(tx, ident)
    if task is not None:
        said, facts = why_task.explain(tx, task, stale_s)
        return _why(ident, "task", ([*said, *why_incident.about(tx, ident)], facts))
    message = tx.one(MESSAGE, id=ident)
    if message is not None:
        return _why(ident, "message", why_message.explain(tx, message, stale_s, digest_s))
    incident = tx.one(why_incident.INCIDENT, id=ident)
    if incident is not None:
        return _why(ident, "incident", why_incident.explain(tx, incident))
    team = why_team.seek(tx, ident)
    if team is not None:
        return _why(ident, "team", why_team.explain(tx, team))
    vote = why_vote.seek(tx, ident)
    if vote is not None:
        return _why(ident, "vote", why_vote.explain(tx, vote))
    handoff = why_handoff.seek(tx, ident)
    if handoff is not None:
        return _why(ident, "handoff", why_handoff.explain(tx, handoff))
    raise _unknown(tx, ident)


def _why(ident: str, kind: Kind, told: Told) -> Why:
    sentences, facts = told
    return Why(ident, kind, " ".join(sentences), facts)


def _unknown(tx: Transaction, ident: str) -> NotFound:
    nearest = near(ident, [*roster.all_names(tx), *(row.id for row in tx.all(LATEST_IDS, limit=_LOOKED_AT))])
    hint = f" Did you mean {' or '.join(nearest)}?" if nearest else " `covey task list` and `covey inbox AGENT` list ids."
    last = next(iter(events.of_subject(tx, ident, limit=1)), None)
    kept = "; it is past its retention" if last is not None and last.kind.partition(".")[0] in _TOLD else ""
    past = f" Its last event is {last.kind}, {when(last.at, tx.now)}{kept}." if last is not None else ""
    return NotFound(f"there is no task, message or agent {ident[:200]!r}.{past or hint}", field="id", nearest=nearest)


def near(ident: str, names: list[str]) -> list[str]:
    """Up to three names that come near: those that begin alike, else those spelt alike. Pure."""
    alike = {name: _common(ident, name) for name in names}
    longest = max(alike.values(), default=0)
    if longest >= max(_ALIKE, len(ident) // 2):
        return [name for name in names if alike[name] == longest][:3]
    return get_close_matches(ident[:_LONGEST], [name for name in names if len(name) <= _LONGEST][:100], n=3, cutoff=0.7)


def _common(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (mine, theirs) in enumerate(pairs) if mine != theirs), min(len(one), len(other)))
