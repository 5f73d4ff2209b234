"""Whether a webhook's keys can be used. Imported only where a webhook is: it costs ipaddress and sockets. No message repeats a secret."""

from __future__ import annotations

import re
from collections.abc import Sequence

from covey.base.config import reaching
from covey.base.config.faults import Faults, shown
from covey.base.config.sections import Drafts
from covey.base.config.shapes import At
from covey.base.errors import Invalid
from covey.base.target import target_of

_KIND = re.compile(r"[a-z_]{1,50}\.[a-z_]{0,50}")
_VARIABLE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*")
_SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{22,}={0,2}|(?!whsec_|env:)[!-~]{16,500}")


def check(faults: Faults, webhooks: Drafts) -> None:
    """A fault for each key that can't be used."""
    for name, draft in webhooks.items():
        _url(faults, ("webhooks", name, "url"), draft.get("url"))
        _kinds(faults, ("webhooks", name, "kinds"), draft.get("kinds", ()))
        _secret(faults, ("webhooks", name, "secret"), draft.get("secret"))
        reaching.check(faults, ("webhooks", name, "allow_private"), draft.get("allow_private", ()))


def _url(faults: Faults, at: At, url: str | None) -> None:
    try:
        target_of(url or "https://host/")
    except Invalid:
        faults.add(at, 'is no address that can be called; allowed: "https://host/path", without a name or password before the host')


def _kinds(faults: Faults, at: At, kinds: Sequence[str]) -> None:
    for kind in kinds:
        if not _KIND.fullmatch(kind):
            faults.add(at, f'has {shown(kind)}; allowed: a kind of event, as "task.done", or "task." for all that begin so')


def _secret(faults: Faults, at: At, secret: str | None) -> None:
    if secret and not (_VARIABLE.fullmatch(secret) or _SECRET.fullmatch(secret)):
        faults.add(at, 'can\'t be used; allowed: "env:NAME", "whsec_" and base64, or at least 16 printable characters without spaces')
