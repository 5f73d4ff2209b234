"""Every error a caller can react to, each with a stable code, and the one table that turns it into HTTP, JSON-RPC and exit codes."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple


class Face(NamedTuple):
    """How one code looks at the doors."""

    http: int
    rpc: int
    exit: int


FACES: dict[str, Face] = {
    # errors
    "invalid": Face(400, -32602, 2),
    "id_taken": Face(409, -32602, 3),
    "too-large": Face(413, -32602, 2),
    "unauthorized": Face(401, -32001, 3),
    "forbidden": Face(403, -32001, 3),
    "foreign_origin": Face(403, -32001, 3),
    "unknown": Face(404, -32004, 4),
    "not_found": Face(404, -32004, 4),
    "method_not_allowed": Face(405, -32601, 2),
    "unsupported_media_type": Face(415, -32600, 2),
    "gone": Face(410, -32004, 4),
    "not_linkable": Face(403, -32001, 3),
    "conflict": Face(409, -32009, 3),
    "lease_lost": Face(409, -32009, 3),
    "illegal_move": Face(409, -32009, 3),
    "budget_spent": Face(429, -32029, 3),
    "too_many": Face(429, -32029, 3),
    "changed_meanwhile": Face(412, -32009, 3),
    "not_running": Face(503, -32010, 5),
    "store_busy": Face(503, -32010, 1),
    "store_unavailable": Face(503, -32010, 1),
    "store_damaged": Face(503, -32010, 1),
    "port_taken": Face(503, -32010, 1),
    "misconfigured": Face(400, -32602, 2),
    "failed": Face(500, -32603, 1),
    # outcomes of a send (L13): returned, not raised
    "delivered": Face(201, 0, 0),
    "deferred": Face(202, 0, 0),
    "held": Face(202, 0, 0),
    "suppressed": Face(200, 0, 0),
    "debounced": Face(429, -32029, 3),
    "exhausted": Face(429, -32029, 3),
    "duplicate": Face(409, -32009, 3),
    "cycle": Face(409, -32009, 3),
    "too-deep": Face(409, -32009, 3),
    "paused": Face(409, -32009, 3),
    "unlinked": Face(403, -32001, 3),
    "disabled": Face(403, -32001, 3),
}


class CoveyError(Exception):
    """Something is wrong, said as what is, why, and what to do next.

    `field` names the part of the input that is at fault (a dotted path), `retry_at` is store time in Unix seconds
    where waiting helps, `details` are further JSON values for programs.
    """

    code: ClassVar[str] = "failed"

    def __init__(self, message: str, *, field: str | None = None, retry_at: float | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.retry_at = retry_at
        self.details = details

    @property
    def face(self) -> Face:
        """The HTTP status, JSON-RPC code and exit code of this error."""
        return FACES[self.code]

    def problem(self) -> dict[str, Any]:
        """The error as an RFC 9457 problem object."""
        body: dict[str, Any] = {
            "type": f"urn:covey:{self.code}",
            "title": self.code.replace("_", " ").replace("-", " "),
            "status": self.face.http,
            "detail": self.message,
            "code": self.code,
        }
        if self.field is not None:
            body["field"] = self.field
        if self.retry_at is not None:
            body["retryAt"] = self.retry_at
        return body | self.details


class Invalid(CoveyError):
    """An input is of the wrong form; `field` names it and nothing was stored."""

    code = "invalid"


class IdTaken(Invalid):
    """The id the caller brought names something else already (T3)."""

    code = "id_taken"


class TooLarge(CoveyError):
    """An input is over its bound (M10); nothing was stored."""

    code = "too-large"


class Unauthorized(CoveyError):
    """No token, or one that nobody has."""

    code = "unauthorized"


class Forbidden(CoveyError):
    """The token is known, and this is not its holder's to do."""

    code = "forbidden"


class ForeignOrigin(CoveyError):
    """The Host or Origin header is not one of ours: a web page that tries to reach a local fleet."""

    code = "foreign_origin"


class NotFound(CoveyError):
    """There is no such thing; `details["nearest"]` may list names that come near."""

    code = "not_found"


class Unknown(NotFound):
    """There is no such agent (M4c)."""

    code = "unknown"


class Gone(CoveyError):
    """It was here and was removed."""

    code = "gone"


class NotLinkable(Forbidden):
    """The two agents have no owner and no organisation in common (L1)."""

    code = "not_linkable"


class MethodNotAllowed(CoveyError):
    """The path exists, not with this method."""

    code = "method_not_allowed"


class UnsupportedMediaType(CoveyError):
    """The body is not of the type the door takes."""

    code = "unsupported_media_type"


class Conflict(CoveyError):
    """Somebody else was first, or the state does not allow it."""

    code = "conflict"


class LeaseLost(Conflict):
    """The token is not the current one; drop the outcome (K4)."""

    code = "lease_lost"


class IllegalMove(Conflict):
    """The state table has no such move (K1)."""

    code = "illegal_move"


class Cycle(Conflict):
    """It would close a circle; `details["circle"]` names it (K3, M7)."""

    code = "cycle"


class ChangedMeanwhile(Conflict):
    """What was to be edited is no longer as the caller saw it."""

    code = "changed_meanwhile"


class BudgetSpent(Conflict):
    """Nobody asked for it, and the budget that it would count on is spent (P3)."""

    code = "budget_spent"


class TooMany(Conflict):
    """The caller has as many of these as it may."""

    code = "too_many"


class TooDeep(Conflict):
    """A chain of work that agents made of each other has gone on for too long."""

    code = "too-deep"


class NotRunning(CoveyError):
    """The fleet can't be reached."""

    code = "not_running"


class StoreBusy(CoveyError):
    """The write lock could not be had in 30 s; nothing was stored, try again at `retry_at`."""

    code = "store_busy"


class StoreUnavailable(CoveyError):
    """The store can't be opened, read or written; nothing was lost."""

    code = "store_unavailable"


class StoreDamaged(CoveyError):
    """The store's file is not sound; restore a backup."""

    code = "store_damaged"


class PortTaken(CoveyError):
    """Somebody else holds the port (A10)."""

    code = "port_taken"


class Misconfigured(CoveyError):
    """covey.toml is refused whole; `faults` has each fault with its line (A2)."""

    code = "misconfigured"

    def __init__(self, message: str, faults: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message, faults=faults or [])
        self.faults = faults or []


class Failed(CoveyError):
    """It was tried and did not work."""

    code = "failed"


_MEMBERS = frozenset({"type", "title", "status", "detail", "code", "field", "retryAt"})


def error_of(problem: dict[str, Any]) -> CoveyError:
    """The error that an RFC 9457 problem object of ours says: of the class with its code, or `Failed` if this version knows none.

    Its message, `field`, `retry_at` and `details` are those that were raised at the other end.
    """
    code, message = str(problem.get("code", "")), str(problem.get("detail", "it failed"))
    details = {name: value for name, value in problem.items() if name not in _MEMBERS}
    if code == Misconfigured.code:
        faults = details.get("faults")
        return Misconfigured(message, faults if isinstance(faults, list) else None)
    kind = _with_code(CoveyError, code)
    if kind is None:
        kind, details = Failed, details | {"code": code}
    return kind(message, field=problem.get("field"), retry_at=problem.get("retryAt"), **details)


def _with_code(base: type[CoveyError], code: str) -> type[CoveyError] | None:
    """The first class under this one that has the code as its own."""
    for kind in base.__subclasses__():
        if kind.__dict__.get("code") == code:
            return kind
        if found := _with_code(kind, code):
            return found
    return None
