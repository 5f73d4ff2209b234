"""Which templates an agent's brain says it can't do; asked once, when its process starts, so that none of them is ever made (P1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from covey.base.settings import PlanningSettings
from covey.planning import planning, templates
from covey.store import Transaction, statement

CLEAR = statement(__package__, "clear_unable")
IS_UNABLE = statement(__package__, "is_unable")


def cannot(can: Callable[[str], bool], name: str, role: str, settings: PlanningSettings) -> list[str]:
    """The ids of the templates of an agent's role that its brain can't do. Blocks: it may import the brain's code."""
    known = templates.of(settings)
    theirs = known.of_role(planning.role_named(name, role, known.roles))
    return [each.id for each in theirs if not can(each.text)]


def declare(tx: Transaction, agent: str, unable: Iterable[str]) -> None:
    """From now on these templates are not made for the agent, and all others may be."""
    tx.run(CLEAR, agent=agent)
    for ident in unable:
        tx.run(IS_UNABLE, agent=agent, template=ident)
