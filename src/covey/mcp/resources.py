"""What a client can read and follow as resources: the mailbox, the roster, threads, tasks. Each is what a tool gives, under an address."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote

import msgspec
from mcp import types

from covey.base.errors import NotFound
from covey.mcp import tools_inbox, tools_self
from covey.mcp.tooling import Call
from covey.mcp.tools_inbox import InboxAsked, ReadAsked
from covey.mcp.tools_self import Who

JSON = "application/json"
INBOX = "covey://inbox"
ROSTER = "covey://agents"
THREAD = "covey://threads/{id}"
TASK = "covey://tasks/{id}"
_ONE = re.compile(r"covey://(threads|tasks)/([A-Za-z0-9._:%-]{1,400})")

RESOURCES = [
    types.Resource(uri=INBOX, name="inbox", title="Your unread mail", description="The newest first, each in short.", mime_type=JSON),
    types.Resource(uri=ROSTER, name="roster", title="Who is in the fleet", description="All agents and what they can do.", mime_type=JSON),
]
TEMPLATES = [
    types.ResourceTemplate(
        uri_template=THREAD, name="thread", title="A thread", description="A conversation you have a part in, in order.", mime_type=JSON
    ),
    types.ResourceTemplate(
        uri_template=TASK, name="task", title="A task", description="A task as it stands, with its result.", mime_type=JSON
    ),
]

Make = Callable[[Any], Call[Any]]
"""Makes a call of a tool with these arguments."""


async def read(uri: str, make: Make) -> types.ReadResourceResult:
    """What is at an address, as JSON.

    Raises:
        NotFound: There is no such address.
        CoveyError: As the tool that gives it.
    """
    found = msgspec.json.encode(await _reading(uri, make)).decode()
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=JSON, text=found)])


def _reading(uri: str, make: Make) -> Awaitable[Any]:
    if uri == INBOX:
        return tools_inbox.inbox(make(InboxAsked(limit=50)))
    if uri == ROSTER:
        return tools_self.agents(make(Who()))
    match = _ONE.fullmatch(uri)
    if match is None:
        raise NotFound(f"there is no resource {uri[:200]!r}; there are {INBOX}, {ROSTER}, {THREAD}, {TASK}.", field="uri")
    ident = unquote(match[2])
    return tools_inbox.read(make(ReadAsked(thread_id=ident) if match[1] == "threads" else ReadAsked(task_id=ident)))
