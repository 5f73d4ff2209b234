"""An agent of the fleet that the others ask."""

import re

import covey


def think(turn: covey.Turn) -> str:
    """Answer a question, or do a task."""
    asked = turn.message.message.body if turn.message else turn.task.description if turn.task else ""
    topic = re.search(r"\bon (\w+)", asked)
    return f"The library has three books on {topic[1]}." if topic else "Ask me what there is on something."
