"""Random histories of two agents and their operator, beside a naive reference that remembers everything (L4 to L8)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from covey.agents.model import THE_OPERATOR
from covey.links.model import LinkChange
from covey.messages import releasing, relinking
from covey.store import Statement, Transaction
from tests.inline import Hand
from tests.links.words import bodies, left, sweep, told
from tests.rules import rule

CLEAR = [Statement(f"clear_{table}", f"DELETE FROM {table}") for table in ("copies", "messages", "peer_states", "links", "thread_pauses")]
PAIR = ("chief", "coder")


class Naive:
    """One direction, kept the plain way: all that was accepted with its time, what waits, and when the window began."""

    def __init__(self) -> None:
        self.messages, self.hours, self.debounce = 30, 6, 5.0
        self.accepted: list[tuple[float, str]] = []
        self.waits: list[str] = []
        self.delivered: list[str] = []
        self.began: float | None = None
        self.ends = math.inf
        self.credits = 30

    def roll(self, now: float) -> None:
        if self.began is not None and now >= self.ends:
            self.began, self.ends, self.credits = None, math.inf, self.messages

    def pay(self, now: float) -> None:
        if self.began is None:
            self.began, self.ends = now, now + self.hours * 3600.0
        self.credits -= 1

    def flush(self, now: float) -> None:
        self.roll(now)
        while self.waits and self.credits > 0:
            self.pay(now)
            self.delivered.append(self.waits.pop(0))

    def send(self, body: str, now: float) -> str:
        if any(text == body and now - at < 3600.0 for at, text in self.accepted[-3:]):
            return "duplicate"
        if self.accepted and now < self.accepted[-1][0] + self.debounce:
            return "debounced"
        self.flush(now)
        if self.credits == 0 and len(self.waits) >= self.messages:
            return "exhausted"
        self.accepted.append((now, body))
        if self.credits == 0:
            self.waits.append(body)
            return "deferred"
        self.pay(now)
        self.delivered.append(body)
        return "delivered"

    def limit(self, messages: int, hours: int, now: float) -> None:
        self.roll(now)
        if self.began is None:
            self.credits = messages
        else:
            self.credits = min(self.credits + max(messages - self.messages, 0), messages)
            self.ends = min(self.ends, self.began + hours * 3600.0)
        self.messages, self.hours = messages, hours
        self.roll(now)
        self.flush(now)


class World:
    """The real thing and the reference, moved together."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand
        self.naive = {PAIR[0]: Naive(), PAIR[1]: Naive()}
        self.number = 0
        self.idents: list[tuple[str, str]] = []

    def other(self, sender: str) -> str:
        return PAIR[1] if sender == PAIR[0] else PAIR[0]

    def send(self, sender: str, body: int) -> None:
        self.number += 1
        # each in a thread of its own: how often two take turns is another matter
        found = told(
            self.hand, sender, self.other(sender), f"text {body}", thread_id=f"t{self.number}", message_id=f"{sender}.{self.number}"
        )
        expected = self.naive[sender].send(f"text {body}", self.hand.now)
        assert found.status == expected
        if found.status == "deferred":
            self.idents.append((sender, f"{sender}.{self.number}"))

    def wait(self, seconds: float) -> None:
        self.hand.clock.at += seconds

    def sweep(self) -> None:
        sweep(self.hand)
        for naive in self.naive.values():
            if naive.waits:
                naive.flush(self.hand.now)

    def limit(self, messages: int, hours: int) -> None:
        self.hand(relinking.change, *PAIR, LinkChange(messages_per_window=messages, window_hours=hours), THE_OPERATOR)
        for naive in self.naive.values():
            naive.limit(messages, hours, self.hand.now)

    def space(self, seconds: float) -> None:
        self.hand(relinking.change, *PAIR, LinkChange(debounce_s=seconds), THE_OPERATOR)
        for naive in self.naive.values():
            naive.debounce = seconds
            if naive.waits:
                naive.flush(self.hand.now)

    def relink(self) -> None:
        self.hand(relinking.remove, *PAIR, THE_OPERATOR)
        self.hand(relinking.add, *PAIR, LinkChange(), THE_OPERATOR)
        for naive in self.naive.values():
            naive.waits.clear()

    def cancel(self, sender: str) -> None:
        naive = self.naive[sender]
        if not bodies(self.hand, self.other(sender), "deferred"):
            return
        ident = self.oldest(sender)
        self.hand(releasing.cancel, ident, THE_OPERATOR)
        naive.waits.pop(0)

    def oldest(self, sender: str) -> str:
        found = self.hand(releasing.deferred, THE_OPERATOR, limit=1000).items
        return next(message.message_id for message in found if message.from_ == sender)

    def agree(self) -> None:
        now = self.hand.now
        for sender, naive in self.naive.items():
            naive.roll(now)
            shown = left(self.hand, sender, self.other(sender))
            assert shown.credits_remaining == naive.credits
            reset = shown.window_reset_at
            assert (reset is None and naive.began is None) or (reset is not None and math.isclose(reset, naive.ends, rel_tol=1e-12))
            assert bodies(self.hand, self.other(sender), "deferred") == naive.waits
            assert sorted(bodies(self.hand, self.other(sender), "delivered")) == sorted(naive.delivered)


senders = st.sampled_from(PAIR)
steps = st.one_of(
    st.tuples(st.just("send"), senders, st.integers(0, 200)),
    st.tuples(st.just("send"), senders, st.integers(0, 3)),
    st.tuples(st.just("send"), st.just(PAIR[0]), st.integers(0, 200)),
    st.tuples(st.just("wait"), st.sampled_from([0.5, 4.999, 5.0, 60.0, 1800.0, 3600.0, 7200.0, 21600.0, 90000.0])),
    st.tuples(st.just("sweep")),
    st.tuples(st.just("limit"), st.integers(1, 4), st.integers(1, 8)),
    st.tuples(st.just("space"), st.sampled_from([0.0, 5.0, 60.0])),
    st.tuples(st.just("relink")),
    st.tuples(st.just("cancel"), senders),
)


def clear(tx: Transaction) -> None:
    for statement in CLEAR:
        tx.run(statement)


@rule("L4", "L5", "L6", "L7", "L8")
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
)  # fmt: skip
@given(history=st.lists(steps, min_size=10, max_size=40))
def test_any_history_comes_out_as_the_naive_reference_has_it(hand: Hand, history: list[tuple[Any, ...]]) -> None:
    hand(clear)
    world = World(hand)
    world.limit(2, 6)
    world.space(0.0)
    for name, *args in history:
        step: Callable[..., None] = getattr(world, name)
        step(*args)
    world.agree()
