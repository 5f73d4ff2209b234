"""Hostile text in every field that is shown: inert, capped, and unable to hide or reorder what stands beside it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from covey.agents.model import THE_OPERATOR, as_agent
from covey.console import pieces, shown
from covey.console.rendering import environment
from covey.contexts import entries
from covey.messages import sending
from covey.messages.model import draft
from covey.tasks import adding
from covey.tasks.model import TaskDraft
from tests.console.person import Page, Person

EVIL = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus='alert(1)",
    "</textarea></pre><iframe src=javascript:alert(1)>",
    "{{ 7 * 7 }} {% include 'base.html' %}",
    "\u202egnp.exe\u2066 \u200fabc",
    "\u200b\ufeff\U000e0041\U000e0042",
    "\x1b[31mred\x07\x7f\x9b",
    "a\tb\nc\r\nd",
    "👩‍👩‍👧‍👦 🦆 é 漢字",
    "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘" * 20,
    "x" * 100_000,
    "&lt;b&gt; &amp;amp;",
]
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


def in_place(text: str) -> list[Page]:
    """The text in an element, in an attribute, through each filter that takes text."""
    template = environment().from_string(
        '<p title="{{ text }}">{{ text }}</p><p>{{ text | said }}</p><input value="{{ text | plain(50) }}">'
    )
    return [Page(template.render(text=text)), Page(pieces.pill(text, title=text)), Page(pieces.leads("/x", text))]


@pytest.mark.parametrize("text", EVIL, ids=ascii)
def test_hostile_text_is_inert(text: str) -> None:
    for page in in_place(text):
        assert {tag for tag, _ in page.tags} <= {"p", "bdi", "input", "span", "a"}
        assert not any(name.startswith("on") or name in ("src", "autofocus") for _, found in page.tags for name in found)
        assert not UNSEEN.search(page.source)


@given(st.text())
def test_any_text_stays_one_text(text: str) -> None:
    (paragraph, *_), source = (page := in_place(text)[0]).tags, page.source
    assert paragraph[0] == "p"
    assert len(page.tags) == 4
    assert not UNSEEN.search(source)


def test_text_is_capped_and_says_by_how_much() -> None:
    assert shown.plain("x" * 10, 4) == "xxxx… (6 characters more)"
    whole = environment().from_string("{{ text }}").render(text="x" * 10_000_000)
    assert len(whole) < shown.LONGEST + 100
    assert whole.endswith("… (9,980,000 characters more)")


def test_a_joined_family_stays_whole() -> None:
    assert shown.plain("👩‍👩‍👧‍👦") == "👩‍👩‍👧‍👦"


def test_only_markup_of_ours_is_markup() -> None:
    assert shown.finalized(Markup("<b>")) == "<b>"
    assert isinstance(shown.finalized("<b>"), str)
    assert not isinstance(shown.finalized("<b>"), Markup)
    assert shown.finalized(None) == ""
    assert shown.finalized(3) == 3


@pytest.mark.parametrize("text", [each for each in EVIL if "\x1b" not in each], ids=ascii)
async def test_hostile_text_of_peers_is_inert_on_every_page(person: Person, text: str) -> None:
    """Mail, tasks and context hold it; every page that shows them is looked at."""
    store = person.store
    await store.write(
        sending.send, draft("coder", text[:20_000], subject=text[:400], requires_response=True), as_agent("devops"), wait_s=60
    )
    await store.write(
        sending.send, draft("operator", text[:20_000], subject=text[:400], requires_response=True), as_agent("coder"), wait_s=60
    )
    task = await store.write(adding.add, TaskDraft(description=text[:20_000], agent="coder", approval=True), THE_OPERATOR)
    await store.write(entries.remember, "coder", "note", text[:20_000])
    threads = ("/threads/dm:coder:devops", "/threads/dm:coder:operator", f"/tasks/{task.task_id}")
    for path in ("/", "/agents/coder", "/needs", "/tasks", "/tasks/~board", "/threads", *threads):
        page = await person.look(path)
        assert "alert(1)" not in " ".join(value for _, found in page.tags for value in found.values() if "script" in value)
        assert all(found.get("src", "/static/").startswith("/static/") for _, found in page.tags)
        assert not page.all("iframe")
        assert not page.all("img")
        assert not any(name.startswith("on") for _, found in page.tags for name in found)
        assert not UNSEEN.search(page.source)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "–"), (0.0123, "12 ms"), (3.14159, "3.14 s"), (59.6, "1 min"), (3600.0, "1 h"), (90_061, "1 d 1 h"), (11, "11 s")],
)
def test_lengths_of_time(seconds: float | None, text: str) -> None:
    assert shown.span(seconds) == text


def test_moments_say_their_zone_to_programs_and_people() -> None:
    assert shown.when(0) == '<time datetime="1970-01-01T00:00:00Z">1970-01-01 00:00:00 UTC</time>'
    assert shown.ago(0) == '<time data-ago datetime="1970-01-01T00:00:00Z">1970-01-01 00:00:00 UTC</time>'
    assert shown.when(None) == "never"
    assert shown.when(1e15) == "Unix time 1000000000000000"


def test_a_command_in_a_sentence_of_ours_is_code_and_all_else_is_inert() -> None:
    assert shown.worded("None yet; `covey up` makes one.") == "None yet; <code>covey up</code> makes one."
    assert shown.worded("<b> `<i>`") == "&lt;b&gt; <code>&lt;i&gt;</code>"
