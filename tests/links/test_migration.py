"""The step that brings links goes over a store of the version before, which writes on beside it."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from covey.base.clock import SystemClock
from covey.store import sqlite
from covey.store.migrate import migrations
from covey.store.sqlite import SqliteEngine
from tests.rules import rule

OLD_SEND = """
INSERT INTO messages (id, sender, addressed, type, priority, subject, body, data, requires_response, thread_id, is_peer_dm, related_tasks, visited,
  created_at, digest, origin) VALUES (:id, 'chief', '"coder"', 'task', 'medium', '', 'x', '{}', 0, 't', 1, '[]', '["chief"]', 1, 'd', 'chief');
INSERT INTO copies (message_id, receiver, sender, state, wakes, not_urgent, sort_key, not_before, delivered_at)
VALUES (:id, 'coder', 'chief', 'delivered', 1, 1, 1, 1, 1)
"""


@rule("N4")
def test_the_version_before_goes_on_sending_after_the_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = migrations()
    assert [step.name for step in steps[:2]] == ["0001_foundation", "0002_links"]
    engine = SqliteEngine(tmp_path / "store.db", SystemClock())
    with monkeypatch.context() as patch:
        patch.setattr(sqlite, "migrations", lambda: steps[:1])
        assert engine.migrate(SystemClock().wall) == ["0001_foundation"]
    old: apsw.Connection = engine.open()
    old.execute(OLD_SEND, {"id": "m1"})
    assert "0002_links" in engine.migrate(SystemClock().wall)
    old.execute(OLD_SEND, {"id": "m2"})
    assert list(old.execute("SELECT id, turns FROM messages")) == [("m1", None), ("m2", None)]
    old.close()
