"""The fleet as a Python program uses it: open it, send, ask, give tasks, wait. Each call is one verb of the store."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from covey.agents import roster
from covey.agents.model import OPERATOR, SYSTEM, THE_OPERATOR, Caller, as_agent
from covey.app import handing, teaming, voting
from covey.app.following import Progress
from covey.app.opening import open_store, prepare
from covey.base.clock import Clock, SystemClock
from covey.base.config import load
from covey.base.errors import Failed, Invalid
from covey.base.settings import Settings
from covey.base.wire import checked
from covey.messages import reading as mail
from covey.messages import sending
from covey.messages.model import Draft, Message, Receipt, draft
from covey.reports import status, told, why
from covey.store import Store, Transaction
from covey.tasks import adding, changing
from covey.tasks import reading as tasks
from covey.tasks.model import Task, TaskDraft
from covey.teams.handoffs.model import DEADLINE_S, Handoff, HandoffDraft
from covey.teams.runs import reading as runs
from covey.teams.runs import starting
from covey.teams.runs.model import Mode, Part, TeamDraft, TeamRun, TeamType
from covey.teams.votes.model import Result, VoteDraft

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
LOOK_S = 0.1
"""How often a waiting call looks; the store is on this machine or near."""


class Fleet:
    """An open fleet. Use it as `async with covey.Fleet.open("folder") as fleet:`; it works while the fleet is down too."""

    def __init__(self, store: Store, settings: Settings, clock: Clock | None = None) -> None:
        self.store = store
        self.settings = settings
        self._clock = clock or SystemClock()

    @classmethod
    def open(
        cls, folder: str | Path = ".", config: str | Path | None = None, environ: Mapping[str, str] | None = None, **flags: Any
    ) -> Self:
        """The fleet of a folder, by its covey.toml or the default eight. `flags` are keys of `[fleet]`, and win over all else.

        Raises:
            Misconfigured: covey.toml is refused, each fault with its line.
            StoreUnavailable, StoreDamaged: The store can't be opened.
        """
        path = Path(config) if config is not None else None
        settings = load(path, dir=Path(folder), environ=os.environ if environ is None else environ, flags=flags)
        return cls(open_store(settings), settings)

    async def __aenter__(self) -> Self:
        await prepare(self.store, self.settings)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the store; the fleet's processes, if any, go on."""
        await self.store.close()

    async def write(self, verb: Callable[Concatenate[Transaction, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call any verb."""
        return await self.store.write(verb, *args, **kwargs)

    async def read(self, verb: Callable[Concatenate[Transaction, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call any reading verb."""
        return await self.store.read(verb, *args, **kwargs)

    async def send(self, to: str | list[str], text: str, *, by: str | None = None, **more: Any) -> Receipt:
        """The receipt of a message; `by` names the agent that sends, the operator if not given. `more` is as in `messages.model.draft`.

        Raises:
            CoveyError: As `messages.sending.send`.
        """
        return await self.post(draft(to, text, **more), by=by)

    async def post(self, message: Draft, *, by: str | None = None) -> Receipt:
        """As `send`, for a whole draft."""
        return await self.store.write(sending.send, message, await self._caller(by), wait_s=self.settings.wait_s)

    async def ask(self, to: str, text: str, *, timeout_s: float = 60.0, by: str | None = None, **more: Any) -> Message:
        """The reply of one agent to a question.

        Raises:
            Failed: It was refused, and nobody was asked; or no reply came in time: then the question stands, a late one is still delivered.
            CoveyError: As `messages.sending.send`.
        """
        now = await self.store.read(_now)
        receipt = await self.send(to, text, by=by, requires_response=True, deadline=now + _seconds(timeout_s), **more)
        outcomes = receipt.outcomes.values()
        if not any(outcome.stored for outcome in outcomes):
            later = [outcome.retry_at for outcome in outcomes if outcome.retry_at is not None]
            raise Failed(receipt.sentence, retry_at=min(later, default=None), code=receipt.status)
        answer = await self.answer(receipt.message_id, timeout_s)
        if answer is None:
            raise Failed(
                f"{to} did not answer within {timeout_s:g} s. `covey why {receipt.message_id}` says where the question stands;"
                " a late answer still comes to the inbox.",
                messageId=receipt.message_id,
            )
        return answer

    async def answer(self, message_id: str, timeout_s: float) -> Message | None:
        """The first reply of those who were asked, as soon as it is there; None if none came in time, or none comes any more (M7)."""
        until = self._clock.boot() + _seconds(timeout_s)
        while True:
            replies = (await self.store.read(told.replies, message_id, THE_OPERATOR)).items
            found = next((each for each in replies if each.from_ != SYSTEM), None)
            if found is not None or replies or self._clock.boot() >= until:
                return found
            await self._clock.sleep(LOOK_S)

    async def add_task(self, agent: str | None, description: str, *, needs: Sequence[str] = (), by: str | None = None, **more: Any) -> Task:
        """A new task for an agent, `@capability`, or whoever is free (None). `more` is as in `tasks.model.TaskDraft`.

        Raises:
            CoveyError: As `tasks.adding.add`.
        """
        wanted = TaskDraft(description=description, agent=agent, dependencies=list(needs), **more)
        return await self.store.write(adding.add, wanted, await self._caller(by))

    async def task(self, task_id: str) -> Task:
        """One task as it stands."""
        return await self.store.read(tasks.show, task_id)

    async def wait_task(self, task_id: str, timeout_s: float = 3600.0) -> Task:
        """The task once it has ended, or as it stands when the time is up."""
        until = self._clock.boot() + _seconds(timeout_s)
        while True:
            found = await self.task(task_id)
            if not found.is_open or self._clock.boot() >= until:
                return found
            await self._clock.sleep(LOOK_S)

    async def cancel_task(self, task_id: str, reason: str = "", *, by: str | None = None) -> Task:
        """The task, cancelled; its brain is ended."""
        return await self.store.write(changing.cancel, task_id, await self._caller(by), reason)

    async def handoff(
        self, task: str, to: str, *, by: str | None = None, timeout_s: float = DEADLINE_S, state: dict[str, Any] | None = None, **more: Any
    ) -> Handoff:
        """What becomes of the offer of a task to an agent or `@capability`: accepted, declined, expired or withdrawn (Q3).

        `state` says where the work stands, as JSON; `more` is as in `HandoffDraft`: reason, progress, context. The receiver must be
        running to answer; after `timeout_s` the task goes back.

        Raises:
            CoveyError: As `teams.handoffs.offering.offer`.
        """
        now = await self.store.read(_now)
        draft = HandoffDraft(task_id=task, to=to, task_state=state or {}, deadline=now + _seconds(timeout_s), **more)
        return await handing.hold(self.store, self._clock, draft, await self._caller(by))

    async def vote(
        self,
        topic: str,
        voters: Sequence[str],
        options: Sequence[str],
        *,
        by: str | None = None,
        on_progress: Progress | None = None,
        **more: Any,
    ) -> Result:
        """What a vote of these agents comes to, once all have voted or its deadline is over (Q4). `more` is as in `VoteDraft`.

        The agents must be running to vote; whoever does not is silent. `on_progress` is called with each event of the vote.

        Raises:
            CoveyError: As `teams.votes.opening.open_vote`.
        """
        draft = VoteDraft(topic=topic, voters=_listed("voters", voters), options=_listed("options", options), **more)
        return await voting.hold(self.store, self._clock, checked(draft), await self._caller(by), on_progress)

    async def supervise(
        self,
        goal: str,
        *,
        workers: Sequence[str] | None = None,
        type: TeamType = "general",  # noqa: A002 - the seed's word
        mode: Mode = "coordinate",
        strict: bool = True,
        parts: Sequence[str | Mapping[str, Any] | Part] = (),
        by: str | None = None,
        on_progress: Progress | None = None,
        timeout_s: float = 3600.0,
        **more: Any,
    ) -> TeamRun:
        """What these workers make of a goal: their results word for word, a summary, and the share of steps that were done (Q2).

        coordinate: it is cut into steps, by `parts`, by the brain of `supervisor`, or by the rules of `type`. route: the best worker does
        the whole. broadcast: all do the same, and the results are compared. Without `workers` some able ones are picked. A part is text,
        or `{"description": …, "capability": …, "worker": …, "needs": [1]}`.
        The run is the fleet's own and goes on if this program ends; with the same `team_id` it is taken up again. `on_progress` is called
        with each of its events. After `timeout_s` the run is answered as it stands. `more` is as in `TeamDraft`.

        Raises:
            CoveyError: As `teams.runs.starting.start`.
        """
        cut: list[Any] = [Part(description=part) if isinstance(part, str) else part for part in _listed("parts", parts)]
        named = _listed("workers", workers) if workers is not None else None
        draft = TeamDraft(goal=goal, workers=named, type=type, mode=mode, strict=strict, parts=cut, **more)
        return await teaming.supervise(self.store, self._clock, checked(draft), await self._caller(by), on_progress, _seconds(timeout_s))

    async def team(self, team_id: str) -> TeamRun:
        """One team run as it stands."""
        return await self.store.read(runs.show, team_id)

    async def cancel_team(self, team_id: str, reason: str = "", *, by: str | None = None) -> TeamRun:
        """The team run, cancelled with its open tasks."""
        return await self.store.write(starting.cancel, team_id, await self._caller(by), reason)

    async def inbox(self, agent: str = "operator", *, unread: bool = False, limit: int = 50) -> list[Message]:
        """An agent's mail, or the operator's, newest first. Looking does not acknowledge."""
        return (await self.store.read(mail.inbox, agent, unread=unread, limit=limit)).items

    async def status(self, agent: str) -> dict[str, Any]:
        """The seeds' agent-state object, live (A4)."""
        return await self.store.read(status.agent_state, agent, self.settings.stale_s)

    async def why(self, ident: str) -> str:
        """One paragraph: where a task, message or agent stands, and what it waits for (K8)."""
        found = await self.store.read(why.why, ident, stale_s=self.settings.stale_s, digest_s=self.settings.digest_s)
        return found.sentence

    async def _caller(self, by: str | None) -> Caller:
        """Who acts: the operator, or an agent of this fleet.

        Raises:
            Unknown, Gone: `by` is neither.
        """
        if by in (None, OPERATOR):
            return THE_OPERATOR
        return as_agent((await self.store.read(roster.find, str(by), field="by")).id)


def _seconds(timeout_s: object) -> float:
    """How long to wait.

    Raises:
        Invalid: It is no number of seconds.
    """
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, int | float) or not timeout_s >= 0:
        raise Invalid(f"timeout_s is {timeout_s!r}; give seconds, 0 or more.", field="timeout_s")
    return timeout_s


def _now(tx: Transaction) -> float:
    return tx.now


def _listed(field: str, given: Sequence[T]) -> list[T]:
    """The list that was given; a text is none, though Python takes it for one of its letters."""
    if isinstance(given, str):
        raise Invalid(f"{field} is a text; give a list.", field=field)
    return list(given)
