"""Who does a step: a worker that is able and takes work, that has not failed it, and has the fewest open tasks (Q2, H6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from covey.agents import roster
from covey.brains.rules.doable import doers
from covey.store import Transaction
from covey.tasks import takers
from covey.tasks.takers import NOBODY, Taker, order
from covey.teams.runs.model import MOST_WORKERS, NoWorker, Step

Worker = Taker
"""One of a run's agents, as it stands now."""

workers = takers.named


def fit_of(step: Step, worker: Worker) -> int | None:
    """How many of the capabilities that a step asks for a worker has; None if it is not capable. Pure."""
    return fits(step, [worker]).get(worker.name)


def fits(step: Step, candidates: Sequence[Worker]) -> dict[str, int]:
    """Those who are capable of a step, whether they take work now or not: how many of the capabilities that it asks for each has. Pure."""
    kinds = doers((each.brain for each in candidates), step.description)
    found = {each.name: len(each.capabilities.intersection(step.capabilities)) for each in candidates if each.brain in kinds}
    return {name: count for name, count in found.items() if count or not step.capabilities}


def choose(
    step: Step,
    candidates: Iterable[Worker],
    *,
    strict: bool,
    more: Mapping[str, int] = NOBODY,
    failed_by: Sequence[str] = (),
    first: Collection[str] = (),
) -> Worker | None:
    """The worker for a step, or None if nobody may do it now. Pure.

    `more` is what each has been given since its tasks were counted, `first` are those that come before others.
    Whoever failed it comes last; with `strict` nobody gets it who is not capable.
    """
    ready = [each for each in candidates if each.ready]
    fit = fits(step, ready)
    return min(
        (each for each in ready if each.name in fit or not strict),
        key=lambda each: order(
            each, (each.name != step.wanted, -fit.get(each.name, -1), each.name not in first), more=more, failed_by=failed_by
        ),
        default=None,
    )


def check_able(tx: Transaction, steps: Sequence[Step], candidates: Sequence[Worker], *, strict: bool) -> None:
    """Refuse steps that nobody of these will ever be able to do.

    Raises:
        NoWorker: Nobody is; who in the fleet would be, and what there is, is said.
    """
    for step in steps:
        if not strict and candidates:
            continue
        if not fits(step, candidates):
            raise no_worker(tx, step, candidates)


def no_worker(tx: Transaction, step: Step, candidates: Sequence[Worker]) -> NoWorker:
    """The error for a step that nobody is able to do, with the candidates."""
    everyone = workers(tx, roster.all_names(tx))
    others = list(fits(step, everyone))
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
    line = sorted(candidates, key=lambda each: (each.name == without, *order(each)))
    kinds = list({(step.capabilities, step.wanted): step for step in steps}.values())
    capable: set[str] = set()
    for step in kinds:
        able = list(fits(step, line))
        capable.update(able)
        if able and (step.wanted in able or chosen.keys().isdisjoint(able)):
            chosen[step.wanted if step.wanted in able and step.wanted else able[0]] = None
    for each in line:
        if len(chosen) >= span or each.name == without:
            break
        if each.name in capable:
            chosen[each.name] = None
    return list(chosen)[:MOST_WORKERS]


def loads(names: Iterable[str | None]) -> Counter[str]:
    """How many tasks of a run each worker has. Pure."""
    return Counter(name for name in names if name)
