"""`covey upgrade`: a backup, the new schema, and a running fleet started anew on what is installed."""

from __future__ import annotations

import stat
from pathlib import Path

import apsw
import pytest

from covey.store.migrate import migrations
from covey.version import __version__
from tests import schemas
from tests.cli.conftest import Covey
from tests.scenarios.conftest import free_base_port


def test_a_store_of_an_older_version_is_backed_up_and_brought_to_this_one(covey: Covey, folder: Path) -> None:
    covey("send", "coder", "hello")
    (folder / ".covey" / "store.db").unlink()
    oldest = schemas.released("sqlite")[0]
    with apsw.Connection(str(folder / ".covey" / "store.db")) as db:
        db.execute(oldest.read_text(encoding="utf-8"))
        done = {name for (name,) in db.execute("SELECT name FROM migrations")}
        db.execute("INSERT INTO clock (id, boot_id, ahead) VALUES (1, 'of old', 0)")
    db.close()

    made = covey("upgrade", "--json").json

    assert made["migrated"] == [step.name for step in migrations() if step.name not in done]
    assert (made["version"], made["before"], made["restarted"]) == (__version__, None, False)
    assert stat.S_IMODE(Path(made["backup"]).stat().st_mode) == 0o600
    assert covey("send", "coder", "hello again").code == 0
    again = covey("upgrade", "--json").json
    assert (again["migrated"], again["restarted"]) == ([], False)


def test_without_a_fleet_there_is_nothing_to_upgrade(covey: Covey, folder: Path) -> None:
    ended = covey("upgrade")
    assert ended.code == 4
    assert "covey up" in ended.err
    assert not (folder / ".covey").exists()


@pytest.mark.scenario
@pytest.mark.timeout(120)
def test_a_running_fleet_of_another_version_is_started_anew_with_its_flags_and_its_mail(covey: Covey, folder: Path) -> None:
    (folder / "covey.toml").write_text("[agents.chief]\n[agents.coder]\n")
    base_port = free_base_port()
    covey("up", "--detach", "--base-port", str(base_port))
    try:
        covey("pause", "coder")
        covey("send", "coder", "wait for me", "--id", "m1")
        node = covey("ps", "--json").json["items"][0]["pid"]
        assert covey("upgrade", "--json").json["restarted"] is False
        with apsw.Connection(str(folder / ".covey" / "store.db")) as db:
            db.execute("UPDATE nodes SET version = '0.0.1'")
        db.close()

        made = covey("upgrade", "--json").json

        assert (made["before"], made["restarted"]) == ("0.0.1", True)
        found = covey("ps", "--json").json["items"]
        assert [each["port"] for each in found] == [base_port + 1, base_port + 2]
        assert found[0]["pid"] != node
        assert covey("read", "m1", "--json").code == 0
    finally:
        covey("down")
