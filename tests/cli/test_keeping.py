"""doctor, db, backup, restore, import, export, uninstall and install-service, on a fleet that is down."""

from __future__ import annotations

import configparser
import contextlib
import json
import os
import socket
import sqlite3
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from covey.base.markers import NameLock
from covey.cli import examining_ways
from covey.cli.about import unit
from covey.cli.archiving import TOKENS
from covey.cli.examining import file_system
from tests.cli.conftest import Covey, Ran
from tests.postgres import Databases
from tests.rules import rule

ROOT = Path(__file__).parent.parent.parent


def findings(ended: Ran, about: str) -> list[dict[str, str]]:
    """What doctor found about something."""
    return [each for each in ended.json["findings"] if each["about"] == about]


@pytest.fixture
def running(folder: Path, covey: Covey) -> Iterator[None]:
    """This test's own process stands in for an agent of the fleet: it holds that name's lock."""
    covey("task", "add", "coder", "a task")
    run = folder / ".covey" / "run"
    run.mkdir(exist_ok=True)
    lock = NameLock(run / "coder.lock")
    assert lock.take("coder")
    yield
    lock.release()


# doctor


def test_doctor_finds_nothing_wrong_where_nothing_is_and_makes_nothing(covey: Covey, folder: Path) -> None:
    ended = covey("doctor", "--base-port", "21700")
    assert ended.code == 0, ended.out
    assert "none yet" in ended.out
    assert "default 8 agents" in ended.out
    assert list(folder.iterdir()) == []


def test_doctor_names_the_gateways_port_that_a_running_fleet_has(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COVEY_GATEWAY", "auto")
    monkeypatch.setattr("covey.app.gateway_doors.is_there", lambda _: True)
    monkeypatch.setattr(examining_ways, "as_started", lambda settings: msgspec.structs.replace(settings, gateway_port=21790))
    ended = covey("doctor", "--base-port", "21700", "--json")
    assert [each["text"] for each in findings(ended, "gateway")] == ["MCP and A2A on port 21790"]


@rule("A10")
def test_doctor_names_the_stranger_that_holds_a_port(covey: Covey) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        ended = covey("doctor", "--base-port", str(port), "--json")
    assert ended.code == 1
    bad = [each for each in findings(ended, "ports") if each["level"] == "fail"]
    assert str(port) in bad[0]["text"]
    assert str(os.getpid()) in bad[0]["text"]


@rule("H6")
def test_doctor_tells_which_model_or_assistant_can_not_start(covey: Covey, folder: Path) -> None:
    (folder / "covey.toml").write_text(
        "[fleet]\nbase_port = 21700\n[agents.a.brain]\nkind = 'model'\ntarget = 'openai:m'\noptions = { api_key_env = 'NO_SUCH_KEY' }\n"
        "[agents.b]\nbrain = { preset = 'codex' }\nenv = { PATH = '/nowhere' }\n"
    )
    told = [each["text"] for each in findings(covey("doctor", "--json"), "brains")]
    assert told[0].startswith("agent a: NO_SUCH_KEY, which holds its model's key, is not set")
    assert told[1:] == ["b: the command codex was not found."]


def test_doctor_tells_each_fault_of_the_configuration(covey: Covey, folder: Path) -> None:
    (folder / "covey.toml").write_text("[fleet]\nlease = 5\n\n[agents.a]\nport = 0\n")
    ended = covey("doctor", "--json")
    assert ended.code == 1
    assert [each["text"].partition(":")[0] for each in findings(ended, "config")] == ["line 2", "line 5"]


def test_doctor_sees_tokens_that_others_can_read_and_a_damaged_store(covey: Covey, folder: Path) -> None:
    covey("send", "chief", "hi")
    (folder / ".covey" / "tokens.toml").chmod(0o644)
    (folder / ".covey" / "store.db").write_bytes(b"no database" * 1000)
    ended = covey("doctor", "--base-port", "21700", "--json")
    assert ended.code == 1
    assert "chmod 600" in findings(ended, "rights")[-1]["text"]
    assert "damaged" in findings(ended, "store")[0]["text"]


def test_doctor_tries_the_brains(covey: Covey, folder: Path) -> None:
    (folder / "good.py").write_text("def think(turn): return 'yes'\n")
    (folder / "bad.py").write_text("import nosuchmodule\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "covey.toml").write_text(
        '[agents.good]\nbrain = "good:think"\n[agents.bad]\nbrain = "bad:think"\n[agents.lost]\nbrain = "good:nothing"\n'
        '[agents.sh]\nbrain = { kind = "command", command = ["sh", "-c", "true"] }\n'
        '[agents.none]\nbrain = { kind = "command", command = ["nosuchprogram"] }\n'
        '[agents.dull]\nbrain = { kind = "command", command = ["./run.sh"] }\n'
        '[agents.away]\ncwd = "nowhere"\nbrain = { kind = "command", command = ["true"] }\n'
    )
    ended = covey("doctor", "--base-port", "21700", "--json")
    assert ended.code == 1
    bad = {each["text"].partition(":")[0] for each in findings(ended, "brains")}
    assert bad == {"bad", "lost", "none", "dull", "away"}
    (isolation,) = findings(ended, "isolation")
    assert isolation["level"] == "warn"
    assert "act as each other" in isolation["text"]


def test_doctor_says_what_is_open_or_off(covey: Covey, folder: Path) -> None:
    (folder / "covey.toml").write_text('[fleet]\nlimits = "off"\nhost = "0.0.0.0"\nopen_status = true\n')
    ended = covey("doctor", "--base-port", "21700", "--json")
    assert findings(ended, "limits off")[0]["level"] == "warn"
    assert "open_status" in findings(ended, "address")[0]["text"]


def test_doctor_says_whether_traces_can_be_sent(covey: Covey, folder: Path) -> None:
    assert findings(covey("doctor", "--base-port", "21700", "--json"), "traces") == []
    with socket.create_server(("127.0.0.1", 0)) as server:
        (folder / "covey.toml").write_text(f'[telemetry]\ntraces = "http://127.0.0.1:{server.getsockname()[1]}"\n')
        assert findings(covey("doctor", "--base-port", "21700", "--json"), "traces")[0]["level"] == "ok"
    (found,) = findings(covey("doctor", "--base-port", "21700", "--json"), "traces")
    assert found["level"] == "warn"
    assert "nobody takes them" in found["text"]


def test_the_file_system_of_a_folder_is_that_of_the_nearest_mount() -> None:
    mounts = (
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 22 0:40 / /srv/far rw - nfs4 host:/x rw\n31 22 0:41 / /srv/a\\040b rw - tmpfs tmpfs rw\n"
    )
    assert [file_system(Path(path), mounts) for path in ("/srv", "/srv/far/x", "/srv/farther", "/srv/a b/c")] == [
        "ext4",
        "nfs4",
        "ext4",
        "tmpfs",
    ]


# the store


def test_the_store_is_checked_backed_up_and_given_room(covey: Covey, folder: Path) -> None:
    covey("send", "chief", "hi")
    assert covey("db", "migrate", "--json").json == {"migrated": []}
    assert covey("db", "check", "--json").json == {"ok": True}
    assert covey("db", "vacuum").code == 0
    assert covey("db", "backup", "copy.db", "--json").json["bytes"] == (folder / "copy.db").stat().st_size
    assert covey("db", "move", "x").code == 2


def test_a_damaged_store_is_one_sentence_and_an_exit_code(covey: Covey, folder: Path) -> None:
    covey("send", "chief", "hi")
    (folder / ".covey" / "store.db").write_bytes(b"no database" * 1000)
    for words in (("db", "check"), ("send", "chief", "hi"), ("ps",), ("backup", "b.tar"), ("up", "--detach", "--base-port", "21700")):
        ended = covey(*words, "--json")
        assert (ended.code, ended.json["code"]) == (1, "store_damaged"), words
        assert ended.json["detail"].count("covey restore") == 1, words


def test_a_fleet_with_a_damaged_store_is_taken_down_and_says_what_it_could_not_see(covey: Covey, folder: Path) -> None:
    covey("send", "chief", "hi")
    (folder / ".covey" / "store.db").write_bytes(b"no database" * 1000)
    ended = covey("down", "--json")
    assert (ended.code, ended.json["code"]) == (1, "store_damaged")
    assert ended.json["detail"].startswith("the fleet's processes are ended;")


# backup and restore


def test_a_backup_replaces_an_earlier_one_and_nothing_else(covey: Covey, folder: Path) -> None:
    covey("init")
    covey("send", "chief", "stays")
    store = folder / ".covey" / "store.db"
    (folder / "letter").write_text("of mine")
    (folder / "pipe").symlink_to("/dev/null")
    with contextlib.closing(sqlite3.connect(folder / "other.db")) as other:
        other.execute("CREATE TABLE mine (x)")
    with tarfile.open(folder / "other.tar", "w") as tar:
        tar.add(folder / "letter", arcname="letter")
    before = {name: (folder / name).read_bytes() for name in ("letter", "other.db", "other.tar", "covey.toml", ".covey/tokens.toml")}
    for command in (("backup",), ("db", "backup")):
        for name in (*before, "pipe", str(store), f"{store}.lock"):
            ended = covey(*command, name, "--json")
            assert (ended.code, ended.json["code"]) == (3, "conflict"), (command, name)
    assert before == {name: (folder / name).read_bytes() for name in before}
    assert covey("db", "check").code == 0
    assert len(covey("inbox", "chief", "--json").json["items"]) == 1
    (folder / "b.tar").touch()
    assert [covey("backup", "b.tar").code, covey("backup", "b.tar").code, covey("db", "backup", "b.tar").code] == [0, 0, 3]
    assert [covey("db", "backup", "b.db").code, covey("db", "backup", "b.db").code, covey("backup", "b.db").code] == [0, 0, 3]


def test_a_backup_brings_all_back_in_another_folder(covey: Covey, folder: Path) -> None:
    covey("init")
    covey("send", "chief", "keep this", "--id", "kept")
    (folder / ".covey" / "archive").mkdir()
    (folder / ".covey" / "archive" / "old.jsonl").write_text("old\n")
    token = covey("token", "show", "coder").out
    made = covey("backup", "fleet.tar.gz", "--json").json
    assert set(made["parts"]) == {"store.db", "tokens.toml", "covey.toml", "archive"}
    assert stat.S_IMODE((folder / "fleet.tar.gz").stat().st_mode) == 0o600
    (folder / "new").mkdir()
    assert covey("--dir", "new", "restore", "fleet.tar.gz").code == 0
    assert covey("--dir", "new", "read", "kept", "--json").json["items"][0]["content"]["body"] == "keep this"
    assert covey("--dir", "new", "token", "show", "coder").out == token
    assert (folder / "new" / "covey.toml").read_text() == (folder / "covey.toml").read_text()
    assert (folder / "new" / ".covey" / "archive" / "old.jsonl").read_text() == "old\n"
    assert not [each for each in folder.iterdir() if each.name.startswith(".covey-")]


@rule("N1")
def test_a_fleet_on_postgresql_is_kept_by_the_same_commands(covey: Covey, postgres: Databases, monkeypatch: pytest.MonkeyPatch) -> None:
    with postgres.fresh() as url:
        monkeypatch.setenv("COVEY_STORE", url)
        covey("send", "chief", "keep this", "--id", "kept")
        assert covey("backup", "b.tar.gz").code == 0
        covey("send", "chief", "lose this")
        assert covey("restore", "b.tar.gz", "--json").json["parts"][0] == "store.db"
        assert [each["messageId"] for each in covey("inbox", "chief", "--json").json["items"]] == ["kept"]
        assert covey("db", "check").code == covey("db", "vacuum").code == covey("db", "migrate").code == 0
        levels = {each["about"]: each["level"] for each in covey("doctor", "--base-port", "21700", "--json").json["findings"]}
        assert (levels["store"], levels["clock"]) == ("ok", "ok")


def test_what_a_restore_replaces_is_kept_beside_it(covey: Covey, folder: Path) -> None:
    covey("init")
    covey("task", "add", "coder", "a task")
    covey("backup", "b.tar")
    (folder / "covey.toml").write_text("# other\n")
    covey("token", "rotate", "coder")
    covey("send", "chief", "lost")
    restored = covey("restore", "b.tar", "--json").json
    assert restored["epoch"].startswith("epoch_")
    assert covey("inbox", "chief", "--json").json["items"] == []
    assert (folder / "covey.toml.replaced").read_text() == "# other\n"
    assert (folder / ".covey" / f"{TOKENS}.replaced").exists()


def test_nothing_is_restored_over_a_running_fleet(covey: Covey, folder: Path, running: None) -> None:
    covey("backup", "b.tar")
    covey("send", "chief", "stays")
    ended = covey("restore", "b.tar", "--json")
    assert (ended.code, ended.json["code"]) == (3, "conflict")
    assert "coder" in ended.json["detail"]
    assert len(covey("inbox", "chief", "--json").json["items"]) == 1


def test_what_is_no_backup_is_refused_and_changes_nothing(covey: Covey, folder: Path) -> None:
    covey("send", "chief", "stays")
    (folder / "text").write_text("no tar")
    (folder / "empty").write_bytes(b"")
    with tarfile.open(folder / "other.tar", "w") as tar:
        tar.add(folder / "text", arcname="text")
    covey("backup", "b.tar")
    (folder / "cut.tar").write_bytes((folder / "b.tar").read_bytes()[:5000])
    for name, code in (("text", 2), ("empty", 2), ("other.tar", 2), ("cut.tar", 2), ("nosuch", 4)):
        assert covey("restore", name).code == code, name
    assert len(covey("inbox", "chief", "--json").json["items"]) == 1


def test_a_backup_can_not_write_outside_of_what_is_restored(covey: Covey, folder: Path) -> None:
    covey("send", "chief", "hi")
    covey("backup", "b.tar")
    evil = folder / "evil"
    evil.write_text("evil")
    with tarfile.open(folder / "b.tar", "a") as tar:
        for name in ("../outside", "archive/../../outside", "/tmp/outside-of-covey", "run/settings.json"):
            tar.add(evil, arcname=name)
        link = tarfile.TarInfo("archive/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    (folder / "new").mkdir()
    assert covey("--dir", "new", "restore", "b.tar").code == 0
    assert not (folder / "outside").exists()
    assert not Path("/tmp/outside-of-covey").exists()
    assert not (folder / "new" / ".covey" / "archive" / "link").is_symlink()
    assert not (folder / "new" / ".covey" / "run" / "settings.json").exists()


# export and import


@rule("S4")
def test_an_export_is_taken_in_again_and_a_second_time_changes_nothing(covey: Covey, folder: Path) -> None:
    covey("send", "chief", "hi", "--id", "m1")
    covey("task", "add", "coder", "build", "--id", "t1")
    assert covey("export", "out", "--json").json["counts"]["messages"] == 1
    assert covey("export", "out").code == 3
    (folder / "new").mkdir()
    report = covey("--dir", "new", "import", "out", "--json").json
    assert (report["taken"]["messages"], report["taken"]["tasks"], report["faultCount"]) == (1, 1, 0)
    assert "0" in covey("--dir", "new", "import", "out").out
    assert covey("--dir", "new", "import", "out", "--json").json["known"]["messages"] >= 1
    assert covey("--dir", "new", "task", "show", "t1").code == 0
    assert covey("import", "nosuch").code == 4


@rule("S4")
def test_the_faults_of_a_tree_are_told(covey: Covey, folder: Path) -> None:
    (folder / "tree" / "communication").mkdir(parents=True)
    messages = [{"messageId": "m1", "from": "coder", "to": "chief", "content": {"body": "hi"}}, {"to": 7}]
    (folder / "tree" / "communication" / "messages.json").write_text(json.dumps(messages))
    ended = covey("import", "tree")
    assert ended.code == 0
    assert "1 faults" in ended.out
    assert "messages.json" in ended.out


# taking it away


def test_uninstall_keeps_the_data_and_purge_what_is_not_ours(covey: Covey, folder: Path) -> None:
    covey("init")
    covey("send", "chief", "hi")
    for name in (".covey/run/bells", "logs/agents", "shared/agent-states"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "logs" / "agents" / "chief.log").write_text("{}\n")
    (folder / "shared" / "agent-states" / "chief.json").write_text("{}\n")
    (folder / "shared" / "mine.txt").write_text("mine")
    assert covey("uninstall").code == 0
    assert not (folder / ".covey" / "run").exists()
    assert (folder / ".covey" / "store.db").exists()
    assert covey("uninstall", "--purge").code == 2
    assert (folder / ".covey" / "store.db").exists()
    done = covey("uninstall", "--purge", "--yes", "--json").json
    assert done["left"] == [str(folder / "shared" / "mine.txt")]
    assert sorted(each.name for each in folder.iterdir()) == ["covey.toml", "shared"]


def test_purge_asks_for_the_name_of_the_folder(covey: Covey, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    covey("send", "chief", "hi")
    monkeypatch.setattr("covey.cli.keeping.sys.stdin.isatty", lambda: True, raising=False)
    answers = iter(["yes", folder.name])
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(answers))
    assert covey("uninstall", "--purge").code == 3
    assert (folder / ".covey" / "store.db").exists()
    assert covey("uninstall", "--purge").code == 0
    assert not (folder / ".covey").exists()


# the service


def test_the_unit_is_like_the_one_in_deploy(covey: Covey, folder: Path) -> None:
    def read(text: str) -> dict[str, dict[str, str]]:
        parser = configparser.ConfigParser(interpolation=None)
        parser.optionxform = str  # type: ignore[assignment,method-assign]
        parser.read_string(text)
        return {section: dict(parser[section]) for section in parser.sections()}

    ours, given = read(covey("install-service").out), read((ROOT / "deploy" / "covey.service").read_text())
    assert {section: set(values) for section, values in ours.items()} == {section: set(values) for section, values in given.items()}
    own = {"Description", "User", "WorkingDirectory", "ExecStart", "ExecStop"}
    assert {k: v for k, v in ours["Service"].items() if k not in own} == {k: v for k, v in given["Service"].items() if k not in own}
    assert ours["Service"]["WorkingDirectory"] == str(folder)
    assert "TOKEN" not in str(ours).upper()


def test_a_unit_quotes_what_systemd_would_read(covey: Covey, folder: Path) -> None:
    text = unit(Path("/srv/100% mine"), "/opt/my covey/bin/covey", "me", ["--base-port 9000"])
    assert 'ExecStart="/opt/my covey/bin/covey" up --base-port 9000' in text
    assert "WorkingDirectory=/srv/100%% mine" in text
    assert covey("install-service", "--to", "covey.service", "--json").json["unit"] == (folder / "covey.service").read_text()
    assert covey("install-service", "--to", "nowhere/covey.service").code == 1
