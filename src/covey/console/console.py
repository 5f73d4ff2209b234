"""The console as an application: a port whose callers are people, known by a cookie, who read pages and not problem objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

from covey.agents.model import Caller
from covey.base.config.origins import NOTHING_KNOWN, Origins
from covey.base.errors import CoveyError, Unauthorized
from covey.base.settings import Settings
from covey.console.assets import edition
from covey.console.hints import Hints
from covey.console.rendering import POLICY, Place, notice, render
from covey.console.sharing import Shared
from covey.console.visits import Visits, cookie_of
from covey.doors.answer import HTML, Answer, Headers, problem
from covey.doors.call import Call
from covey.doors.door import FleetDoor
from covey.doors.operations import Operation
from covey.doors.port import Port
from covey.store.events import Event

SIGN_IN = "/sign-in"
THEMES = ("light", "dark")


Printed = Callable[[Settings, str, int], list[str]]
"""The last lines that an agent's process has printed on this machine."""


OriginsOf = Callable[[Settings], Origins]
"""Where the settings come from, as far as it is known on this machine."""


def nothing_known(_settings: Settings) -> Origins:
    """Where the fleet's files are out of reach."""
    return NOTHING_KNOWN


def nothing_printed(_settings: Settings, _agent: str, _lines: int) -> list[str]:
    """Where the output of processes is out of reach."""
    return []


class Console(Port):
    """What serves the pages."""

    def __init__(
        self,
        door: FleetDoor,
        operations: Sequence[Operation[Any, Any]],
        places: Sequence[Place],
        printed: Printed = nothing_printed,
        origins: OriginsOf = nothing_known,
    ) -> None:
        super().__init__(door, operations)
        self._places = places
        self.printed = printed
        self.origins = origins
        self.visits = Visits(door.store, door.clock, door.settings.console_port)
        self.shared = Shared(door.clock)
        self.hints = Hints(door, edition(), self._before_hint)

    def _before_hint(self, found: Sequence[Event]) -> None:
        """What was made or known before this happened is asked for anew."""
        self.shared.forget()
        if any(event.kind in ("token.changed", "operator.signed_out") for event in found):
            self.visits.forget()

    async def caller(self, call: Call[Any, Any]) -> Caller | None:
        """The operator, by the cookie of a sign-in. A bearer token opens no page."""
        return await self.visits.caller(call.headers)

    def whole(self, call: Call[Any, Any], template: str, status: int = 200, headers: Headers = (), **values: Any) -> Answer:
        """A page as a browser loads it, with the navigation around it."""
        theme = cookie_of(call.headers, "covey_theme")
        frame = {
            "csrf": self.visits.word(call.headers),
            "edition": edition(),
            "here": call.scope["path"],
            "places": self._places,
            "theme": theme if theme in THEMES else "",
        }
        return Answer(status, render(template, **(frame | values)).encode(), HTML, POLICY + headers)

    def refusal(self, call: Call[Any, Any], error: CoveyError) -> Answer:
        """What went wrong, as whoever asked can show it: a notice on the page, a page, or a problem object."""
        if isinstance(error, Unauthorized) and call.scope["path"] != SIGN_IN:
            return self._to_sign_in(call, error)
        if by_htmx(call):
            return notice(error.message, "bad", error.face.http)
        if b"text/html" in call.headers.get(b"accept", b""):
            places = self._places if call.is_known else ()
            return self.whole(call, "fault.html", error.face.http, title=error.problem()["title"], said=error.message, places=places)
        return problem(error, self.door.clock.wall())

    def _to_sign_in(self, call: Call[Any, Any], error: CoveyError) -> Answer:
        """Where to sign in, and back from there. A stream is told plainly: its page decides."""
        if by_htmx(call):
            at = urlsplit(call.headers.get(b"hx-current-url", b"").decode("latin-1"))
            return Answer(401, b"", headers=((b"hx-redirect", sign_in_from(at.path, at.query).encode()),))
        if b"text/html" in call.headers.get(b"accept", b"") and call.scope["method"] == "GET":
            back = sign_in_from(call.scope["path"], call.scope["query_string"].decode("latin-1"))
            return Answer(303, b"", headers=((b"location", back.encode()),))
        return problem(error, self.door.clock.wall())


def by_htmx(call: Call[Any, Any]) -> bool:
    """Whether a part of an open page asks, not the browser for a whole page. Pure."""
    return call.headers.get(b"hx-request") == b"true"


def sign_in_from(path: str, query: str) -> str:
    """The address of the sign-in that leads back to this page. Pure."""
    here = f"{path}?{query}" if query else path
    return f"{SIGN_IN}?next={quote(here[:500], safe='')}" if is_own_path(here) and path != "/" else SIGN_IN


def is_own_path(text: str) -> bool:
    """Whether a text leads to a page of ours and nowhere else: browsers take two slashes, of either kind, for another host. Pure."""
    return text.startswith("/") and not text.startswith(("//", "/\\")) and "\\" not in text and all(" " < char < "\x7f" for char in text)


def console_of(call: Call[Any, Any]) -> Console:
    """The console that a call came to."""
    assert isinstance(call.port, Console)
    return call.port
