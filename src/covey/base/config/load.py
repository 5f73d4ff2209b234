"""The settings of a fleet: covey.toml < environment < flags. Checks all, refuses whole, fills in what is left out; changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_origin

from covey.base.config import fleet as fleets
from covey.base.config import sections
from covey.base.config.faults import Faults
from covey.base.config.keys import FEATURES, FLEET, SINGLE, agent_names, types_of, values
from covey.base.config.outline import SECTIONS, SINGLES
from covey.base.config.shapes import BAD
from covey.base.config.source import FILE_NAME, absolute, locate, parsed, read
from covey.base.settings import BASE_PORT, AgentSettings, ProjectSettings, ScheduleSettings, Settings, WebhookSettings

_FOLDERS = {"data_dir": ".covey", "shared_dir": "shared", "logs_dir": "logs"}
_TYPES = types_of(Settings)
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def load(
    path: Path | None,
    *,
    dir: Path,  # noqa: A002 - as the flag is called
    environ: Mapping[str, str],
    flags: Mapping[str, object],
) -> Settings:
    """The settings from a file, the environment and flags; the default fleet where nothing is said (A1, A2).

    Args:
        path: The file. None: the one that COVEY_CONFIG names, else `covey.toml` in the folder, else none at all.
        dir: The folder. Without a file, all paths start here.
        environ: COVEY_ and the name of any key of [fleet], as COVEY_LEASE_S; an empty one counts as not there.
        flags: Any key of [fleet], `only` (the agents to run here), `dir` (another folder). None counts as not given.

    Paths in the file start at the file. The data's folders, and paths of environment and flags, start at the flag `dir`; without
    it at the file.


    Raises:
        Misconfigured: with every fault and its place.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    found = locate(path, dir=dir, environ=environ, flags=given)
    given.pop("dir", None)
    if not found.there:
        return load_text("", root=found.home, environ=environ, flags=given)
    text = read(found.file)
    return load_text(text, root=found.file.parent, home=found.home, environ=environ, flags=given, name=str(found.file))


def load_text(
    text: str,
    *,
    root: Path,
    home: Path | None = None,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
    name: str = FILE_NAME,
) -> Settings:
    """As `load`, from the text of a file that lies in `root`. `home`: where data goes, and where outer paths start; `root` if not given.

    Raises:
        Misconfigured: with every fault and its place.
    """
    home = home or root
    faults = Faults(name, text)
    document = parsed(name, text)
    _check_sections(faults, document)
    inner = values(faults, ("fleet",), document.get("fleet", {}), FLEET)
    outer = _outer(faults, environ or {}, flags or {})
    only = outer.pop("only", ())
    agents = sections.agents(faults, document.get("agents"))
    fleet = _layered(faults, inner, outer, root, home)
    fleets.settle_ports(faults, fleet, agents, inner.get("base_port", BASE_PORT))
    fleets.settle_buddies(faults, agents)
    fleets.settle_lead(faults, fleet, agents)
    fleets.check_times(faults, fleet)
    for agent in only:
        if agent not in agents:
            faults.unknown("--only", "agent", agent, agents)
    rest = _rest(faults, document, agents, root, environ or {})
    if faults.found:
        from covey.base.config.refusal import refusal  # noqa: PLC0415 - milliseconds that only a faulty file is worth

        raise refusal(faults)
    staff = tuple(AgentSettings(id=agent, **_placed(draft, "cwd", root, ".")) for agent, draft in agents.items())
    return Settings(agents=staff, root=str(root), only=only, **fleet, **rest)


def _check_sections(faults: Faults, document: dict[str, Any]) -> None:
    for name in document:
        if name in FLEET:
            faults.add((name,), "stands outside of a section; write it below [fleet]")
        elif name not in SECTIONS:
            faults.unknown((name,), "section", name, SECTIONS)


def _outer(faults: Faults, environ: Mapping[str, str], flags: Mapping[str, object]) -> dict[str, Any]:
    """What the environment and the flags say about the fleet; a flag wins."""
    found: dict[str, Any] = {}
    for key in FLEET:
        if text := environ.get(f"COVEY_{key.upper()}"):
            found[key] = FLEET[key](faults, f"COVEY_{key.upper()}", _from_text(key, text))
    for key, value in flags.items():
        at = "--" + key.replace("_", "-")
        if key == "only":
            found[key] = agent_names(faults, at, _from_text(key, value))
        elif key in FLEET:
            found[key] = FLEET[key](faults, at, _from_text(key, value))
        else:
            faults.unknown(at, "flag", key, [*FLEET, "only", "dir"])
    return {key: value for key, value in found.items() if value is not BAD}


def _from_text(key: str, value: object) -> object:
    """A value for the key from the text of a variable or flag; what can't be one stays as it is and is refused later."""
    want = _TYPES[key]
    if not isinstance(value, str):
        return value
    if want is bool:
        return _WORDS.get(value.strip().lower(), value)
    if get_origin(want) is tuple:
        return [part.strip() for part in value.split(",") if part.strip()]
    try:
        return want(value) if want in (int, float) and len(value) < 30 else value
    except ValueError:
        return value


def _layered(faults: Faults, inner: dict[str, Any], outer: dict[str, Any], root: Path, home: Path) -> dict[str, Any]:
    """The keys of [fleet] with the outer ones over the inner ones. Folders are absolute, the file's ports moved with the base port."""
    by = outer.get("base_port", inner.get("base_port", BASE_PORT)) - inner.get("base_port", BASE_PORT)
    for key in ("console_port", "gateway_port"):
        if key in inner and key not in outer:
            inner = inner | {key: fleets.moved(faults, ("fleet", key), inner[key], by)}
    folders = {key: str(absolute(home, usual)) for key, usual in _FOLDERS.items()}
    folders |= {key: str(absolute(root, inner[key])) for key in _FOLDERS if inner.get(key)}
    folders |= {key: str(absolute(home, outer[key])) for key in _FOLDERS if outer.get(key)}
    return inner | outer | folders


def _rest(faults: Faults, document: dict[str, Any], agents: sections.Drafts, root: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """All but the fleet and its agents."""
    projects = sections.projects(faults, document.get("projects"))
    schedules = sections.schedules(faults, document.get("schedules"))
    webhooks = sections.webhooks(faults, document.get("webhooks"))
    features = FEATURES(faults, ("features",), document.get("features", {}))
    singles = {section: values(faults, (section,), document.get(section, {}), keys) for section, keys in SINGLE.items()}
    singles["telemetry"] = _telemetry_of(environ) | singles["telemetry"]
    fleets.check_names(faults, agents, projects, schedules)
    fleets.check_planner(faults, agents, singles["planning"])
    if schedules:
        from covey.base.config import schedules as clockwork  # noqa: PLC0415 - cronsim and zoneinfo, for those who have schedules

        clockwork.check(faults, schedules)
    if webhooks:
        from covey.base.config import webhooks as outgoing  # noqa: PLC0415 - ipaddress and sockets, for those who have webhooks

        outgoing.check(faults, webhooks)
    if places := singles["a2a"].get("allow_private"):
        from covey.base.config import reaching  # noqa: PLC0415 - likewise

        reaching.check(faults, ("a2a", "allow_private"), places)
    if faults.found:
        return {}
    singles["planning"] = _placed(singles["planning"], "templates", root)
    return {
        "projects": tuple(ProjectSettings(name=name, **_placed(draft, "path", root)) for name, draft in projects.items()),
        "schedules": tuple(ScheduleSettings(name=name, **draft) for name, draft in schedules.items()),
        "webhooks": tuple(WebhookSettings(name=name, **draft) for name, draft in webhooks.items()),
        "features": features,
        **{section: SINGLES[section].form(**draft) for section, draft in singles.items()},
    }


def _telemetry_of(environ: Mapping[str, str]) -> dict[str, Any]:
    """What OpenTelemetry's own variables say of traces, where they say it in a form that is ours; covey.toml wins over it."""
    where = environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or ""
    if environ.get("OTEL_SDK_DISABLED", "").lower() == "true" or environ.get("OTEL_TRACES_EXPORTER", "otlp") != "otlp":
        return {}
    quiet = Faults("", "")
    return values(quiet, ("telemetry",), {"traces": where}, SINGLE["telemetry"]) if where else {}


def _placed(draft: dict[str, Any], key: str, root: Path, usual: str = "") -> dict[str, Any]:
    """The draft with an absolute path under the key."""
    written = draft.get(key) or usual
    return draft | {key: str(absolute(root, written)) if written else ""}
