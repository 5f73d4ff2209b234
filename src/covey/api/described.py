"""A port that says what can be asked of it: its OpenAPI document, and the same as a page, each made once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from starlette.routing import BaseRoute

from covey.api import openapi, pages
from covey.doors.answer import HTML, JSON, Answer
from covey.doors.door import FleetDoor
from covey.doors.operations import Operation
from covey.doors.port import Port


class DescribedPort(Port):
    """A port of programs, which read what it can do."""

    def __init__(self, door: FleetDoor, title: str, operations: Sequence[Operation[Any, Any]], mounted: Sequence[BaseRoute] = ()) -> None:
        super().__init__(door, operations, mounted)
        self.title = title

    @cached_property
    def document(self) -> dict[str, Any]:
        """The OpenAPI document of this port."""
        return openapi.document(self.title, self.operations)

    @cached_property
    def document_answer(self) -> Answer:
        """The document as it is answered."""
        return Answer(200, openapi.encode(self.document), JSON)

    @cached_property
    def docs_answer(self) -> Answer:
        """The document as a page."""
        return Answer(200, pages.docs(self.document).encode(), HTML, pages.POLICY)
