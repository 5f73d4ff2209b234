"""Import a tree such as the seeds' (S4), one that others wrote or an export of ours: what is sound is taken, each fault is told.

Ids are kept, so a second import changes nothing. Mail comes from its senders, outside quotas. What says that it was handled stays so
and wakes nobody; mail that says nothing of how it stands waits, and wakes only if an answer to it is due. Agents are not made: mail and
tasks of names that are not of this fleet are told. Heartbeats, health and buddy files are facts of another fleet, and are left alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from covey.agents import carrying as agents
from covey.agents import roster
from covey.agents.carrying import CarriedMetrics
from covey.base.errors import CoveyError, Failed, NotFound
from covey.base.progress import Tell, silent
from covey.contexts import carrying as contexts
from covey.contexts.carrying import CarriedEntry
from covey.files import foreign, seeds, tree
from covey.files.foreign import Fault, Faults, Item
from covey.files.ordering import Ordered, in_order
from covey.links import carrying as links
from covey.links.carrying import CarriedLink
from covey.messages import carrying as mail
from covey.messages.carried import CarriedMessage, Put
from covey.store import Store, Transaction
from covey.tasks import carrying as tasks
from covey.tasks.carried import CarriedTask, NeedsOthers

AT_ONCE = 50
"""So many things are put in with one commit."""
MESSAGES_OUT, TASKS_OUT, CONTEXTS_OUT, LINKS_OUT = "messages.jsonl", "tasks.jsonl", "contexts.jsonl", "links.jsonl"


class Report(msgspec.Struct, rename="camel"):
    """What an import came to."""

    taken: dict[str, int]
    known: dict[str, int]
    """What was there already and was left as it is."""
    faults: list[Fault]
    fault_count: int


class Thing(NamedTuple):
    """Something to be put in, and where it stands."""

    item: Item
    value: Any


Putting = Callable[[Transaction, Any], Any]


def put_each(tx: Transaction, put: Putting, values: list[Any]) -> list[Any]:
    """What became of each: the verb's answer, or the error with which it was refused; one refused stops no other."""
    answers: list[Any] = []
    for value in values:
        try:
            with tx.attempt():
                answers.append(put(tx, value))
        except CoveyError as error:
            answers.append(error)
    return answers


async def import_tree(store: Store, folder: Path, tell: Tell = silent) -> Report:
    """Take over what a tree holds, and tell what was wrong with it.

    Raises:
        NotFound: There is no such folder, or nothing of such a tree in it.
    """
    known = (tree.STATES, tree.QUEUES, tree.COMMUNICATION, MESSAGES_OUT, TASKS_OUT, CONTEXTS_OUT, LINKS_OUT)
    if not await asyncio.to_thread(lambda: any((folder / name).exists() for name in known)):
        raise NotFound(f"{folder} holds no tree to import: none of {', '.join(known)} is there.", field="dir")
    work = _Import(store, folder, tell)
    await work.links()
    await work.messages()
    await work.tasks()
    await work.agents()
    return Report(work.taken, work.known, work.faults.kept, work.faults.count)


class _Import:
    """One import on its way."""

    def __init__(self, store: Store, folder: Path, tell: Tell) -> None:
        self._store = store
        self._folder = folder
        self._tell = tell
        self._bytes = 0
        self.faults = Faults()
        self.taken: dict[str, int] = {}
        self.known: dict[str, int] = {}

    async def links(self) -> None:
        """Who may write to whom, with what is left of each limit."""
        await self._put_all("links", self._things(LINKS_OUT, CarriedLink), links.put, self._size(LINKS_OUT))

    async def messages(self) -> None:
        """All mail: the export's first, since it says most."""
        await self._put_all("messages", self._things(MESSAGES_OUT, CarriedMessage), mail.put, self._size(MESSAGES_OUT))
        for name in (tree.MESSAGES, tree.NOTIFICATIONS):
            found = await asyncio.to_thread(seeds.messages, self._folder, name, self.faults)
            await self._put_all("messages", [Thing(*each) for each in found], mail.put)

    async def tasks(self) -> None:
        """All tasks, each after those that it needs."""
        waiting: list[Ordered] = []
        put = tasks.put
        for thing, answer in await self._put_all("tasks", self._things(TASKS_OUT, CarriedTask), put, self._size(TASKS_OUT)):
            if isinstance(answer, NeedsOthers):
                waiting.append(Ordered(thing.item, thing.value, 0.0))
        now = await self._store.read(lambda tx: tx.now)
        waiting += await asyncio.to_thread(seeds.tasks, self._folder, now, self.faults)
        ordered, never = in_order(waiting)
        for each in never:
            what = f"{each.task.task_id} needs itself by way of others, or one that does, so it could never run: it was left out."
            self.faults.add(each.item.file, each.item.place, what)
        in_tree = {each.task.task_id for each in waiting}
        things = [Thing(each.item, each) for each in ordered]

        def put_ordered(tx: Transaction, each: Ordered) -> Put | NeedsOthers:
            absent = frozenset(each.task.dependencies) - in_tree
            return tasks.put(tx, each.task, not_ahead_of=each.not_ahead_of, as_met=absent)

        for thing, answer in await self._put_all("tasks", things, put_ordered):
            if isinstance(answer, NeedsOthers):
                self.faults.add(
                    thing.item.file, thing.item.place, f"it needs {', '.join(answer.missing)[:300]}, which was not taken: it was left out."
                )

    async def agents(self) -> None:
        """What the agents know, and how much they have done."""
        await self._put_all("entries", self._things(CONTEXTS_OUT, CarriedEntry), contexts.put, self._size(CONTEXTS_OUT))
        ours = await self._store.read(roster.all_names)
        states = await asyncio.to_thread(seeds.states, self._folder, self.faults)
        for state in states:
            if state.agent not in ours:
                self.faults.add(state.file, "agentId", f"{state.agent!r} is not of this fleet: its state was left out.")
        mine = [state for state in states if state.agent in ours]
        decisions = [Thing(item, entry) for state in mine for item, entry in state.decisions]
        await self._put_all("entries", decisions, contexts.put)
        metrics = [Thing(Item(state.file, "metrics", None), (state.agent, state.metrics)) for state in mine if state.metrics is not None]
        await self._put_all("metrics", metrics, _put_metrics)

    def _things(self, name: str, kind: type[Any]) -> Iterator[Thing]:
        for item in foreign.lines(self._folder, name, self.faults, self._moved):
            value = seeds.converted(kind, item, item.value, self.faults)
            if value is not None:
                yield Thing(item, value)

    def _size(self, name: str) -> int:
        """How many bytes a file of lines has; 0 if it is not there."""
        self._bytes = 0
        path = self._folder / name
        return path.stat().st_size if path.is_file() else 0

    def _moved(self, to: int) -> None:
        self._bytes = to

    async def _put_all(self, what: str, things: Iterable[Thing], put: Putting, size: int = 0) -> list[tuple[Thing, Any]]:
        """Put them in, so many a commit; the answers that are neither yes, no nor an error come back.

        How far it is, is told in bytes of a file's `size`, or in things of a list.
        """
        others: list[tuple[Thing, Any]] = []
        line, done = iter(things), 0
        while batch := await asyncio.to_thread(lambda: list(islice(line, AT_ONCE))):
            answers = await self._put_batch(put, [thing.value for thing in batch])
            for thing, answer in zip(batch, answers, strict=True):
                self._note(what, thing, answer)
                if isinstance(answer, NeedsOthers):
                    others.append((thing, answer))
            done += len(batch)
            self._tell(what, *((done, len(things)) if isinstance(things, list) else (self._bytes, size)))
        return others

    async def _put_batch(self, put: Putting, values: list[Any]) -> list[Any]:
        """The answers to a batch. One that the store can't hold, for a reason nobody thought of, costs only itself."""
        try:
            return await self._store.write(put_each, put, values)
        except Failed as error:
            if len(values) == 1:
                return [error]
            return [answer for value in values for answer in await self._put_batch(put, [value])]

    def _note(self, what: str, thing: Thing, answer: Any) -> None:
        if isinstance(answer, CoveyError):
            self.faults.add(thing.item.file, f"{thing.item.place}{'.' + answer.field if answer.field else ''}", answer.message)
            return
        taken, notes = (answer.taken, answer.notes) if isinstance(answer, Put) else (answer is True, [])
        if not isinstance(answer, NeedsOthers):
            counts = self.taken if taken else self.known
            counts[what] = counts.get(what, 0) + 1
        for note in notes:
            self.faults.add(thing.item.file, thing.item.place, note)


def _put_metrics(tx: Transaction, both: tuple[str, CarriedMetrics]) -> bool:
    return agents.put_metrics(tx, *both)
