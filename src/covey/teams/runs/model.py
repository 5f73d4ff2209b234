"""What a team run is: a goal, its workers, the steps it is cut into. Data and bounds; no I/O (Q2)."""

from __future__ import annotations

import hashlib
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from covey.base.errors import Invalid
from covey.base.wire import check_text
from covey.messages.checking import BODY_BYTES, check_due, check_id, check_name, check_size
from covey.messages.model import priority_of
from covey.tasks.model import MAX_ATTEMPTS, NEEDS, YEAR_S

TeamType = Literal["general", "research", "create"]
Mode = Literal["coordinate", "route", "broadcast"]
TeamState = Literal["planning", "working", "done", "failed", "cancelled"]
StepState = Literal["waiting", "out", "done", "failed", "skipped", "cancelled"]
"""waiting: for what it needs, or for a worker. out: it is a task of a worker's. skipped: what it needs failed."""

ENDED: frozenset[str] = frozenset({"done", "failed", "cancelled"})
SPAN = 5
"""So many workers are under one supervisor unless told otherwise; beyond, there are sub-supervisors."""
MOST_WORKERS = 100
ID_CHARS = 120
"""Its steps' tasks are called by it, which leaves less than other ids have."""
MOST_STEPS = 1000


class Bound(NamedTuple):
    """How many characters of results, as JSON, are read with a run: of one step, and in all. The rest is with its tasks."""

    each: int
    whole: int


EVERYTHING = Bound(8 * 1024 * 1024, 8 * 1024 * 1024)
"""No result is longer, so each is there whole or not at all."""
WINDOW = 3
"""So many tasks of one run a worker has at a time: who is quick gets more of them."""
GENERAL = "general"


def bell_of(run_id: str, what: Literal["news", "end"]) -> str:
    """The name under which whoever waits for a run hears of it: no agent's, and short enough for a socket's path. Pure."""
    return f"team.{what}.{hashlib.blake2b(run_id.encode(), digest_size=12).hexdigest()}"


class NoWorker(Invalid):
    """Nobody who may do a step is able to; `nearest` names who in the fleet is."""


class Part(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """One part of a goal, as somebody cut it. `needs` are places of other parts, counted from 1; their results come with the task."""

    description: str
    capability: str | None = None
    worker: str | None = None
    """Who does it by preference."""
    needs: list[int] = []


class TeamDraft(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """A goal as somebody wants it reached. Required: `goal`.

    coordinate: it is cut into parts, by `parts`, by the supervisor's brain, or by the rules of `type`. route: the best worker does the
    whole. broadcast: all workers do the same, and their results are compared.
    """

    goal: str
    type: TeamType = "general"
    mode: Mode = "coordinate"
    workers: list[str] | None = None
    """Who may work; some able ones are picked if nobody is named."""
    strict: bool = True
    """Whether only those who are capable get a step."""
    capability: str | None = None
    """What a worker must be capable of, for what has no capability of its own; `general` if not given."""
    parts: list[Part] = []
    supervisor: str | None = None
    """The agent whose brain is asked for the plan, unless it is a rules brain; without one, rules cut the goal up."""
    span: int = SPAN
    priority: str | int = "medium"
    project_id: str | None = None
    estimated_seconds: float | None = None
    max_attempts: int = MAX_ATTEMPTS
    deadline: float | None = None
    """When what is not done by then is cancelled, in store time."""
    forward: bool | None = None
    """Whether the operator gets the results word for word by mail; if not given, those of its own runs."""
    team_id: str | None = None


class Step(NamedTuple):
    """One step of a run, before it is stored."""

    place: int
    kind: str
    description: str
    capabilities: tuple[str, ...]
    """What it asks for: one of them, the more the better; none: anybody may."""
    wanted: str | None = None
    needs: tuple[int, ...] = ()


class TeamStep(msgspec.Struct, rename="camel", kw_only=True):
    """A step of a run as it stands. `result` is the worker's own, word for word."""

    step: int
    type: str
    description: str
    state: StepState
    worker: str | None = None
    task_id: str | None = None
    needs: list[int] = []
    attempts: int = 0
    failed_by: list[str] = []
    started_at: float | None = None
    finished_at: float | None = None
    progress: str | None = None
    result: Any = None
    result_chars: int = 0
    """How long its whole result is, as JSON."""
    left_out: bool = False
    """Whether its result is not shown here, or only how its text begins: it is too much, or not asked for. Its task has it."""
    error: str | None = None

    @property
    def success(self) -> bool:
        """Whether it counts as a success."""
        return self.state == "done"


class TeamWorker(msgspec.Struct, rename="camel", kw_only=True):
    """A worker of a run: what it did of it, and what it has done in all since it is in the fleet."""

    agent: str
    done: int
    failed: int
    open: int
    tasks_completed: int
    average_response_s: float


class TeamPart(msgspec.Struct, rename="camel", kw_only=True):
    """What the workers under one sub-supervisor made of a run."""

    supervisor: str
    workers: list[str] = []
    teams: list[TeamPart] = []
    steps: list[int] = []
    quality_score: float = 0.0
    summary: str = ""


class TeamRun(msgspec.Struct, rename="camel", kw_only=True):
    """A run as it stands. `success` is known once it has ended: from a quality of 0.8 on, the share of steps that were done."""

    team_id: str
    goal: str
    type: str
    mode: str
    state: str
    success: bool = False
    quality_score: float = 0.0
    summary: str = ""
    why: str | None = None
    """Why it does not get on, or why it ended as it did."""
    note: str | None = None
    """What became of a plan that did not come."""
    done: int = 0
    total: int = 0
    planned_by: str | None = None
    """`rules`, `caller`, or the agent whose brain planned it."""
    supervisor: str | None = None
    created_by: str
    created_at: float
    ended_at: float | None = None
    workers: list[TeamWorker] = []
    results: list[TeamStep] = []
    teams: list[TeamPart] = []
    comparison: dict[str, Any] | None = None
    known: bool = False
    """It was begun before by this id, and nothing was changed; `differs`: by other words (T3)."""
    differs: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.state not in ENDED


def check(draft: TeamDraft) -> None:
    """Refuse a draft of the wrong form.

    Raises:
        Invalid, TooLarge: `field` names what is wrong; nothing is stored.
    """
    _check_words(draft.goal, "goal", "say what is to be reached")
    for field, given, allowed in (("type", draft.type, TeamType), ("mode", draft.mode, Mode)):
        if given not in get_args(allowed):
            raise Invalid(f"{field} is {str(given)[:60]!r}; it may be {', '.join(get_args(allowed))}.", field=field)
    check_id("teamId", draft.team_id)
    if draft.team_id is not None and len(draft.team_id) > ID_CHARS:
        raise Invalid(f"teamId is {len(draft.team_id)} characters long; at most {ID_CHARS} are taken.", field="teamId")
    check_name("capability", draft.capability)
    check_name("projectId", draft.project_id)
    check_due("deadline", draft.deadline)
    priority_of(draft.priority)
    if not 1 <= draft.max_attempts <= 100:
        raise Invalid(f"maxAttempts is {draft.max_attempts}; it may be 1 to 100.", field="maxAttempts")
    if draft.estimated_seconds is not None and not 0 < draft.estimated_seconds <= YEAR_S:
        raise Invalid(f"estimatedSeconds is {draft.estimated_seconds}; it may be more than 0 and at most a year.", field="estimatedSeconds")
    if not 1 <= draft.span <= MOST_WORKERS:
        raise Invalid(f"span is {draft.span}; it may be 1 to {MOST_WORKERS}.", field="span")
    _check_parts(draft)


def _check_words(text: object, field: str, what: str) -> None:
    if not isinstance(text, str) or not text.strip():
        raise Invalid(f"{field} is empty; {what}.", field=field)
    check_text(text, field)
    check_size(field, len(text.encode()), BODY_BYTES // 2)


def _check_parts(draft: TeamDraft) -> None:
    if draft.parts and draft.mode != "coordinate":
        raise Invalid(f"parts are for the mode coordinate, and mode is {draft.mode}; leave one of them out.", field="parts")
    if len(draft.parts) > MOST_STEPS:
        raise Invalid(f"parts has {len(draft.parts)} entries; at most {MOST_STEPS} are taken.", field="parts")
    for place, part in enumerate(draft.parts):
        _check_words(part.description, f"parts[{place}].description", "say what is to be done")
        check_name(f"parts[{place}].capability", part.capability)
    check_needs([tuple(part.needs) for part in draft.parts])


def check_needs(needs: list[tuple[int, ...]]) -> None:
    """Refuse parts that need what is not there, or one another in a circle. `needs[0]` are those of part 1.

    Raises:
        Invalid: `field` names the part.
    """
    for place, names in enumerate(needs, 1):
        if len(names) > NEEDS:
            raise Invalid(f"part {place} needs {len(names)} parts; it may need {NEEDS}.", field=f"parts[{place - 1}].needs")
        for name in names:
            if not 1 <= name <= len(needs) or name == place:
                raise Invalid(
                    f"part {place} needs part {name}; it may need other parts, 1 to {len(needs)}.", field=f"parts[{place - 1}].needs"
                )
    met: set[int] = set()
    left = set(range(1, len(needs) + 1))
    while left:
        ready = {place for place in left if met.issuperset(needs[place - 1])}
        if not ready:
            raise Invalid(f"the parts {', '.join(map(str, sorted(left)[:20]))} need one another in a circle.", field="parts")
        met |= ready
        left -= ready
