"""Pages and parts of pages as answers. Templates escape all they are given; nothing on a page comes from elsewhere or stands inline."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from covey.console import shown
from covey.console.assets import address
from covey.doors.answer import HTML, Answer, Headers
from covey.version import __version__

Level = Literal["good", "bad", "plain"]
NOTICE = 400
"""A notice has so many characters at most: it travels in a header."""
POLICY: Headers = (
    (
        b"content-security-policy",
        (
            b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; "
            b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
    ),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
)
"""`data:` is for the small drawings inside the style sheet."""


class Place(NamedTuple):
    """A page that the navigation leads to."""

    path: str
    title: str


@cache
def environment() -> Environment:
    """The templates, with how values look."""
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown.finalized,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(shown.FILTERS)
    made.globals.update(address=address, version=__version__)
    return made


def render(template: str, **values: Any) -> Markup:
    """The template with these values, as a part that other templates may hold."""
    return Markup(environment().get_template(template).render(values))  # noqa: S704 - all that was put in is escaped


def fragment(body: Markup | bytes) -> Answer:
    """A part of a page as its page fetches it."""
    return Answer(200, body if isinstance(body, bytes) else body.encode(), HTML, POLICY)


def notice(text: str, level: Level, status: int = 200, **told: Any) -> Answer:
    """What came of something, shown at the page's edge; the page itself is not touched, but looks at its parts again."""
    said = {"text": shown.plain(text, NOTICE), "level": level}
    return Answer(status, b"", HTML, ((b"hx-trigger", json.dumps({"covey:notice": said, **told}).encode("ascii")),))
