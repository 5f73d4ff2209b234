"""Whether `allow_private` can be used. Imported only where it is written: ipaddress and socket cost milliseconds."""

from __future__ import annotations

from collections.abc import Sequence

from covey.base.config.faults import Faults
from covey.base.config.shapes import At
from covey.base.errors import Invalid
from covey.base.outward import Allowed


def check(faults: Faults, at: At, places: Sequence[str]) -> None:
    """A fault for a place that is no host name, address or network."""
    try:
        Allowed(places)
    except Invalid as wrong:
        faults.add(at, wrong.message.removeprefix("allow_private ").rstrip("."))
