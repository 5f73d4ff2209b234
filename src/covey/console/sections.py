"""A page of one thing: read once for all its parts and all who look, each part at an address of its own below the page's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from markupsafe import Markup

from covey.base.settings import Settings
from covey.console.console import console_of
from covey.console.routes import Operations, page, shared
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.store import Transaction

V = TypeVar("V")


@dataclass(frozen=True, kw_only=True)
class Sections(Generic[V]):
    """The page of one thing of a kind. Its template gets `ident` and `parts`, which has each part by its name."""

    path: str
    """With `{id}`, the thing's."""
    template: str
    summary: str
    read: Callable[[Transaction, str, Settings], V]
    parts: Mapping[str, Callable[[V], Markup]]

    async def find(self, call: Call[Any, Any]) -> V:
        """The thing of the path."""
        ident, settings = call.named("id"), call.door.settings
        key = f"{self.path} {ident}"
        return await console_of(call).shared.get(key, lambda: call.door.store.read(self.read, ident, settings))

    async def whole(self, call: Call[Nothing, Nothing]) -> Answer:
        """The page."""
        view = await self.find(call)
        parts = {name: make(view) for name, make in self.parts.items()}
        return console_of(call).whole(call, self.template, ident=call.named("id"), parts=parts)

    async def part(self, call: Call[Nothing, Nothing]) -> Answer:
        """The part that the path ends in."""
        make = self.parts[call.scope["path"].rpartition("/")[2]]

        async def made() -> Markup:
            return make(await self.find(call))

        return await shared(call, made)

    @property
    def operations(self) -> Operations:
        """The page and its parts."""
        return (
            page(self.path, self.whole, f"{self.summary}."),
            *(page(f"{self.path}/{name}", self.part, f"{self.summary}: {name}.") for name in self.parts),
        )
