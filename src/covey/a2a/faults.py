"""Our errors as the errors of A2A, by one table; whatever is not in it keeps its sentence and its code in the error's data."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, contextmanager
from functools import wraps
from typing import Any, TypeVar

from a2a.utils.errors import (
    A2AError,
    InternalError,
    InvalidParamsError,
    InvalidRequestError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)

from covey.base.errors import CoveyError, Failed

log = logging.getLogger("covey.a2a")
F = TypeVar("F", bound=Callable[..., Any])

KINDS: dict[str, type[A2AError]] = {
    "invalid": InvalidParamsError,
    "id_taken": InvalidParamsError,
    "too-large": InvalidParamsError,
    "unknown": InvalidParamsError,
    "gone": InvalidParamsError,
    "not_found": TaskNotFoundError,
    "illegal_move": UnsupportedOperationError,
    "conflict": UnsupportedOperationError,
    "cycle": UnsupportedOperationError,
    "forbidden": InvalidRequestError,
    "unauthorized": InvalidRequestError,
}


def a2a_error(error: CoveyError, *, cancelling: bool = False) -> A2AError:
    """The error as a client of A2A knows it. Pure."""
    kind = KINDS.get(error.code, InternalError)
    if cancelling and kind is UnsupportedOperationError:
        kind = TaskNotCancelableError
    return kind(error.message, _data(error))


def _data(error: CoveyError) -> dict[str, Any]:
    """What a program may want beside the sentence; all of it text, as the error's metadata must be."""
    found = {"code": error.code}
    if error.field:
        found["field"] = error.field
    if error.retry_at is not None:
        found["retryAt"] = f"{error.retry_at:.3f}"
    if "outcome" in error.details:
        found["outcome"] = str(error.details["outcome"])
    return found


@contextmanager
def told(*, cancelling: bool = False) -> Iterator[None]:
    """While it lasts, our errors become A2A's. A fault of ours goes to the log, and only its reference to the caller."""
    try:
        yield
    except A2AError:
        raise
    except Exception as error:
        if isinstance(error, CoveyError) and not isinstance(error, Failed):
            raise a2a_error(error, cancelling=cancelling) from error
        reference = secrets.token_hex(4)
        log.error("a call failed (reference %s)", reference, exc_info=error)
        raise InternalError(f"something failed inside Covey; the log has it under the reference {reference}.") from error


def telling(method: F) -> F:
    """Mark a method whose errors a client of A2A gets."""

    @wraps(method)
    async def told_of(*args: Any, **kwargs: Any) -> Any:
        with told(cancelling=method.__name__ == "on_cancel_task"):
            return await method(*args, **kwargs)

    return told_of  # type: ignore[return-value]  # of the same form, by wraps


def telling_on(method: F) -> F:
    """As `telling`, of a method that streams. What is streamed is closed with it, so that nothing goes on for a client that has left."""

    @wraps(method)
    async def told_of(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        with told():
            async with aclosing(method(*args, **kwargs)) as stream:
                async for each in stream:
                    yield each

    return told_of  # type: ignore[return-value]  # as above
