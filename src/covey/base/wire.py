"""Bytes and plain values in, typed values out: the one place where input of every door is decoded (M10)."""

from __future__ import annotations

import json
import math
import re
import sys
from typing import Any, NoReturn, TypeVar

import msgspec

from covey.base.allowed import words_at
from covey.base.errors import Invalid, TooLarge

T = TypeVar("T")
REQUEST_BYTES = 1024 * 1024
"""A request's body may be so long at most, whatever it holds."""
DEPTH = 64
"""So deep a JSON value may nest."""

_PLACE = re.compile(r"^(?P<what>.*?)(?: - at `(?P<key>key in )?\$(?P<path>[^`]*)`)?$", re.DOTALL)
_NAMED = re.compile(r"field `([^`]+)`")
_CHOSEN = re.compile(r"Invalid enum value|Expected `str` matching regex")
_UNFIT = re.compile("[\0\ud800-\udfff]")


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
    watch = _Watch()
    try:
        value = json.loads(text, object_pairs_hook=watch.object, parse_float=watch.number, parse_constant=watch.number)
    except json.JSONDecodeError as error:
        raise Invalid(f"the request is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.", field="") from error
    except RecursionError as error:
        raise Invalid(f"the request nests too deeply; {DEPTH} levels are taken.", field="") from error
    except ValueError as error:
        raise Invalid(f"the request has a number that is too long; {sys.get_int_max_str_digits():,} digits are taken.", field="") from error
    if watch.odd or "\\u" in text or not text.isascii() or text.count("[") + text.count("{") > DEPTH:
        check_value(value)
    return value


def convert(kind: type[T], value: Any, *, strict: bool = True) -> T:
    """The plain value as this type: no string becomes a number, unless not `strict` (a query, where all is text)."""
    try:
        return msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError as error:
        _refuse(kind, str(error))
    except OverflowError as error:
        raise Invalid("the request has a number that is too large for its field.", field="") from error


def checked(draft: T) -> T:
    """The draft that a program made, held to its types as if it had come in by a door.

    Raises:
        Invalid: `field` is the path of what is of another type.
    """
    try:
        plain = msgspec.to_builtins(draft)
    except TypeError as error:
        raise Invalid(f"the request holds what is no JSON: {error}. Nothing was stored.", field="") from error
    return convert(type(draft), plain)


def _refuse(kind: Any, said: str) -> NoReturn:
    match = _PLACE.match(said)
    what = match["what"] if match else said
    path = (match["path"] or "").lstrip(".") if match else ""
    named = _NAMED.search(what)
    field = ".".join(part for part in (path, named[1] if named else "") if part)
    if _CHOSEN.match(what) and (words := words_at(kind, path)):
        what = f"{what if what.startswith('Invalid') else 'not of the right form'}; {words}"
    raise Invalid(f"{field or 'the request'}: {what[:1].lower()}{what[1:]}. Nothing was stored.", field=field)


class _Twice(dict[str, Any]):
    """An object in which a key stood twice; `check_value` names where."""

    twice = ""


class _Watch:
    """What the JSON parser meets on its way: a key given twice or a number that is not finite makes it `odd`."""

    odd = False

    def object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """The object of these pairs."""
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        self.odd = True
        names = [name for name, _ in pairs]
        twice = _Twice(found)
        twice.twice = next(name for name in names if names.count(name) > 1)
        return twice

    def number(self, text: str) -> float:
        """The number of this text, or of NaN and Infinity."""
        value = float(text)
        self.odd = self.odd or not math.isfinite(value)
        return value


def check_value(value: Any, path: str = "") -> None:
    """Refuse what JSON, a database or a terminal can't hold: lone surrogates, NUL, NaN, infinity, a key given twice, too deep a nest.

    Raises:
        Invalid: `field` is the path of what is wrong, below `path`.
    """
    line = [(value, path, 0)]
    while line:
        item, at, depth = line.pop()
        if isinstance(item, str):
            check_text(item, at)
        elif isinstance(item, float):
            if not math.isfinite(item):
                raise Invalid(f"{at or 'the value'} is {item}, which is no JSON number; give a finite one.", field=at)
        elif isinstance(item, dict | list | tuple):
            if depth >= DEPTH:
                raise Invalid(f"{at.split('.')[0] or 'the request'} nests too deeply; {DEPTH} levels are taken.", field=at.split(".")[0])
            line.extend((each, where, depth + 1) for each, where in _parts(item, at))


def _parts(item: dict[Any, Any] | list[Any] | tuple[Any, ...], at: str) -> list[tuple[Any, str]]:
    """What an object or a list holds, with the path of each, in reverse."""
    if not isinstance(item, dict):
        return [(each, f"{at}[{index}]") for index, each in enumerate(item)][::-1]
    if isinstance(item, _Twice):
        where = f"{at}.{item.twice}".lstrip(".")
        raise Invalid(f"{where} is given twice; give it once.", field=where)
    for key in item:
        check_text(str(key), at)
    return [(each, f"{at}.{key}".lstrip(".")) for key, each in item.items()][::-1]


def check_json(value: Any, path: str = "") -> None:
    """Refuse what is no JSON: an object that is none of its kinds, or what `check_value` refuses.

    Raises:
        Invalid: `field` is the path of what is wrong, below `path`.
    """
    line = [(value, path, 0)]
    while line:
        item, at, depth = line.pop()
        if isinstance(item, dict):
            for key in item:
                if not isinstance(key, str):
                    raise Invalid(f"{at or 'the value'} has the key {key!r}, which is no text; JSON's keys are.", field=at)
        elif not isinstance(item, list | tuple):
            if item is not None and not isinstance(item, str | int | float):
                raise Invalid(
                    f"{at or 'the value'} is a {type(item).__name__}; JSON holds text, numbers, true, false, null, lists, objects.",
                    field=at,
                )
            continue
        if depth < DEPTH:  # deeper ones are `check_value`'s to refuse
            line.extend((each, where, depth + 1) for each, where in _parts(item, at))
    check_value(value, path)


def check_text(text: str, path: str = "") -> None:
    """As `check_value`, of a text alone."""
    if text.isascii() and "\0" not in text:
        return
    found = _UNFIT.search(text)
    if found is not None:
        what = "a NUL character; leave it out" if found[0] == "\0" else "a lone surrogate; it is not valid text"
        raise Invalid(f"{path or 'the text'} has at character {found.start()} {what}.", field=path)


def fit(text: str, size: int) -> str:
    """The text as any database can hold it, cut to so many bytes of UTF-8: for words of a program, where refusing would lose them."""
    if _UNFIT.search(text):
        text = _UNFIT.sub("\ufffd", text)
    if len(text) * 4 <= size:
        return text
    raw = text.encode()
    return text if len(raw) <= size else raw[:size].decode(errors="ignore")


def encode(value: Any) -> bytes:
    """The value as JSON bytes."""
    return msgspec.json.encode(value)
