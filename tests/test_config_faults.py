"""A wrong covey.toml is refused whole, with every fault and its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.base.config import load, load_text
from covey.base.config.places import Survey
from covey.base.config.spelling import spelled
from covey.base.errors import Misconfigured
from tests.rules import rule


def faults_of(text: str, environ: dict[str, str] | None = None, **flags: object) -> list[dict[str, Any]]:
    with pytest.raises(Misconfigured) as refused:
        load_text(text, root=Path("/srv/fleet"), environ=environ, flags=flags)
    return refused.value.faults


WRONG = """\
host = "x"
[flet]
[fleet]
lead = "cheif"
lease_s = 4
digest_s = nan
heartbeat_s = 50
links = "messh"
[agents.coder]
brian = "rules"
port = 8003
[agents.Coder2]
port = 70_000
capabilities = ["ok",
   "Not OK"]
[agents.x]
port=8003
buddy="x"
brain = { kind = "comand", command = [] }
[agents.system]
[projects.p]
agents=["coder", "codr"]
[schedules.s]
text = "x"
agent = "chef"
every_s = 3
cron = "* * *"
"""


@rule("A2")
def test_every_fault_is_told_at_once_with_its_line() -> None:
    assert [(fault["line"], fault["path"]) for fault in faults_of(WRONG)] == [
        (1, "host"),
        (2, "flet"),
        (4, "fleet.lead"),
        (5, "fleet.lease_s"),
        (6, "fleet.digest_s"),
        (7, "fleet.heartbeat_s"),
        (8, "fleet.links"),
        (10, "agents.coder.brian"),
        (12, "agents.Coder2"),
        (13, "agents.Coder2.port"),
        (15, "agents.Coder2.capabilities[1]"),
        (17, "agents.x.port"),
        (18, "agents.x.buddy"),
        (19, "agents.x.brain.kind"),
        (19, "agents.x.brain.command"),
        (20, "agents.system"),
        (22, "projects.p.agents[1]"),
        (23, "schedules.s"),
        (25, "schedules.s.agent"),
        (27, "schedules.s.cron"),
    ]


@rule("A2")
def test_the_message_lists_the_faults_for_a_person() -> None:
    with pytest.raises(Misconfigured) as refused:
        load_text('[fleet]\nlinks = "messh"', root=Path("/"), name="/etc/covey.toml")
    assert refused.value.message == (
        '/etc/covey.toml: 1 fault; nothing of it was taken.\n  line 2: fleet.links: is "messh"; did you mean "mesh"? Allowed: mesh, none'
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[agents]", "has 0 agents; allowed: 1 to 10,000"),
        ("agents = 3", "is 3; allowed: tables named agents.NAME"),
        ("[agents]\na = 3", "is 3; allowed: a table"),
        ("[agents.Ab]", 'is "Ab"; allowed: a lower-case letter'),
        ("[agents.operator]", '"operator" is reserved'),
        ("[agents.all]", '"all" is reserved'),
        ("[agents.gateway]", '"gateway" is reserved'),
        ('[fleet]\ngateway = "on"', "auto"),
        ('[agents.a]\nmcp_profile = "boss"', "reader"),
        ("[agents.a]\nport = 0", "is 0; allowed: a whole number from 1 to 65,535"),
        ("[agents.a]\nport = true", "is true; allowed: a whole number"),
        ("[agents.a]\nport = 8000", "is 8000, which is the console's already"),
        ("[agents.a]\nport = 8900", "is 8900, which is the gateway's already"),
        ("[agents.a]\nport = 7\n[agents.b]\nport = 7", "is 7, which is agent a's already"),
        ("[agents.a]\nbuddy = 'b'\n[agents.bb]", 'there is no agent "b"; did you mean "bb"? Allowed: a, bb'),
        ("[agents.a]\nbuddy = 'a'", "is the agent itself"),
        ("[agents.a]\nbrain = 'rule'", 'there is no brain "rule"; did you mean "rules"?'),
        ("[agents.a]\nbrain = 'command'", '"command" alone is not enough; write brain = { kind = "command"'),
        ("[agents.a]\nbrain = 'a b:c'", 'is "a b:c"; allowed: "module:function"'),
        ("[agents.a]\nbrain = { target = 'm:f' }", "has no kind; allowed: rules, python"),
        ("[agents.a]\nbrain = { kind = 'python' }", 'has no target; write brain = "module:function"'),
        ("[agents.a]\nbrain = { kind = 'python', target = 'm.f' }", 'is "m.f"; allowed: "module:function"'),
        ("[agents.a]\nbrain = { kind = 'rules', command = 'x' }", "does not go with kind rules; allowed with: command"),
        ("[agents.a]\nbrain = { command = ' ' }", "is empty; write a program"),
        ("[agents.a]\nbrain = { command = [''] }", "is empty; write a program"),
        ("[agents.a]\nbrain = { command = 'x', timeout_s = -1 }", "is -1; allowed: a number of seconds from 0.001"),
        ("[agents.a]\nbrain = { kind = 'rules', options = { a = 1979-05-27 } }", "is a date or time; allowed: what JSON can carry"),
        ("[agents.a]\ntask_lanes = 2\nbrain = { command = 'x' }", "is 2; a command brain has one lane"),
        ("[agents.a]\nbrain = { preset = 'clod' }", 'is "clod"; did you mean "codex"? Allowed: claude, codex, gemini'),
        ("[agents.a]\nbrain = { preset = 'claude', command = 'x' }", 'does not go with preset = "claude"; leave one of them out'),
        ("[agents.a]\nbrain = { kind = 'rules', preset = 'claude' }", "does not go with kind rules; allowed with: command"),
        ("[agents.a]\nbrain = { command = 'x', options = { input = 'xml' } }", 'is "xml"; allowed: json, text'),
        ("[agents.a]\nbrain = { kind = 'model', target = 'p:m', options = { api_key = 'x' } }", 'did you mean "api_key_env"?'),
        ("[agents.a]\nbrain = { kind = 'model', target = 'p:m', options = { base_url = 'file:///etc' } }", "allowed: the address of an API"),
        ("[agents.a]\nbrain = { kind = 'model', target = 'p:m', options = { usd = 0 } }", "allowed: a number of US dollars"),
        ("[agents.a]\nbrain = { kind = 'model', target = 'p:m', options = { prices = { input = 1 } } }", "allowed: { input = 0.15"),
        ("[agents.a]\nbrain = { kind = 'model', target = 'p:m', options = { tools = true } }", "allowed: one of auto, on, off"),
        ("[agents.a]\ncwd = \"a\\u0000\"", "allowed: text of at most 10,000 characters, without a NUL"),
        ("[agents.a]\nenv = { 'A=B' = 'x' }", 'is "A=B"; allowed: a variable\'s name'),
        ("[fleet]\nlead = 'chef'", 'there is no agent "chef"; did you mean "chief"?'),
        ("[fleet]\nlead = 'ops'\ndeputy = 'ops'", "is ops, who is the lead already"),
        ("[fleet]\nbase_port = 64000\n[agents.a]\nport = 1\n[fleet.x]", 'there is no key "x"'),
        ("[a2a]\nallow_private = ['10.0.0.1/8']", "has '10.0.0.1/8', which is no host name, address or network like 10.0.0.0/8"),
        ("[fleet]\nhost = '127.0.0.1:80'", "allowed: an address as 127.0.0.1 or ::1, or a host name, without a port"),
        ("[fleet]\ngrace_s = 0", "is 0; allowed: a number of seconds from 0.001"),
        ("[fleet]\ncycle_s = inf", "is inf; allowed: a number of seconds"),
        ("[fleet]\nstale_s = 20", "leaves stale_s 20 and heartbeat_s 15; stale_s must be at least twice heartbeat_s"),
        ("[fleet]\ngateway_port = 7999", "leaves the gateway's gRPC door on 8000, which is the console's"),
        ("[fleet]\nprocesses = 0x" + "f" * 5000, "is a whole number; allowed: a whole number from 0 to 1,024"),
        ("[fleet]\ndurability = 1", "is 1; allowed: one of full, normal"),
        ("[projects.'a b']", 'is "a b"; allowed: letters, digits and'),
        ("[schedules.s]\nagent = 'ops'\nevery_s = 5", "has no text"),
        ("[schedules.s]\ntext = 'x'\nagent = 'ops'", "has neither every_s nor cron"),
        ("[schedules.s]\ntext = 'x'\nevery_s = 5", "has neither agent nor capability"),
        ("[schedules.s]\ntext = 'x'\nagent = 'ops'\ncron = '0 0 30 2 *'", 'is "0 0 30 2 *"'),
        ("[schedules.s]\ntext = 'x'\nagent = 'ops'\ncron = '1#1 * * * *'", 'is "1#1 * * * *" (Bad minute)'),
        ("[schedules.s]\ntext = 'x'\nagent = 'ops'\ncron = '* * * * *'\ntime_zone = 'Europe/Berln'", 'did you mean "Europe/Berlin"?'),
        ("[schedules.s]\ntext = 'x'\nagent = 'ops'\ncron = '* * * * *'\ntime_zone = '../etc'", 'there is no time zone "../etc"'),
        ("[schedules.s]\ntext = 'x'\nagent = 'ops'\nevery_s = 9\nproject = 'p'", 'there is no project "p"; allowed: none'),
        ("[features.acme]\nmail = 1", "is 1; allowed: true or false"),
        ("[retention]\nevents_days = 0", "is 0; allowed: a number of days"),
        ("a = [\n1,\n,", "Invalid value"),
        ("x = " + "[" * 5000, "Nested too deep"),
    ],
)  # fmt: skip
@rule("A2")
def test_a_fault_says_what_is_and_what_is_allowed(text: str, message: str) -> None:
    messages = [fault["message"] for fault in faults_of(text)]
    assert len(messages) == 1
    assert message in messages[0]


@pytest.mark.parametrize("text", ['[fleet]\nstore = "mysql://u:hunter2@h"', "[agents.a]\nenv = { KEY = ['hunter2'] }"])
@rule("A2")
def test_no_message_repeats_a_secret(text: str) -> None:
    assert "hunter2" not in str(faults_of(text))


@rule("A2", "A2a")
def test_a_base_port_that_drives_a_port_over_the_edge_is_a_fault() -> None:
    assert "would move with the base port to 65536" in faults_of("[agents.a]\nport = 9536", base_port=64000)[0]["message"]


@rule("A2a")
def test_agents_that_find_no_port_are_told() -> None:
    text = "\n".join(f"[agents.a{place}]" for place in range(635))
    assert len(load_text(text, root=Path("/"), flags={"base_port": 64000}).agents) == 635
    faults = faults_of("\n".join(f"[agents.a{place}]" for place in range(1536)), base_port=64000)
    assert [fault["path"] for fault in faults] == ["agents.a1533", "agents.a1534", "agents.a1535"]
    assert "has no port left: all from 64001 to 65535 are in use" in faults[0]["message"]


@pytest.mark.parametrize(
    ("text", "line"), [("a = 1\nb = [\n1,\n\n\n", 3), ("a = 1\nb = 'x", 2), ("a = 1\n\na = 2", 3), ("[a]\n[b]\n[a]", 3)]
)
@rule("A2")
def test_what_is_not_toml_is_told_with_its_line(text: str, line: int) -> None:
    assert [fault["line"] for fault in faults_of(text)] == [line]


@rule("A2")
def test_bounds_themselves_are_allowed() -> None:
    deep = "{ x = " * 19 + "{}" + " }" * 19
    text = f"[fleet]\nlease_s = 5\nheartbeat_s = 30\nstale_s = 60\n[agents.a]\nport = 65535\nbrain = {{ kind = 'rules', options = {deep} }}"
    settings = load_text(text, root=Path("/"))
    assert (settings.lease_s, settings.agents[0].port) == (5.0, 65535)
    assert "levels deep" in faults_of(text.replace("{}", "{ x = {} }").replace("x = {}", "x = { y = {} }"))[0]["message"]


@rule("A2")
def test_faults_of_environment_and_flags_name_them() -> None:
    faults = faults_of("", {"COVEY_LEASE_S": "soon"}, base_port="x", only=["ops", "opps"], bass=3)
    assert [(fault["line"], fault["path"]) for fault in faults] == [
        (None, "COVEY_LEASE_S"),
        (None, "--base-port"),
        (None, "--bass"),
        (None, "--only"),
    ]
    assert faults[0]["message"] == 'is "soon"; allowed: a number of seconds from 5 to 31,622,400'


@rule("A2")
def test_a_file_that_is_not_there_or_not_text_is_told_in_a_sentence(tmp_path: Path) -> None:
    def refused(path: Path) -> str:
        with pytest.raises(Misconfigured) as caught:
            load(path, dir=tmp_path, environ={}, flags={})
        return caught.value.message

    assert "There is no file" in refused(tmp_path / "none.toml")
    assert "can't be read: Is a directory" in refused(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"# a\n# \xe4\n")
    assert "line 2 is not UTF-8" in refused(tmp_path / "latin.toml")
    (tmp_path / "bom.toml").write_bytes(b"\xef\xbb\xbf[agents.a]")
    assert len(load(tmp_path / "bom.toml", dir=tmp_path, environ={}, flags={}).agents) == 1


@rule("A2")
def test_ten_thousand_faults_are_all_told_and_the_message_stays_readable() -> None:
    text = "\n".join(f"[agents.a{place}]\nbuddy = 'b{place}'" for place in range(5000)) + "\n[agents.b0x]\nx = 1"
    with pytest.raises(Misconfigured) as refused:
        load_text(text, root=Path("/"))
    assert len(refused.value.faults) == 5001
    assert len(refused.value.message) < 30_000


PLACES = '''\
a.b = 1  # [no]
"q.k"."é\\u0041" = """
[x]
a = 1"""
[t . 'u v']
list = [ # [c]
  "]",
  { k = 1, "l m" = [ 2,
    3 ] },
]
at = 1979-05-27 07:32:00
s = \'\'\'
it''s [here]'\'\'\'
[[row]]
x = 1
[[row]]
x = 2
[row.sub]
y = """a"\\"\\"\\""""
[end]
z = 1
'''


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        (("a",), 1, 1),
        (("a", "b"), 1, 1),
        (("q.k", "éA"), 2, 1),
        (("t",), 5, 1),
        (("t", "u v"), 5, 1),
        (("t", "u v", "list"), 6, 1),
        (("t", "u v", "list", 0), 7, 3),
        (("t", "u v", "list", 1), 8, 3),
        (("t", "u v", "list", 1, "k"), 8, 5),
        (("t", "u v", "list", 1, "l m", 1), 9, 5),
        (("t", "u v", "at"), 11, 1),
        (("t", "u v", "s"), 12, 1),
        (("row",), 14, 1),
        (("row", 0, "x"), 15, 1),
        (("row", 1, "x"), 17, 1),
        (("row", 1, "sub", "y"), 19, 1),
        (("end", "z"), 21, 1),
    ],
)
def test_each_key_is_found_however_it_is_written(path: tuple[str | int, ...], line: int, column: int) -> None:
    assert Survey(PLACES).places[path] == (line, column)


VALUES = st.recursive(
    st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(
    data=st.dictionaries(st.text(max_size=4), VALUES, max_size=5),
    above=st.sampled_from(["", "\n", "# [x] = 1\n"]),
    around=st.sampled_from(["", " "]),
)
def test_every_path_of_any_document_has_a_place(data: dict[str, Any], above: str, around: str) -> None:
    lines = [f"{above}{spelled(key)}{around}={around}{spelled(value)}\n" for key, value in data.items()]
    survey = Survey("".join(lines))

    def paths(value: Any, at: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
        inner = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
        return [at, *(path for part, one in inner for path in paths(one, (*at, part)))]

    assert {path for path in paths(data, ()) if path} == set(survey.places)
