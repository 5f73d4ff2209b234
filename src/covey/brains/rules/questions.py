"""Questions about oneself, one's colleagues and things with an id: recognised by their words, answered from the records."""

from __future__ import annotations

import re
from collections.abc import Mapping

from covey.base.errors import CoveyError
from covey.brains.rules import on_fleet, on_work
from covey.brains.rules.desk import Desk, Findings, Report, bullets, lines
from covey.brains.rules.doable import DOABLE, found_in
from covey.brains.rules.words import FILLER, Topic, best, hear, root, roots, topic
from covey.messages import seeing, waiting
from covey.reports.phrases import listed, utc
from covey.reports.why import why
from covey.tasks import reading

_IDENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_LOOKS_LIKE_ID = re.compile(r".*[0-9_:].*")
IDS_TOLD = 3


async def own_waits(desk: Desk) -> Findings:
    """What one waits for oneself."""
    waits = await desk.read(waiting.open_waits, desk.agent)
    blocked = [task for task in await desk.read(reading.queue_of_agent, desk.agent) if task.state == "blocked"]
    if not waits and not blocked:
        return Findings(f"I, {desk.agent}, wait for nothing: no answer is due to me and none of my tasks is blocked.", {})
    said = [f"an answer from {row.receiver} to {row.message_id}, until {utc(row.answer_due)}" for row in waits]
    said += [(await desk.read(why, task.task_id)).sentence for task in blocked[:IDS_TOLD]]
    said += [f"the task {task.task_id}, which is blocked" for task in blocked[IDS_TOLD:]]
    data = {"answers": [{"messageId": row.message_id, "from": row.receiver, "until": row.answer_due} for row in waits]}
    return Findings(lines(f"I, {desk.agent}, wait for:", bullets(said)), data | {"blocked": [task.task_id for task in blocked]})


async def own_role(desk: Desk) -> Findings:
    """Who one is and what one can do."""
    return Findings(
        lines(
            f"I am {desk.agent}: {desk.role or 'no role is written down for me'}.",
            f"Able of: {listed(desk.settings.capabilities, most=20)}." if desk.settings.capabilities else None,
            what_it_can(desk.agent),
        ),
        {"agent": desk.agent, "role": desk.role, "capabilities": list(desk.settings.capabilities)},
    )


def what_it_can(agent: str) -> str:
    """What a rules brain does and what it does not, with examples that suit the agent."""
    suited = [each.template for each in DOABLE.values() if agent in each.roles] or [each.template for each in DOABLE.values()][:8]
    examples = "; ".join(f"“{each}”" for each in suited[:5])
    return (
        "My brain is the rules brain: without a model I report on the fleet and this machine from true records."
        f" Tasks I can do are, for example: {examples}. You can ask me how I am, what is in my queue, what I wait for, who I am,"
        " how the fleet or the system is, what any agent does, or why a task or message stands where it stands (name its id)."
    )


_BUSY = "busy idle doing free available stopped paused stalled down alive running fine well working active status state"
_SELF: Mapping[str, tuple[Topic, Report]] = {
    "waits": (topic("waits", "wait|waiting|block|blocked|stuck you|your", knows="task tasks"), own_waits),
    "queue": (
        topic("queue", "queue|backlog|todo|agenda|plate|next you|your|do", "tasks|task you|your", knows="task tasks work pending"),
        on_work.own_queue,
    ),
    "role": (
        topic("role", "who you", "role|job|purpose|responsible|capability|capabilities|skill you|your", "can you do|help", "help"),
        own_role,
    ),
    "self": (
        topic("self", "how you", "status", "are|what|doing|status|state|busy|idle you|your", knows=f"{_BUSY} feel feeling"),
        on_fleet.own_state,
    ),
    "fleet": (
        topic(
            "fleet", "how|who|what everyone|everybody|team|fleet|colleagues|others|agents", f"who {_BUSY.replace(' ', '|')}", knows=_BUSY
        ),
        on_fleet.fleet_status,
    ),
    "system": (
        topic("system", "how|is|are system|machine|server|host|box|disk|memory|cpu", knows=f"{_BUSY} healthy health load"),
        DOABLE["system_health"].report,
    ),
}
_ASKING = roots(
    "how what why where which who is are does doing do status state stand stands up to with about task message thread agent working busy"
)


async def answer(desk: Desk) -> Findings | None:
    """What can be said to a question; None if it is not about anything that is recorded."""
    by_id = await _about_ids(desk)
    if by_id is not None:
        return by_id
    heard = hear(desk.text, desk.names)
    colleague = await _about_agents(desk)
    if colleague is not None:
        return colleague
    own = best(heard, [each for each, _ in _SELF.values()], lenient=True)
    if own is not None:
        return await _SELF[own.name][1](desk)
    doable = found_in(heard, lenient=True)
    return await doable.report(desk) if doable is not None else None


async def _about_ids(desk: Desk) -> Findings | None:
    """Where the things stand whose ids the question names."""
    words = [word.rstrip(".:-") for word in _IDENT.findall(desk.text[:4_000])]
    idents = [word for word in dict.fromkeys(words) if _LOOKS_LIKE_ID.fullmatch(word) and not word.replace(".", "").isdigit()]
    told = []
    for ident in idents[:IDS_TOLD]:
        try:
            await desk.read(seeing.check_subject, ident, desk.asker)
            told.append(await desk.read(why, ident))
        except CoveyError:  # nothing has this id, or it is mail between others
            continue
    if not told:
        return None
    return Findings("\n\n".join(each.sentence for each in told), {each.id: each.facts for each in told})


async def _about_agents(desk: Desk) -> Findings | None:
    """How the agents are whom the question names, if it is about nothing else."""
    words = {word.casefold() for word in _IDENT.findall(desk.text[:4_000])}
    named = [name for name in desk.names if name in words and name != desk.agent]
    rest = {root(word) for word in words} - FILLER - _ASKING - {root(name) for name in desk.names}
    if not named or rest:
        return None
    told = [await desk.read(why, name) for name in named[:IDS_TOLD]]
    return Findings("\n\n".join(each.sentence for each in told), {each.id: each.facts for each in told})
