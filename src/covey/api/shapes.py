"""What goes in and out at the HTTP doors beyond the features' own types: queries, bodies, answers. Data with its bounds, nothing else."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from covey.agents.model import Status
from covey.brains.model import Asked, Cost, OutcomeKind
from covey.buddies.model import Watching
from covey.contexts.model import EntryKind
from covey.messages.model import Draft, Message, Receipt
from covey.tasks.model import Task, TaskDraft

Reason = Annotated[str, Meta(max_length=2000)]
Ident = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._:-]{1,128}$", description="1 to 128 of the characters A-Z a-z 0-9 . _ : -")]
Seconds = Annotated[float, Meta(ge=0, le=4102444800)]
"""A time: Unix seconds, up to the year 2100."""
Cursor = Annotated[int, Meta(ge=0, le=2**62)]
Limit = Annotated[int, Meta(ge=1, le=200)]
Wait = Annotated[float, Meta(ge=0, le=300)]


class Asking(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """What comes in: no field that is not known."""


class Given(msgspec.Struct, rename="camel", kw_only=True):
    """What goes out."""


# an agent's own port


class HealthNow(Given):
    """How the process is, from memory alone (A5)."""

    status: Literal["healthy", "degraded", "paused"]
    timestamp: float


class Readiness(Given):
    """Whether it takes work."""

    ready: bool
    timestamp: float
    why: str | None = None
    """Why not, where there is more to say than that."""


class BuddyCheck(Asking):
    """A buddy looks after this agent (A5a)."""

    from_: str | None = msgspec.field(default=None, name="from")
    check_id: Ident | None = None
    timestamp: Seconds | None = None


class SyncEntry(Asking):
    """One thing that the other one remembers."""

    id: Ident
    text: Annotated[str, Meta(min_length=1)]
    kind: EntryKind = "note"
    source: Annotated[str, Meta(max_length=500)] | None = None
    at: Seconds = 0.0
    tokens: Annotated[int, Meta(ge=0, le=2**31)] = 0


class ContextSync(Asking):
    """Entries for this agent, and since when its own are wanted (A5a, C6)."""

    from_: str | None = msgspec.field(default=None, name="from")
    entries: Annotated[list[SyncEntry], Meta(max_length=100)] = []
    since: Seconds | None = None


class Remembered(Given):
    """One thing that this agent remembers."""

    id: str
    kind: str
    text: str
    source: str | None
    tokens: int
    at: float


class ContextSynced(Given):
    """What came of it."""

    accepted: int
    known: int
    entries: list[Remembered]


class EmergencyStop(Asking):
    """Stop at once (A5a, A7). `restart` asks for a new process too, where a node runs; the agent stays stopped until `resume`."""

    reason: Reason = ""
    grace_s: Annotated[float, Meta(ge=0, le=60)] | None = msgspec.field(default=None, name="grace_s")
    restart: bool = False


class EmergencyStopped(Given):
    """What was stopped; if a new process was wanted too, whether a node was asked for it, and if not, why."""

    stopped: bool
    task_id: str | None
    returned_to_queue: bool
    restart_asked: bool | msgspec.UnsetType = msgspec.UNSET
    detail: str | msgspec.UnsetType = msgspec.UNSET


# the seeds' agent state


class CurrentTask(Given):
    """What an agent's brain is at."""

    task_id: str
    description: str
    start_time: float
    estimated_completion: float
    priority: str
    assigned_by: str
    progress: str | None
    attempt: int


class WaitingTask(Given):
    """What waits in an agent's queue."""

    task_id: str
    description: str
    priority: str
    dependencies: list[str]
    created_by: str
    created_at: float
    state: str


class ContextState(Given, kw_only=True):
    """What an agent remembers, in numbers."""

    active_projects: list[str]
    recent_decisions: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET
    context_size: int
    max_context_size: int


class AgentState(Given, kw_only=True):
    """The agent-state object of seed 000 with every field of it, live, and further ones (A4). Lists of agents leave out `taskQueue`."""

    agent_id: str
    status: Status
    last_heartbeat: float | None
    current_task: CurrentTask | None
    task_queue: list[WaitingTask] | msgspec.UnsetType = msgspec.UNSET
    buddy_id: str | None
    last_buddy_check: float | None
    context: ContextState
    metrics: dict[str, Any]
    flags: dict[str, Any]
    error: str | None = None
    """What keeps it from work until somebody or something helps."""
    breaker: dict[str, Any] | None = None
    """Its breaker unless that is closed: phase, failures, openedAt, until, reason (H6)."""
    incidents: list[dict[str, Any]] = []
    """Its open incidents: incidentId, kind, openedAt."""
    role: str
    brain: str
    capabilities: list[str]
    host: str
    port: int
    url: str
    unread: int
    queue_length: int
    covering: list[str]


# the fleet's port: agents


class ServerShown(Given):
    """A process that holds no agent and serves a port."""

    name: str
    pid: int
    port: int


class Agents(Given):
    """Agents, in the fleet's order, and the cursor of the next part (null at the end)."""

    items: list[AgentState]
    servers: list[ServerShown]
    """What serves beside them on the API's machine: console, gateway."""
    cursor: str | None = None


class FleetState(Given):
    """The fleet in numbers, each agent's under `agents`; null where nothing was measured."""

    at: float
    agents: list[dict[str, Any]]
    status: dict[str, int]
    tasks: dict[str, Any]
    queues: dict[str, int]
    messages: dict[str, Any]
    cost: dict[str, Any]
    leader: dict[str, Any]
    incidents: dict[str, int]
    """How many incidents are open, by kind."""
    breakers_open: int
    handoffs_open: int
    votes_open: int


class FleetFigures(Asking):
    """Whether each agent's figures are wanted too: a fleet of thousands is scraped by its agents' own ports instead."""

    agents: bool = True


class Buddies(Given):
    """Agents with their buddies, in the fleet's order (B1), and the cursor of the next part (null at the end)."""

    items: list[Watching]
    cursor: str | None = None


class BuddyLooked(Given):
    """What a look after an agent came to. `todo` is what its buddy would do next: well, restart, escalate or wait (B3)."""

    agent_id: str
    answered: bool
    reason: str | None = None
    why: str | None = None
    status: Status | None = None
    last_heartbeat: float | None = None
    queue_length: int | None = None
    context_size: int | None = None
    max_context_size: int | None = None
    covering: list[str] = []
    ping: Literal["healthy", "degraded", "paused", "none"] | None = None
    todo: Literal["well", "ping", "restart", "escalate", "wait"] = "well"


class Because(Asking):
    """Why, in a word for the log and for those who ask."""

    reason: Reason = ""


class Flagged(Given):
    """The agents whose flag was set or cleared."""

    agents: list[str]


class FleetStopped(Flagged):
    """The agents that were stopped; if new processes were wanted too, for whom they were asked, and why not for others."""

    restart_asked: list[str] | msgspec.UnsetType = msgspec.UNSET
    detail: str | msgspec.UnsetType = msgspec.UNSET


class RestartAsked(Given):
    """The agent's node has been asked."""

    agent: str
    asked: bool


class ProjectShown(Given):
    """A project (A1b)."""

    name: str
    path: str
    agents: list[str]


class Projects(Given):
    """All projects."""

    items: list[ProjectShown]


# messages


class Paging(Asking):
    """Which part of a list: the `cursor` of the part before, and how many."""

    cursor: Cursor | None = None
    limit: Limit = 50


class FleetPaging(Asking):
    """Which part of a list that has each agent: all of it, or as many as `limit` says; `cursor` is the part before's."""

    cursor: Cursor | None = None
    limit: Limit | None = None


class InboxQuery(Paging):
    """A mailbox; `unread` leaves out what was handed over already."""

    unread: bool = False


class Messages(Given):
    """Messages, one for each copy, and the cursor of the next part (null at the end)."""

    items: list[Message]
    cursor: str | None = None


class SearchQuery(Asking):
    """Words, all of which must be there."""

    q: Annotated[str, Meta(min_length=1, max_length=500)]
    limit: Limit = 50


class ThreadShown(Given):
    """A thread in short."""

    thread_id: str
    messages: int
    last_at: float


class Threads(Given):
    """Threads, the latest first."""

    items: list[ThreadShown]
    cursor: str | None = None


class WaitQuery(Asking):
    """How long to wait, in seconds; 0 looks once."""

    wait: Wait = 30.0


class Answered(Given):
    """What came of a question so far. `waiting` is false once no reply is to be waited for any more."""

    receipt: Receipt
    replies: list[Message]
    waiting: bool


class Replies(Given):
    """The replies to a message, in order. `waiting` is false once none is to be waited for any more."""

    items: list[Message]
    waiting: bool


class Count(Given):
    """How many copies it was done to."""

    id: str
    copies: int


# tasks


class TasksQuery(Paging):
    """Which tasks: of one state (`open` is queued, blocked or running), of one agent, or all."""

    state: Literal["queued", "blocked", "running", "done", "failed", "cancelled", "open"] | None = None
    agent: Ident | None = None


class Tasks(Given):
    """Tasks, newest first, and the cursor of the next part."""

    items: list[Task]
    cursor: str | None = None


class Parts(Asking):
    """What a task is split into."""

    parts: Annotated[list[TaskDraft], Meta(min_length=1, max_length=100)]


class To(Asking):
    """An agent, or `@capability`."""

    to: Annotated[str, Meta(min_length=1, max_length=129)]


class NewPriority(Asking):
    """urgent, high, medium, low, or seed 004's whole number."""

    priority: str | int


# an external agent


class Claim(Asking):
    """Take what comes next. `lane` mail or task, either unless given; `leaseS` until it must be renewed; `wait` for so long."""

    lane: Literal["mail", "task"] | None = None
    lease_s: Annotated[float, Meta(ge=10, le=3600)] | None = None
    wait: Wait = 0.0


class Claimed(Given):
    """What was taken, under a lease whose `token` each further step must show; all null if nothing is ready.

    `message` and `also` hold each message's fields, and `enveloped`, the only form in which a model may read it (M12).
    """

    token: str | None = None
    kind: str | None = None
    attempt: int = 0
    lease_s: float = 0.0
    task: Task | None = None
    message: Asked | None = None
    also: list[Asked] = []


class Lease(Asking):
    """A lease's token."""

    token: Ident
    lease_s: Annotated[float, Meta(ge=10, le=3600)] | None = None


class Renewed(Given):
    """Until when the lease stands."""

    lease_ends: float


class Progress(Asking):
    """A word on how far a task is (K4a)."""

    token: Ident
    text: Annotated[str, Meta(min_length=1, max_length=2000)]


class Finish(Asking):
    """What came of it (see the outcome of a brain): done; split into `tasks`; waiting for the answer to the first of `messages`."""

    token: Ident
    kind: Literal["done", "split", "waiting"] = "done"
    summary: str = ""
    data: dict[str, Any] = {}
    decisions: Annotated[list[str], Meta(max_length=20)] = []
    messages: Annotated[list[Draft], Meta(max_length=100)] = []
    tasks: Annotated[list[TaskDraft], Meta(max_length=100)] = []
    cost: Cost | None = None


class Fail(Asking):
    """Why it failed; `permanent` means that trying again is no use."""

    token: Ident
    error: Annotated[str, Meta(min_length=1, max_length=10_000)]
    permanent: bool = False


class GiveBack(Asking):
    """It is given back as if it had not been claimed."""

    token: Ident
    reason: Reason = ""


class Settled(Given):
    """What was settled or given back."""

    item: str
    kind: OutcomeKind | Literal["returned"]


class Acknowledge(Asking):
    """A message that was read and needs no more (M4a)."""

    message_id: Ident


class Done(Given):
    """It is done."""

    done: bool = True


# events


class EventsQuery(Asking):
    """Events after a cursor: of these kinds (comma-separated, `task.` for all that begin so), and of one agent or one id.

    `last`: so many of the latest instead, among the last 20,000; a stream begins with what comes after them.
    """

    since: (
        Annotated[str, Meta(pattern=r"^[0-9]{1,18}(\.[0-9]{1,18})?$", description="the cursor of an event or of a page of them")] | None
    ) = None
    kinds: Annotated[
        str, Meta(pattern=r"^[a-z_.,-]{0,500}$", description="kinds of events with commas between, as task.done,message.sent")
    ] = ""
    agent: Ident | None = None
    subject: Ident | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200
    last: Annotated[int, Meta(ge=1, le=1000)] | None = None


class Events(Given):
    """Events in order, the cursor to read on from, and whether there may be more now (of the last ones: were more before).

    `resync`: the cursor was older than what is kept, so that events were missed; what was built from them must be read anew.
    """

    items: list[dict[str, Any]]
    cursor: str
    more: bool
    resync: bool = False
