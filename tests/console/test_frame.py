"""What every page is: whole in itself, nothing inline, nothing from elsewhere; what is vendored; how faults are told."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import covey.console
from covey.agents import roster
from covey.console import assets
from covey.console.app import OPERATIONS, PLACES
from covey.console.rendering import NOTICE, notice
from covey.console.shown import plain
from tests.console.person import BROWSER, HTMX, Page, Person, notice_of

STATIC = Path(covey.console.__file__).parent / "static"
TEMPLATES = Path(covey.console.__file__).parent / "templates"
VENDOR = tomllib.loads((STATIC / "vendor" / "VENDOR.toml").read_text())["file"]
ONLY_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
WHOLE = [
    "/sign-in",
    "/",
    "/agents/coder",
    "/contacts",
    "/contacts/coder",
    "/contacts/chief/coder",
    "/deferred",
    "/dead-letters",
    "/settings",
]
PAGE_BYTES = 100_000


def test_what_is_vendored_is_listed_unchanged_with_its_licence() -> None:
    there = {path.name for path in (STATIC / "vendor").iterdir()} - {"VENDOR.toml"}
    assert there == {each[key] for each in VENDOR for key in ("file", "licence_file")}
    for each in VENDOR:
        assert hashlib.sha256((STATIC / "vendor" / each["file"]).read_bytes()).hexdigest() == each["sha256"], each["file"]
        assert (STATIC / "vendor" / each["licence_file"]).stat().st_size > 200
        assert each["licence"] in ("0BSD", "MIT")
        assert re.fullmatch(r"\d+\.\d+\.\d+", each["version"])


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: str(path.relative_to(TEMPLATES)))
def test_no_template_has_anything_inline_or_from_elsewhere(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:|https?://|<script(?![^>]*\ssrc=)|hx-on|hx-vals=.?js", text), path
    assert "| safe" not in text
    assert not re.search(r"hx-trigger=\"[^\"]*\[", text), "a filter in hx-trigger is evaluated, which the policy forbids"


@pytest.mark.parametrize("path", sorted(STATIC.glob("*.js")), ids=lambda path: path.name)
def test_no_script_evaluates_text_or_writes_markup(path: Path) -> None:
    assert not re.search(r"\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write|https?://", path.read_text())


@ONLY_SQLITE
@pytest.mark.parametrize("path", WHOLE)
async def test_a_page_is_strict_small_and_whole(person: Person, path: str) -> None:
    if path == "/sign-in":
        person.http.cookies.clear()
    answer = await person.http.get(path, headers=BROWSER)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert re.findall(r"https?:|\*", policy) == []
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-frame-options"] == "DENY"
    page = Page(answer.text)
    assert not any("style" in found or any(name.startswith("on") for name in found) for _, found in page.tags)
    files = [found[key] for tag, found in page.tags for key in ("src", "href") if tag in ("script", "link") and key in found]
    assert all(file.startswith("/static/") for file in files)
    size = len(gzip.compress(answer.content)) + sum([len(await packed(person, file)) for file in files])
    assert size < PAGE_BYTES, size


async def packed(person: Person, file: str) -> bytes:
    async with person.http.stream("GET", file, headers={"Accept-Encoding": "gzip"}) as answer:
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        return b"".join([part async for part in answer.aiter_raw()])


@ONLY_SQLITE
@pytest.mark.parametrize("path", WHOLE[1:])
async def test_a_page_has_its_landmarks_and_labels(person: Person, path: str) -> None:
    page = await person.look(path)
    assert page.one("html")["lang"] == "en"
    assert page.one("main")["id"] == "main"
    assert page.one("nav")["aria-label"] == "Pages"
    assert {"href": "#main", "class": "skip"} in page.all("a")
    idents = [found["id"] for _, found in page.tags if "id" in found]
    assert len(idents) == len(set(idents))
    assert all(found["aria-labelledby"] in idents for found in page.all("section"))
    assert len(page.all("h1")) <= 1
    assert {each.path for each in PLACES} <= page.hrefs()


@ONLY_SQLITE
async def test_a_file_is_served_for_ever_under_its_edition_and_asked_for_under_none(person: Person) -> None:
    first = await person.http.get(assets.address("page.js"))
    assert first.content == (STATIC / "page.js").read_bytes()
    old = await person.http.get("/static/page.js?v=old")
    assert old.headers["cache-control"] == "no-cache"
    again = await person.http.get("/static/page.js", headers={"If-None-Match": old.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@ONLY_SQLITE
@pytest.mark.parametrize(
    "name", ["../app.py", "..%2fapp.py", "vendor/../../app.py", "VENDOR.toml", "vendor/VENDOR.toml", "x", "", "vendor", "%00"]
)
async def test_only_the_consoles_own_files_are_served(person: Person, name: str) -> None:
    assert (await person.http.get(f"/static/{name}", headers=BROWSER)).status_code in (400, 404)


@ONLY_SQLITE
async def test_a_theme_that_was_chosen_is_in_the_page_from_the_first(person: Person) -> None:
    assert "data-theme" not in (await person.look("/")).one("html")
    person.http.cookies.set("covey_theme", "dark")
    assert (await person.look("/")).one("html")["data-theme"] == "dark"
    person.http.cookies.set("covey_theme", "x")
    assert "data-theme" not in (await person.look("/")).one("html")


# faults


@ONLY_SQLITE
async def test_a_fault_is_told_as_whoever_asked_can_show_it(person: Person) -> None:
    page = await person.http.get("/agents/codr", headers=BROWSER)
    assert (page.status_code, "there is no agent" in page.text, "<h1" in page.text) == (404, True, True)
    part = await person.http.get("/agents/codr", headers=HTMX)
    assert (part.status_code, part.text) == (404, "")
    assert "there is no agent" in notice_of(part)
    assert (await person.http.get("/agents/codr")).json()["code"] == "unknown"


@ONLY_SQLITE
async def test_a_stranger_learns_nothing_from_a_fault(stranger: Person) -> None:
    answer = await stranger.http.get("/none/such", headers=BROWSER)
    assert answer.status_code == 404
    assert not Page(answer.text).all("nav")


@ONLY_SQLITE
async def test_a_fault_of_ours_shows_its_reference_and_nothing_of_itself(
    person: Person, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: Any) -> None:
        raise RuntimeError("secret words")

    await person.look("/")
    monkeypatch.setattr(person.store, "read", broken)
    person.console.shared.forget()
    answer = await person.http.get("/", headers=BROWSER)
    assert answer.status_code == 500
    assert "secret words" not in answer.text
    assert "under the reference" in answer.text
    assert "secret words" in caplog.text


@ONLY_SQLITE
@pytest.mark.parametrize("text", ["naïve ↔ 漢字 🦆", "a\r\nSet-Cookie: x=1", "\u202eevil", "x" * 100_000])
async def test_a_notice_is_a_plain_header_whatever_it_says(person: Person, text: str) -> None:
    answer = await person.http.get("/agents/coder", params={"x": text[:3000]}, headers=HTMX)
    assert answer.status_code == 400
    answer = await person.send("/agents/coder/stop", reason=text)
    assert answer.headers["hx-trigger"].isascii()
    assert "set-cookie" not in answer.headers
    assert (await person.store.read(roster.find, "coder")).stopped_at is not None


@pytest.mark.parametrize("text", ["naïve ↔ 漢字 🦆", "a\r\nSet-Cookie: x=1", '"}{', "\u202eevil"])
def test_a_notice_travels_as_ascii_and_arrives_whole(text: str) -> None:
    ((name, value),) = notice(text, "good").headers
    assert name == b"hx-trigger"
    assert value.isascii()
    assert not {b"\r"[0], b"\n"[0]} & set(value)
    assert json.loads(value)["covey:notice"] == {"text": plain(text, NOTICE), "level": "good"}


@ONLY_SQLITE
async def test_unknown_fields_and_queries_are_refused_by_name(person: Person) -> None:
    assert "evil" in notice_of(await person.send("/agents/coder/stop", evil="1"))
    assert "twice" in notice_of(await person.http.get("/?q=a&q=b", headers=HTMX))
    json = await person.http.post("/agents/coder/stop", json={"csrf": "x"}, headers=HTMX)
    assert (json.status_code, "x-www-form-urlencoded" in notice_of(json)) == (415, True)


def test_the_consoles_paths_are_not_the_apis() -> None:
    assert not any(each.path.startswith("/api/") for each in OPERATIONS)


def test_no_other_process_loads_the_templates() -> None:
    code = (
        "import sys, covey, covey.cli, covey.app.hosting, covey.app.consoling, covey.app.noding;"
        "print([name for name in ('jinja2', 'markupsafe', 'covey.console') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout.strip() == "[]"
