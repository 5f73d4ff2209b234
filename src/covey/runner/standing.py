"""What an agent's poll asks: is anything ready, do my flags and leases stand, is there a leader. One cheap read.

It tells too whether to look again is any use while nobody writes: then a poll reads the store's stamp alone (M4b).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from covey.runner.work import Work
from covey.store import Row, Transaction, statement

READY = statement(__package__, "ready")
TASK_STANDS = statement(__package__, "task_stands")
MAIL_STANDS = statement(__package__, "mail_stands")


AHEAD_S = 8.0
"""So far ahead it looks: a leader's lease, which is renewed without a word, is longer."""


class Standing(NamedTuple):
    """How an agent stands right now."""

    takes_work: bool
    stopped: bool
    gone: bool
    mail: bool
    tasks: bool
    led: bool
    lost: frozenset[str]
    """The run ids of work whose lease is void."""
    rests: bool = False
    """Whether all of this is so for `AHEAD_S` more, unless somebody writes."""


def standing(tx: Transaction, agent: str, held: Sequence[Work], digest_s: float) -> Standing:
    """Whether mail or tasks can be taken (none behind an open breaker), which of the work held is lost, and the agent's flags."""
    row = _ready(tx, agent, tx.now, digest_s)
    if row is None or row.removed_at is not None:
        return Standing(False, True, True, False, False, True, frozenset(work.run_id for work in held))
    takes_work = row.paused_at is None and row.stopped_at is None
    lost = frozenset(work.run_id for work in held if not _stands(tx, work))
    mail, tasks = (bool(row.mail), bool(row.tasks)) if not row.barred else (False, False)
    rests = not (held or mail or tasks) and _rests(_ready(tx, agent, tx.now + AHEAD_S, digest_s))
    return Standing(takes_work, row.stopped_at is not None, False, mail, tasks, bool(row.led), lost, rests)


def _ready(tx: Transaction, agent: str, at: float, digest_s: float) -> Row | None:
    return tx.one(READY, agent=agent, now=at, quiet_before=at - digest_s)


def _rests(later: Row | None) -> bool:
    """Whether nothing is ready then, and there is a leader, so that nobody else has to sweep."""
    return later is not None and bool(later.led) and (bool(later.barred) or not (later.mail or later.tasks))


def _stands(tx: Transaction, work: Work) -> bool:
    return tx.one(TASK_STANDS if work.task is not None else MAIL_STANDS, token=work.token) is not None
