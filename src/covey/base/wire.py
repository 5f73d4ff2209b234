"""Bytes and plain values in, typed values out: the one place where input of every door is decoded (M10)."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn, TypeVar

import msgspec

from covey.base.errors import Invalid, TooLarge

T = TypeVar("T")
REQUEST_BYTES = 1024 * 1024
"""A request's body may be so long at most, whatever it holds."""

_PLACE = re.compile(r"^(?P<what>.*?)(?: - at `(?P<key>key in )?\$(?P<path>[^`]*)`)?$", re.DOTALL)
_NAMED = re.compile(r"field `([^`]+)`")


def decode(kind: type[T], raw: bytes | str) -> T:
    """The value of a JSON text as this type.

    Raises:
        Invalid: Not UTF-8, not JSON, NaN, a duplicate key, a lone surrogate, a wrong type or an unknown field; `field` names it.
        TooLarge: Longer than 1 MiB.
    """
    return convert(kind, parse(raw))


def parse(raw: bytes | str) -> Any:
    """The plain value of a JSON text, under the rules of M10."""
    if len(raw) > REQUEST_BYTES:
        raise TooLarge(f"the request is {len(raw):,} bytes long; at most {REQUEST_BYTES:,} are taken.", field="")
    try:
        text = raw.decode("utf-8") if isinstance(raw, bytes) else raw
    except UnicodeDecodeError as error:
        raise Invalid(f"the request is not UTF-8: byte {error.start} is {raw[error.start]:#04x}.", field="") from error
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise Invalid(f"the request is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.", field="") from error
    except RecursionError as error:
        raise Invalid("the request nests too deeply; flatten it.", field="") from error
    except ValueError as error:
        raise Invalid(f"the request has a number that is too long ({error}).", field="") from error
    if "\\u" in text or not text.isascii():
        check_text(value)
    return value


def convert(kind: type[T], value: Any, *, strict: bool = True) -> T:
    """The plain value as this type: no string becomes a number, unless not `strict` (a query, where all is text)."""
    try:
        return msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError as error:
        _refuse(str(error))


def _refuse(said: str) -> NoReturn:
    match = _PLACE.match(said)
    what = match["what"] if match else said
    path = (match["path"] or "").lstrip(".") if match else ""
    named = _NAMED.search(what)
    field = ".".join(part for part in (path, named[1] if named else "") if part)
    raise Invalid(f"{field or 'the request'}: {what[:1].lower()}{what[1:]}. Nothing was stored.", field=field)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Invalid(f"the key {twice!r} stands twice in one object; give it once.", field=twice)
    return found


def _no_constant(name: str) -> NoReturn:
    raise Invalid(f"{name} is no JSON number; give a finite one.", field="")


def check_text(value: Any, path: str = "") -> None:
    """Refuse text that no database and no terminal can hold: lone surrogates and NUL.

    Raises:
        Invalid: `field` is the path of the text.
    """
    if isinstance(value, str):
        if "\0" in value:
            raise Invalid(f"{path or 'the text'} has a NUL character; leave it out.", field=path)
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise Invalid(
                f"{path or 'the text'} has a lone surrogate at character {error.start}; it is not valid text.", field=path
            ) from error
    elif isinstance(value, dict):
        for key, item in value.items():
            check_text(key, path)
            check_text(item, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            check_text(item, f"{path}[{index}]")


def encode(value: Any) -> bytes:
    """The value as JSON bytes."""
    return msgspec.json.encode(value)
