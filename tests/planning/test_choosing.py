"""Which templates an idle agent gets: properties over any templates, any past and any scene (P2)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from covey.planning.choosing import Chosen, Past, Scene, choose
from covey.planning.model import Template
from tests.rules import rule

WORDS = ("cost", "disk", "error", "plan")
NOW = 1_000_000.0


def template(ident: str, **more: object) -> Template:
    return Template(id=ident, role="coder", text=f"Do {ident}", **more)  # type: ignore[arg-type]


TEMPLATES = st.lists(
    st.builds(
        template,
        st.integers(0, 20).map(str),
        every_s=st.sampled_from([60.0, 3600.0, 86_400.0]),
        project=st.booleans(),
        capability=st.sampled_from(["", "code", "test"]),
        partner=st.sampled_from(["", "ops", "intel"]),
        about=st.frozensets(st.sampled_from(WORDS)),
    ),
    unique_by=lambda each: each.id,
    max_size=12,
)
SCENES = st.builds(
    Scene,
    now=st.just(NOW),
    capabilities=st.frozensets(st.sampled_from(["code", "test"])),
    projects=st.lists(st.sampled_from(["site", "app"]), unique=True).map(tuple),
    words=st.frozensets(st.sampled_from(WORDS)),
    waiting=st.frozensets(st.sampled_from(["ops", "intel"])),
    partners=st.dictionaries(st.sampled_from(["ops", "intel"]), st.sampled_from(["ann", "bob"])),
    can=st.sampled_from([lambda _: True, lambda each: int(each.id) % 2 == 0]),
)
PASTS = st.dictionaries(
    st.tuples(st.integers(0, 20), st.sampled_from(["", ":site", ":app"])).map(lambda pair: f"{pair[0]}{pair[1]}"),
    st.builds(
        Past,
        made_at=st.floats(NOW - 200_000, NOW),
        done_at=st.none() | st.floats(NOW - 200_000, NOW),
        is_open=st.booleans(),
    ),
    max_size=20,
)


@rule("P2")
@given(TEMPLATES, SCENES, PASTS, st.integers(-1, 5))
def test_never_too_many_never_one_that_is_open_or_cools_down_never_one_that_does_not_fit(
    known: list[Template], scene: Scene, pasts: dict[str, Past], room: int
) -> None:
    found = choose(known, scene, pasts, room)
    assert len(found.now) <= max(0, room)
    assert len({each.key for each in found.now}) == len(found.now)
    for each in found.now:
        past = pasts.get(each.key)
        assert past is None or (not past.is_open and past.made_at + each.template.every_s <= NOW)
        assert not each.template.capability or each.template.capability in scene.capabilities
        assert (each.project in scene.projects) if each.template.project else each.project is None
        assert each.partner == (scene.partners[each.template.partner] if each.template.partner else None)
        assert scene.can(each.template)


@rule("P2")
@given(TEMPLATES, SCENES, PASTS, st.integers(0, 5))
def test_the_relevant_come_first_then_the_longest_not_done(known: list[Template], scene: Scene, pasts: dict[str, Past], room: int) -> None:
    all_of_them = choose(known, scene, pasts, 10_000).now
    order = [(-each.relevance, each.last_done) for each in all_of_them]
    assert order == sorted(order)
    assert choose(known, scene, pasts, room).now == all_of_them[:room], "less room leaves out the last ones, and changes nothing else"


@rule("P2")
@given(TEMPLATES, SCENES, PASTS, st.integers(0, 3))
def test_it_says_when_the_next_one_is_due_and_then_there_is_one(
    known: list[Template], scene: Scene, pasts: dict[str, Past], room: int
) -> None:
    found = choose(known, scene, pasts, room)
    if found.next_at is None:
        assert choose(known, scene._replace(now=NOW + 1e9), _after(found, pasts), 10_000).now == []
        return
    later = choose(known, scene._replace(now=found.next_at), _after(found, pasts), 10_000)
    assert later.now
    if found.next_at > NOW:
        before = scene._replace(now=(NOW + found.next_at) / 2)
        assert choose(known, before, _after(found, pasts), 10_000).now == []


def _after(found: Chosen, pasts: dict[str, Past]) -> dict[str, Past]:
    return pasts | {each.key: Past(NOW, None, is_open=True) for each in found.now}


def test_what_a_decision_an_active_project_or_a_waiting_partner_asks_for_comes_before_the_rest() -> None:
    known = [
        template("plain"),
        template("words", about=frozenset({"disk"})),
        template("partner", partner="ops"),
        template("project", project=True),
    ]
    scene = Scene(NOW, projects=("site",), words=frozenset({"disk"}), waiting=frozenset({"ops"}), partners={"ops": "ops"})
    assert [each.template.id for each in choose(known, scene, {}, 10).now] == ["project", "partner", "words", "plain"]
    assert [each.template.id for each in choose(known, Scene(NOW), {}, 10).now] == ["plain", "words"]


def test_of_equals_the_one_that_was_not_done_for_longest_comes_first() -> None:
    known = [template("often"), template("seldom"), template("never")]
    pasts = {"often": Past(NOW - 90_000, NOW - 89_000), "seldom": Past(NOW - 190_000, NOW - 189_000)}
    assert [each.template.id for each in choose(known, Scene(NOW), pasts, 10).now] == ["never", "seldom", "often"]
