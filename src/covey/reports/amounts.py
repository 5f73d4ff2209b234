"""How many rows there are of what is written out as a whole."""

from __future__ import annotations

from covey.store import Transaction, statement

AMOUNTS = statement(__package__, "amounts")


def amounts(tx: Transaction) -> dict[str, int]:
    """How many there are, by kind."""
    row = tx.one(AMOUNTS)
    assert row is not None
    return dict(row._asdict())
