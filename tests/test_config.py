"""Reading covey.toml, the environment and flags into the settings of a fleet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.base.config import load, load_text
from covey.base.config.keys import RESERVED
from covey.base.config.spelling import table
from covey.base.config.template import TEMPLATE
from covey.base.defaults import AGENTS
from covey.base.errors import Misconfigured
from covey.base.settings import AgentSettings, BrainSettings, Settings
from tests.rules import rule

ROOT = Path("/srv/fleet")
NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,31}", fullmatch=True).filter(lambda name: name not in RESERVED)


def read(text: str, **flags: object) -> Settings:
    return load_text(text, root=ROOT, flags=flags)


def agent(settings: Settings, name: str) -> AgentSettings:
    found = settings.agent(name)
    assert found is not None
    return found


def fleet_of(*names: str) -> str:
    return "\n".join(f"[agents.{name}]" for name in names)


@rule("A1")
def test_without_a_file_the_eight_of_the_seed_run(tmp_path: Path) -> None:
    settings = load(None, dir=tmp_path, environ={}, flags={})
    assert [(one.id, one.port) for one in settings.agents] == [
        ("chief", 8001), ("coder", 8002), ("sales", 8003), ("finance", 8004),
        ("intel", 8005), ("devops", 8006), ("comms", 8007), ("ops", 8008),
    ]  # fmt: skip
    assert {one.id: one.buddy for one in settings.agents} == {
        "chief": "ops", "ops": "chief", "coder": "devops", "devops": "coder",
        "sales": "comms", "comms": "sales", "finance": "intel", "intel": "finance",
    }  # fmt: skip
    assert agent(settings, "chief").role == "Chief of Staff - Coordination, priority management, conflict resolution"
    assert (settings.lead, settings.deputy, settings.console_port, settings.gateway_port) == ("chief", "ops", 8000, 8900)
    assert settings.agents == tuple(with_cwd(one, tmp_path) for one in AGENTS)


def with_cwd(one: AgentSettings, folder: Path) -> AgentSettings:
    return AgentSettings(id=one.id, role=one.role, port=one.port, buddy=one.buddy, capabilities=one.capabilities, cwd=str(folder))


@rule("A1a")
def test_all_eight_are_able_of_their_own_and_of_general() -> None:
    able = {one.id: one.capabilities for one in AGENTS}
    assert able["chief"] == ("coordinate", "plan", "review", "general")
    assert able["ops"] == ("process", "schedule", "execute", "general")
    assert all("general" in capabilities and len(capabilities) == 4 for capabilities in able.values())


@rule("A1", "A2")
def test_the_file_that_init_writes_is_the_default_fleet() -> None:
    assert read(TEMPLATE) == read("")


@rule("A2")
def test_each_default_that_the_template_shows_is_the_true_one() -> None:
    lines = [line[1:] if line.startswith("#") and line[1:2].isalpha() else line for line in TEMPLATE.splitlines()]
    shown = "\n".join(lines)
    assert shown.count("\n#") < TEMPLATE.count("\n#") - 20
    assert read(shown) == read("")


@rule("A2")
def test_the_template_names_every_key_there_is() -> None:
    from covey.base.config import keys

    for section in (keys.FLEET, keys.BRAIN, *keys.RECORD.values(), *keys.SINGLE.values()):
        assert [key for key in section if key not in TEMPLATE] == []


@rule("A2")
def test_agents_in_the_file_are_the_whole_fleet() -> None:
    settings = read('[agents.ada]\nrole = "Numbers"\ncapabilities = ["count"]\nowner = "o"\norganisation = "acme"\nport = 9100')
    assert settings.agents == (
        AgentSettings(
            id="ada", role="Numbers", port=9100, capabilities=("count",), owner="o", organisation="acme", cwd=str(ROOT)
        ),
    )  # fmt: skip


@rule("A2")
def test_other_sections_change_the_default_eight() -> None:
    settings = read('[fleet]\nlease_s = 90\nlinks = "none"\n[retention]\nevents_days = 7\n[features.acme]\nmail = false')
    assert len(settings.agents) == 8
    assert (settings.lease_s, settings.links, settings.retention.events_days) == (90.0, "none", 7.0)
    assert settings.features == {"acme": {"mail": False}}


@rule("A2")
def test_a_default_name_without_a_role_keeps_its_role() -> None:
    settings = read('[agents.coder]\nbrain = "m:f"\n[agents.ops]\nrole = "Photos"')
    assert agent(settings, "coder").capabilities == ("code", "test", "review", "general")
    assert agent(settings, "coder").role.startswith("Coder - ")
    assert agent(settings, "ops").capabilities == ("general",)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('"rules"', BrainSettings()),
        ('"external"', BrainSettings(kind="external")),
        ('"pkg.mod:Class.make"', BrainSettings(kind="python", target="pkg.mod:Class.make")),
        ('{ command = ["claude", "-p"], timeout_s = 9 }', BrainSettings(kind="command", command=("claude", "-p"), timeout_s=9.0)),
        ('{ kind = "command", command = "a | b" }', BrainSettings(kind="command", command=("sh", "-c", "a | b"))),
        ('{ kind = "python", target = "m:f", process = true }', BrainSettings(kind="python", target="m:f", process=True)),
        ('{ kind = "a2a", target = "https://a/b" }', BrainSettings(kind="a2a", target="https://a/b")),
        (
            '{ preset = "codex", options = { arguments = ["--model", "m"] } }',
            BrainSettings(kind="command", preset="codex", options={"arguments": ["--model", "m"]}),
        ),
        (
            '{ kind = "model", target = "p:m", options = { settings = { t = [0.5] } } }',
            BrainSettings(kind="model", target="p:m", options={"settings": {"t": [0.5]}}),
        ),
    ],
)
@rule("A2")
def test_a_brain_is_a_word_or_a_table(written: str, meant: BrainSettings) -> None:
    assert agent(read(f"[agents.a]\nbrain = {written}"), "a").brain == meant


@rule("A2a")
def test_lead_and_deputy_are_chief_and_ops_where_they_are() -> None:
    assert (read(fleet_of("x", "ops", "chief")).lead, read(fleet_of("x", "ops", "chief")).deputy) == ("chief", "ops")


@pytest.mark.parametrize(
    ("text", "lead", "deputy"),
    [
        (fleet_of("x", "y", "z"), "x", "y"),
        (fleet_of("ops", "y"), "ops", "y"),
        (fleet_of("x", "ops", "z"), "x", "ops"),
        (fleet_of("chief", "y"), "chief", "y"),
        (fleet_of("chief"), "", ""),
        ('[fleet]\nlead = "ops"\n' + fleet_of("chief", "ops"), "ops", "chief"),
        ('[fleet]\nlead = "z"\ndeputy = "operator"\n' + fleet_of("x", "z"), "z", ""),
        ('[fleet]\nlead = "operator"\n' + fleet_of("x", "ops"), "", "ops"),
    ],
)
@rule("A2a")
def test_else_the_first_agent_and_its_buddy_lead(text: str, lead: str, deputy: str) -> None:
    settings = read(text)
    assert (settings.lead, settings.deputy) == (lead, deputy)


@rule("A2a")
def test_ports_are_counted_and_leave_out_those_in_use() -> None:
    settings = read("[fleet]\nconsole_port = 8003\ngateway_port = 8005\n[agents.a]\nport = 8001\n" + fleet_of("b", "c", "d"))
    assert [one.port for one in settings.agents] == [8001, 8002, 8004, 8007]


@rule("A2a")
def test_a_base_port_moves_everything() -> None:
    for text in ("", TEMPLATE):
        settings = read(text, base_port=9000)
        assert [one.port for one in settings.agents] == list(range(9001, 9009))
        assert (settings.console_port, settings.gateway_port) == (9000, 9900)


@rule("A2a")
def test_written_ports_belong_to_the_base_port_of_the_file() -> None:
    text = "[fleet]\nbase_port = 9000\nconsole_port = 9099\n[agents.a]\nport = 9005\n[agents.b]"
    assert [one.port for one in read(text).agents] == [9005, 9001]
    moved = read(text, base_port=9500)
    assert [one.port for one in moved.agents] == [9505, 9501]
    assert (moved.console_port, read(text, base_port=9500, console_port=7000).console_port) == (9599, 7000)


@given(names=st.lists(NAMES, min_size=1, max_size=40, unique=True), ports=st.dictionaries(st.integers(0, 39), st.integers(8000, 8050)))
@rule("A2a")
def test_any_fleet_has_unique_ports(names: list[str], ports: dict[int, int]) -> None:
    written = dict(zip(names, dict.fromkeys(ports.get(place) for place in range(len(names))), strict=False))
    free = {name: port for name, port in written.items() if port not in (None, 8000)}
    text = "\n".join(f"[agents.{name}]\n" + (f"port = {free[name]}\n" if name in free else "") for name in names)
    settings = read(text)
    taken = [settings.console_port, settings.gateway_port, *(one.port for one in settings.agents)]
    assert len(set(taken)) == len(names) + 2
    assert all(agent(settings, name).port == port for name, port in free.items())


@rule("B1")
def test_agents_are_paired_in_order_and_an_odd_one_makes_a_ring_of_three() -> None:
    assert {one.id: one.buddy for one in read(fleet_of("a", "b", "c", "d", "e")).agents} == {
        "a": "b", "b": "a", "c": "d", "d": "e", "e": "c",
    }  # fmt: skip
    assert read(fleet_of("a")).agents[0].buddy == ""


@rule("B1")
def test_who_is_watched_and_names_nobody_watches_back() -> None:
    settings = read('[agents.a]\nbuddy = "c"\n' + fleet_of("b", "c"))
    assert {one.id: one.buddy for one in settings.agents} == {"a": "c", "c": "b", "b": "a"}


@rule("B1")
def test_written_pairs_stay_and_the_one_left_over_watches_the_one_before() -> None:
    settings = read('[agents.a]\nbuddy = "b"\n[agents.b]\nbuddy = "a"\n[agents.c]')
    assert {one.id: one.buddy for one in settings.agents} == {"a": "b", "b": "a", "c": "b"}


@given(names=st.lists(NAMES, min_size=2, max_size=30, unique=True))
@rule("B1")
def test_any_fleet_that_names_no_buddies_watches_and_is_watched_once(names: list[str]) -> None:
    watching = {one.id: one.buddy for one in read(fleet_of(*names)).agents}
    assert sorted(watching.values()) == sorted(names)
    assert all(name != buddy for name, buddy in watching.items())
    assert sum(watching[watching[name]] != name for name in names) == (3 if len(names) % 2 else 0)


@rule("A1b")
def test_projects_have_paths_from_the_file_on_and_agents() -> None:
    settings = read('[projects.web]\npath = "../web"\nagents = ["coder", "coder", "ops"]\n[projects.idea]\n')
    web, idea = settings.projects
    assert (web.name, web.path, web.agents) == ("web", "/srv/web", ("coder", "ops"))
    assert idea.path == ""


@rule("A1b")
def test_a_brain_runs_in_its_folder_else_in_the_fleets() -> None:
    settings = read('[agents.a]\ncwd = "work"\nenv = { LANG = "C" }\n[agents.b]\ncwd = "~/x"\n[agents.c]')
    a, b, c = settings.agents
    assert (a.cwd, a.env, b.cwd, c.cwd) == ("/srv/fleet/work", {"LANG": "C"}, str(Path.home() / "x"), "/srv/fleet")


@rule("K6a")
def test_a_schedule_is_a_time_span_or_a_cron_line_with_a_zone() -> None:
    settings = read(
        '[schedules.a]\ntext = "x"\nagent = "ops"\ncron = "30 7 * * MON-FRI"\ntime_zone = "Europe/Berlin"\npriority = "high"\n'
        '[schedules.b]\ntext = "y"\ncapability = "test"\nevery_s = 60'
    )
    a, b = settings.schedules
    assert (a.cron, a.time_zone, a.every_s, a.priority) == ("30 7 * * MON-FRI", "Europe/Berlin", None, "high")
    assert (b.every_s, b.cron, b.capability, b.time_zone) == (60.0, "", "test", "UTC")


@rule("A2")
def test_environment_goes_over_the_file_and_flags_over_both(tmp_path: Path) -> None:
    (tmp_path / "covey.toml").write_text('[fleet]\nlease_s = 70\nhost = "::1"\ncycle_s = 5\npooler = true\n')
    environ = {"COVEY_LEASE_S": "80", "COVEY_HOST": "localhost", "COVEY_STORE": "", "COVEY_ALLOWED_HOSTS": "a.example, b.example"}
    settings = load(None, dir=tmp_path, environ=environ, flags={"lease_s": 90, "host": None, "only": "ops,chief"})
    assert (settings.lease_s, settings.host, settings.cycle_s, settings.pooler) == (90.0, "localhost", 5.0, True)
    assert (settings.allowed_hosts, settings.only, settings.store) == (("a.example", "b.example"), ("ops", "chief"), "")


@rule("A2")
def test_folders_are_beside_the_file_unless_told(tmp_path: Path) -> None:
    file = tmp_path / "etc" / "covey.toml"
    file.parent.mkdir()
    file.write_text('[fleet]\nlogs_dir = "../log"\n')
    beside = load(file, dir=tmp_path, environ={}, flags={})
    assert (beside.data_dir, beside.shared_dir) == (f"{file.parent}/.covey", f"{file.parent}/shared")
    assert beside.logs_dir == str(tmp_path / "log")
    told = load(file, dir=tmp_path, environ={"COVEY_SHARED_DIR": "s"}, flags={"dir": "var"})
    assert (told.data_dir, told.shared_dir, told.logs_dir) == (f"{tmp_path}/var/.covey", f"{tmp_path}/var/s", str(tmp_path / "log"))
    assert told.root == str(file.parent)


@rule("A2")
def test_the_environment_may_name_the_file(tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text(fleet_of("x"))
    assert [one.id for one in load(None, dir=tmp_path, environ={"COVEY_CONFIG": "other.toml"}, flags={}).agents] == ["x"]


@rule("A2")
def test_postgres_may_be_spelt_short() -> None:
    assert read("", store="postgres://u:p@h/d").store == "postgresql://u:p@h/d"


@rule("A2")
def test_ten_thousand_agents_are_a_fleet_and_one_more_is_not() -> None:
    names = [f"a{place}" for place in range(10_001)]
    assert len({one.port for one in read(fleet_of(*names[:-1])).agents}) == 10_000
    with pytest.raises(Misconfigured, match="has 10,001 agents"):
        read(fleet_of(*names))


def test_reading_imports_no_clockwork_unless_there_are_schedules() -> None:
    program = (
        "import sys; from pathlib import Path; from covey.base.config import load_text\n"
        "load_text('[agents.a]', root=Path('/'))\n"
        "heavy = {'cronsim', 'zoneinfo', 'asyncio', 'tempfile', 'subprocess'} & sys.modules.keys()\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)


KEYS = ["fleet", "agents", "projects", "schedules", "features", "retention", "brain", "kind", "target", "command", "port", "buddy", "lead",
        "chief", "x", "cron", "time_zone", "every_s", "text", "agent", "env", "options", "host", "store", "lease_s", "path", "a\nb", "ü"]  # fmt: skip
VALUES = st.recursive(
    st.one_of(
        st.booleans(), st.integers(-1, 70_000), st.floats(), st.text(max_size=8),
        st.sampled_from(["rules", "command", "m:f", "chief", "* * * * *", "0 0 30 2 *", "UTC", "../x", "Europe", "9" * 30, "\0"]),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def faults_of(text: str) -> list[dict[str, object]] | None:
    """The faults of a text, or None if it is taken."""
    try:
        read(text)
    except Misconfigured as refused:
        return refused.faults
    return None


@given(sections=st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4))
@rule("A2")
def test_whatever_a_toml_says_it_is_taken_or_refused_with_places(sections: dict[str, object]) -> None:
    faults = faults_of(table(("x",), sections).partition("\n")[2])
    assert faults is None or (faults and all(fault["line"] and fault["message"] for fault in faults))


@given(text=st.text(alphabet="[]{}=.,\"'#\\\n abc019-:_T", max_size=80))
@rule("A2")
def test_whatever_a_text_says_it_is_taken_or_refused_with_lines(text: str) -> None:
    faults = faults_of(text)
    assert faults is None or (faults and all(fault["line"] and fault["message"] for fault in faults))
