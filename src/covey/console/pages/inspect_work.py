"""Inspect: what is held under leases, and the runs of brains."""

from __future__ import annotations

from covey.base.settings import Settings
from covey.console import pieces
from covey.console.inspected import Inspected
from covey.console.looking import has_words, picked
from covey.console.shown import ago, number, plain, span
from covey.console.tables import Column, Filter, Query, Slice, Table, sliced
from covey.reports.leases import Lease, leases
from covey.store import Row, Transaction
from covey.tasks import runs

KINDS = ("digest", "message", "split", "summary", "task")


class LeasesQuery(Query):
    """Leases on a task or message."""

    kind: str = ""


class RunsQuery(Query):
    """Runs that are open or have ended, of this kind."""

    state: str = ""
    kind: str = ""


def read_leases(tx: Transaction, query: LeasesQuery, _settings: Settings, limit: int) -> Slice[Lease]:
    """The leases that a query asks for."""
    found = [
        each for each in leases(tx) if query.kind in ("", each.kind) and has_words(query.q, each.item, each.holder or "", each.run or "")
    ]
    return sliced(found, query, LEASES.columns, limit)


def read_runs(tx: Transaction, query: RunsQuery, _settings: Settings, limit: int) -> Slice[Row]:
    """The runs that a query asks for, nearly the latest first."""

    def fits(run: Row) -> bool:
        return (
            query.kind in ("", run.kind)
            and query.state in ("", "open" if run.ended_at is None else "ended")
            and has_words(query.q, run.id, run.item, run.agent, run.outcome or "", run.node or "")
        )

    return picked(lambda before: runs.page(tx, before=before or runs.LAST, limit=limit), fits, query.cursor or None, limit)


def item(ident: str) -> object:
    """What is worked on; a task leads to its page. Pure."""
    return pieces.task(ident) if ident.startswith("task_") else plain(ident, 128)


LEASES: Table[LeasesQuery, Lease] = Table(
    name="leases",
    path="/inspect/leases",
    caption="Leases",
    query=LeasesQuery,
    read=read_leases,
    filters=(Filter("q", "Holder or id"), Filter("kind", "Kind", ("message", "task"), "any kind")),
    columns=(
        Column(name="item", title="Item", value=lambda e: e.item, cell=lambda e: item(e.item), sorts=True),
        Column(name="kind", title="Kind", value=lambda e: e.kind, sorts=True),
        Column(name="holder", title="Holder", value=lambda e: e.holder, cell=lambda e: pieces.agent(e.holder), sorts=True),
        Column(name="run", title="Run", value=lambda e: e.run, spare=True),
        Column(name="attempt", title="Attempt", value=lambda e: e.attempt, sorts=True, number=True),
        Column(name="since", title="Held since", value=lambda e: e.since, cell=lambda e: ago(e.since), sorts=True, spare=True),
        Column(name="ends", title="Ends unless renewed", value=lambda e: e.ends, cell=lambda e: ago(e.ends, "–"), sorts=True),
    ),
    live="task. message.",
    empty="Nobody holds anything now. While a brain works, its task or mail stands here with its lease.",
)
RUNS: Table[RunsQuery, Row] = Table(
    name="runs",
    path="/inspect/runs",
    caption="Runs",
    query=RunsQuery,
    read=read_runs,
    filters=(
        Filter("q", "Agent, item, outcome or id"),
        Filter("kind", "Kind", KINDS, "any kind"),
        Filter("state", "State", ("open", "ended"), "any state"),
    ),
    columns=(
        Column(name="id", title="Id", value=lambda r: r.id),
        Column(name="agent", title="Agent", value=lambda r: r.agent, cell=lambda r: pieces.agent(r.agent)),
        Column(name="kind", title="Kind", value=lambda r: r.kind),
        Column(name="item", title="Item", value=lambda r: r.item, cell=lambda r: item(r.item), spare=True),
        Column(name="attempt", title="Attempt", value=lambda r: r.attempt, number=True, spare=True),
        Column(name="outcome", title="Outcome", value=lambda r: r.outcome, cell=lambda r: pieces.pill(r.outcome or "open")),
        Column(name="claimedAt", title="Claimed", value=lambda r: r.claimed_at, cell=lambda r: ago(r.claimed_at)),
        Column(
            name="tookS",
            title="Took",
            value=lambda r: round(r.ended_at - r.claimed_at, 3) if r.ended_at is not None else None,
            cell=lambda r: span(r.ended_at - r.claimed_at if r.ended_at is not None else None, "goes on"),
            number=True,
        ),
        Column(name="usd", title="Cost, $", value=lambda r: r.cost_usd, cell=lambda r: number(r.cost_usd), number=True, spare=True),
        Column(name="tokens", title="Tokens", value=lambda r: r.tokens, cell=lambda r: number(r.tokens), number=True, spare=True),
        Column(name="exitCode", title="Exit", value=lambda r: r.exit_code, number=True, spare=True),
        Column(name="node", title="Node", value=lambda r: r.node, spare=True),
        Column(name="pid", title="Process", value=lambda r: r.pid, number=True, spare=True),
    ),
    live="task. message. run. context.",
    empty='No brain has run yet. `covey ask devops "how is the system?"` makes one.',
)
INSPECTED = (
    Inspected(LEASES, "Tasks and mail that somebody holds now, and until when. A lease's token is told to its holder alone."),
    Inspected(RUNS, "Each try of a brain: on what, how it ended, what it cost."),
)
OPERATIONS = tuple(each for inspected in INSPECTED for each in inspected.operations)
