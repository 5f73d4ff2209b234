"""How the console's operations are made: a page, a part of a page, a file of rows, an action. Each is the operator's alone.

An action is the only way to change anything, and takes a `Form`: the word of the sign-in is checked before its handler runs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec
from markupsafe import Markup

from covey.console.console import by_htmx, console_of
from covey.console.rendering import Level, fragment, notice, render
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import NOTHING, Nothing, Operation

Q = TypeVar("Q")


class Form(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What every form of a page carries."""

    csrf: str


F = TypeVar("F", bound=Form)


def page(
    path: str, handler: Callable[[Call[Q, Nothing]], Awaitable[Answer]], summary: str, *, query: type[Q] = NOTHING
) -> Operation[Q, Nothing]:
    """A line for a whole page, a part of one, or a dialog: what is looked at."""
    return Operation(method="GET", path=path, handler=handler, summary=summary, who="operator", gives=str, query=query, media="text/html")


def act(
    path: str, handler: Callable[[Call[Q, F]], Awaitable[Answer]], summary: str, *, takes: type[F], query: type[Q] = NOTHING
) -> Operation[Q, F]:
    """A line for what is done by sending a form."""

    async def checked(call: Call[Q, F]) -> Answer:
        console_of(call).visits.check(call.headers, call.body.csrf)
        answer = await handler(call)
        console_of(call).shared.forget()
        return answer

    return Operation(
        method="POST",
        path=path,
        handler=checked,
        summary=summary,
        who="operator",
        gives=str,
        query=query,
        body=takes,
        media="text/html",
        form=True,
    )


async def shared(call: Call[Any, Any], make: Callable[[], Awaitable[Markup]]) -> Answer:
    """A part of a page, made once for all who look at it now. It must hold nothing of a single sign-in."""

    async def encoded() -> bytes:
        return (await make()).encode()

    key = f"{call.scope['path']}?{call.scope['query_string'].decode('latin-1')}"
    return fragment(await console_of(call).shared.get(key, encoded))


def dialog(call: Call[Any, Any], template: str, **values: Any) -> Answer:
    """What the page's dialog shows: a question before something is done, with its form."""
    return fragment(render(template, csrf=console_of(call).visits.word(call.headers), **values))


def done(call: Call[Any, Any], text: str, level: Level = "good", status: int = 200) -> Answer:
    """What came of an action, in words that are true."""
    if by_htmx(call):
        return notice(text, level, status)
    return console_of(call).whole(call, "done.html", status, title="Done" if level == "good" else "Not done", said=text)


Operations = tuple[Operation[Any, Any], ...]
