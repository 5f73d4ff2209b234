"""One line of the route table: path, method, handler, what it takes and gives, who may call. Routes and OpenAPI are made from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import msgspec

from covey.agents.model import Caller
from covey.base.errors import Forbidden, Unauthorized
from covey.doors.answer import Answer, Stream
from covey.doors.call import Call

Q = TypeVar("Q")
B = TypeVar("B")

Who = Literal["anyone", "status", "metrics", "caller", "buddy", "lead", "self", "operator", "links", "owner"]
"""Who may call.

anyone: no token. status, metrics: no token on loopback or where the settings open it, else any. caller: any token.
buddy, lead: the operator and the agent's buddy, or the lead; the verb decides. self: the operator, and the agent that the
path names. operator: nobody else. links: any token, an owner's
too; the verb decides. owner: the operator and owners; the verb decides. An owner may call nothing else (L15).
"""


class Nothing(msgspec.Struct, forbid_unknown_fields=True):
    """No parameters, no body."""


NOTHING: Any = Nothing
"""`Nothing`, as the default of any type."""


@dataclass(frozen=True, kw_only=True)
class Operation(Generic[Q, B]):
    """What can be asked of a port."""

    method: Literal["GET", "POST"]
    path: str
    handler: Callable[[Call[Q, B]], Awaitable[Answer | Stream]]
    summary: str
    who: Who
    gives: Any
    """The type of its answer, for the document."""
    query: type[Q] = NOTHING
    body: type[B] = NOTHING
    status: int = 200
    media: str = "application/json"
    also: tuple[str, ...] = ()
    """Further media types, by the Accept header."""
    verb: Callable[..., Any] | None = None
    """The verb that it calls; None where it asks the process alone."""
    form: bool = False
    """Whether its body is a page's form instead of JSON."""

    @property
    def ident(self) -> str:
        """Its name in the document."""
        return self.handler.__name__

    def empty_body(self) -> B | None:
        """What no body at all means; None if a body is needed."""
        try:
            return self.body()
        except TypeError:
            return None


Handler = Callable[[Call[Q, B]], Awaitable[Answer | Stream]]


def get(
    path: str,
    handler: Handler[Q, Nothing],
    who: Who,
    summary: str,
    *,
    gives: Any,
    query: type[Q] = NOTHING,
    media: str = "application/json",
    also: tuple[str, ...] = (),
    verb: Callable[..., Any] | None = None,
) -> Operation[Q, Nothing]:
    """A line for what is read."""
    return Operation(
        method="GET", path=path, handler=handler, who=who, summary=summary, gives=gives, query=query, media=media, also=also, verb=verb
    )


def post(
    path: str,
    handler: Handler[Q, B],
    who: Who,
    summary: str,
    *,
    gives: Any,
    takes: type[B] = NOTHING,
    query: type[Q] = NOTHING,
    status: int = 200,
    verb: Callable[..., Any] | None = None,
) -> Operation[Q, B]:
    """A line for what is done. `takes` is the body."""
    return Operation(
        method="POST", path=path, handler=handler, who=who, summary=summary, gives=gives, query=query, body=takes, status=status, verb=verb
    )


def admit(operation: Operation[Any, Any], call: Call[Any, Any], caller: Caller | None, *, open_here: bool) -> None:
    """Let the caller do this, or say why not. Pure.

    Raises:
        Unauthorized: It needs a token.
        Forbidden: It is not the caller's to do.
    """
    who = operation.who
    if who == "anyone" or (who in ("status", "metrics") and open_here):
        return
    if caller is None:
        raise Unauthorized("this needs a token: send `Authorization: Bearer TOKEN`; `covey token show NAME` prints it.")
    if caller.kind == "owner" and who not in ("links", "owner"):
        raise Forbidden(f"the token is {caller.name}'s, which is for the links of its agents alone.")
    if who == "owner" and caller.kind not in ("operator", "owner"):
        raise Forbidden(f"only the operator and the agents' owner may do this, and the token is {caller.name}'s.")
    if who == "operator" and caller.kind != "operator":
        raise Forbidden(f"only the operator may do this, and the token is {caller.name}'s.")
    if who == "self" and caller.kind != "operator" and caller.name != call.scope["path_params"]["name"]:
        raise Forbidden(f"this is for {call.scope['path_params']['name'][:60]} itself, and the token is {caller.name}'s.")
