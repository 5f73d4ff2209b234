"""The store: transactions, group commit, events, doorbell, migrations. The only place that knows a driver."""

from covey.store.bell import Bell, DatagramBell
from covey.store.statements import Statement, statement
from covey.store.store import Store
from covey.store.transaction import Row, Transaction, locking, relaxed

__all__ = ["Bell", "DatagramBell", "Row", "Statement", "Store", "Transaction", "locking", "relaxed", "statement"]
