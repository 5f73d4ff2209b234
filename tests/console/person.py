"""A person before the console: signs in, loads pages, has parts fetched as htmx does, answers questions. In process, over a real store."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from typing import Any

import httpx

from covey.app.front import Front
from covey.base.clock import Clock
from covey.base.settings import Settings
from covey.doors.door import FleetDoor
from covey.store import Store
from tests.api.world import give_tokens, token_of
from tests.conftest import EIGHT

URL = "http://127.0.0.1:8000"
BROWSER = {"Accept": "text/html,application/xhtml+xml"}
HTMX = {"HX-Request": "true", "Accept": "text/html", "HX-Source": "button#x", "HX-Current-URL": f"{URL}/"}


class Person:
    """One browser."""

    def __init__(self, store: Store, clock: Clock, settings: Settings = EIGHT) -> None:
        self.store = store
        self.door = FleetDoor(store=store, settings=settings, clock=clock)
        self.front = Front(self.door)
        self.console = self.front.console
        self.http = httpx.AsyncClient(transport=httpx.ASGITransport(app=self.front), base_url=URL, timeout=20)

    async def close(self) -> None:
        self.door.closing.set()
        self.door.news.close()
        await self.http.aclose()

    async def sign_in(self, token: str | None = None, **form: str) -> httpx.Response:
        """Send the form of the sign-in."""
        form |= {"token": token if token is not None else token_of("operator")}
        return await self.http.post("/sign-in", data=form, headers={**BROWSER, "Origin": URL})

    async def look(self, path: str) -> Page:
        """Load a page after something has happened; it must be there."""
        self.console.shared.forget()
        answer = await self.http.get(path, headers=BROWSER)
        assert answer.status_code == 200, (answer.status_code, answer.text)
        return Page(answer.text)

    async def part(self, path: str, **headers: str) -> Page:
        """Have a part of a page fetched after a hint that something has happened; it must be there."""
        self.console.shared.forget()
        answer = await self.http.get(path, headers=HTMX | {"HX-Source": "div#part-body"} | headers)
        assert answer.status_code == 200, (answer.status_code, answer.headers)
        return Page(answer.text)

    async def send(self, path: str, headers: dict[str, str] | None = None, **form: str) -> httpx.Response:
        """Send a form as htmx does, with the word of the sign-in unless the form has its own."""
        form = {"csrf": self.console.visits.word(self.cookies)} | form
        return await self.http.post(path, data=form, headers=HTMX | {"Origin": URL} | (headers or {}))

    async def answer(self, question: str, **form: str) -> str:
        """Ask for a dialog, fill in its form, send it; the notice of what came of it."""
        dialog = await self.part(question)
        answer = await self.send(dialog.one("form")["action"], None, **(dialog.fields | form))
        return notice_of(answer)

    @property
    def cookies(self) -> dict[bytes, bytes]:
        """The headers by which its browser is known."""
        return {b"cookie": "; ".join(f"{each.name}={each.value}" for each in self.http.cookies.jar).encode()}


def notice_of(answer: httpx.Response) -> str:
    """The notice that an answer tells the page."""
    found: dict[str, Any] = json.loads(answer.headers["hx-trigger"])
    return str(found["covey:notice"]["text"])


class Page(HTMLParser):
    """What a browser would find in a page: its elements, its text, its forms' fields."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source = source
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(source)
        self.close()
        self.text = re.sub(r"\s+", " ", self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str, **wanted: str) -> list[dict[str, str]]:
        """The attributes of all elements of a kind that have these."""
        return [
            found for name, found in self.tags if name == tag and all(found.get(key.rstrip("_")) == value for key, value in wanted.items())
        ]

    def one(self, tag: str, **wanted: str) -> dict[str, str]:
        """As `all`, of the one that there must be."""
        (found,) = self.all(tag, **wanted)
        return found

    def hrefs(self) -> set[str]:
        """Where its links lead."""
        return {found["href"] for found in self.all("a") if "href" in found}

    @property
    def fields(self) -> dict[str, str]:
        """The fields of its form, as they are filled in: of a choice the option that is chosen, else the first."""
        found: dict[str, str] = {}
        choice, chosen = "", False
        for tag, attributes in self.tags:
            if tag == "option" and (not chosen or "selected" in attributes):
                found[choice], chosen = attributes.get("value", ""), True
            elif tag in ("input", "textarea", "select") and "name" in attributes:
                found[attributes["name"]] = attributes.get("value", "")
                choice, chosen = attributes["name"], False
        return found


@asynccontextmanager
async def person_of(store: Store, clock: Clock, settings: Settings = EIGHT) -> AsyncIterator[Person]:
    """A person before the console of a configured store."""
    await give_tokens(store)
    found = Person(store, clock, settings)
    try:
        yield found
    finally:
        await found.close()
