"""Signing in by the operator's token, and out again."""

from __future__ import annotations

import asyncio

import msgspec

from covey.base.errors import CoveyError, Unauthorized
from covey.console.console import Console, console_of, is_own_path
from covey.console.routes import Form, act
from covey.console.visits import check_origin
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing, Operation, get

LONGEST_TOKEN = 600
WRONG_S = 0.5
"""A wrong token is answered so late."""


class Next(msgspec.Struct, forbid_unknown_fields=True):
    """Where to go on after signing in."""

    next: str = "/"


class Token(msgspec.Struct, forbid_unknown_fields=True):
    """What the form of the sign-in sends."""

    token: str
    next: str = "/"


async def get_sign_in(call: Call[Next, Nothing]) -> Answer:
    """The form, or the page itself for who is signed in already."""
    onward = call.query.next if is_own_path(call.query.next) else "/"
    if await call.recognise() is not None:
        return _to(onward)
    return console_of(call).whole(call, "sign_in.html", next=onward, said="", places=())


async def sign_in(call: Call[Nothing, Token]) -> Answer:
    """A sign-in by the operator's token; nothing but that token opens the console."""
    check_origin(call.headers)
    console, onward = console_of(call), call.body.next if is_own_path(call.body.next) else "/"
    try:
        if len(call.body.token) > LONGEST_TOKEN:
            raise Unauthorized("this is longer than any token; paste the one line that `covey token show operator` prints.", field="token")
        secret = await console.visits.begin(call.body.token)
    except Unauthorized as error:
        return await _wrong(call, console, error, onward)
    return _to(onward, (b"set-cookie", _cookie(call, console, secret)))


async def _wrong(call: Call[Nothing, Token], console: Console, error: CoveyError, onward: str) -> Answer:
    await asyncio.sleep(WRONG_S)
    return console.whole(call, "sign_in.html", error.face.http, next=onward, said=error.message, places=())


async def sign_out(call: Call[Nothing, Form]) -> Answer:
    """The sign-in ends at once, in every tab."""
    console = console_of(call)
    await console.visits.end(call.headers)
    gone = f"{console.visits.cookie}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0".encode()
    return _to("/sign-in", (b"set-cookie", gone))


def _cookie(call: Call[Nothing, Token], console: Console, secret: str) -> bytes:
    """The cookie of a sign-in; it stays on HTTPS where it was made there. It ends with the browser, and in the store before that."""
    secure = "; Secure" if call.headers.get(b"origin", b"").lower().startswith(b"https:") else ""
    return f"{console.visits.cookie}={secret}; Path=/; HttpOnly; SameSite=Strict{secure}".encode()


def _to(path: str, *headers: tuple[bytes, bytes]) -> Answer:
    return Answer(303, b"", headers=((b"location", path.encode()), *headers))


OPERATIONS = (
    get("/sign-in", get_sign_in, "anyone", "The form of the sign-in.", gives=str, media="text/html", query=Next),
    Operation(
        method="POST",
        path="/sign-in",
        handler=sign_in,
        summary="Sign in.",
        who="anyone",
        gives=str,
        body=Token,
        media="text/html",
        form=True,
    ),
    act("/sign-out", sign_out, "Sign out.", takes=Form),
)
