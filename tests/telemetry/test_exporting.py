"""Spans on their way to a collector: sampled, bounded, in its form, and never a reason to wait or fail."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator

import pytest

pytest.importorskip("opentelemetry.sdk")

from covey.base.settings import TelemetrySettings
from covey.base.tracing import Span
from covey.telemetry import exporting
from covey.telemetry.exporting import Exporter, endpoint_of
from tests.left_behind import left_of
from tests.telemetry.collector import Collector, collecting


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as found:
        yield found


@pytest.fixture
def exporter(collector: Collector) -> Iterator[Exporter]:
    found = Exporter(TelemetrySettings(traces=collector.url))
    yield found
    found.close()


def span(exporter: Exporter, name: str = "work", error: str = "") -> Span:
    above = exporter.child(None)
    trace = exporter.child(above)
    assert trace is not None
    return Span(name, "consumer", trace, above, 1_800_000_000.25, 1_800_000_001.5, {"covey.agent": "coder", "covey.attempt": 1}, error)


def test_a_span_arrives_as_it_was_recorded(collector: Collector, exporter: Exporter) -> None:
    told = span(exporter, error="failed")
    exporter.record(told)
    exporter.close()
    (got,) = collector.spans
    assert (got.name, got.trace, got.ident) == ("work", told.trace.trace_id, told.trace.span_id)
    assert told.parent is not None
    assert (got.parent, got.kind, got.failed, got.service) == (told.parent.span_id, 5, True, "covey")
    assert got.attributes == {"covey.agent": "coder", "covey.attempt": 1, "error.type": "failed"}
    assert (got.start, got.end) == (1_800_000_000_250_000_000, 1_800_000_001_500_000_000)


def test_what_is_not_sampled_is_not_sent_and_its_steps_are_not_either(collector: Collector) -> None:
    exporter = Exporter(TelemetrySettings(traces=collector.url, sample=0.0))
    told = span(exporter)
    assert not told.trace.sampled
    assert told.trace.header.endswith("-00")
    exporter.record(told)
    exporter.close()
    assert collector.spans == []


def test_about_so_large_a_share_of_traces_is_sampled(collector: Collector) -> None:
    exporter = Exporter(TelemetrySettings(traces=collector.url, sample=0.3))
    sampled = sum(trace.sampled for _ in range(2000) if (trace := exporter.child(None)) is not None)
    exporter.close()
    assert 450 < sampled < 750


def test_a_collector_that_refuses_is_told_of_once_and_again_when_it_takes_them(
    collector: Collector, exporter: Exporter, caplog: pytest.LogCaptureFixture
) -> None:
    collector.status = 400
    with caplog.at_level(logging.WARNING, logger="covey.telemetry"):
        for _ in range(3):
            exporter.record(span(exporter))
            exporter._processor.force_flush()
        collector.status = 200
        exporter.record(span(exporter))
        exporter._processor.force_flush()
    assert [record.getMessage()[:24] for record in caplog.records if record.name == "covey.telemetry"] == [
        "traces can't be sent to ",
        f"traces are sent to {collector.url}"[:24],
    ]


def test_recording_and_closing_take_no_time_while_the_collector_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "CLOSE_S", 0.3)
    with collecting() as gone:
        where = gone.url
    exporter = Exporter(TelemetrySettings(traces=where))
    began = time.monotonic()
    for _ in range(20_000):
        exporter.record(span(exporter))
    assert time.monotonic() - began < 5.0
    began = time.monotonic()
    exporter.close()
    assert time.monotonic() - began < 3.0


def test_what_is_closed_tries_nothing_more_while_the_collector_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "CLOSE_S", 0.1)
    before = threading.enumerate()
    with collecting() as gone:
        where = gone.url
    exporter = Exporter(TelemetrySettings(traces=where))
    for _ in range(5_000):
        exporter.record(span(exporter))
    exporter.close()
    assert left_of(before, patience_s=2.0) == []


@pytest.mark.parametrize(
    ("base", "found"),
    [
        ("http://localhost:4318", "http://localhost:4318/v1/traces"),
        ("http://localhost:4318/", "http://localhost:4318/v1/traces"),
        ("https://collect.example/otlp/v1/traces", "https://collect.example/otlp/v1/traces"),
    ],
)
def test_the_usual_path_is_added_to_a_bare_address(base: str, found: str) -> None:
    assert endpoint_of(base) == found
