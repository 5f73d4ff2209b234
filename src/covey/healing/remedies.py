"""What is done about a stall, once for each: opened as an incident, acted on, told (H2 to H5, H7b). Each is one verb.

Only a silent heart, or a port that answers to nobody, has an agent started again; its own node does it (H7a).
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from covey.agents import restarting, roster
from covey.agents.model import THE_SYSTEM
from covey.healing import incidents, lives
from covey.healing.choosing import Wanted, able_now, choose
from covey.healing.diagnosis import Ailment, span
from covey.planning.model import Planned
from covey.store import Row, Transaction
from covey.tasks import changing, ending

Planner = Callable[[Transaction, str], Planned]
"""Plans for an idle agent (P2)."""


def silent(tx: Transaction, agent: str, ailment: Ailment) -> bool:
    """Its heart is silent: its node is asked to start it again, once (H4). Whether that is news."""
    ident, new = incidents.opened(tx, agent, "heartbeat_stale", ailment.cause)
    if new:
        _ask_restart(tx, agent, ident, "its heart is silent")
    return new


def unresponsive(tx: Transaction, agent: str, missed: int, up_s: float) -> bool:
    """Its port answers to nobody though its heart beats: its node is asked to start it again, once. Whether that is news.

    Not if it is known to be down already, or was started within so many seconds.
    """
    vitals = roster.vitals(tx, agent)
    if vitals.pid is None or tx.now - (vitals.started_at or tx.now) < up_s:
        return False
    if any(each.kind in lives.DOWN for each in incidents.open_of(tx, agent)):
        return False
    cause = f"its port did not answer /health in {missed} cycles in a row, though its heart beats."
    ident, new = incidents.opened(tx, agent, "hung", cause, data={"missed": missed})
    if new:
        _ask_restart(tx, agent, ident, "its port does not answer")
    return new


def _ask_restart(tx: Transaction, agent: str, ident: str, why: str) -> None:
    restarting.ask(tx, agent, THE_SYSTEM, f"{why} ({ident})")
    incidents.step(tx, ident, "restart_asked", "its node is asked to start it again.")


def revived(tx: Transaction, agent: str) -> None:
    """It beats again by itself: it is live again at once (H7a)."""
    lives.back(tx, agent, "its heart beats again")


def unanswered(tx: Transaction, agent: str, since: float) -> bool:
    """It has needed a restart for two cycles and nothing came of it: a person is called (H7b). Whether that is news."""
    vitals = roster.vitals(tx, agent)
    where = f"its node {vitals.node}" if vitals.node else "any node"
    cause = f"it has needed a restart for {span(tx.now - since)}, and nothing came of it: {where} has not started it again."
    return incidents.opened(tx, agent, "needs_restart", cause)[1]


def overran(tx: Transaction, agent: str, ailment: Ailment) -> tuple[str, bool]:
    """The incident of a task that takes too long, and whether it is new. Its agent's own process has its brain asked to split it (H3)."""
    return incidents.opened(tx, agent, "task_timeout", ailment.cause, subject=ailment.subject)


def pass_on(tx: Transaction, row: Row, agent: str, incident: str) -> str | None:
    """Who has a waiting task now that ran into its time limit with this agent: another able one; whoever failed it comes last.

    Nobody is able: it fails, which is said aloud, since waiting would have the same agent try it again (H3).
    """
    brain = roster.find(tx, agent).brain
    wanted = Wanted(agent, brain, row.description, tuple(msgspec.json.decode(row.failed_by)))
    heir = choose(wanted, able_now(tx, row.capability))
    if heir is not None:
        changing.move(tx, row, heir, row.capability, THE_SYSTEM)
        incidents.end_incident(tx, incident, "reassigned", f"it ran into its time limit with {agent}; {heir} has it now.")
        return heir
    why = f"{agent} ran into the time limit with it, and nobody else is able to do it; `covey task retry {row.id}` tries it again"
    ending.end(tx, row, "fail", error=f"{why}. {row.error or ''}".strip())
    incidents.end_incident(tx, incident, "nobody_able", f"{why}.")
    return None


def timeout_over(tx: Transaction, over: Row) -> None:
    """What ran too long runs no more: its incident ends with what became of the task."""
    state = over.state or "gone"
    incidents.end_incident(tx, over.id, state, f"the task {over.subject} is {state} now.")


def idle(tx: Transaction, agent: str, planner: Planner, ailment: Ailment | None) -> Planned:
    """What was planned for an agent with nothing to do (H5). A stall with nothing to plan ends at once, with the reason (H1a)."""
    plan = planner(tx, agent)
    if ailment is None:
        return plan
    ident = incidents.open_incident(tx, agent, "excessive_idle", ailment.cause)
    if plan.tasks:
        incidents.end_incident(tx, ident, "planned", f"it was given {len(plan.tasks)} tasks of its own: {', '.join(plan.tasks)}.")
    else:
        incidents.end_incident(tx, ident, "nothing_to_plan", f"there is nothing to plan for it: {plan.why}")
    return plan
