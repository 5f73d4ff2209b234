"""How values look on a page. Every text is somebody's: it is capped, and what could hide or reorder other text is made visible. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from covey.base.clock import LAST_DATE

LONGEST = 20_000
"""No text is shown with more characters than this, wherever it stands."""
_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Control characters, what turns the direction of text around, and what nobody sees."""
_UNITS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"))


def plain(value: Any, most: int = LONGEST) -> str:
    """The text as it may stand anywhere on a page, in so many characters at most; how much was left out is said."""
    text = str(value)
    left_out = len(text) - most
    if left_out > 0:
        text = text[:most]
    if not (text.isascii() and text.isprintable()):
        text = _UNFIT.sub("\ufffd", text)
    return f"{text}… ({left_out:,} characters more)" if left_out > 0 else text


def finalized(value: Any) -> Any:
    """What stands between `{{` and `}}`: markup of ours as it is, anything else as `plain` has it."""
    if value is None:
        return ""
    return value if isinstance(value, Markup | int | float) else plain(value)


def said(value: Any, most: int = 300) -> Markup:
    """Somebody's words in a line of ours: their direction stays their own."""
    return Markup("<bdi>{}</bdi>").format(plain(value, most))


def when(at: float | None, empty: str = "never") -> Markup | str:
    """A moment; the page shows it in the reader's time zone, and how long ago it was."""
    if at is None:
        return empty
    if not 0 <= at <= LAST_DATE:
        return f"Unix time {at:.0f}"
    moment = datetime.fromtimestamp(at, UTC)
    iso, text = moment.strftime("%Y-%m-%dT%H:%M:%SZ"), moment.strftime("%Y-%m-%d %H:%M:%S UTC")
    return Markup('<time datetime="{}">{}</time>').format(iso, text)


def ago(at: float | None, empty: str = "never") -> Markup | str:
    """A moment as how long ago it was, or how far off it is; the page keeps that true."""
    found = when(at, empty)
    return Markup(str(found).replace("<time ", "<time data-ago ", 1)) if isinstance(found, Markup) else found  # noqa: S704


def span(seconds: float | None, empty: str = "–") -> str:
    """A length of time in its two largest units."""
    if seconds is None:
        return empty
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.2f} s"
    left, parts = round(seconds), []
    for size, unit in _UNITS:
        n, left = divmod(left, int(size))
        if n:
            parts.append(f"{n} {unit}")
    return " ".join(parts[:2]) or "0 s"


def number(value: float | None, empty: str = "–") -> str:
    """A number with its thousands apart."""
    if value is None:
        return empty
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def share(value: float | None, empty: str = "–") -> str:
    """A share of one as per cent."""
    return empty if value is None else f"{value * 100:.0f} %"


def many(n: int, one: str, more: str = "") -> str:
    """So many of something: `1 task`, `2 tasks`."""
    return f"{n:,} {one if n == 1 else more or one + 's'}"


def worded(text: str) -> Markup:
    """A sentence of ours with what stands between `backticks` as code."""
    code = Markup("<code>{}</code>")
    return Markup("").join(code.format(plain(each)) if place % 2 else plain(each) for place, each in enumerate(text.split("`")))


FILTERS: dict[str, Callable[..., Any]] = {
    "ago": ago,
    "many": many,
    "number": number,
    "plain": plain,
    "said": said,
    "share": share,
    "span": span,
    "when": when,
    "worded": worded,
}
