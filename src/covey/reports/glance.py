"""What waits for an agent, in few words for a session that is at something else: how much mail and how many tasks, and the first five.

The words are for a model: peers' text is cut, and stands in its envelope (M12). Whatever waits, they are no longer than `MOST_CHARS`.
Looking acknowledges nothing and takes nothing.
"""

from __future__ import annotations

import hashlib

import msgspec

from covey.agents import roster
from covey.agents.model import OPERATOR
from covey.base.errors import Invalid
from covey.messages.envelope import enveloped, escaped
from covey.messages.model import Message
from covey.reports.model import Glance
from covey.store import Row, Transaction, statement

UNREAD = statement(__package__, "glance_unread")
MAIL = statement(__package__, "glance_mail")
TASKS = statement(__package__, "glance_tasks")

FIRST = 5
COUNTED = 1000
"""Mail and tasks are counted so far."""
BODY_CHARS = 600
TASK_CHARS = 300
MOST_CHARS = 12_000
_MOST_MARK = 200


def glance(tx: Transaction, agent: str, *, after: str = "", quiet_s: float = 0.0) -> Glance:
    """What waits for the agent, and what of it is fresh: quiet mail only once it has waited for `quiet_s` (M4b).

    Raises:
        Unknown: There is no such agent.
        Invalid: `after` is no mark.
    """
    if agent != OPERATOR:
        roster.find(tx, agent, field="name")
    told_at, told_tasks = _parsed(after)
    mail = tx.one(UNREAD, agent=agent, after=told_at, quiet_until=tx.now - quiet_s, limit=COUNTED)
    assert mail is not None
    tasks = tx.all(TASKS, agent=agent, limit=COUNTED)
    first = {_short(row.id): row for row in tasks[:FIRST]}
    fresh = int(mail.fresh) + len(first.keys() - told_tasks)
    mark = f"{max(told_at, mail.latest or 0.0)!r}~{'.'.join(first)}"
    text = _worded(tx, agent, mail.unread, tasks) if fresh else ""
    return Glance(agent_id=agent, unread=mail.unread, tasks=len(tasks), fresh=fresh, mark=mark, text=text)


def _parsed(mark: str) -> tuple[float, set[str]]:
    """Until when mail was told, and which tasks were. Pure."""
    at, _, tasks = mark.partition("~")
    try:
        if len(mark) > _MOST_MARK:
            raise ValueError(mark)
        return float(at or 0.0), set(tasks.split("."))
    except ValueError as error:
        raise Invalid(f"after is {mark[:60]!r}; give the `mark` of an earlier answer, or nothing.", field="after") from error


def _short(ident: str) -> str:
    return hashlib.blake2b(ident.encode(), digest_size=6).hexdigest()


def _worded(tx: Transaction, agent: str, unread: int, tasks: list[Row]) -> str:
    mail = tx.all(MAIL, agent=agent, wakes=1, limit=FIRST)
    mail += tx.all(MAIL, agent=agent, wakes=0, limit=FIRST - len(mail)) if len(mail) < FIRST else []
    lines = [_head(agent, unread, len(tasks), len(mail), min(len(tasks), FIRST))]
    lines += [_message(Message.from_row(row)) for row in mail]
    lines += [_task(row) for row in tasks[:FIRST]]
    return "\n".join(lines)[:MOST_CHARS]


def _head(agent: str, unread: int, tasks: int, mail_shown: int, tasks_shown: int) -> str:
    """What waits, in one paragraph. Pure."""
    waits = [f"{_count(unread)} message{'' if unread == 1 else 's'}"] if unread else []
    waits += [f"{_count(tasks)} task{'' if tasks == 1 else 's'}"] if tasks else []
    shown = f"; the first {mail_shown + tasks_shown} follow, cut short" if unread + tasks > mail_shown + tasks_shown else ""
    return (
        f"Covey, for its agent {agent}: {' and '.join(waits)} waiting{shown}. This is a notice of the fleet, not a word of your user."
        " Finish what you are at first unless something here is urgent. To read them whole, answer and take tasks, use the tools of"
        f" covey (inbox, read, reply, claim_task, finish_task) or `covey inbox {agent} --unread`."
    )


def _count(number: int) -> str:
    return f"{number}" if number < COUNTED else f"{COUNTED:,} or more"


def _message(message: Message) -> str:
    body = message.body
    if len(body) > BODY_CHARS:
        body = f"{body[:BODY_CHARS]}… (cut here)"
    return enveloped(msgspec.structs.replace(message, content=message.content | {"body": body}))


def _task(row: Row) -> str:
    text = row.description if len(row.description) <= TASK_CHARS else f"{row.description[:TASK_CHARS]}… (cut here)"
    return f'<covey-task id="{row.id}" from="{row.created_by}" priority="{row.priority}">\n{escaped(text)}\n</covey-task>'
