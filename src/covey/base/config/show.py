"""The settings told back: as data and as TOML, in the shape of covey.toml, defaults included. Secrets are masked unless asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from covey.base.config.outline import RECORDS, SINGLES
from covey.base.config.spelling import table
from covey.base.settings import BrainSettings, Settings

MASK = "***"
_PASSWORD = re.compile(r"(?<=://)([^/:@]*):.*@")
_PARAMETER = re.compile(r"(?i)(password=)[^&]*")
_SECRET = re.compile(r"(?i)key|token|secret|passw|credential|authori")


def describe(settings: Settings, *, secrets: bool = False) -> dict[str, Any]:
    """The settings, section by section, with the keys of covey.toml.

    Only what may hold a secret is changed, unless `secrets`: the store's password, addresses of notify and webhooks and their secrets,
    the values of env, and options whose name says so.
    With secrets, `to_toml` of it loads as the same settings.
    """
    told = _plain(settings)
    records = {section: dict(_named(told.pop(section))) for section in RECORDS}
    features = told.pop("features")
    single = {section: told.pop(section) for section in SINGLES}
    del told["root"], told["only"]
    told |= {part: told[part] or "operator" for part in ("lead", "deputy")}
    if not secrets:
        told["store"] = _without_password(told["store"])
        told["notify"] = [f"{url.partition('://')[0]}://{MASK}" for url in told["notify"]]
        for hook in records["webhooks"].values():
            hook["url"] = _without_path(hook["url"])
            hook["secret"] = hook["secret"] if hook["secret"].startswith("env:") else MASK
        for agent in records["agents"].values():
            agent["env"] = dict.fromkeys(agent["env"], MASK)
            agent["brain"]["options"] = _masked(agent["brain"]["options"])
    return {"fleet": told, **records, "features": features, **single}


def _plain(struct: msgspec.Struct) -> dict[str, Any]:
    """A struct with all of its fields, those left at their defaults too; what is None is left out."""
    return {name: _value(value) for name, value in msgspec.structs.asdict(struct).items() if value is not None}


def _value(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return _plain(value)
    return [_value(part) for part in value] if isinstance(value, tuple) else value


def _named(records: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for record in records:
        name = record.pop("id" if "id" in record else "name")
        yield name, {key: value for key, value in record.items() if value != ""}


def _without_password(store: str) -> str:
    return _PARAMETER.sub(rf"\g<1>{MASK}", _PASSWORD.sub(rf"\g<1>:{MASK}@", store))


def _without_path(url: str) -> str:
    """The address up to its host: what follows opens doors at some receivers."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0].partition('?')[0]}/{MASK}"


def _masked(options: Mapping[str, Any]) -> dict[str, Any]:
    return {key: MASK if _SECRET.search(key) else _masked(value) if isinstance(value, dict) else value for key, value in options.items()}


def to_toml(settings: Settings, *, secrets: bool = False) -> str:
    """The settings as the text of a covey.toml, everything written out."""
    told = describe(settings, secrets=secrets)
    tables: list[tuple[tuple[str, ...], dict[str, Any]]] = [(("fleet",), told["fleet"])]
    tables += [((section, name), one) for section in (*RECORDS, "features") for name, one in told[section].items()]
    tables += [((section,), told[section]) for section in SINGLES]
    for agent in told["agents"].values():
        agent["brain"] = _short(agent["brain"])
    return "\n".join(table(path, values) for path, values in tables)


def _short(brain: dict[str, Any]) -> Any:
    """A brain by its one word where that says it all."""
    plain = _plain(BrainSettings())
    written = {key: value for key, value in brain.items() if value != plain.get(key)}
    if brain["kind"] == "python" and written.keys() <= {"kind", "target"}:
        return brain["target"]
    return brain["kind"] if written.keys() <= {"kind"} else {"kind": brain["kind"]} | written
