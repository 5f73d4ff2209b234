"""Which keys each section of covey.toml has, and what each may hold. Made from the settings' own types, so that they can't drift apart."""

from __future__ import annotations

import re
import types
from collections.abc import Collection, Mapping
from typing import Any, Literal, get_args, get_origin

import msgspec

from covey.base.config.faults import Faults
from covey.base.config.outline import RECORDS, SECTIONS, SINGLES
from covey.base.config.shapes import BAD, At, Check, below, flag, formed, list_of, number, one_of, options, refuse, table_of, text, whole
from covey.base.ids import AGENT_FORM, ID_FORM
from covey.base.settings import BrainSettings, Settings

YEAR_S = 366 * 86400
PRIORITIES = ("urgent", "high", "medium", "low")
RESERVED = frozenset({"operator", "system", "all", "node", "console", "gateway"})
"""No agent may be called so: senders, everybody, and the processes that hold no agent."""

Keys = Mapping[str, Check]
"""The keys of a section, each with its check."""

_STORE = re.compile(r"(postgres(ql)?://[^\s\0]+)?")
_NOTIFY = re.compile(r"[a-z][a-z0-9+.-]{1,30}://[^\s\0]{1,4000}")
_port = whole(1, 65535)
_lanes = whole(1, 64)
_able = formed(r"[a-z0-9][a-z0-9_-]{0,31}", "a word of a-z, 0-9, - and _, at most 32 characters")
_able_or_none = formed(r"([a-z0-9][a-z0-9_-]{0,31})?", "a word of a-z, 0-9, - and _, at most 32 characters")
_host = formed(
    r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}|(?=.*:.*:)[0-9A-Fa-f:.]{2,45}(%[A-Za-z0-9.-]+)?",
    "an address as 127.0.0.1 or ::1, or a host name, without a port",
)
_uri = formed(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s,\0]{1,500}", "a URI without commas")
_env_name = formed(r"[A-Za-z_][A-Za-z0-9_]*", "a variable's name: letters, digits and _")
_org = formed(r"[^\0]{0,200}", "a name of at most 200 characters")
_texts = list_of(text, 'a list of texts, as ["a", "b"]')
agent_name: Check = formed(AGENT_FORM.pattern, "a lower-case letter, then a-z, 0-9 and -, at most 32 characters")
record_name: Check = formed(ID_FORM.pattern, "letters, digits and . _ : -, at most 128 characters")
agent_names: Check = list_of(text, 'a list of agents, as ["chief", "coder"]', distinct=True)


def _store(faults: Faults, at: At, value: object) -> Any:
    """Empty, or the address of a PostgreSQL. The value may hold a password, so no message repeats it."""
    if isinstance(value, str) and _STORE.fullmatch(value):
        return value.replace("postgres://", "postgresql://", 1)
    faults.add(at, 'is neither empty (the embedded store) nor "postgresql://user:password@host:port/database"')
    return BAD


def _notify(faults: Faults, at: At, value: object) -> Any:
    """One address of Apprise. It may hold a password, so no message repeats it."""
    if isinstance(value, str) and _NOTIFY.fullmatch(value):
        return value
    faults.add(at, 'is no address of Apprise; allowed: "mailto://…", "json://host/path", "tgram://…" and its like')
    return BAD


def _secret(faults: Faults, at: At, value: object) -> Any:
    """Text; it may be a secret, so no message repeats it."""
    if isinstance(value, str) and "\0" not in value:
        return value
    faults.add(at, "is not text; allowed: text, in quotes")
    return BAD


_CHECKS: dict[str, Check] = {
    "port": _port,
    "console_port": _port,
    "gateway_port": whole(1, 65534),
    "base_port": whole(1, 64000),
    "processes": whole(0, 1024),
    "message_lanes": _lanes,
    "task_lanes": _lanes,
    "max_context": whole(512, 100_000_000),
    "lease_s": number(5, YEAR_S, "seconds"),
    "digest_s": number(0, YEAR_S, "seconds"),
    "wake_debounce_s": number(0, YEAR_S, "seconds"),
    "every_s": number(1, YEAR_S, "seconds"),
    "buddy_check_s": number(1, YEAR_S, "seconds"),
    "events_days": number(0.01, 36500, "days"),
    "closed_days": number(0.01, 36500, "days"),
    "tasks": whole(0, 10_000),
    "turns": whole(0, 10_000_000),
    "usd": number(0, 1_000_000, "US dollars"),
    "planner_every_s": number(60, YEAR_S, "seconds"),
    "events_bytes": whole(1_000_000, 10**15),
    "capabilities": list_of(_able, 'a list of capabilities, as ["code", "review"]', distinct=True),
    "capability": _able_or_none,
    "allowed_hosts": list_of(_host, 'a list of host names, as ["fleet.example.org"]', distinct=True),
    "host": _host,
    "required_extensions": list_of(_uri, 'a list of URIs, as ["https://example.org/extension"]', distinct=True),
    "allow_private": list_of(text, 'a list of names, addresses and networks, as ["localhost", "10.0.0.0/8"]', distinct=True),
    "store": _store,
    "traces": formed(
        r"(https?://[A-Za-z0-9.\[\]:-]{1,260}(/[^\s\0@]{0,1000})?)?",
        'an address as "http://localhost:4318", without user or password',
    ),
    "sample": number(0, 1, "a share"),
    "notify": list_of(_notify, 'a list of addresses, as ["mailto://…"]', distinct=True),
    "agents": agent_names,
    "env": table_of(_secret, _env_name, 'a table of texts, as { LANG = "C" }'),
    "options": options,
    "features": table_of(table_of(flag, _org, "a table of flags, each true or false"), _org, "a table of organisations"),
    "priority": one_of(PRIORITIES),
    "url": _secret,
    "secret": _secret,
    "owner": _org,
    "organisation": _org,
}


def _check_of(name: str, want: Any) -> Check:
    """The check of a key by its name, else by its type."""
    if name in _CHECKS:
        return _CHECKS[name]
    if get_origin(want) is Literal:
        return one_of(get_args(want))
    if get_origin(want) is tuple:
        return _texts
    if isinstance(want, types.UnionType):
        want = get_args(want)[0]
    if want is float and name.endswith("_s"):
        return number(0.001, YEAR_S, "seconds")
    plain: dict[Any, Check] = {bool: flag, str: text, int: whole(0, 10**12), float: number(0, 1e12, name)}
    return plain[want]


def keys_of(struct: type[msgspec.Struct], leaving_out: Collection[str] = ()) -> dict[str, Check]:
    """The keys of a section that fills such a struct."""
    return {name: _check_of(name, want) for name, want in types_of(struct).items() if name not in leaving_out}


def types_of(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """The types of a struct's fields."""
    return {field.name: field.type for field in msgspec.structs.fields(struct)}


FLEET = keys_of(Settings, {*SECTIONS, "root", "only"})
BRAIN = keys_of(BrainSettings, {"command"})
RECORD = {section: keys_of(form, {"id", "name", "brain"}) for section, form in RECORDS.items()}
SINGLE = {section: keys_of(single.form) for section, single in SINGLES.items()}
FEATURES = _CHECKS["features"]


def values(faults: Faults, at: At, table: object, keys: Keys) -> dict[str, Any]:
    """The fitting values of one table; a fault for each that does not fit and each key that is not there."""
    if not isinstance(table, dict):
        refuse(faults, at, table, "a table")
        return {}
    found: dict[str, Any] = {}
    for key, value in table.items():
        check = keys.get(key)
        if check is None:
            faults.unknown(below(at, key), "key", key, keys)
        elif (fitting := check(faults, below(at, key), value)) is not BAD:
            found[key] = fitting
    return found
