"""Where work stands in its trace: the form of a traceparent, and how a step comes down from another."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.base import tracing
from covey.base.tracing import UNRECORDED, Trace, parse
from covey.brains.launching import Site, environment
from tests.conftest import EIGHT

HEADER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (HEADER, Trace("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331")),
        (HEADER[:-2] + "00", Trace("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", sampled=False)),
        ("cc" + HEADER[2:] + "-what-the-future-brings", Trace("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331")),
        (HEADER + "-more", None),
        ("ff" + HEADER[2:], None),
        (HEADER.upper(), None),
        (HEADER.replace("b7ad6b7169203331", "0" * 16), None),
        (HEADER.replace("0af7651916cd43dd8448eb211c80319c", "0" * 32), None),
        (HEADER + "\n", None),
        ("cc" + HEADER[2:] + "-" + "x" * 200, None),
        ("", None),
        (None, None),
    ],
    ids=str,
)
def test_a_traceparent_is_read_as_the_specification_has_it(text: str | None, found: Trace | None) -> None:
    assert parse(text) == found


@given(st.text(max_size=80))
def test_any_other_text_is_no_step(text: str) -> None:
    found = parse(text)
    assert found is None or parse(found.header) == found


def test_a_step_is_written_as_it_was_read() -> None:
    found = parse(HEADER)
    assert found is not None
    assert found.header == HEADER


async def test_each_task_is_at_its_own_step() -> None:
    async def work(name: str) -> None:
        with tracing.entered(Trace("1" * 32, name * 16)):
            await asyncio.sleep(0)
            found = tracing.current()
            assert found is not None
            assert found.span_id == name * 16

    await asyncio.gather(*(work(name) for name in "abc"))
    assert tracing.current() is None


def test_where_nothing_is_recorded_a_step_is_handed_on() -> None:
    step = parse(HEADER)
    assert UNRECORDED.child(step) == step
    assert UNRECORDED.child(None) is None
    assert not UNRECORDED.on


def test_a_brains_process_finds_its_span_in_its_environment() -> None:
    coder, site = EIGHT.agents[1], Site()
    assert "TRACEPARENT" not in environment(coder, site, "run_1", ours={})
    with tracing.entered(parse(HEADER)):
        assert environment(coder, site, "run_1", ours={"TRACEPARENT": "the operator's"})["TRACEPARENT"] == HEADER
