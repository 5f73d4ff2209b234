"""Edits of covey.toml that keep what they don't touch, and what differs between two fleets."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.base.config import edit, load_text
from covey.base.config.changes import Change, diff
from covey.base.config.outline import SECTIONS
from covey.base.config.show import describe, to_toml
from covey.base.config.surgery import Document
from covey.base.config.template import TEMPLATE
from covey.base.errors import ChangedMeanwhile, Failed, Misconfigured, NotFound
from covey.base.settings import Settings
from tests.rules import rule

ROOT = Path("/srv/fleet")
ODD = """\
# mine
fleet.host = "::1" # loopback

[agents]
# who counts
ada.role = "Numbers" # all of them
ada.buddy = "bob"
bob = { brain = { kind = "command", command = ["x"] }, port = 9001 }

[agents.cy]
projects = 1
""".replace("projects = 1\n", 'env = { A = "1" }\n')


def read(text: str) -> Settings:
    return load_text(text, root=ROOT)


def changed(old: str, new: str) -> set[str]:
    """The lines that came and went."""
    lines = difflib.ndiff(old.splitlines(), new.splitlines())
    return {line[0] + line[2:] for line in lines if line[0] in "+-" and line[2:]}


@rule("A1b")
def test_a_project_comes_and_goes_and_leaves_nothing_behind() -> None:
    with_one = edit.add_project(TEMPLATE, "web", "/srv/web", ["coder"])
    assert changed(TEMPLATE, with_one) == {"+[projects.web]", '+path = "/srv/web"', '+agents = ["coder"]'}
    assert read(with_one).projects[0].agents == ("coder",)
    moved = edit.add_project(with_one, "web", "/opt/web")
    assert changed(with_one, moved) == {'-path = "/srv/web"', '+path = "/opt/web"'}
    assert edit.remove_project(with_one, "web").rstrip() == TEMPLATE.rstrip()
    with pytest.raises(NotFound, match=r"no projects\.web"):
        edit.remove_project(TEMPLATE, "web")


def test_a_key_takes_the_place_of_the_line_that_shows_its_default() -> None:
    assert changed(TEMPLATE, edit.set_key(TEMPLATE, ("fleet", "lease_s"), 90)) == {"-#lease_s = 60", "+lease_s = 90"}
    assert changed(TEMPLATE, edit.set_key(TEMPLATE, ("retention", "closed_days"), 9)) == {"-#closed_days = 90", "+closed_days = 9"}


def test_an_agents_keys_are_set_and_taken_in_their_lines() -> None:
    text = edit.set_agent(TEMPLATE, "coder", {"brain": {"kind": "command", "command": ("claude", "-p")}, "buddy": None, "plan": True})
    lines = changed(TEMPLATE, text)
    assert lines == {
        '+brain = { kind = "command", command = ["claude", "-p"] }',
        "+plan = true",
        '-brain = "rules"',
        '-buddy = "devops"',
    }
    assert read(text).agents[1].brain.command == ("claude", "-p")


@rule("A2")
def test_a_new_agent_stands_below_the_others() -> None:
    text = edit.set_agent(TEMPLATE, "eve", {"brain": "m:f"})
    assert text.index("[agents.eve]") < text.index("# Projects:")
    assert len(read(text).agents) == 9
    first = edit.set_agent("# mine\n", "eve", {"brain": "m:f"})
    assert [one.id for one in read(first).agents][-2:] == ["ops", "eve"]
    assert first.startswith("# mine\n")


@rule("A2", "A2a")
def test_a_removed_agent_is_named_nowhere_and_the_others_keep_their_ports() -> None:
    text = (
        '[fleet]\nlead = "b"\n[agents.a]\nbuddy = "b"\n[agents.b]\n[agents.c]\n[agents.d]\nport = 9000\n[projects.p]\nagents = ["b", "c"]\n'
    )
    without = edit.remove_agent(text, "b")
    before, after = read(text), read(without)
    assert [(one.id, one.port) for one in after.agents] == [(one.id, one.port) for one in before.agents if one.id != "b"]
    assert (after.lead, after.projects[0].agents) == ("a", ("c",))
    handed = read(edit.remove_agent(text, "b", heir="d"))
    assert (handed.lead, handed.projects[0].agents, handed.agents[0].buddy) == ("d", ("c", "d"), "c")


@rule("A2")
def test_an_agent_with_a_schedule_needs_an_heir() -> None:
    text = '[agents.a]\n[agents.b]\n[schedules.s]\ntext = "x"\nagent = "b"\nevery_s = 9\n'
    with pytest.raises(Misconfigured, match='there is no agent "b"'):
        read(edit.remove_agent(text, "b"))
    assert read(edit.remove_agent(text, "b", heir="a")).schedules[0].agent == "a"


def test_odd_spellings_are_edited_in_place() -> None:
    assert read(ODD).agents[1].port == 9001
    text = edit.set_agent(ODD, "bob", {"port": 9002})
    text = edit.set_agent(text, "ada", {"port": 9003, "role": "Sums"})
    text = edit.set_key(text, ("fleet", "lease_s"), 70)
    text = edit.set_key(text, ("agents", "cy", "env", "B"), "2")
    text = edit.set_key(text, ("agents", "bob", "brain", "command"), None)
    text = edit.set_key(text, ("agents", "bob", "brain", "kind"), "rules")
    assert changed(ODD, text) == {
        "+fleet.lease_s = 70",
        '-ada.role = "Numbers" # all of them',
        '+ada.role = "Sums" # all of them',
        "+ada.port = 9003",
        '-bob = { brain = { kind = "command", command = ["x"] }, port = 9001 }',
        '+bob = { brain = { kind = "rules" }, port = 9002 }',
        '-env = { A = "1" }',
        '+env = { A = "1", B = "2" }',
    }
    assert read(edit.remove_agent(text, "ada")).agents[0].id == "bob"
    assert changed(ODD, edit.set_key(ODD, ("agents", "bob"), None)) == {
        '-bob = { brain = { kind = "command", command = ["x"] }, port = 9001 }'
    }


def test_line_ends_of_another_system_stay() -> None:
    text = TEMPLATE.replace("\n", "\r\n")
    edited = edit.add_project(text, "web", "/srv/web")
    assert edited.count("\n") == edited.count("\r\n")
    assert read(edited).projects[0].path == "/srv/web"


NAMES = st.sampled_from(["a", "b", "port", "x y", "ü"])
VALUES = st.one_of(st.booleans(), st.integers(-9, 9), st.text("ab\"\\\n#='", max_size=5), st.lists(st.integers(0, 3), max_size=2))
TEXTS = st.sampled_from([
    "", "\n", "# only a comment", ODD, TEMPLATE, "a = 1\n[b]\n[b.a]\nport = 2 # two\n# end", "[a]\nb.port = 1\n\n[a.a]\nx = 1\n[b]\n[a.port]",
    "a = { b = { port = 1 } }\nb = [\n 1, # one\n]\n[port]\n'x y' = 3", "a.b.port = 1\na.b.a = 2",
])  # fmt: skip


def filled(value: Any) -> Any:
    """The data without empty tables."""
    if not isinstance(value, dict):
        return value
    inner = {key: filled(part) for key, part in value.items()}
    return {key: part for key, part in inner.items() if part != {}}


@given(text=TEXTS, path=st.lists(NAMES, min_size=1, max_size=4), value=VALUES)
def test_a_put_says_what_it_should_or_is_refused_and_a_take_undoes_it(text: str, path: list[str], value: object) -> None:
    document = Document(text)
    wanted: Any = tomllib.loads(text)
    inner = wanted
    for name in path[:-1]:
        inner = inner.setdefault(name, {}) if isinstance(inner, dict) else {}
        if not isinstance(inner, dict):
            return
    inner[path[-1]] = value
    document.put(path, value)
    try:
        after = document.text()
    except Failed:
        return
    assert tomllib.loads(after) == wanted
    taken = Document(after)
    taken.take(path)
    del inner[path[-1]]
    assert filled(tomllib.loads(taken.text())) == filled(wanted)
    assert all(line in after for line in text.splitlines() if line.startswith("# "))


def test_a_rewrite_reaches_the_file_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "covey.toml"
    before, after = edit.rewrite(file, lambda text: edit.set_key(text, ("fleet", "lease_s"), 70))
    assert (before.lease_s, after.lease_s, file.read_text()) == (60.0, 70.0, "[fleet]\nlease_s = 70\n")
    file.chmod(0o600)
    with pytest.raises(Misconfigured):
        edit.rewrite(file, lambda text: edit.set_key(text, ("fleet", "lease_s"), -1))
    assert file.read_text() == "[fleet]\nlease_s = 70\n"
    edit.rewrite(file, lambda text: text + "# more\n")
    assert file.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["covey.toml"]


def test_a_rewrite_gives_way_to_somebody_elses_edit(tmp_path: Path) -> None:
    file = tmp_path / "covey.toml"
    file.write_text("# mine\n")

    def meddle(text: str) -> str:
        file.write_text("# theirs\n")
        return text + "[fleet]\n"

    with pytest.raises(ChangedMeanwhile):
        edit.rewrite(file, meddle)
    assert file.read_text() == "# theirs\n"


def test_a_rewrite_without_a_folder_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="can't be changed: No such file or directory"):
        edit.rewrite(tmp_path / "none" / "covey.toml", lambda text: text)


FULL = """\
[fleet]
store = "postgresql://covey:hunter2@db.example:5432/covey?sslpassword=hunter2"
deputy = "operator"
[agents.ada]
brain = "m:f"
env = { KEY = "hunter2" }
plan = false
[agents.bob]
brain = { kind = "model", target = "p:m", options = { settings = { extra_headers = { token = "hunter2", n = 1 } } }, timeout_s = 9 }
[projects."a.b"]
path = "p"
[schedules.s]
text = "say \\"hi\\"\\n\\u007f"
agent = "ada"
cron = "0 0 * * *"
[features."a b"]
"x.y" = false
[retention]
closed_days = 5
"""


@pytest.mark.parametrize("text", ["", ODD, FULL, TEMPLATE])
@rule("A2")
def test_what_is_shown_loads_as_the_same_fleet(text: str) -> None:
    settings = read(text)
    assert read(to_toml(settings, secrets=True)) == settings


def test_what_is_shown_has_no_secret_in_it() -> None:
    shown = to_toml(read(FULL))
    assert "hunter2" not in shown
    assert "postgresql://covey:***@db.example:5432/covey" in shown
    assert describe(read(FULL))["agents"]["ada"]["env"] == {"KEY": "***"}


def test_what_is_described_has_the_keys_of_the_file_with_all_defaults() -> None:
    told = describe(read(""))
    assert list(told) == list(SECTIONS)
    assert told["fleet"]["lease_s"] == 60.0
    assert told["agents"]["chief"]["brain"]["kind"] == "rules"


@rule("A2")
def test_a_difference_says_what_must_start_anew() -> None:
    old = read('[agents.a]\n[agents.b]\n[agents.c]\n[projects.p]\npath = "x"\n[features.o]\nf = true')
    new = read(
        '[fleet]\nlease_s = 70\nhost = "::1"\n[agents.a]\nrole = "r"\nbuddy = "b"\n[agents.b]\nport = 9000\nrole = "s"\n[agents.d]\nport = 8003\n'
        '[schedules.s]\ntext = "x"\nagent = "a"\nevery_s = 9\n[features.o]\nf = false\n[retention]\nevents_days = 1'
    )
    assert diff(old, new) == [
        Change(section="fleet", how="changed", fields=("lease_s",), restart="agents"),
        Change(section="fleet", how="changed", fields=("host",), restart="fleet"),
        Change(section="agents", name="c", how="removed"),
        Change(section="agents", name="a", how="changed", fields=("role",)),
        Change(section="agents", name="b", how="changed", fields=("role", "port", "buddy"), restart="agent"),
        Change(section="agents", name="d", how="added"),
        Change(section="projects", name="p", how="removed"),
        Change(section="schedules", name="s", how="added"),
        Change(section="features", name="o", how="changed", fields=("f",)),
        Change(section="retention", how="changed", fields=("events_days",)),
    ]
    assert diff(new, new) == []
    assert diff(read(""), read("[features.o]\nf = true")) == [Change(section="features", name="o", how="added")]
    assert diff(read("[features.o]\nf = true"), read("")) == [Change(section="features", name="o", how="removed")]
