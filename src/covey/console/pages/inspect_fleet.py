"""Inspect: nodes, breakers that are not closed, the operator's sign-ins."""

from __future__ import annotations

from covey.agents import breaking, sign_ins
from covey.agents.breaking import Opened
from covey.agents.sign_ins import Held
from covey.base.settings import Settings
from covey.console import pieces
from covey.console.inspected import Inspected
from covey.console.looking import has_words
from covey.console.shown import ago
from covey.console.tables import Column, Filter, Query, Slice, Table, sliced
from covey.nodes import showing
from covey.nodes.showing import NodeShown
from covey.store import Transaction


def read_nodes(tx: Transaction, query: Query, _settings: Settings, limit: int) -> Slice[NodeShown]:
    """The nodes, by name."""
    found = [each for each in showing.listed(tx) if has_words(query.q, each.node_id, each.host, each.state)]
    return sliced(found, query, NODES.columns, limit)


def read_breakers(tx: Transaction, query: Query, _settings: Settings, limit: int) -> Slice[Opened]:
    """The breakers that are not closed, by agent."""
    found = [each for each in breaking.opened(tx).values() if has_words(query.q, each.agent, each.reason, each.phase)]
    return sliced(found, query, BREAKERS.columns, limit)


def read_sign_ins(tx: Transaction, query: Query, _settings: Settings, limit: int) -> Slice[Held]:
    """The sign-ins that hold, the youngest first."""
    return sliced(sign_ins.held(tx), query, SIGN_INS.columns, limit)


NODES: Table[Query, NodeShown] = Table(
    name="nodes",
    path="/inspect/nodes",
    caption="Nodes",
    query=Query,
    read=read_nodes,
    filters=(Filter("q", "Name, host or state"),),
    columns=(
        Column(name="node", title="Node", value=lambda n: n.node_id, sorts=True),
        Column(name="state", title="State", value=lambda n: n.state, cell=lambda n: pieces.pill(n.state), sorts=True),
        Column(name="leads", title="Leads", value=lambda n: n.leads, cell=lambda n: "leads" if n.leads else ""),
        Column(name="host", title="Host", value=lambda n: n.host, sorts=True),
        Column(name="pid", title="Process", value=lambda n: n.pid, number=True, spare=True),
        Column(name="version", title="Version", value=lambda n: n.version, spare=True),
        Column(name="startedAt", title="Started", value=lambda n: n.started_at, cell=lambda n: ago(n.started_at), sorts=True, spare=True),
        Column(name="lastHeartbeat", title="Heartbeat", value=lambda n: n.last_heartbeat, cell=lambda n: ago(n.last_heartbeat), sorts=True),
        Column(
            name="stoppedAt", title="Ended", value=lambda n: n.stopped_at, cell=lambda n: ago(n.stopped_at, "–"), sorts=True, spare=True
        ),
    ),
    live="node. agent.",
    empty="No node has run this fleet yet; `covey up` makes this machine one.",
)
BREAKERS: Table[Query, Opened] = Table(
    name="breakers",
    path="/inspect/breakers",
    caption="Breakers",
    query=Query,
    read=read_breakers,
    filters=(Filter("q", "Agent, reason or phase"),),
    columns=(
        Column(name="agent", title="Agent", value=lambda b: b.agent, cell=lambda b: pieces.agent(b.agent), sorts=True),
        Column(name="phase", title="Phase", value=lambda b: b.phase, cell=lambda b: pieces.pill(b.phase), sorts=True),
        Column(name="failures", title="Failures", value=lambda b: b.failures, sorts=True, number=True),
        Column(name="openings", title="Opened", value=lambda b: b.openings, sorts=True, number=True),
        Column(name="openedAt", title="Since", value=lambda b: b.opened_at, cell=lambda b: ago(b.opened_at), sorts=True),
        Column(name="until", title="Tried again", value=lambda b: b.until, cell=lambda b: ago(b.until, "–"), sorts=True),
        Column(name="reason", title="Reason", value=lambda b: b.reason, words=True),
    ),
    live="breaker.",
    empty="Every breaker is closed: no agent's brain fails again and again.",
)
SIGN_INS: Table[Query, Held] = Table(
    name="sign-ins",
    path="/inspect/sign-ins",
    caption="Sign-ins",
    query=Query,
    read=read_sign_ins,
    columns=(
        Column(name="beganAt", title="Began", value=lambda s: s.began_at, cell=lambda s: ago(s.began_at), sorts=True),
        Column(name="endsAt", title="Ends unless used", value=lambda s: s.ends_at, cell=lambda s: ago(s.ends_at), sorts=True),
    ),
    live="operator.",
    empty="Nobody is signed in.",
)
INSPECTED = (
    Inspected(NODES, "The machines that run agents, whether each lives, and who leads."),
    Inspected(BREAKERS, "Breakers that are not closed: whose brain fails again and again, and when it is tried again."),
    Inspected(SIGN_INS, "The operator's sign-ins that hold. Nothing of their secrets is told; a rotated token ends them all."),
)
OPERATIONS = tuple(each for inspected in INSPECTED for each in inspected.operations)
