"""Links changed, with what that means for mail that waits: a raised limit releases it, a removed link closes it (L6, L7)."""

from __future__ import annotations

from collections.abc import Iterable

from covey.agents.model import Caller
from covey.links import reading, verbs
from covey.links.model import Link, LinkChange
from covey.links.reading import LinkShown
from covey.messages import releasing
from covey.store import Transaction


def add(tx: Transaction, one: str, other: str, change: LinkChange, by: Caller, *, if_version: int | None = None) -> LinkShown:
    """As `links.verbs.add`."""
    return _settled(tx, verbs.add(tx, one, other, change, by, if_version=if_version), by)


def change(tx: Transaction, one: str, other: str, wanted: LinkChange, by: Caller, *, if_version: int | None = None) -> LinkShown:
    """As `links.verbs.change`; what fits into the new limits is delivered now."""
    return _settled(tx, verbs.change(tx, one, other, wanted, by, if_version=if_version), by)


def enable(tx: Transaction, one: str, other: str, by: Caller, *, if_version: int | None = None) -> LinkShown:
    """As `links.verbs.enable`; what became due meanwhile is delivered now."""
    return _settled(tx, verbs.enable(tx, one, other, by, if_version=if_version), by)


def disable(tx: Transaction, one: str, other: str, by: Caller, *, if_version: int | None = None) -> LinkShown:
    """As `links.verbs.disable`; what waits goes on waiting."""
    return _settled(tx, verbs.disable(tx, one, other, by, if_version=if_version), by)


def remove(tx: Transaction, one: str, other: str, by: Caller, *, if_version: int | None = None) -> LinkShown:
    """As `links.verbs.remove`; what waits is closed, and its senders are told."""
    return _settled(tx, verbs.remove(tx, one, other, by, if_version=if_version), by)


def reconfigured(tx: Transaction, agents: Iterable[str]) -> list[Link]:
    """The links of these agents that may stand no longer, removed; what waits for credit follows the configuration at once."""
    removed = verbs.part_strangers(tx, agents)
    releasing.settle_all(tx)
    return removed


def _settled(tx: Transaction, link: Link, by: Caller) -> LinkShown:
    _settle(tx, link)
    return reading.show(tx, link.one, link.other, by)


def _settle(tx: Transaction, link: Link) -> None:
    for sender, receiver in ((link.one, link.other), (link.other, link.one)):
        releasing.settle(tx, sender, receiver)
