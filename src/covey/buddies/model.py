"""What a check of a buddy asks and what its answers come to: bounds, shapes, the verdict. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from covey.agents.model import Status

CHECK_S = 3600.0
"""An agent checks its buddy so often (B2)."""
FIRST_S = 60.0
"""A new agent's first check comes so long after it was added, so that the fleet is up by then."""
OVERDUE_S = 600.0
"""The controller does a check that is so much too late (B2)."""
SILENT_S = 3600.0
"""A heartbeat so old is a reason to step in (B3)."""
FOLLOW_S = 60.0
"""While a buddy does not answer it is looked after so often."""
PATIENCE_S = 5.0
"""An answer comes within so long, or it is none."""
ANSWER_BYTES = 65_536

CONTROLLER = "controller"

Fault = Literal["no answer", "slow", "refused", "garbage", "another name"]
_NAMED = re.compile(rb'\s*\{\s*"agentId"\s*:\s*"([a-z][a-z0-9-]{0,31})"')


class Reply(NamedTuple):
    """What came over the wire: the HTTP status and the first bytes of the body; `whole` if these are all."""

    status: int
    body: bytes
    whole: bool = True


class Silence(NamedTuple):
    """Why nothing came, or nothing that counts."""

    fault: Fault
    sentence: str


class Answer(msgspec.Struct, rename="camel", kw_only=True, frozen=True):
    """What `POST /buddy-check` is answered with (A5a); further fields may follow."""

    agent_id: str
    status: Status
    last_heartbeat: float | None
    queue_length: int
    context_size: int
    max_context_size: int
    covering: list[str]
    timestamp: float
    check_id: str | None = None

    @classmethod
    def of(cls, name: str, state: Mapping[str, Any], now: float, check_id: str | None = None) -> Answer:
        """The answer of an agent in this state, as `GET /status` shows it."""
        context = state["context"]
        return cls(
            agent_id=name,
            status=state["status"],
            last_heartbeat=state["lastHeartbeat"],
            queue_length=state["queueLength"],
            context_size=context["contextSize"],
            max_context_size=context["maxContextSize"],
            covering=state["covering"],
            timestamp=now,
            check_id=check_id,
        )

    @property
    def share(self) -> float:
        """How full its context is."""
        return self.context_size / self.max_context_size if self.max_context_size > 0 else 0.0

    @property
    def idle_and_empty(self) -> bool:
        """Whether it has nothing to do (B4)."""
        return self.status == "idle" and self.queue_length == 0


Verdict = Answer | Silence


def judge(name: str, check_id: str, status: Reply | Silence, check: Reply | Silence) -> Verdict:
    """What both answers of a buddy come to: its answer, or why it counts as none (B3). Pure.

    `status` is that of `GET /status`, of which only the beginning is read; `check` that of `POST /buddy-check`.
    """
    for reply, what in ((status, "GET /status"), (check, "POST /buddy-check")):
        if isinstance(reply, Silence):
            return reply
        if reply.status != 200:
            return Silence("refused", f"{what} was answered with HTTP status {reply.status}")
    assert isinstance(status, Reply)
    assert isinstance(check, Reply)
    found = _answer_of(check)
    if isinstance(found, Silence):
        return found
    stated = _named(status)
    if stated is None:
        return Silence("garbage", "GET /status was answered with something that is no agent's state")
    for said in (stated, found.agent_id):
        if said != name:
            return Silence("another name", f"who answered at {name}'s address says that it is {said[:60]}")
    if found.check_id is not None and found.check_id != check_id:
        return Silence("garbage", "POST /buddy-check was answered for another check")
    return found


def _answer_of(reply: Reply) -> Verdict:
    if not reply.whole:
        return Silence("garbage", f"POST /buddy-check was answered with more than {ANSWER_BYTES} bytes")
    try:
        return msgspec.json.decode(reply.body, type=Answer)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Silence("garbage", "POST /buddy-check was answered with something that is no buddy's answer")


def _named(reply: Reply) -> str | None:
    """Whose state it is; of one that was cut, as its first words say."""
    if not reply.whole:
        found = _NAMED.match(reply.body)
        return found[1].decode() if found else None
    try:
        state: Any = msgspec.json.decode(reply.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    name = state.get("agentId") if isinstance(state, dict) else None
    return name if isinstance(name, str) else None


class Last(NamedTuple):
    """The check that an agent last made, as it is recorded."""

    checker: str
    checked: str
    at: float
    done_by: str
    outcome: Literal["answered", "missed"]
    reason: str
    unreachable: bool
    look_at: float
    made: int
    answered: int
    missed_in_a_row: int

    @classmethod
    def from_row(cls, row: Any) -> Last:
        """The check of a row of `buddy_checks`."""
        return cls(*row)._replace(unreachable=bool(row.unreachable))

    @property
    def success_rate(self) -> float | None:
        """The share of checks that were answered."""
        return round(self.answered / self.made, 4) if self.made else None


def due_at(check_s: float, created_at: float, checked_at: float | None, buddy: str, last: Last | None) -> float:
    """When an agent next looks after its buddy: an hour after its last check, kept over restarts; sooner while it is silent. Pure."""
    hourly = checked_at + check_s if checked_at is not None else created_at + min(FIRST_S, check_s)
    return min(last.look_at, hourly) if last is not None and last.checked == buddy else hourly


class Watching(msgspec.Struct, rename="camel", kw_only=True):
    """One agent, the one it watches, and its checks."""

    agent_id: str
    buddy_id: str
    watched_by: list[str]
    """Who watches it; nobody: the controller does."""
    last_check: float | None
    outcome: str | None
    reason: str | None
    done_by: str | None
    next_check: float | None
    checks: int
    answered: int
    success_rate: float | None
    missed_in_a_row: int
    covering: list[str]
    covered_by: str | None
