"""What `covey doctor` finds about the ways into this fleet and out of it: address, gateway, links, notices, traces. It changes nothing."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from importlib.util import find_spec

from covey.app import gateway_doors
from covey.app.starting import as_started
from covey.base.settings import Settings
from covey.base.target import target_of
from covey.cli.findings import Finding
from covey.notices import telling
from covey.notices.model import channel_of

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def openness(settings: Settings) -> Iterator[Finding]:
    """What is switched off or open beyond this machine."""
    if settings.limits == "off":
        yield Finding(
            "warn", "limits off", "quotas between agents are off: nothing stops two agents that talk without end.", 'limits = "on"'
        )
    if settings.host in _LOOPBACK:
        yield Finding("ok", "address", f"bound to {settings.host}: this machine alone can reach it")
        return
    opened = [name for name in ("open_status", "open_metrics") if getattr(settings, name)]
    also = f", and {' and '.join(opened)} let anybody read them" if opened else "; each call needs a token"
    yield Finding("warn", "address", f"bound to {settings.host}, beyond this machine{also}.", "put TLS before it, and a firewall")


def gateway(settings: Settings) -> Iterator[Finding]:
    """Which doors the gateway has, and what is missing for the others."""
    if settings.gateway == "off":
        yield Finding("ok", "gateway", "it is switched off (gateway = off)")
        return
    absent = [door for door in gateway_doors.DOORS if not gateway_doors.is_there(door)]
    if there := [door.name for door in gateway_doors.there()]:
        yield Finding("ok", "gateway", f"{' and '.join(there)} on port {as_started(settings).gateway_port}")
    for door in absent:
        yield Finding("ok", "gateway", f'there is no {door.name} door, {door.what}: pip install "covey[{door.extra}]" brings it')


def quotas(settings: Settings) -> Iterator[Finding]:
    """Whether links have their limits (L2)."""
    if settings.limits == "off":
        said = "limits = off: no link has a quota, so that agents who talk too much cost what they cost"
        yield Finding("warn", "links", said, 'write limits = "on" in covey.toml')
        return
    yield Finding("ok", "links", f"links = {settings.links}, with their limits")


def channels(settings: Settings) -> Iterator[Finding]:
    """Whether the operator can be told of alerts elsewhere, by the channels that are named; no address is repeated."""
    if not settings.notify:
        yield Finding("ok", "notices", "the operator is told of alerts in its inbox; `notify` in covey.toml names channels besides")
        return
    names = [channel_of(place, url) for place, url in enumerate(settings.notify)]
    if not telling.is_installed():
        said = f"{', '.join(names)}: Apprise is not installed, so alerts are told in the operator's inbox alone."
        yield Finding("warn", "notices", said, 'pip install "covey[notify]"')
        return
    strange = [name for name, url in zip(names, settings.notify, strict=True) if not telling.is_known(url)]
    if strange:
        yield Finding("fail", "notices", f"Apprise knows no such channel as {', '.join(strange)}.", "correct `notify` in covey.toml")
    else:
        yield Finding("ok", "notices", f"alerts go to the operator's inbox and to {', '.join(names)}")


def traces(settings: Settings) -> Iterator[Finding]:
    """Whether traces can be sent where they are to go, if anywhere."""
    where = settings.telemetry.traces
    if not where:
        return
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.exporter") is None:
        yield Finding("warn", "traces", f"they are to go to {where}, but OpenTelemetry is not installed.", 'pip install "covey[otel]"')
        return
    target = target_of(where, "traces")
    try:
        socket.create_connection((target.host, target.port), timeout=2).close()
    except OSError as error:
        yield Finding(
            "warn",
            "traces",
            f"nobody takes them at {where} ({error.strerror or error}).",
            "start the collector",
        )
    else:
        yield Finding("ok", "traces", f"they go to {where}")
