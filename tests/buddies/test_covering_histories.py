"""Covering over any history of agents that fall silent, come back, rest, and get urgent mail (B5)."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.agents import living
from covey.agents.model import OPERATOR, THE_OPERATOR
from covey.buddies import covering
from covey.messages import handling, sending
from covey.messages import reading as mail
from covey.messages.model import draft
from tests.conftest import Database, ManualClock
from tests.inline import Hand, at_hand
from tests.rules import rule

NAMES = ("chief", "coder", "sales", "devops", "comms", "ops")
FLEET = ("chief", "coder", "sales", "finance", "intel", "devops", "comms", "ops")
Step = tuple[str, str]
STEPS = st.lists(
    st.tuples(st.sampled_from(["falls silent", "beats again", "rests", "works", "urgent mail", "takes"]), st.sampled_from(NAMES)),
    max_size=25,
)


@pytest.fixture
def fresh(mould_file: Path, tmp_path: Path) -> Callable[[], AbstractContextManager[Hand]]:
    """Stores for the examples, each new."""
    numbers = count()

    @contextmanager
    def make() -> Iterator[Hand]:
        path = tmp_path / f"{next(numbers)}.db"
        shutil.copy(mould_file, path)
        with at_hand(Database("sqlite", "", path), ManualClock()) as hand:
            yield hand

    return make


@rule("B5")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_who_is_down_is_covered_by_one_who_is_up_and_each_message_is_shown_once(
    fresh: Callable[[], AbstractContextManager[Hand]], steps: list[Step]
) -> None:
    with fresh() as hand:
        silent: set[str] = set()
        resting: set[str] = set()
        for name in FLEET:
            hand(living.arrive, name, node="here", pid=7, start_ticks=1, boot_id="b", port=8001)
        for step, name in steps:
            _do(hand, step, name, silent, resting)
            hand.clock.at += 61
            for each in FLEET:
                if each not in silent:
                    hand(living.beat, each, pid=7)
            found = {each.agent: each.buddy for each in hand(covering.cover)}
            assert set(found) == silent - resting
            assert not set(found.values()) & (silent | resting)
        shown: list[str] = []
        for name in (*FLEET, OPERATOR):
            for message in hand(mail.inbox, name).items:
                shown += message.content["data"].get("messageIds", [])
        assert len(shown) == len(set(shown))


def _do(hand: Hand, step: str, name: str, silent: set[str], resting: set[str]) -> None:
    if step == "falls silent":
        silent.add(name)
    elif step == "beats again":
        silent.discard(name)
    elif step == "rests":
        hand(living.pause, name, THE_OPERATOR)
        resting.add(name)
    elif step == "works":
        hand(living.resume, name, THE_OPERATOR)
        resting.discard(name)
    elif step == "urgent mail":
        hand(sending.send, draft(name, "look", priority="urgent"), THE_OPERATOR)
    elif name not in silent and (claimed := hand(handling.claim, name, "run_1", lease_s=60, digest_s=900)) is not None:
        hand(handling.close, name, claimed.token)
