"""Spans sent to an OpenTelemetry collector over OTLP/HTTP. The one module that imports OpenTelemetry; needs the extra `otel`.

A span is handed to the SDK's batch processor whole: its id is known before the SDK could give one, since a message carries it in the
transaction that stores it. The processor's queue is bounded, and what does not fit or can't be sent is dropped.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Sequence

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from covey.base.settings import TelemetrySettings
from covey.base.tracing import Kind, Span, Trace
from covey.version import __version__

log = logging.getLogger("covey.telemetry")

SEND_S = 5.0
"""A collector that takes longer to answer is as good as gone."""
CLOSE_S = 2.0
"""A process that ends waits no longer for what is not sent yet."""
EACH_S = 1.0
"""So often what there is is sent."""
_KINDS: dict[Kind, SpanKind] = {
    "internal": SpanKind.INTERNAL,
    "producer": SpanKind.PRODUCER,
    "consumer": SpanKind.CONSUMER,
    "client": SpanKind.CLIENT,
}
_NOISY = ("opentelemetry.exporter.otlp", "opentelemetry.exporter.http", "opentelemetry.sdk._shared_internal")
"""The loggers that would fill a log while the collector is gone; `_Told` says it once."""
_SCOPE = InstrumentationScope("covey", __version__)


class Exporter:
    """The spans of one process on their way to a collector (see `base.tracing.Spans`)."""

    on = True

    def __init__(self, settings: TelemetrySettings) -> None:
        for name in _NOISY:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._share = settings.sample
        self._resource = _resource()
        timeout_s = SEND_S if _unset("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT") else None
        self._sender = _Told(OTLPSpanExporter(endpoint=endpoint_of(settings.traces), timeout=timeout_s), settings.traces)
        each_ms = EACH_S * 1000 if _unset("OTEL_BSP_SCHEDULE_DELAY") else None
        self._processor = BatchSpanProcessor(self._sender, schedule_delay_millis=each_ms)

    def child(self, parent: Trace | None) -> Trace | None:
        """A span below another one, or the first of a trace; of so large a share of traces all is sampled, of the others nothing."""
        span_id = _random(8)
        if parent is not None:
            return Trace(parent.trace_id, span_id, parent.sampled)
        trace_id = _random(16)
        return Trace(trace_id, span_id, int(trace_id[16:], 16) < self._share * 2**64)

    def record(self, span: Span) -> None:
        """Put it into the queue."""
        if span.trace.sampled:
            self._processor.on_end(_readable(span, self._resource))

    def close(self) -> None:
        """Send what is left, for two seconds at most; then nothing more is tried, and the thread ends with its request."""
        ending = threading.Thread(target=self._processor.shutdown, name="covey-traces-end", daemon=True)
        ending.start()
        ending.join(CLOSE_S)
        if ending.is_alive():
            self._sender.shutdown()


class _Told:
    """Sends as an exporter of the SDK does, and says in the log when that begins to fail and when it works again."""

    def __init__(self, sender: OTLPSpanExporter, where: str) -> None:
        self._sender = sender
        self._where = where
        self._failing = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send them; what can't be sent is dropped."""
        result = self._sender.export(spans)
        failing = result is not SpanExportResult.SUCCESS
        if failing and not self._failing:
            log.warning("traces can't be sent to %s and are dropped; nothing else is held up. It is tried again all the time.", self._where)
        elif self._failing and not failing:
            log.warning("traces are sent to %s again.", self._where)
        self._failing = failing
        return result

    def shutdown(self) -> None:
        """Send nothing more."""
        self._sender.shutdown()


def endpoint_of(base: str) -> str:
    """The address that traces are posted to: the collector's with the usual path, unless it has one of its own. Pure."""
    _, _, rest = base.partition("://")
    return base if "/" in rest.rstrip("/") else f"{base.rstrip('/')}/v1/traces"


def _unset(*names: str) -> bool:
    """Whether OpenTelemetry's own variables say nothing of it."""
    return not any(os.environ.get(name) for name in names)


def _random(size: int) -> str:
    """So many random bytes, not all zero, as lower-case hexadecimal."""
    found = os.urandom(size)
    return found.hex() if any(found) else _random(size)


def _resource() -> Resource:
    told = {"service.instance.id": f"{socket.gethostname()}:{os.getpid()}", "service.version": __version__}
    if "OTEL_SERVICE_NAME" not in os.environ:
        told["service.name"] = "covey"
    return Resource.create(told)


def _readable(span: Span, resource: Resource) -> ReadableSpan:
    return ReadableSpan(
        span.name,
        context=_context(span.trace),
        parent=_context(span.parent) if span.parent is not None else None,
        resource=resource,
        attributes=span.attributes | ({"error.type": span.error} if span.error else {}),
        kind=_KINDS[span.kind],
        status=Status(StatusCode.ERROR) if span.error else Status(StatusCode.UNSET),
        start_time=_nanoseconds(span.start),
        end_time=_nanoseconds(max(span.start, span.end)),
        instrumentation_scope=_SCOPE,
    )


def _context(trace: Trace) -> SpanContext:
    flags = TraceFlags(TraceFlags.SAMPLED if trace.sampled else TraceFlags.DEFAULT)
    return SpanContext(int(trace.trace_id, 16), int(trace.span_id, 16), is_remote=False, trace_flags=flags)


def _nanoseconds(at: float) -> int:
    """A time to the microsecond, which is all that a float of these years has."""
    return round(at * 1e6) * 1000
