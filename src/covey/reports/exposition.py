"""Figures as Prometheus text: one table of series, written by prometheus-client's own encoder. Nothing is kept between calls.

Labels are bounded: the agents' names, states, queues, kinds of incident and quantiles. docs/observability.md lists every metric.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, ProcessCollector, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from covey.agents.model import Status

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4


class Series(NamedTuple):
    """One metric: where its value stands in the figures, and what it says. `each` names the label whose values are the keys found there."""

    name: str
    says: str
    path: str
    kind: Literal["gauge", "counter", "summary", "histogram"] = "gauge"
    each: str = ""


OF_AGENT = (
    Series("covey_agent_able", "Whether the agent takes work now.", "ableNow"),
    Series("covey_agent_heartbeat_age_seconds", "Seconds since the agent's last heartbeat.", "heartbeatAge"),
    Series("covey_agent_tasks_completed_total", "Tasks the agent has finished.", "tasks.completed", "counter"),
    Series("covey_agent_task_attempts_failed_total", "Attempts of the agent at a task that failed.", "tasks.attemptsFailed", "counter"),
    Series("covey_agent_tasks_running", "Tasks that the agent's brain is at.", "tasks.running"),
    Series("covey_agent_tasks_waiting", "Tasks that wait in the agent's own queue, the blocked too.", "tasks.waiting"),
    Series("covey_agent_oldest_task_age_seconds", "Age of the oldest queued task of the agent's own queue.", "tasks.oldestWaiting"),
    Series("covey_agent_task_seconds", "Length of the tasks the agent finished last.", "tasks.time", "summary", each="quantile"),
    Series("covey_agent_messages_handled_total", "Messages the agent has handled.", "messages.handled", "counter"),
    Series("covey_agent_messages_unread", "Messages that wait in the agent's mailbox.", "messages.unread"),
    Series("covey_agent_dead_letters", "Messages the agent's brain failed on too often.", "messages.dead"),
    Series("covey_agent_oldest_message_age_seconds", "Age of the oldest message that waits in the mailbox.", "messages.oldestWaiting"),
    Series(
        "covey_agent_response_seconds",
        "From mailbox to handled, of the messages handled last.",
        "messages.responseTime",
        "summary",
        each="quantile",
    ),
    Series("covey_agent_messages_at_work", "Messages that are with the agent's brain.", "messages.atWork"),
    Series("covey_agent_context_tokens", "Size of the agent's live context.", "context.size"),
    Series(
        "covey_agent_context_overflows_total",
        "How often the agent's context was cut back to what it must keep.",
        "context.overflows",
        "counter",
    ),
    Series("covey_agent_context_limit_tokens", "Bound of the agent's live context.", "context.max"),
    Series("covey_agent_buddy_check_age_seconds", "Seconds since the agent last checked its buddy.", "buddy.lastCheckAge"),
    Series("covey_agent_buddy_checks_total", "The agent's checks of its buddy.", "buddy.checks", "counter"),
    Series("covey_agent_buddy_checks_answered_total", "Those of them that were answered.", "buddy.answered", "counter"),
    Series("covey_agent_buddy_checks_missed_in_a_row", "Looks after its buddy in a row that were not answered.", "buddy.missedInARow"),
    Series("covey_agent_covering", "How many agents it covers, since they are down.", "buddy.covering"),
    Series("covey_agent_stalls_total", "Stalls of the agent.", "stalls", "counter"),
    Series("covey_agent_breaker_open", "Whether the agent's breaker is open or half-open.", "breakerOpen"),
    Series("covey_agent_incidents_open", "Open incidents of the agent.", "incidentsOpen"),
    Series("covey_agent_restarts_total", "Restarts of the agent's process.", "restarts", "counter"),
)
OF_FLEET = (
    Series("covey_agents", "Agents by status.", "status", each="status"),
    Series("covey_tasks_queued", "Tasks that are ready, or will be at a time.", "tasks.queued"),
    Series("covey_tasks_blocked", "Tasks that wait for something else.", "tasks.blocked"),
    Series("covey_tasks_running", "Tasks that brains are at.", "tasks.running"),
    Series("covey_queue_tasks", "Queued tasks by kind of queue.", "queues", each="queue"),
    Series("covey_task_seconds", "Length of the tasks finished last.", "tasks.time", "summary", each="quantile"),
    Series("covey_oldest_task_age_seconds", "Age of the oldest queued task.", "tasks.oldestWaiting"),
    Series("covey_messages_at_work", "Messages that are with brains.", "messages.atWork"),
    Series("covey_messages_deferred", "Messages that wait for credit.", "messages.deferred"),
    Series("covey_oldest_message_age_seconds", "Age of the oldest message that waits in a mailbox.", "messages.oldestWaiting"),
    Series("covey_messages_unread", "Messages that wait in the agents' mailboxes.", "messages.unread"),
    Series("covey_operator_messages_unread", "Messages that wait for the operator.", "messages.operatorUnread"),
    Series("covey_dead_letters", "Messages that brains failed on too often.", "messages.dead"),
    Series(
        "covey_response_seconds",
        "From mailbox to handled, of the messages handled last.",
        "messages.responseTime",
        "summary",
        each="quantile",
    ),
    Series("covey_cost_usd_last_day", "What the runs of the last 24 h cost, as far as brains said so.", "cost.usd24h"),
    Series("covey_tokens_last_day", "Model tokens of the runs of the last 24 h, as far as brains said so.", "cost.tokens24h"),
    Series("covey_incidents_open", "Open incidents of the fleet by kind.", "incidents", each="kind"),
    Series("covey_breakers_open", "Agents whose breaker is open or half-open.", "breakersOpen"),
    Series("covey_handoffs_open", "Handoffs that are offered and not answered.", "handoffsOpen"),
    Series("covey_votes_open", "Votes that are not closed.", "votesOpen"),
    Series("covey_leader", "Whether somebody leads the fleet now.", "leader.leads"),
    Series("covey_controller_cycles_total", "Rounds of the controller.", "leader.cycle", "counter"),
    Series("covey_controller_cycle_age_seconds", "Seconds since the controller's last round.", "leader.cycleAge"),
)
OF_PROCESS = (
    Series("covey_build_info", "The version that this process runs.", "build", each="version"),
    Series("covey_store_verbs_total", "Verbs that this process wrote.", "store.verbs", "counter"),
    Series("covey_store_waiting_writes", "Writes of this process that are not done yet.", "store.waiting"),
    Series("covey_store_commit_seconds", "How long the commits of this process took.", "store.commit", "histogram"),
    Series("covey_store_turn_wait_seconds", "How long this process waited for its turn to write.", "store.turn", "histogram"),
    Series("covey_doorbell_rings_total", "Hints that this process gave after its commits.", "store.rings", "counter"),
)
STATUS = Series("covey_agent_status", "The agent's status: 1 for the one that holds.", "status", each="status")
EVERY = (*OF_FLEET, *OF_AGENT, STATUS, *OF_PROCESS)
_QUANTILES = {"p50": "0.5", "p95": "0.95"}


def prometheus(figures: Mapping[str, Any]) -> str:
    """The figures of `of_agent` or `of_fleet` as Prometheus text; what is null is left out.

    Under `process` they may have what this process measured of itself; what the system knows of it is told then too.
    """
    return generate_latest(_Collected(figures)).decode()


class _Collected(Collector):
    """One scrape."""

    def __init__(self, figures: Mapping[str, Any]) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        """Every metric that has a value."""
        figures = self._figures
        agents = figures.get("agents", [figures] if "agentId" in figures else [])
        if "agents" in figures:
            yield from _families(OF_FLEET, (), [((), figures)])
        yield from _families(OF_AGENT, ("agent",), [((agent["agentId"],), agent) for agent in agents])
        if agents:
            yield _statuses(agents)
        if "process" in figures:
            yield from _families(OF_PROCESS, (), [((), figures["process"])])
            yield from ProcessCollector(registry=None).collect()


Rows = Sequence[tuple[tuple[str, ...], Mapping[str, Any]]]


def _families(table: Iterable[Series], labels: tuple[str, ...], rows: Rows) -> Iterator[Metric]:
    for series in table:
        family = Metric(series.name.removesuffix("_total"), series.says, series.kind)
        for names, figures in rows:
            value: Any = figures
            for step in series.path.split("."):
                value = value[step]
            _add(family, series, dict(zip(labels, names, strict=True)), value)
        if family.samples:
            yield family


def _add(family: Metric, series: Series, labels: dict[str, str], value: Any) -> None:
    """Add the samples of a value that is not null."""
    if series.kind == "histogram":
        for bound, count in value["buckets"].items():
            family.add_sample(f"{series.name}_bucket", {**labels, "le": bound}, count)
        family.add_sample(f"{series.name}_count", labels, value["n"])
        family.add_sample(f"{series.name}_sum", labels, value["seconds"])
        return
    for key, number in value.items() if series.each else [("", value)]:
        label = _QUANTILES.get(key) if series.each == "quantile" else key
        if number is not None and label is not None:
            family.add_sample(series.name, {**labels, series.each: label} if series.each else labels, float(number))


def _statuses(agents: list[Mapping[str, Any]]) -> Metric:
    """Each agent's status as one series a value, of which one is 1."""
    family = Metric(STATUS.name, STATUS.says, "gauge")
    for agent in agents:
        for status in get_args(Status):
            family.add_sample(STATUS.name, {"agent": agent["agentId"], "status": status}, float(agent["status"] == status))
    return family
