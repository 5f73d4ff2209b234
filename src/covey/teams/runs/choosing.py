"""Who does a step: a worker that is able and takes work, that has not failed it, and has the fewest open tasks (Q2, H6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from covey.agents import roster
from covey.agents.external import is_away
from covey.agents.model import STALE_S
from covey.brains.rules.doable import would_do
from covey.store import Row, Transaction, statement
from covey.teams.runs.model import MOST_WORKERS, NoWorker, Step

WORKERS = statement(__package__, "workers")

_NOBODY: Mapping[str, int] = {}


class Worker(NamedTuple):
    """One worker as it stands now."""

    name: str
    place: int
    brain: str
    capabilities: frozenset[str]
    why_not: str
    """Why it takes nothing now; empty if it does."""
    shaky: bool
    """Whether its breaker is half-open: it may be tried, after all others."""
    tasks: int
    """Its open tasks, of whatever origin."""
    completed: int
    task_s: float

    @property
    def ready(self) -> bool:
        """Whether it takes work now."""
        return not self.why_not


def workers(tx: Transaction, names: Sequence[str]) -> list[Worker]:
    """These agents as workers, in the fleet's order; who was removed is left out."""
    rows = tx.all(WORKERS, names=msgspec.json.encode(list(names)).decode())
    return [_worker(row, tx.now) for row in rows]


def _worker(row: Row, now: float) -> Worker:
    capabilities = frozenset(msgspec.json.decode(row.capabilities))
    shaky = row.until is not None and now >= row.until
    average = row.task_seconds / row.tasks_completed if row.tasks_completed else 0.0
    return Worker(row.id, row.place, row.brain, capabilities, _why_not(row, now), shaky, row.tasks, row.tasks_completed, average)


def _why_not(row: Row, now: float) -> str:
    if row.stopped_at is not None or row.paused_at is not None:
        return "it is stopped" if row.stopped_at is not None else "it is paused"
    if row.failed_at is not None:
        return "its restarts were given up"
    if row.until is not None and now < row.until:
        return f"its breaker is open after failures: {row.reason}"
    if row.brain == "external":
        return "it is away" if is_away(row.seen_at, row.cadence_s, now) else ""
    return "" if row.pid is not None and row.heartbeat_at is not None and row.heartbeat_at > now - STALE_S else "it is down"


def fit_of(step: Step, worker: Worker) -> int | None:
    """How many of the capabilities that a step asks for a worker has; None if it is not capable. Pure."""
    if not would_do(worker.brain, step.description):
        return None
    if not step.capabilities:
        return 0
    return len(worker.capabilities.intersection(step.capabilities)) or None


def choose(
    step: Step,
    candidates: Iterable[Worker],
    *,
    strict: bool,
    more: Mapping[str, int] = _NOBODY,
    failed_by: Sequence[str] = (),
    first: Collection[str] = (),
) -> Worker | None:
    """The worker for a step, or None if nobody may do it now. Pure.

    `more` is what each has been given since its tasks were counted, `first` are those that come before others.
    Whoever failed it comes last; with `strict` nobody gets it who is not capable.
    """
    able = [(fit_of(step, each), each) for each in candidates if each.ready]
    return min(
        ((fit, each) for fit, each in able if fit is not None or not strict),
        key=lambda found: (
            failed_by.count(found[1].name),
            found[1].shaky,
            found[1].name != step.wanted,
            -(found[0] if found[0] is not None else -1),
            found[1].name not in first,
            found[1].tasks + more.get(found[1].name, 0),
            found[1].place,
        ),
        default=(None, None),
    )[1]


def check_able(tx: Transaction, steps: Sequence[Step], candidates: Sequence[Worker], *, strict: bool) -> None:
    """Refuse steps that nobody of these will ever be able to do.

    Raises:
        NoWorker: Nobody is; who in the fleet would be, and what there is, is said.
    """
    for step in steps:
        if not strict and candidates:
            continue
        if not any(fit_of(step, each) is not None for each in candidates):
            raise no_worker(tx, step, candidates)


def no_worker(tx: Transaction, step: Step, candidates: Sequence[Worker]) -> NoWorker:
    """The error for a step that nobody is able to do, with the candidates."""
    everyone = workers(tx, roster.all_names(tx))
    others = [each.name for each in everyone if fit_of(step, each) is not None]
    asked = " or ".join(map(repr, step.capabilities)) or "nothing in particular"
    who = ", ".join(f"{each.name} ({', '.join(sorted(each.capabilities)) or 'nothing'})" for each in candidates[:20]) or "nobody"
    unfit = any(each.brain == "rules" and each.capabilities.intersection(step.capabilities) for each in candidates)
    rules = " A rules brain does only what it knows from the fleet's records." if unfit else ""
    hint = (
        f"Able are: {', '.join(others[:20])}."
        if others
        else "Nobody in the fleet is able to; give an agent the capability, and a brain that can."
    )
    head = step.description if len(step.description) <= 100 else f"{step.description[:99]}…"
    return NoWorker(
        f"no capable worker for {head!r}, which asks for {asked}; the workers are {who}.{rules} {hint} Or set strict to false.",
        field="workers",
        nearest=others or sorted({word for each in everyone for word in each.capabilities}),
    )


def pick(steps: Sequence[Step], candidates: Sequence[Worker], span: int, without: str | None = None) -> list[str]:
    """Some able workers for these steps, where nobody was named: one for each at least, then others who could take over, up to `span`.

    `without` is picked only where nobody else is able to. Pure.
    """
    chosen: dict[str, None] = {}
    line = sorted(candidates, key=lambda each: (each.name == without, not each.ready, each.tasks, each.place))
    kinds = list({(step.capabilities, step.wanted): step for step in steps}.values())
    for step in kinds:
        able = [each.name for each in line if fit_of(step, each) is not None]
        if able and (step.wanted in able or chosen.keys().isdisjoint(able)):
            chosen[step.wanted if step.wanted in able and step.wanted else able[0]] = None
    for each in line:
        if len(chosen) >= span or each.name == without:
            break
        if any(fit_of(step, each) is not None for step in kinds):
            chosen[each.name] = None
    return list(chosen)[:MOST_WORKERS]


def loads(names: Iterable[str | None]) -> Counter[str]:
    """How many tasks of a run each worker has. Pure."""
    return Counter(name for name in names if name)
