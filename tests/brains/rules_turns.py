"""Turns of a real fleet for the rules brain: with a real store behind its hands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from covey.base.defaults import BY_NAME
from covey.brains.model import Asked, Outcome, Turn
from covey.brains.rules import RulesBrain
from covey.messages.envelope import enveloped
from covey.messages.model import Message
from covey.store import Store
from tests.brains.turns import a_task


class Hands:
    """The hands of a run, on a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def progress(self, text: str) -> None:
        """Nobody listens."""

    async def started(self, *, pid: int, pgid: int) -> None:
        """No process thinks."""

    async def read(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await self._store.read(verb, *args, **kwargs)

    async def write(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await self._store.write(verb, *args, **kwargs)


class Thinker:
    """The rules brain of one agent of the default fleet."""

    def __init__(self, store: Store, agent: str, data_dir: Path) -> None:
        self._store = store
        self._agent = BY_NAME[agent]
        self._brain = RulesBrain(self._agent, data_dir)

    async def _turn(self, **given: Any) -> Turn:
        now = await self._store.read(lambda tx: tx.now)
        colleagues = [
            {"id": name, "role": each.role, "capabilities": each.capabilities} for name, each in BY_NAME.items() if name != self._agent.id
        ]
        plain: dict[str, Any] = {
            "run_id": "run_1",
            "agent": self._agent.id,
            "role": self._agent.role,
            "attempt": 1,
            "max_attempts": 3,
            "now": now,
            "colleagues": colleagues,
        }
        return Turn(**plain | given)

    async def does(self, description: str) -> Outcome:
        """What it makes of a task."""
        return await self._brain.think(await self._turn(kind="task", task=a_task(description)), Hands(self._store))

    async def hears(self, body: str, *, sender: str = "operator", **fields: Any) -> Outcome:
        """What it makes of a message, one that wants an answer unless told."""
        return await self._brain.think(await self._turn(kind="message", message=said(body, sender, **fields)), Hands(self._store))

    async def reads(self, *bodies: str) -> Outcome:
        """What it makes of a digest."""
        also = [said(body, "sales", requires_response=False) for body in bodies]
        return await self._brain.think(await self._turn(kind="digest", also=also), Hands(self._store))

    async def splits(self, description: str) -> Outcome:
        """What it makes of being asked for parts."""
        return await self._brain.think(await self._turn(kind="split", task=a_task(description)), Hands(self._store))


def said(body: str, sender: str, *, type: str = "question", subject: str = "", requires_response: bool = True) -> Asked:  # noqa: A002 - the field's own name
    """Something said to the agent."""
    message = Message(
        message_id="msg_1",
        from_=sender,
        to="coder",
        type=type,
        priority="medium",
        timestamp=1_800_000_000.0,
        content={"subject": subject, "body": body, "data": {}, "requiresResponse": requires_response, "deadline": None},
        context={"threadId": "thread_1", "projectId": None, "relatedTasks": [], "isPeerDm": False},
    )
    return Asked(message=message, enveloped=enveloped(message))
