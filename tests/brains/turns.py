"""Turns for brains to think about, and hands that note what a brain does with them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from covey.base.processes import stat_of
from covey.base.settings import AgentSettings, BrainSettings
from covey.brains.launching import Site
from covey.brains.model import Asked, Turn
from covey.messages.envelope import enveloped
from covey.messages.model import Message
from covey.tasks.model import Task

SITE = Site(url="http://127.0.0.1:8002", token="the token of coder", grace_s=0.3)


class Noted:
    """Hands that note. `does` is called in `started` with the pid."""

    def __init__(self, does: Callable[[int], object] | None = None) -> None:
        self.said: list[str] = []
        self.began: list[tuple[int, int]] = []
        self._does = does

    async def progress(self, text: str) -> None:
        self.said.append(text)

    async def started(self, *, pid: int, pgid: int) -> None:
        self.began.append((pid, pgid))
        if self._does is not None:
            self._does(pid)

    async def read(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return verb(*args, **kwargs)

    async def write(self, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return verb(*args, **kwargs)

    async def heard(self, word: str) -> None:
        """Wait, bounded, until this was said."""
        await until(lambda: any(word in said for said in self.said))


class Releasing(Noted):
    """Makes a file once it hears of progress."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    async def progress(self, text: str) -> None:
        await super().progress(text)
        self._path.touch()


async def until(happened: Callable[[], bool], bound_s: float = 10.0) -> None:
    """Wait, bounded, for what others do in their own time."""
    async with asyncio.timeout(bound_s):
        while not happened():  # noqa: ASYNC110 - what is waited for is another process's doing
            await asyncio.sleep(0.002)


def a_message(
    body: str = "How far are you?", *, sender: str = "chief", requires_response: bool = True, data: dict[str, Any] | None = None
) -> Message:
    return Message(
        message_id="msg_1",
        from_=sender,
        to="coder",
        type="question",
        priority="medium",
        timestamp=1_800_000_000.0,
        content={"subject": "", "body": body, "data": data or {}, "requiresResponse": requires_response, "deadline": None},
        context={"threadId": "dm:chief:coder", "projectId": None, "relatedTasks": [], "isPeerDm": True},
        receiver="coder",
    )


def asked(message: Message) -> Asked:
    return Asked(message=message, enveloped=enveloped(message))


def a_task(description: str = "Count the files", **fields: Any) -> Task:
    given: dict[str, Any] = {
        "task_id": "task_1",
        "description": description,
        "state": "running",
        "priority": "high",
        "queue": "coder",
        "created_by": "chief",
        "created_at": 1_800_000_000.0,
        "assigned_by": "chief",
        "agent": "coder",
        "origin": "agent",
        "estimated_seconds": 60.0,
    }
    return Task(**given | fields)


def a_turn(run_id: str = "run_test", **fields: Any) -> Turn:
    """A turn of kind task, unless told."""
    given: dict[str, Any] = {
        "kind": "task",
        "agent": "coder",
        "role": "Coder",
        "attempt": 1,
        "max_attempts": 3,
        "now": 1_800_000_000.0,
        "task": a_task(),
    }
    return Turn(run_id=run_id, **given | fields)


def settings(cwd: Path, *, env: dict[str, str] | None = None, user: str = "", **brain: Any) -> AgentSettings:
    """An agent whose brain this is."""
    return AgentSettings(id="coder", port=8002, cwd=str(cwd), env=env or {}, user=user, brain=BrainSettings(**brain))


def open_files() -> set[str]:
    """What this process holds open."""
    found = set()
    for path in Path("/proc/self/fd").iterdir():
        try:
            found.add(f"{path.name} {path.readlink()}")
        except FileNotFoundError:
            pass
    return found


def is_gone(pid: int) -> bool:
    """Whether nobody has this pid, not even a zombie."""
    return not Path(f"/proc/{pid}").exists()


def is_running(pid: int) -> bool:
    """Whether the process lives."""
    found = stat_of(pid)
    return found is not None and not found.dead
