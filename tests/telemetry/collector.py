"""An OpenTelemetry collector's OTLP/HTTP port: takes protobuf, keeps the spans. And one that records them in memory, without a port."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from covey.base.tracing import Span, Trace


class Got(NamedTuple):
    """One span as it arrived."""

    name: str
    trace: str
    ident: str
    parent: str
    kind: int
    attributes: dict[str, Any]
    start: int
    end: int
    service: str
    failed: bool


class Collector:
    """What came in so far, and where to send it."""

    def __init__(self) -> None:
        self.spans: list[Got] = []
        self.requests = 0
        self.headers: dict[str, str] = {}
        self.status = 200
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def named(self, name: str) -> Got:
        """The one span of this name."""
        (found,) = [span for span in self.spans if span.name == name]
        return found

    def take(self, body: bytes) -> None:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            service = values_of(resource.resource.attributes)["service.name"]
            for scope in resource.scope_spans:
                self.spans += [_got(span, service) for span in scope.spans]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.requests += 1
                collector.headers = dict(self.headers)
                if self.path == "/v1/traces" and collector.status == 200:
                    collector.take(body)
                self.send_response(collector.status if self.path == "/v1/traces" else 404)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def _got(span: Any, service: str) -> Got:
    return Got(
        name=span.name,
        trace=span.trace_id.hex(),
        ident=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        kind=span.kind,
        attributes=values_of(span.attributes),
        start=span.start_time_unix_nano,
        end=span.end_time_unix_nano,
        service=service,
        failed=span.status.code == 2,
    )


def values_of(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector that runs until the end."""
    found = Collector()
    found.start()
    try:
        yield found
    finally:
        found.stop()


class Kept:
    """Records spans in memory (see `base.tracing.Spans`); its ids are counted."""

    on = True

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.closed = False
        self._last = 0

    def child(self, parent: Trace | None) -> Trace | None:
        self._last += 1
        return Trace(parent.trace_id if parent else f"{self._last:032x}", f"{self._last:016x}", parent.sampled if parent else True)

    def record(self, span: Span) -> None:
        self.spans.append(span)

    def close(self) -> None:
        self.closed = True

    async def named(self, name: str) -> Span:
        """The one span of this name. It comes after its caller was answered."""
        for _ in range(1000):
            if found := [span for span in list(self.spans) if span.name == name]:
                (one,) = found
                return one
            await asyncio.sleep(0.005)
        raise AssertionError(f"no {name!r} among {sorted({span.name for span in self.spans})}")
