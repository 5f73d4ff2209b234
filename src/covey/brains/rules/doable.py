"""What the rules brain can truly do: how each is recognised, for whom planning may make a task of it, and the report that does it (P1).

A pattern is groups of words: each group must have one of its words in the text (see `words`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from covey.brains.rules import on_duty, on_fleet, on_history, on_machine, on_work
from covey.brains.rules.desk import Report
from covey.brains.rules.words import Heard, Topic, best, hear, topic


class Doable(NamedTuple):
    """One thing it can do: a description for a task of it, the roles it suits, and the report."""

    topic: Topic
    template: str
    roles: tuple[str, ...]
    report: Report


def _row(report: Report, template: str, roles: str, *patterns: str, knows: str = "") -> tuple[str, Doable]:
    name = report.__name__
    return name, Doable(topic(name, *patterns, knows=knows), template, tuple(roles.split()), report)


_WORK = "task tasks work job jobs queue queues backlog pending waiting open order list item items"

DOABLE: Mapping[str, Doable] = dict(
    [
        _row(
            on_history.productivity,
            "Review team productivity metrics",
            "chief ops",
            "productivity|throughput|output|velocity",
            "team|fleet|agent|agents|everyone performance",
            "task|tasks completion rate|rates|figures|metrics",
            knows=f"{_WORK} done finished completed completion performance average time",
        ),
        _row(
            on_work.pending,
            "Prioritize pending tasks across agents",
            "chief ops",
            "prioritise|prioritisation|priority|rank|order task|work|backlog|queue",
            "pending|waiting|outstanding|unfinished task|tasks|work",
            knows=f"{_WORK} urgent urgency important importance first by outstanding unfinished",
        ),
        _row(
            on_work.resource_conflicts,
            "Check for resource conflicts",
            "chief ops coder",
            "conflict|contention|collision|clash|bottleneck",
            knows=f"{_WORK} resource resources project projects scheduling schedule path paths",
        ),
        _row(
            on_fleet.fleet_status,
            "Report the status of all agents",
            "chief intel",
            "status|state|health|overview team|fleet|agent|agents|everyone|everybody|colleagues",
            "unread message|messages|mail",
            knows="message messages mail unread busy idle stalled active stopped paused available availability alive running",
        ),
        _row(
            on_work.workload,
            "Review the workload of each agent",
            "chief ops",
            "workload",
            "load agent|agents|team|balance|distribution",
            knows=f"{_WORK} balance distribution load busy",
        ),
        _row(
            on_history.failures,
            "Review failed tasks and their causes",
            "coder devops chief",
            "failure|failed|failing|error task|work|job|attempt|run|cause|reason",
            "what|which failed",
            knows=f"{_WORK} cause causes reason reasons attempt attempts run runs brain",
        ),
        _row(
            on_work.dependency_chains,
            "Review dependency chains of open tasks",
            "coder ops",
            "dependency|dependencies|prerequisite|blocker",
            "critical path",
            knows=f"{_WORK} chain chains graph blocked blocking critical path longest",
        ),
        _row(
            on_work.own_queue,
            "Review my own queue for blocked and ageing tasks",
            "coder sales finance intel comms",
            "my|own queue|backlog|tasks",
            knows=f"{_WORK} blocked stale old ageing aging stuck overdue hygiene",
        ),
        _row(
            on_history.own_record,
            "Report on my own work of the last 7 days",
            "sales finance intel comms coder",
            "my|own work|record|performance|results|productivity|activity",
            knows="task tasks completed finished done record performance activity",
        ),
        _row(
            on_history.open_questions,
            "List unanswered questions and replies that are due",
            "sales comms",
            "unanswered|open|outstanding|pending|overdue|due question|reply|answer|request|response",
            "waits|waiting answer|reply|response",
            knows="message messages mail follow-up wait deadline due open outstanding from whom",
        ),
        _row(
            on_history.costs,
            "Prepare budget analysis of recorded run costs",
            "finance",
            "cost|expense|spending|expenditure|budget|spend|spent",
            "token|tokens usage|use|used|consumption",
            knows="run runs recorded brain brains model models usage money usd dollar dollars token tokens",
        ),
        _row(
            on_history.forecast,
            "Forecast the run costs of the next 30 days from recorded costs",
            "finance",
            "forecast|projection|extrapolate cost|expense|spending|budget|spend",
            knows="run runs recorded next coming month brain model usage usd token tokens",
        ),
        _row(
            on_work.allocation,
            "Resource allocation analysis",
            "ops finance",
            "resource|capacity|agent|team allocation|allocated|utilisation|distribution|capacity",
            knows=f"{_WORK} resource resources use used usage even evenly capability capabilities",
        ),
        _row(
            on_history.digest,
            "Summarise what the fleet did in the last 24 hours",
            "intel comms",
            "happened|activity|digest|recap",
            "summarise|summary|news fleet|team did|done|day|hours|today|yesterday",
            knows="event events news done activity story",
        ),
        _row(
            on_history.traffic,
            "Review message traffic between agents",
            "comms intel",
            "message|messages|mail|communication|conversation traffic|volume|flow|pattern|statistics|figures|activity",
            knows="sent received sender receiver who wrote write conversation conversations exchanged",
        ),
        _row(
            on_history.dead_letters,
            "Review the dead letters",
            "comms devops",
            "dead letter|letters|message|mail",
            "undeliverable|undelivered|unprocessed message|mail",
            knows="reason reasons cause causes failed queue",
        ),
        _row(
            on_machine.system_health,
            "Monitor system health",
            "devops",
            "system|machine|server|host|infrastructure health|status|state|load|usage|utilisation|resources|running|check|monitor",
            "cpu|processor|memory|ram|disk|storage|handles usage|use|used|free|load|left|space|health|status|available|much|full",
            knows="""vps linux box healthy fine alive resource resources space usage uptime load file files handle handles process processes
                memory disk cpu""",
        ),
        _row(
            on_machine.security_audit,
            "Security audit of the fleet's own files and addresses",
            "devops",
            "security audit|check|review|scan|status|inspection",
            "permission|rights|access file|files|token|tokens|address|folder",
            knows="own file files address addresses token tokens permission permissions right rights mode modes folder audit",
        ),
        _row(
            on_history.performance,
            "Review performance figures: response times and task times",
            "devops coder intel",
            "performance figures|metrics|statistics|numbers|report|review|overview",
            "response|latency|reply|handling|processing time|times|speed|latency",
            "latency",
            knows="task tasks message messages run runs fast slow slowest average median percentile time times",
        ),
        _row(
            on_work.project_timelines,
            "Project timeline updates",
            "ops chief",
            "project|projects|milestone timeline|timelines|schedule|progress|status|deadline|end|state",
            "timeline|timelines",
            knows=f"{_WORK} milestone milestones deadline deadlines remaining estimate estimates critical path end due",
        ),
        _row(
            on_work.lying,
            "Check the queues for stale, blocked and duplicate tasks",
            "ops chief",
            "stale|stuck|old|duplicate|blocked|hygiene|ageing|aging|overdue|lying task|work|queue|backlog",
            knows=f"{_WORK} hygiene clean approval approvals wanting",
        ),
        _row(
            on_fleet.workflow,
            "Workflow documentation",
            "ops comms",
            "workflow|process|processes documentation|document|description|overview|written|write",
            knows="how works work fleet flow flows configuration",
        ),
        _row(
            on_fleet.buddies,
            "Check the buddy status of all agents",
            "ops devops",
            "buddy|buddies",
            knows="pair pairs status state watch watches watching assignment assignments overdue",
        ),
        _row(
            on_fleet.contexts,
            "Review context usage of the agents",
            "intel devops",
            "context|contexts usage|size|sizes|use|full|overflow|fill",
            knows="token tokens limit bound memory compression",
        ),
        _row(
            on_fleet.coverage,
            "Check which capabilities nobody able covers",
            "sales ops",
            "capability|capabilities|skill|skills",
            knows="cover covers covered coverage nobody able missing gap gaps single",
        ),
        _row(
            on_duty.budgets,
            "Check what is left of the day's budgets",
            "finance chief",
            "budget|budgets left|remaining|spent|limit|used",
            "generated|planned task|tasks",
            knows="generated planned paid turn turns money usd dollar dollars task tasks agent agents brain brains",
        ),
        _row(
            on_duty.retries,
            "Review tasks that needed several attempts",
            "coder devops",
            "attempt|attempts|retry|retries|retried task|tasks|work|job|jobs|run|runs",
            knows=f"{_WORK} needed need several repeated second again more than one",
        ),
        _row(
            on_duty.comparison,
            "Compare the work of this week with the week before",
            "sales intel finance",
            "compare|comparison week|weeks|work|output|period",
            "week|weeks against|versus week|weeks",
            knows=f"{_WORK} before against versus output period done finished failed",
        ),
        _row(
            on_duty.daily_digest,
            "Write the daily digest for the operator",
            "comms",
            "digest operator",
            knows="write send mail inbox operator",
        ),
        _row(
            on_duty.reminder,
            "Remind the operator of approvals and answers that are waiting",
            "chief ops",
            "remind|reminder operator|approval|approvals|answer|answers",
            knows="operator approval approvals answer answers waiting wait waits pending task tasks question questions",
        ),
    ]
)
"""By name. Planning makes tasks from `template` for the agents whose name or role is in `roles`."""

_TOPICS = tuple(each.topic for each in DOABLE.values())


def recognised(text: str, names: tuple[str, ...] = (), *, lenient: bool = False) -> Doable | None:
    """What a text asks for, out of all that can be done; None if it is none of it."""
    return found_in(hear(text, names), lenient=lenient)


def would_do(brain: str, description: str) -> bool:
    """Whether a brain of this kind would do a task (A1a): the rules brain knows what it can, others are asked. Pure."""
    return brain != "rules" or recognised(description) is not None


def doers(brains: Iterable[str], description: str) -> frozenset[str]:
    """Those of these kinds of brains that would do a task; to hear what it asks for takes a while, so once for all. Pure."""
    return frozenset(brain for brain in set(brains) if would_do(brain, description))


def found_in(heard: Heard, *, lenient: bool = False) -> Doable | None:
    """As `recognised`, from the words of a text."""
    found = best(heard, _TOPICS, lenient=lenient)
    return DOABLE[found.name] if found is not None else None
