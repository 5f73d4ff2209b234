"""Export of all there is (S4): the seeds' tree, and everything with its whole history as JSON lines. An import takes it in again.

It is read page by page, each from its own snapshot, so a fleet can go on meanwhile and a million rows take no more memory than a page.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import IO, Any

import msgspec

from covey.agents import roster
from covey.agents.model import STALE_S
from covey.base.errors import Conflict, Failed
from covey.base.progress import Tell, silent
from covey.contexts import carrying as contexts
from covey.files import histories, tree
from covey.files.importing import CONTEXTS_OUT, LINKS_OUT, MESSAGES_OUT, TASKS_OUT
from covey.files.telling import why
from covey.files.whole import write_whole
from covey.links import carrying as links
from covey.messages import carried as mail
from covey.reports import amounts
from covey.store import Store, Transaction, events
from covey.tasks import carried as tasks
from covey.version import __version__

FORMAT = 1
EVENTS_OUT, RUNS_OUT, STANDING_OUT = "events.jsonl", "runs.jsonl", "standing.json"
FILES_AT_ONCE = 32


Pages = AsyncIterator[Sequence[Any]]


async def export_tree(store: Store, folder: Path, tell: Tell = silent, *, stale_s: float = STALE_S) -> dict[str, int]:
    """How much of what was written into a new folder; it appears there when it is whole.

    Raises:
        Conflict: There is something at that place already.
        Failed: It could not be written; nothing is left there.
    """
    folder, part = await asyncio.to_thread(_places, folder)
    try:
        await asyncio.to_thread(_begin, folder, part)
        counts = await _write_all(store, part, tell, stale_s)
        await asyncio.to_thread(part.rename, folder)
    except OSError as error:
        raise Failed(f"the export to {folder} could not be written ({why(error)}); nothing is left of it.") from error
    finally:
        await asyncio.to_thread(shutil.rmtree, part, ignore_errors=True)
    return counts


def _places(folder: Path) -> tuple[Path, Path]:
    """Where it goes, and where it is put together beside that."""
    whole = folder.absolute() if folder.name else folder.resolve()
    return whole, whole.with_name(f".{whole.name}.part.{os.getpid()}")


def _begin(folder: Path, part: Path) -> None:
    if os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir())):
        raise Conflict(f"{folder} is there already; name a folder that is not, or an empty one.", field="dir")
    part.mkdir(mode=0o700, parents=True)


async def _write_all(store: Store, part: Path, tell: Tell, stale_s: float) -> dict[str, int]:
    whole = await store.read(amounts.amounts)
    lines: dict[str, tuple[str, Pages]] = {
        "messages": (MESSAGES_OUT, _messages(store)),
        "tasks": (TASKS_OUT, _tasks(store)),
        "entries": (CONTEXTS_OUT, _entries(store)),
        "links": (LINKS_OUT, _links(store)),
        "runs": (RUNS_OUT, _runs(store)),
        "events": (EVENTS_OUT, _events(store)),
        **{what: (f"{what}.jsonl", histories.pages(store, part_of)) for what, part_of in histories.HISTORIES.items()},
    }
    counts = {what: await _lines(part / name, pages, what, whole[what], tell) for what, (name, pages) in lines.items()}
    await asyncio.to_thread(_put, part / STANDING_OUT, await store.read(histories.standing))
    agents = await store.read(_agents)
    await asyncio.to_thread(_put, part / "agents.json", agents)
    counts["agents"] = len(agents)
    counts["files"] = await _tree(store, part, stale_s, tell)
    at = await store.read(lambda tx: tx.now)
    await asyncio.to_thread(_put, part / "export.json", {"format": FORMAT, "version": __version__, "at": at, "counts": counts})
    return counts


async def _messages(store: Store) -> Pages:
    cursor = 0
    while (page := await store.read(mail.page, cursor)).items:
        yield page.items
        cursor = page.cursor


async def _tasks(store: Store) -> Pages:
    cursor = 0
    while (page := await store.read(tasks.page, cursor)).items:
        yield page.items
        cursor = page.cursor


async def _entries(store: Store) -> Pages:
    cursor = 0
    while (page := await store.read(contexts.page, cursor)).items:
        yield page.items
        cursor = page.cursor


async def _links(store: Store) -> Pages:
    cursor = ""
    while (page := await store.read(links.page, cursor)).items:
        yield page.items
        cursor = page.cursor


async def _runs(store: Store) -> Pages:
    after = ""
    while rows := await store.read(tasks.runs, after):
        yield [row._asdict() for row in rows]
        after = rows[-1].id


async def _events(store: Store) -> Pages:
    start = events.START
    while True:
        page = await store.read(events.after, start, limit=1000)
        if page.events:
            yield [event.shown() for event in page.events]
        if not page.full:
            return
        start = page.bookmark


def _agents(tx: Transaction) -> list[dict[str, Any]]:
    vitals = roster.all_vitals(tx)
    return [{**agent._asdict(), "vitals": vitals[agent.id]._asdict() if agent.id in vitals else None} for agent in roster.everyone(tx)]


async def _lines(path: Path, pages: Pages, what: str, total: int, tell: Tell) -> int:
    """Write one thing a line; how many they were."""
    count = 0
    file = await asyncio.to_thread(_create, path)
    try:
        async for page in pages:
            await asyncio.to_thread(_write, file, page)
            count += len(page)
            tell(what, count, max(count, total))  # some may come meanwhile
        await asyncio.to_thread(_sync, file)
    finally:
        await asyncio.to_thread(file.close)
    return count


def _create(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")


def _write(file: IO[bytes], page: Sequence[Any]) -> None:
    file.write(msgspec.json.Encoder().encode_lines(page))


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _put(path: Path, value: Any) -> None:
    write_whole(path, msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n", mode=0o600)


async def _tree(store: Store, part: Path, stale_s: float, tell: Tell) -> int:
    """Write the seeds' tree; of how many files it is."""
    names = tree.all_files(await store.read(roster.all_names))
    for folder in tree.FOLDERS:
        await asyncio.to_thread((part / folder).mkdir, mode=0o700, parents=True, exist_ok=True)
    for start in range(0, len(names), FILES_AT_ONCE):
        made = await store.read(tree.make, names[start : start + FILES_AT_ONCE], stale_s)
        await asyncio.to_thread(_put_files, part, made)
        tell("files", min(start + FILES_AT_ONCE, len(names)), len(names))
    return len(names)


def _put_files(part: Path, made: dict[str, bytes | None]) -> None:
    for name, content in made.items():
        if content is not None:
            write_whole(part / name, content, mode=0o600)
