"""The fleet's port: the nodes that run its agents."""

from __future__ import annotations

from covey.api.shapes import Given
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.operations import Nothing, get
from covey.nodes import showing
from covey.nodes.showing import NodeShown


class Nodes(Given):
    """All nodes, by name."""

    items: list[NodeShown]


async def get_nodes(call: Call[Nothing, Nothing]) -> Answer:
    """The nodes, whether each lives, and who leads."""
    return shown(Nodes(items=await call.door.store.read(showing.listed)))


OPERATIONS = (get("/api/v1/nodes", get_nodes, "caller", "The nodes, whether each lives, and who leads.", gives=Nodes, verb=showing.listed),)
