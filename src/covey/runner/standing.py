"""What an agent's poll asks: is anything ready, do my flags and leases stand, is there a leader. One cheap read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from covey.runner.work import Work
from covey.store import Transaction, statement

READY = statement(__package__, "ready")
TASK_STANDS = statement(__package__, "task_stands")
MAIL_STANDS = statement(__package__, "mail_stands")


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


def standing(tx: Transaction, agent: str, held: Sequence[Work], digest_s: float) -> Standing:
    """Whether mail or tasks can be taken (none behind an open breaker), which of the work held is lost, and the agent's flags."""
    row = tx.one(READY, agent=agent, now=tx.now, quiet_before=tx.now - digest_s)
    if row is None or row.removed_at is not None:
        return Standing(False, True, True, False, False, True, frozenset(work.run_id for work in held))
    takes_work = row.paused_at is None and row.stopped_at is None
    lost = frozenset(work.run_id for work in held if not _stands(tx, work))
    mail, tasks = (bool(row.mail), bool(row.tasks)) if not row.barred else (False, False)
    return Standing(takes_work, row.stopped_at is not None, False, mail, tasks, bool(row.led), lost)


def _stands(tx: Transaction, work: Work) -> bool:
    return tx.one(TASK_STANDS if work.task is not None else MAIL_STANDS, token=work.token) is not None
