"""Agent Contacts: links with their quota, who may be linked and who not, limits, unlink; what was changed meanwhile is told, and left."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
import pytest

from covey.agents import configuring
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.settings import Settings
from covey.links import reading
from covey.links.model import LinkChange
from covey.links.reading import LinkShown
from covey.messages import reading as mail
from covey.messages import relinking, sending
from covey.messages.model import draft
from covey.store import Store
from tests.conftest import EIGHT, ManualClock
from tests.console.person import BROWSER, Page, Person, notice_of, person_of
from tests.rules import rule

ONLY_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
OWNERS = {"finance": "zoe", "intel": "zoe"}
LIMITED = msgspec.structs.replace(
    EIGHT, limits="on", agents=tuple(msgspec.structs.replace(agent, owner=OWNERS.get(agent.id, "")) for agent in EIGHT.agents)
)


@pytest.fixture
async def person(fleet: Store, clock: ManualClock) -> AsyncIterator[Person]:
    """The operator, signed in, before the eight with their limits on; finance and intel belong to another owner."""
    await fleet.write(configuring.configure, LIMITED)
    async with person_of(fleet, clock, LIMITED) as found:
        await found.sign_in()
        yield found


async def configure(person: Person, **changes: object) -> Settings:
    settings = msgspec.structs.replace(LIMITED, **changes)
    await person.store.write(configuring.configure, settings)
    person.door.settings = settings
    return settings


async def link_of(person: Person, one: str = "chief", other: str = "coder") -> LinkShown:
    return await person.store.read(reading.show, one, other, THE_OPERATOR)


async def say(person: Person, count: int, sender: str = "chief", to: str = "coder") -> list[str]:
    """The outcomes of so many messages that do not wait for each other."""
    found = []
    for n in range(count):
        receipt = await person.store.write(sending.send, draft(to, f"fact {n}"), as_agent(sender), wait_s=60.0)
        found.append(receipt.outcomes[to].status)
    return found


async def limit(person: Person, messages: int, one: str = "chief", other: str = "coder") -> LinkShown:
    return await person.store.write(relinking.change, one, other, LinkChange(messages_per_window=messages, debounce_s=0.0), THE_OPERATOR)


def peers_in(page: Page, name: str) -> list[str]:
    return [found["href"].removeprefix(f"/contacts/{name}/") for found in page.all("a") if "data-open" in found]


# looking


@rule("L9")
async def test_an_agents_contacts_show_the_quota_used_each_way_and_the_next_reset(person: Person) -> None:
    await limit(person, 3)
    await say(person, 2)
    page = await person.look("/contacts/chief")
    assert peers_in(page, "chief")[:1] == ["coder"]
    assert "2 of 3" in page.text
    assert "0 of 3" in page.text
    assert any(found["value"] == "2" and found["max"] == "3" for found in page.all("meter"))
    assert "time" in {tag for tag, _ in page.tags}
    person.console.shared.forget()
    assert "2 of 3" in (await person.part("/contacts/chief/~links")).text


@rule("L1")
async def test_who_can_not_be_linked_is_shown_with_the_reason(person: Person) -> None:
    page = await person.look("/contacts/chief")
    assert "finance and intel" not in page.text
    assert "chief and finance can't be linked, since they have no owner and no organisation in common" in page.text
    assert "chief is linked with every agent that it may be linked with" in page.text
    assert "/contacts/chief/finance/link" not in page.source
    assert "They can't be linked" in (await person.part("/contacts/chief/finance/link")).text


async def test_where_nobody_is_linked_by_itself_the_picker_offers_all_that_may_be(person: Person) -> None:
    await configure(person, links="none")
    page = await person.look("/contacts/finance")
    assert "may write to nobody but you" in page.text
    assert [found["hx-get"] for found in page.all("button") if "hx-get" in found] == ["/contacts/finance/intel/link"]
    said = await person.answer("/contacts/finance/intel/link", messagesPerWindow="7", windowHours="3")
    assert said == "finance and intel are linked: 7 messages in 3 h each way, 5 s apart; finance has 7 left and intel has 7 left."
    assert peers_in(await person.part("/contacts/finance/~links"), "finance") == ["intel"]


async def test_the_fleets_links_are_those_used_or_made_and_of_one_agent_all(person: Person) -> None:
    page = await person.look("/contacts")
    assert "No link was used or made yet" in page.text
    assert "/contacts/coder" in page.hrefs()
    await limit(person, 3)
    await person.store.write(relinking.disable, "ops", "sales", THE_OPERATOR)
    assert peers_in(await person.part("/contacts/~rows"), "")[:2] == ["/contacts/chief/coder", "/contacts/ops/sales"]
    assert "ops – sales" in (await person.part("/contacts/~rows?state=disabled")).text
    assert "chief – coder" not in (await person.part("/contacts/~rows?state=disabled")).text
    assert len(peers_in(await person.part("/contacts/~rows?agent=comms"), "")) == 5
    assert "No row matches" in (await person.part("/contacts/~rows?state=gone")).text
    assert "ops – sales" in (await person.part("/contacts/~rows?q=SALES")).text


async def test_the_links_of_a_large_filter_go_on_at_the_cursor(person: Person) -> None:
    for other in ("chief", "comms", "devops", "ops", "sales"):
        await limit(person, 3, "coder", other)
    items = (await person.http.get("/contacts/~rows.json?agent=coder")).json()["items"]
    assert [each["agents"] for each in items] == [sorted(["coder", other]) for other in ("chief", "comms", "devops", "ops", "sales")]
    assert items[0]["creditsRemaining"] == {"chief": 3, "coder": 3}
    page = await person.part("/contacts/~rows?agent=coder&cursor=devops")
    assert peers_in(page, "") == ["/contacts/coder/ops", "/contacts/coder/sales"]


async def test_a_link_shows_what_waits_and_what_happened_to_it(person: Person) -> None:
    await limit(person, 2)
    assert await say(person, 4) == ["delivered", "delivered", "deferred", "deferred"]
    page = await person.look("/contacts/chief/coder")
    assert "2 messages wait" in page.text
    assert "/deferred?sender=chief&receiver=coder" in page.hrefs()
    assert "link.changed" in page.text


@ONLY_SQLITE
@pytest.mark.parametrize("path", ["/contacts/nobody", "/contacts/chief/nobody", "/contacts/chief/finance", "/contacts/chief/chief"])
async def test_what_is_not_there_is_told_as_a_fault(person: Person, path: str) -> None:
    answer = await person.http.get(path, headers=BROWSER)
    assert answer.status_code == 404
    assert "there is no agent" in answer.text or "not linked" in answer.text


@ONLY_SQLITE
async def test_a_fleet_without_limits_says_so_and_its_form_leaves_the_links_own_switch_alone(person: Person) -> None:
    await configure(person, limits="off")
    assert "Limits are off in this fleet" in (await person.look("/contacts/chief")).text
    dialog = await person.part("/contacts/chief/coder/limits")
    assert "limits" not in dialog.fields
    await person.answer("/contacts/chief/coder/limits", messagesPerWindow="4")
    await configure(person, limits="on")
    assert (await link_of(person)).limits == "on"


# acting


@rule("L2")
async def test_limits_are_set_as_they_are_filled_in_and_the_form_begins_as_they_are(person: Person) -> None:
    said = await person.answer(
        "/contacts/coder/chief/limits",
        messagesPerWindow="500",
        windowHours="168",
        debounceS="0.5",
        featureFlag="beta",
        ownEndpoint="mcp",
        peerEndpoint="hook",
    )
    assert said.startswith("chief and coder are linked: 500 messages in 168 h each way, 0.5 s apart")
    link = await link_of(person)
    assert (link.messages_per_window, link.window_hours, link.debounce_s, link.feature_flag) == (500, 168, 0.5, "beta")
    assert link.endpoints == {"coder": "mcp", "chief": "hook"}
    fields = (await person.part("/contacts/chief/coder/limits")).fields
    assert (fields["messagesPerWindow"], fields["debounceS"], fields["ownEndpoint"], fields["version"]) == ("500", "0.5", "hook", "1")
    assert "without limits" in await person.answer("/contacts/chief/coder/limits", limits="off", featureFlag="")
    assert (await link_of(person)).feature_flag is None


@rule("L7")
async def test_raised_limits_let_waiting_mail_go(person: Person) -> None:
    await limit(person, 1)
    assert await say(person, 2) == ["delivered", "deferred"]
    said = await person.answer("/contacts/chief/coder/limits", messagesPerWindow="5")
    assert "chief has 3 left" in said
    assert {message.state for message in (await person.store.read(mail.inbox, "coder")).items} == {"delivered"}


@rule("L2")
@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"messagesPerWindow": "0"}, "messagesPerWindow"),
        ({"messagesPerWindow": "501"}, "messagesPerWindow"),
        ({"messagesPerWindow": "x"}, "messagesPerWindow"),
        ({"windowHours": "169"}, "windowHours"),
        ({"debounceS": "61"}, "debounceS"),
        ({"debounceS": "nan"}, "debounceS"),
        ({"limits": "maybe"}, "limits"),
        ({"featureFlag": "<b>"}, "featureFlag"),
        ({"ownEndpoint": "smoke"}, "ownEndpoint"),
        ({"version": "x"}, "version"),
        ({"evil": "1"}, "evil"),
    ],
    ids=str,
)
@ONLY_SQLITE
async def test_a_limit_out_of_its_bounds_is_refused_by_name(person: Person, form: dict[str, str], field: str) -> None:
    fields = (await person.part("/contacts/chief/coder/limits")).fields
    answer = await person.send("/contacts/chief/coder/limits", None, **(fields | form))
    assert answer.status_code == 400
    assert field in notice_of(answer)
    assert (await link_of(person)).version == 0


@rule("L15")
@pytest.mark.parametrize("deed", ["limits", "disable", "remove", "link"])
async def test_what_somebody_else_changed_meanwhile_is_told_and_left(person: Person, deed: str) -> None:
    if deed == "link":
        await person.store.write(relinking.remove, "chief", "coder", THE_OPERATOR)
    question = await person.part(f"/contacts/chief/coder/{deed}")
    await (person.store.write(relinking.add, "chief", "coder", LinkChange(), THE_OPERATOR) if deed == "link" else limit(person, 9))
    before = await link_of(person)
    answer = await person.send(question.one("form")["action"], None, **question.fields)
    assert answer.status_code == 412
    assert "was changed meanwhile" in notice_of(answer)
    assert await link_of(person) == before


async def test_a_link_is_disabled_enabled_removed_and_linked_again(person: Person) -> None:
    assert (await person.answer("/contacts/chief/coder/disable")).startswith("chief and coder are disabled")
    assert await say(person, 1) == ["disabled"]
    assert (await person.answer("/contacts/chief/coder/enable")).startswith("chief and coder are linked")
    assert (await person.answer("/contacts/chief/coder/remove")).startswith("chief and coder are unlinked")
    assert await say(person, 1) == ["unlinked"]
    assert "coder" not in peers_in(await person.part("/contacts/chief/~links"), "chief")
    assert "was linked before" in (await person.part("/contacts/chief/~others")).text
    assert "not linked any more" in (await person.part("/contacts/chief/coder/disable")).text
    assert (await person.answer("/contacts/chief/coder/link", messagesPerWindow="5")).startswith("chief and coder are linked: 5 messages")


async def test_an_unlink_closes_what_waits_and_says_so_before(person: Person) -> None:
    await limit(person, 1)
    await say(person, 2)
    assert "Mail that waits for credit is closed" in (await person.part("/contacts/chief/coder/remove")).text
    await person.answer("/contacts/chief/coder/remove")
    assert "0 of 1" in (await person.look("/contacts/chief/coder")).text
    assert "No mail waits for credit" in (await person.look("/deferred")).text


@ONLY_SQLITE
async def test_no_link_is_changed_without_the_word_of_the_sign_in(person: Person) -> None:
    fields = (await person.part("/contacts/chief/coder/remove")).fields
    answer = await person.send("/contacts/chief/coder/remove", None, **(fields | {"csrf": "forged"}))
    assert answer.status_code == 403
    assert (await link_of(person)).version == 0
