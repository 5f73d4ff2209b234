"""One call of the API as data: what is asked, and how its answer is read. Knows no connection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import urlencode

import msgspec

from covey.base.errors import CoveyError, Failed, Invalid, error_of
from covey.base.ids import is_id
from covey.base.wire import check_value, encode

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Request(Generic[T]):
    """What is asked. `wait_s`: for so long the fleet is asked to wait with its answer."""

    method: Literal["GET", "POST"]
    path: str
    read: Callable[[int, bytes], T]
    body: bytes = b""
    wait_s: float = 0.0


def asking(kind: type[T], path: str, *, wait_s: float | None = None, **query: Any) -> Request[T]:
    """A question; a parameter that is None is left out. With `wait_s` it waits for the answer."""
    return Request(method="GET", path=with_query(path, query | {"wait": wait_s}), read=answer_of(kind), wait_s=wait_s or 0.0)


def doing(kind: type[T], path: str, body: Any = None, *, wait_s: float | None = None) -> Request[T]:
    """Something to be done."""
    made = encoded(body)
    return Request(method="POST", path=with_query(path, {"wait": wait_s}), body=made, read=answer_of(kind), wait_s=wait_s or 0.0)


def answer_of(kind: type[T]) -> Callable[[int, bytes], T]:
    """How an answer of this type is read: what is no success is raised as the error that it is."""

    def read(status: int, body: bytes) -> T:
        if status >= 400:
            raise error_in(status, body)
        try:
            return msgspec.json.decode(body, type=kind)
        except msgspec.MsgspecError as error:
            raise Failed(f"the answer is not as it should be ({error}); is the address that of a fleet's API of this version?") from error

    return read


def error_in(status: int, body: bytes) -> CoveyError:
    """The error that an answer is."""
    try:
        problem = msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.MsgspecError:
        problem = {}
    if "code" not in problem:
        return Failed(f"the address answered with HTTP status {status} and no problem of ours; is it that of a fleet's API?", status=status)
    return error_of(problem)


def with_query(path: str, query: Mapping[str, Any]) -> str:
    """The path with the parameters that are not None."""
    told = {name: str(value).lower() if isinstance(value, bool) else value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(told, errors='replace')}" if told else path


def part(text: str, field: str = "id") -> str:
    """A name or id as a part of a path.

    Raises:
        Invalid: It is of no form that a name or an id has: it could lead to another path.
    """
    if not is_id(text):
        raise Invalid(f"{field} is {text[:60]!r}; it is 1 to 128 of the characters A-Z a-z 0-9 . _ : -", field=field)
    return text


def encoded(body: Any) -> bytes:
    """The body as JSON.

    Raises:
        Invalid: A text in it is no UTF-8, a number not finite, or a value no JSON; `field` names it.
    """
    if body is None:
        return b"{}"
    try:
        plain = msgspec.to_builtins(body)
        check_value(plain)
        return encode(plain)
    except (TypeError, msgspec.MsgspecError) as error:
        raise Invalid(f"the call holds what is no JSON ({error}); nothing was stored.") from error
