"""Where traces go, by covey.toml or by OpenTelemetry's own variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from covey.base.config import load_text
from covey.base.errors import Misconfigured
from covey.base.settings import TelemetrySettings

ROOT = Path("/srv/fleet")


@pytest.mark.parametrize(
    ("text", "environ", "traces"),
    [
        ("", {}, ""),
        ('[telemetry]\ntraces = "http://c:4318"', {}, "http://c:4318"),
        ("", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, "http://c:4318"),
        ("", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://d/x"}, "http://d/x"),
        ('[telemetry]\ntraces = ""', {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, ""),
        ("", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_SDK_DISABLED": "true"}, ""),
        ("", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_TRACES_EXPORTER": "none"}, ""),
        ("", {"OTEL_EXPORTER_OTLP_ENDPOINT": "grpc://c:4317"}, ""),
    ],
    ids=["off", "file", "environment", "for traces", "file wins", "disabled", "another exporter", "another protocol"],
)
def test_traces_go_where_the_file_or_the_environment_says(text: str, environ: dict[str, str], traces: str) -> None:
    assert load_text(text, root=ROOT, environ=environ).telemetry.traces == traces


def test_the_share_that_is_sampled_is_a_setting() -> None:
    assert load_text("[telemetry]\nsample = 0.1", root=ROOT).telemetry == TelemetrySettings(sample=0.1)


@pytest.mark.parametrize(
    "line",
    [
        'traces = "localhost:4318"',
        'traces = "http://user:secret@c:4318"',
        'traces = "file:///etc/passwd"',
        "sample = 1.5",
        "sample = -1",
        "trace = 1",
    ],
)
def test_anything_else_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        load_text(f"[telemetry]\n{line}", root=ROOT)
    assert "line 2" in refused.value.message
    assert line.partition(" ")[0] in refused.value.message
