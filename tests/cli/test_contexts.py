"""Contexts on the command line, and over HTTP by the same paths (C3, C5)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from covey.agents import configuring
from covey.base.clock import SystemClock
from covey.base.ids import Ids
from covey.contexts import checkpoints, entries
from covey.contexts.indexing import index_archived
from covey.store import Transaction
from covey.store.sqlite import SqliteEngine
from tests.cli.conftest import Covey
from tests.conftest import EIGHT
from tests.contexts.test_compressing import talk
from tests.rules import rule


def fill(tx: Transaction) -> None:
    """A context that was compressed, a checkpoint, and an archive with its index."""
    configuring.configure(tx, EIGHT)
    for number in range(80):
        entries.remember(tx, "coder", "message", talk(number), source=f"msg_{number}")
    entries.remember(tx, "coder", "decision", "Tests come first")
    checkpoints.save(tx, "coder", item="task_1", outcome="done", summary="did it")
    while index_archived(tx):
        pass


@pytest.fixture
def filled(folder: Path) -> None:
    """A fleet that is down, whose coder remembers much."""
    (folder / ".covey").mkdir()
    engine = SqliteEngine(folder / ".covey" / "store.db", SystemClock())
    engine.migrate(time.time)
    writer = engine.writer(Ids())
    tx = writer.begin(full=False, locks=())
    fill(tx)
    writer.commit(tx)
    writer.close()
    engine.close()


@rule("C3")
def test_a_context_is_shown_with_its_size_and_where_it_stands(covey: Covey, filled: None) -> None:
    found = covey("context", "show", "coder", "--json").json
    assert found["agentId"] == "coder"
    assert found["contextSize"] == sum(each["tokens"] for each in found["entries"]) <= found["maxContextSize"] == 8192
    assert found["checkpoint"]["item"] == "task_1"
    assert {each["form"] for each in found["entries"]} >= {"raw", "warm"}
    shown = covey("context", "show", "coder").out
    assert f"coder: {found['contextSize']:,} of 8,192 tokens" in shown
    assert "task_1 (done)" in shown
    assert "Tests come first" in covey("context", "show", "coder", "--whole").out
    assert covey("context", "show", "ops").out.rstrip().endswith("ops remembers nothing yet.")


@rule("C5")
def test_the_archive_is_recalled_by_words_time_and_id(covey: Covey, filled: None) -> None:
    found = covey("context", "recall", "coder", "item 0 garden", "--json").json["items"]
    assert [each["source"] for each in found] == ["msg_0"]
    assert found[0]["text"] == talk(0)
    assert "msg_0" in covey("context", "recall", "coder", "--id", "msg_0", "--whole").out
    assert covey("context", "recall", "coder", "--id", found[0]["shownIn"], "--json").json["items"][0]["id"] == found[0]["id"]
    assert covey("context", "recall", "coder", "--until", "2020-01-01").out.strip() == "the archive of coder has nothing like that."
    assert covey("context", "recall", "coder", "--since", "2020-01-01", "--limit", "2", "--json").json["cursor"]
    assert covey("context", "recall", "coder", "--since", "yesterday").code == 2
    assert covey("context", "recall", "coder", "--id", "msg_99", "--json").code == 4
    assert covey("context", "recall", "nobody", "word").code == 4


@rule("C3")
def test_a_context_is_compressed_by_hand(covey: Covey, filled: None) -> None:
    done = covey("context", "compress", "coder", "--json").json
    assert done["after"] < done["before"]
    assert done["after"] <= 4096
    assert done["archived"] > 0
    assert "there was nothing to compress" in covey("context", "compress", "coder").out
    assert covey("context", "compress", "nobody").code == 4
