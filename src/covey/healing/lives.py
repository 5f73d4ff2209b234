"""The story of an agent's processes: one died or hung, it is started again, it serves again (H1, H4).

Its node decides and acts; this records. A process that was told to end makes no incident.
"""

from __future__ import annotations

from covey.agents import living, roster
from covey.contexts import checkpoints
from covey.contexts.checkpoints import Checkpoint
from covey.healing import giving_up, incidents, lending
from covey.healing.diagnosis import span
from covey.store import Transaction

DOWN = frozenset({*lending.AWAY, "needs_restart"})
"""What is over once the agent serves again."""


def died(tx: Transaction, agent: str, *, pid: int, how: str, ran_s: float, again_in_s: float | None) -> None:
    """Its process ended by itself, or was killed; it is started again after so long, or no more (None: H7)."""
    living.leave(tx, agent, pid=pid, reason=how)
    if roster.seek(tx, agent) is None:
        return
    cause = f"its process {pid} ended after {span(ran_s)}: {how}."
    hung = incidents.open_of(tx, agent, "hung")
    if hung:
        ident, new = hung[0].incident_id, False
    else:
        ident, new = incidents.opened(tx, agent, "process_died", cause, data={"pid": pid, "ranS": round(ran_s, 3)})
    if not new:
        incidents.step(tx, ident, "ended", cause)
    if again_in_s is None:
        incidents.end_incident(tx, ident, "given_up", "it is not started again.")
        return
    when = f"{span(again_in_s)} later" if again_in_s else "at once"
    incidents.step(tx, ident, "restart", f"its node starts it again {when}.")
    now = roster.vitals(tx, agent).pid
    if now is not None and now != pid:
        incidents.end_incident(tx, ident, "back", f"process {now} serves already.")


def hung(tx: Transaction, agent: str, missed: int) -> None:
    """Its process lived and did not answer its node's pings, so the node kills it (H1, H8b)."""
    tx.happened("agent.hung", agent=agent, missed=missed)
    if roster.seek(tx, agent) is None:
        return
    vitals = roster.vitals(tx, agent)
    silent = f", and its last heartbeat was {span(tx.now - vitals.heartbeat_at)} ago" if vitals.heartbeat_at is not None else ""
    cause = f"its process {vitals.pid or ''} lives but did not answer {missed} pings in a row{silent}."
    ident = incidents.open_incident(tx, agent, "hung", cause, data={"pid": vitals.pid, "missed": missed})
    incidents.step(tx, ident, "kill", "its node ends the process, by its pid and start time.")


def arrive(
    tx: Transaction,
    name: str,
    *,
    node: str,
    pid: int,
    start_ticks: int,
    boot_id: str,
    port: int,
    freed: int = 0,
    no_brain: str | None = None,
) -> list[str]:
    """The agent's process serves: its address is known, what kept it down is over, and its lent tasks are its own again; their ids.

    `freed`: how many runs of a dead predecessor were given up before. `no_brain`: why it has none, so that it can do nothing.
    """
    tx.lock("mailbox", name)
    living.arrive(tx, name, node=node, pid=pid, start_ticks=start_ticks, boot_id=boot_id, port=port)
    begins_from = checkpoints.restore(tx, name)
    returned = back(tx, name, f"process {pid} serves", freed=freed, begins_from=begins_from)
    if no_brain is None:
        giving_up.has_brain(tx, name)
    else:
        giving_up.gave_up(tx, name, no_brain, "no_brain")
    return returned


def back(tx: Transaction, name: str, how: str, *, freed: int = 0, begins_from: Checkpoint | None = None) -> list[str]:
    """The agent is well again, told in `how`: its incidents end, its lent tasks are its own again; their ids."""
    returned = lending.take_back(tx, name)
    for incident in incidents.open_of(tx, name):
        if incident.kind not in DOWN:
            continue
        if freed:
            incidents.step(tx, incident.incident_id, "put_back", f"{freed} runs died with it; what they held is tried again.")
        if begins_from is not None:
            words = f"its context is restored from its checkpoint after {begins_from.item} ({begins_from.outcome})."
            incidents.step(tx, incident.incident_id, "restored", words)
        if returned:
            incidents.step(tx, incident.incident_id, "tasks_returned", f"{len(returned)} tasks that nobody had begun are its own again.")
        incidents.end_incident(tx, incident.incident_id, "back", f"{how}, {span(tx.now - incident.opened_at)} after this began.")
    return returned
