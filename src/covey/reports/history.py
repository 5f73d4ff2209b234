"""What was done: tasks a day, failures, traffic, costs, dead letters, what happened. Verbs for `store.read`; from records alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import UTC, datetime
from typing import Any

from covey.reports.metrics import COSTS, DAY_S, DEAD_COUNTED, DEAD_MAIL
from covey.reports.phrases import head
from covey.store import Row, Transaction, statement

ENDED_BETWEEN = statement(__package__, "ended_between")
FAILED_SINCE = statement(__package__, "failed_since")
TRIED_AGAIN = statement(__package__, "tried_again")
TRAFFIC = statement(__package__, "traffic")
OPEN_QUESTIONS = statement(__package__, "open_questions")
HAPPENED = statement(__package__, "happened")

SHOWN = 50
MESSAGES_READ = 20_000
EVENTS_READ = 50_000
"""Traffic and events are those among so many of the latest."""
_SPENT = ("runs", "failed", "priced", "usd", "tokens", "seconds")


def productivity(tx: Transaction, days: int = 7) -> dict[str, Any]:
    """Tasks done, failed and cancelled each UTC day, today included, and by agent over those days; mean seconds from claim to end."""
    today = tx.now // DAY_S * DAY_S
    by_day = []
    agents: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for start in (today - DAY_S * back for back in range(days - 1, -1, -1)):
        day: Counter[str] = Counter()
        for row in tx.all(ENDED_BETWEEN, start=start, end=start + DAY_S):
            found: Counter[str] = Counter({row.state: row.tasks})
            if row.state == "done":
                found.update(timed=row.timed, millis=round(row.seconds * 1000))
            day.update(found)
            agents[row.agent or "(nobody)"].update(found)
        by_day.append({"day": datetime.fromtimestamp(start, UTC).date().isoformat(), **_outcomes(day)})
    return {
        "days": by_day,
        "agents": {name: _outcomes(found) for name, found in sorted(agents.items())},
        "total": _outcomes(sum(agents.values(), Counter[str]())),
    }


def _outcomes(found: Counter[str]) -> dict[str, Any]:
    return {
        "done": found["done"],
        "failed": found["failed"],
        "cancelled": found["cancelled"],
        "averageTime": found["millis"] / 1000 / found["timed"] if found["timed"] else None,
    }


def failures(tx: Transaction, days: float = 7) -> list[dict[str, Any]]:
    """The tasks that failed, the latest first, with their errors."""
    return [
        {
            "taskId": row.id,
            "description": head(row.description),
            "agent": row.agent,
            "attempts": row.attempts,
            "error": head(row.error or "", 300),
            "at": row.finished_at,
        }
        for row in tx.all(FAILED_SINCE, since=tx.now - days * DAY_S, limit=SHOWN)
    ]


def tried_again(tx: Transaction, days: float = 7) -> list[dict[str, Any]]:
    """The tasks that ended after more than one attempt, the latest first, each with its last error."""
    return [
        {
            "taskId": row.id,
            "description": head(row.description),
            "agent": row.agent,
            "state": row.state,
            "attempts": row.attempts,
            "error": head(row.error or "", 300),
            "at": row.finished_at,
        }
        for row in tx.all(TRIED_AGAIN, since=tx.now - days * DAY_S, limit=SHOWN)
    ]


def traffic(tx: Transaction, hours: float = 24) -> dict[str, Any]:
    """Who wrote to whom, how often, how much is handled and answered; among the latest 20,000 messages of that time."""
    rows = tx.all(TRAFFIC, since=tx.now - hours * 3600, limit=MESSAGES_READ)
    sent: Counter[str] = Counter()
    received: Counter[str] = Counter()
    for row in rows:
        sent[row.sender] += row.messages
        received[row.receiver] += row.messages
    return {
        "hours": hours,
        "copies": sent.total(),
        "handled": sum(row.handled for row in rows),
        "questions": sum(row.questions for row in rows),
        "answered": sum(row.answered for row in rows),
        "sent": dict(sent.most_common(SHOWN)),
        "received": dict(received.most_common(SHOWN)),
        "pairs": [_pair(row) for row in rows[:SHOWN]],
    }


def _pair(row: Row) -> dict[str, Any]:
    return {
        "from": row.sender,
        "to": row.receiver,
        "copies": row.messages,
        "handled": row.handled,
        "questions": row.questions,
        "answered": row.answered,
    }


def open_questions(tx: Transaction, agent: str = "") -> list[dict[str, Any]]:
    """Who waits for whose answer, the soonest deadline first; those an agent asked or was asked, or all."""
    rows = [row for row in tx.all(OPEN_QUESTIONS, limit=1_000) if agent in ("", row.sender, row.receiver)]
    return [
        {
            "from": row.sender,
            "to": row.receiver,
            "messageId": row.message_id,
            "topic": head(row.subject or row.body),
            "state": row.state,
            "askedAt": row.created_at,
            "until": row.answer_due,
        }
        for row in rows[:SHOWN]
    ]


def costs(tx: Transaction, days: float = 30) -> dict[str, Any]:
    """What the runs of the last days cost, by agent, as far as brains said so: `priced` runs named a price."""
    agents = {row.agent: {name: getattr(row, name) for name in _SPENT} for row in tx.all(COSTS, since=tx.now - days * DAY_S)}
    total = {name: sum(row[name] for row in agents.values()) for name in _SPENT}
    return {"days": days, "agents": dict(sorted(agents.items())), "total": total}


def dead_letters(tx: Transaction) -> dict[str, Any]:
    """How many dead letters there are, whose, for which reasons, and the latest."""
    rows = tx.all(DEAD_MAIL, limit=DEAD_COUNTED)
    reasons = Counter(head(row.reason or "no reason was given", 120) for row in rows)
    return {
        "letters": len(rows),
        "receivers": dict(Counter(row.receiver for row in rows)),
        "reasons": dict(reasons.most_common(10)),
        "latest": [_letter(row) for row in rows[:20]],
    }


def _letter(row: Row) -> dict[str, Any]:
    return {
        "messageId": row.message_id,
        "from": row.sender,
        "receiver": row.receiver,
        "attempts": row.attempts,
        "reason": head(row.reason or "", 200),
        "at": row.ended_at,
    }


def happened(tx: Transaction, hours: float = 24) -> dict[str, Any]:
    """How often each kind of event happened, among the latest 50,000 of that time."""
    rows = tx.all(HAPPENED, since=tx.now - hours * 3600, limit=EVENTS_READ)
    return {"hours": hours, "kinds": {row.kind: row.times for row in sorted(rows, key=lambda row: (-row.times, row.kind))}}
