"""Links made, changed, removed: who may be linked, who may change it, what the mesh implies, what a transfer and a flag do (L1, L2, L14, L15)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from covey.agents import configuring
from covey.agents.model import THE_OPERATOR, Caller, as_agent
from covey.app import opening
from covey.base.errors import ChangedMeanwhile, CoveyError, Forbidden, Gone, Invalid, NotFound, NotLinkable, Unknown
from covey.base.settings import Settings
from covey.links import reading
from covey.links.model import LinkChange, link_of
from covey.messages import relinking, seeing, sending
from covey.messages.model import draft
from covey.store import Statement, Transaction
from tests.inline import Hand
from tests.links.conftest import LIMITED
from tests.links.words import bodies, burst, left, link, say, told
from tests.rules import rule

LINKS = Statement("links_there", "SELECT id, implied, version FROM links ORDER BY id")


def there(hand: Hand) -> list[tuple[str, int, int]]:
    def verb(tx: Transaction) -> list[tuple[str, int, int]]:
        return [tuple(row) for row in tx.all(LINKS)]

    return hand(verb)


def settled(
    hand: Hand, *, owners: dict[str, str] | None = None, organisations: dict[str, str] | None = None, gone: str = "", **fleet: Any
) -> Settings:
    """The fleet with these owners, organisations and settings, as `covey config apply` brings it about."""
    agents = tuple(
        msgspec.structs.replace(agent, owner=(owners or {}).get(agent.id, ""), organisation=(organisations or {}).get(agent.id, ""))
        for agent in LIMITED.agents
        if agent.id != gone
    )
    settings = msgspec.structs.replace(LIMITED, agents=agents, **fleet)
    hand(opening.apply, settings)
    return settings


@rule("L1")
def test_the_mesh_makes_a_link_at_the_first_send_and_one_for_both(hand: Hand) -> None:
    assert there(hand) == []
    told(hand, "coder", "chief", "hello")
    told(hand, "chief", "coder", "hello")
    assert there(hand) == [("link:chief:coder", 1, 1)]
    assert link_of("coder", "chief") == link_of("chief", "coder") == "link:chief:coder"


@rule("L1")
def test_a_refused_first_send_makes_no_link(hand: Hand) -> None:
    settled(hand, owners={"chief": "ann"})
    assert told(hand, "chief", "coder", "hello").status == "unlinked"
    assert there(hand) == []


@rule("L1", "L2")
def test_an_edit_makes_the_row_of_an_implied_link(hand: Hand) -> None:
    shown = link(hand, messages_per_window=12, window_hours=2, debounce_s=1.5, endpoints={"coder": "mcp"})
    assert (shown.messages_per_window, shown.window_hours, shown.debounce_s, shown.implied, shown.version) == (12, 2, 1.5, False, 1)
    assert shown.endpoints == {"chief": "http", "coder": "mcp"}
    told(hand, "chief", "coder", "hello")
    assert {"mcp:coder", "coder.mail"} <= hand.bells
    assert left(hand).credits_remaining == 11


@rule("L1")
def test_without_a_mesh_only_those_who_were_linked_may_write(hand: Hand) -> None:
    told(hand, "chief", "ops", "in the days of the mesh")
    settled(hand, links="none")
    assert told(hand, "chief", "coder", "hello").status == "unlinked"
    assert told(hand, "chief", "ops", "hello").status == "unlinked", "what the mesh implied is not linked"
    hand(relinking.add, "chief", "coder", LinkChange(messages_per_window=3), THE_OPERATOR)
    assert told(hand, "coder", "chief", "hello").remaining_credits == 2


@rule("L1")
def test_a_removed_link_stays_removed_under_the_mesh(hand: Hand) -> None:
    told(hand, "chief", "coder", "one")
    hand(relinking.remove, "coder", "chief", THE_OPERATOR)
    settled(hand)
    found = told(hand, "chief", "coder", "two")
    assert found.status == "unlinked"
    assert "covey link add chief coder" in found.sentence
    assert hand(reading.show, "chief", "coder", THE_OPERATOR).status == "unlinked"


@rule("L1")
@pytest.mark.parametrize(
    ("owners", "organisations", "status"),
    [
        ({}, {}, "delivered"),
        ({"chief": "ann"}, {}, "unlinked"),
        ({"chief": "ann", "coder": "ann"}, {}, "delivered"),
        ({"chief": "ann", "coder": "bob"}, {"chief": "acme", "coder": "acme"}, "delivered"),
        ({"chief": "ann", "coder": "bob"}, {"chief": "acme", "coder": "other"}, "unlinked"),
        ({"chief": "ann", "coder": "bob"}, {"chief": "", "coder": ""}, "unlinked"),
    ],
)
def test_who_has_an_owner_or_an_organisation_in_common_may_write(
    hand: Hand, owners: dict[str, str], organisations: dict[str, str], status: str
) -> None:
    settled(hand, owners=owners, organisations=organisations)
    assert told(hand, "chief", "coder", "hello").status == status
    if status == "unlinked":
        with pytest.raises(NotLinkable):
            hand(relinking.add, "chief", "coder", LinkChange(), THE_OPERATOR)


@rule("L1")
def test_after_a_transfer_the_links_that_may_not_stand_are_removed_and_history_stays(hand: Hand) -> None:
    link(hand, messages_per_window=1, debounce_s=0)
    for text in ("a", "b"):
        told(hand, "chief", "coder", text)
    told(hand, "coder", "ops", "hello")
    settled(hand, owners={"coder": "bob", "ops": "bob"})
    assert bodies(hand, "coder") == ["a", "b"]
    assert bodies(hand, "coder", "expired") == ["b"], "what waited is closed"
    shown = hand(reading.show, "chief", "coder", THE_OPERATOR)
    assert (shown.status, shown.removed_at) == ("unlinked", hand.now)
    assert hand(reading.show, "coder", "ops", THE_OPERATOR).status == "linked"
    settled(hand)
    assert told(hand, "chief", "coder", "c").status == "unlinked", "the mesh does not bring it back"


@rule("L1")
def test_owners_are_looked_at_again_at_each_send(hand: Hand) -> None:
    told(hand, "chief", "coder", "a")
    agents = tuple(msgspec.structs.replace(agent, owner="ann" if agent.id == "coder" else "") for agent in LIMITED.agents)
    hand(configuring.configure, msgspec.structs.replace(LIMITED, agents=agents))
    hand.clock.at += 5
    assert told(hand, "chief", "coder", "b").status == "unlinked", "before anybody has cleaned up its links"


@rule("L3", "L13")
def test_mail_to_who_is_gone_is_gone_and_its_link_waits_for_its_return(hand: Hand) -> None:
    told(hand, "chief", "coder", "a")
    settled(hand, gone="coder")
    with pytest.raises(Gone):
        say(hand, "chief", "coder", "b")
    assert say(hand, "chief", ["coder", "ops"], "b").outcomes["coder"].status == "gone"
    assert hand(reading.show, "chief", "coder", THE_OPERATOR).status == "gone"
    settled(hand)
    hand.clock.at += 5
    assert told(hand, "chief", "coder", "b").remaining_credits == 28


@rule("L14")
@pytest.mark.parametrize(
    ("features", "status"),
    [({}, "delivered"), ({"acme": {"peer": False}}, "disabled"), ({"ann": {"peer": False}}, "disabled"), ({"acme": {"peer": True}}, "delivered"),
     ({"acme": {"other": False}}, "delivered"), ({"zeta": {"peer": False}}, "delivered")],
)  # fmt: skip
def test_a_link_behind_a_flag_follows_the_organisation_s_or_the_owner_s(
    hand: Hand, features: dict[str, dict[str, bool]], status: str
) -> None:
    names = [agent.id for agent in LIMITED.agents]
    settled(hand, owners=dict.fromkeys(names, "ann"), organisations=dict.fromkeys(names, "acme"), features=features)
    link(hand, feature_flag="peer")
    assert told(hand, "chief", "coder", "hello").status == status
    assert told(hand, "chief", "ops", "hello").status == "delivered", "no flag, no matter"
    link(hand, feature_flag=None)
    assert told(hand, "coder", "chief", "hello").status == "delivered"


@rule("L2")
@pytest.mark.parametrize(
    ("change", "field"),
    [({"messages_per_window": each}, "messagesPerWindow") for each in (0, 501, -1, 1.5, True, float("nan"), "30")]
    + [({"window_hours": each}, "windowHours") for each in (0, 169, -6, float("inf"))]
    + [({"debounce_s": each}, "debounceS") for each in (-0.1, 60.1, float("nan"), float("inf"), True)]
    + [
        ({"endpoints": {"ops": "http"}}, "endpoints"),
        ({"endpoints": {"coder": "smoke"}}, "endpoints.coder"),
        ({"feature_flag": "a b"}, "featureFlag"),
    ],
)
def test_a_limit_out_of_its_bounds_names_its_field(hand: Hand, change: dict[str, Any], field: str) -> None:
    for verb in (relinking.change, relinking.add):
        with pytest.raises(Invalid) as refused:
            hand(verb, "chief", "coder", LinkChange(**change), THE_OPERATOR)
        assert refused.value.field == field
    assert there(hand) == []


@rule("L2")
def test_the_bounds_themselves_are_taken(hand: Hand) -> None:
    for messages, hours, debounce in ((1, 1, 0), (500, 168, 60)):
        shown = link(hand, messages_per_window=messages, window_hours=hours, debounce_s=debounce)
        assert (shown.messages_per_window, shown.window_hours, shown.debounce_s) == (messages, hours, debounce)


@rule("L1", "L13")
@pytest.mark.parametrize(("pair", "error"), [(("chief", "chief"), Invalid), (("chief", "nobody"), Unknown), (("nobody", "chief"), Unknown)])
def test_a_link_needs_two_agents_that_are_there(hand: Hand, pair: tuple[str, str], error: type[CoveyError]) -> None:
    with pytest.raises(error):
        hand(relinking.add, *pair, LinkChange(), THE_OPERATOR)


@rule("L1")
def test_who_is_not_linked_has_nothing_to_change(hand: Hand) -> None:
    settled(hand, links="none")
    for verb in (relinking.enable, relinking.disable, relinking.remove):
        with pytest.raises(NotFound):
            hand(verb, "chief", "coder", THE_OPERATOR)


@rule("L2")
def test_an_edit_of_what_was_changed_meanwhile_is_refused(hand: Hand) -> None:
    assert link(hand, messages_per_window=10).version == 1
    hand(relinking.change, "chief", "coder", LinkChange(messages_per_window=11), THE_OPERATOR, if_version=1)
    with pytest.raises(ChangedMeanwhile):
        hand(relinking.change, "chief", "coder", LinkChange(messages_per_window=12), THE_OPERATOR, if_version=1)
    assert hand(reading.show, "chief", "coder", THE_OPERATOR).messages_per_window == 11


@rule("L15", "M12")
def test_an_agent_changes_no_link_and_sees_its_own(hand: Hand) -> None:
    told(hand, "chief", "coder", "hello")
    with pytest.raises(Forbidden):
        hand(relinking.change, "chief", "coder", LinkChange(messages_per_window=500), as_agent("chief"))
    assert hand(reading.show, "chief", "coder", as_agent("coder")).id == "link:chief:coder"
    with pytest.raises(Forbidden):
        hand(reading.show, "chief", "coder", as_agent("ops"))
    assert {peer for item in hand(reading.page, as_agent("ops")).items for peer in item.agents} >= {"ops", "chief", "sales"}


@rule("L15")
def test_an_owner_sees_and_changes_its_own_agents_links_only(hand: Hand) -> None:
    owners = {"chief": "ann", "coder": "ann", "ops": "bob", "sales": "bob"}
    settled(hand, owners=owners, organisations=dict.fromkeys(owners, "acme"))
    ann = Caller("owner", "owner:ann")
    for pair in (("chief", "coder"), ("coder", "ops"), ("ops", "sales")):
        assert told(hand, *pair, "hello").status == "delivered"
    assert [item.id for item in hand(reading.page, ann).items] == ["link:chief:coder", "link:coder:ops"]
    assert hand(relinking.change, "chief", "coder", LinkChange(messages_per_window=9), ann).messages_per_window == 9
    with pytest.raises(Forbidden):
        hand(relinking.change, "coder", "ops", LinkChange(messages_per_window=9), ann)
    for verb in (reading.show, relinking.remove):
        with pytest.raises(Forbidden):
            hand(verb, "ops", "sales", ann)
    with pytest.raises(Forbidden):
        hand(reading.page, ann, agent="ops")
    assert hand(relinking.remove, "coder", "ops", ann).status == "unlinked", "it may close its own agent to anybody"


@rule("L9")
def test_lists_show_the_effective_quota_and_go_on_by_their_cursor(hand: Hand) -> None:
    burst(hand, "chief", "coder", 3)
    told(hand, "chief", "ops", "hello")
    page = hand(reading.page, THE_OPERATOR, limit=1)
    assert (page.items[0].directions["chief"].credits_remaining, page.items[0].directions["coder"].credits_remaining) == (27, 30)
    rest = hand(reading.page, THE_OPERATOR, after=page.cursor or "", limit=1)
    assert ([item.id for item in rest.items], rest.cursor) == (["link:chief:ops"], None)
    hand.clock.at += 6 * 3600
    assert hand(reading.page, THE_OPERATOR).items[0].directions["chief"].credits_remaining == 30
    states = hand(reading.states).items
    assert [(state.sender, state.credits_stored, state.credits_remaining) for state in states] == [("chief", 27, 30), ("chief", 29, 30)]


@rule("L1")
def test_an_agent_s_list_has_the_links_that_the_mesh_implies(hand: Hand) -> None:
    seen, after = [], ""
    while True:
        page = hand(reading.page, THE_OPERATOR, agent="coder", after=after, limit=3)
        seen += [next(name for name in item.agents if name != "coder") for item in page.items]
        if page.cursor is None:
            break
        after = page.cursor
    assert seen == sorted(agent.id for agent in LIMITED.agents if agent.id != "coder")
    assert there(hand) == []


@rule("L1")
def test_a_call_for_an_agent_s_links_looks_at_so_many_peers_and_its_cursor_goes_on(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    settled(hand, links="none")
    hand(relinking.add, "coder", "ops", LinkChange(), THE_OPERATOR)
    monkeypatch.setattr(reading, "LOOKED_AT", 2)
    pages, after = list[list[str]](), ""
    while len(pages) < len(LIMITED.agents):
        page = hand(reading.page, THE_OPERATOR, agent="coder", after=after)
        pages.append([item.id for item in page.items])
        if page.cursor is None:
            break
        after = page.cursor
    assert [ident for found in pages for ident in found] == ["link:coder:ops"]
    assert len(pages) == len(LIMITED.agents) // 2


@rule("L12")
def test_limits_off_for_the_fleet_lifts_them_on_every_link(hand: Hand) -> None:
    settled(hand, limits="off")
    assert {told(hand, "chief", "coder", "the same").status for _ in range(70)} == {"delivered"}
    assert hand(reading.show, "chief", "coder", THE_OPERATOR).limits == "off"
    assert left(hand).credits_remaining is None


@rule("L7", "L12", "L14")
def test_the_configuration_releases_what_waits_when_it_lifts_the_limits_or_a_flag(hand: Hand) -> None:
    link(hand, messages_per_window=1, debounce_s=0, feature_flag="peer")
    for text in ("a", "b"):
        told(hand, "chief", "coder", text)
    names = [agent.id for agent in LIMITED.agents]
    off = {"ann": {"peer": False}}
    settled(hand, owners=dict.fromkeys(names, "ann"), features=off, limits="off")
    assert bodies(hand, "coder", "deferred") == ["b"], "the flag is off"
    settled(hand, owners=dict.fromkeys(names, "ann"), limits="off")
    assert bodies(hand, "coder", "delivered") == ["a", "b"]


@rule("L6", "M13")
def test_a_receiver_does_not_see_what_waits_for_credit(hand: Hand) -> None:
    link(hand, messages_per_window=1, debounce_s=0)
    said = [say(hand, "chief", "coder", text, thread_id="t") for text in ("a", "b")]
    for who, seen in (("coder", ["a"]), ("chief", ["a", "b"])):
        assert [each.body for each in hand(seeing.thread, "t", as_agent(who)).items] == seen
    assert [each.body for each in hand(seeing.inbox, "coder", as_agent("coder")).items] == ["a"]
    with pytest.raises(Forbidden):
        hand(seeing.show, said[1].message_id, as_agent("coder"))
    assert hand(seeing.show, said[1].message_id, as_agent("chief"))[0].state == "deferred"


def test_a_sender_who_is_no_agent_is_not_linked(hand: Hand) -> None:
    receipt = hand(sending.send, draft("coder", "x"), as_agent("ghost"))
    assert receipt.status == "unlinked"
