"""Two agents whose brains are one real small model: they write to each other within their quota, and finish a task."""

from __future__ import annotations

import json
from typing import Any

import pytest

from covey.messages import reading as mail
from covey.messages.model import Message
from covey.reports import spending
from tests import small_model
from tests.rules import rule
from tests.scenarios.conftest import RunningFleet, free_base_port, wait_until

pytestmark = pytest.mark.scenario

QUOTA = 1
PATIENCE_S = 240.0
ASKS_BEN = {
    "type": "object",
    "properties": {
        "kind": {"const": "done"},
        "summary": {"type": "string", "minLength": 1, "maxLength": 30},
        "messages": {
            "type": "array",
            "minItems": 1,
            "maxItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "to": {"const": "ben"},
                    "content": {
                        "type": "object",
                        "properties": {"body": {"type": "string", "minLength": 1, "maxLength": 40}, "requiresResponse": {"const": True}},
                        "required": ["body", "requiresResponse"],
                        "additionalProperties": False,
                    },
                },
                "required": ["to", "content"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["kind", "summary", "messages"],
    "additionalProperties": False,
}
"""What the server holds ada's words to: so small a model would not call a tool by itself, and its outcomes must be sound all the same."""
FLEET = """
[agents.ada]
max_context = 512
[agents.ada.brain]
kind = "model"
target = "openai-compatible:smollm2"
[agents.ada.brain.options]
base_url = "{url}"
tools = "off"
[agents.ada.brain.options.settings]
max_tokens = 120
temperature = 1.0
extra_body = {{ json_schema = {schema} }}

[agents.ben]
max_context = 512
[agents.ben.brain]
kind = "model"
target = "openai-compatible:smollm2"
[agents.ben.brain.options]
base_url = "{url}"
prices = {{ input = 1.0, output = 2.0 }}
[agents.ben.brain.options.settings]
max_tokens = 20
temperature = 0.0
"""


def inline(value: Any) -> str:
    """A value of JSON as TOML on one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(name)} = {inline(inner)}" for name, inner in value.items()) + " }"
    return f"[{', '.join(map(inline, value))}]" if isinstance(value, list) else json.dumps(value)


@rule("L6", "L8", "M12", "P3")
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_small_models_write_to_each_other_within_their_quota_and_finish_a_task(fleet_folder: RunningFleet) -> None:
    fleet = fleet_folder
    try:
        small_model.weights()
    except small_model.NoModel as missing:
        pytest.skip(str(missing))
    with small_model.served(free_base_port(1)) as url:
        fleet.configure(FLEET.format(url=url, schema=inline(ASKS_BEN)))
        fleet.up()
        fleet.covey("link", "set", "ada", "ben", "--messages", str(QUOTA), "--hours", "1", "--debounce", "0")
        tasks = [fleet.add("ada", f"Ask ben what {who} eat.") for who in ("ducks", "bears")]
        wait_until(lambda: all(fleet.task(each).state == "done" for each in tasks), PATIENCE_S, fleet.logs)
        wait_until(lambda: len(sent(fleet, "ada", "ben")) > QUOTA, PATIENCE_S, lambda: f"{sent(fleet, 'ada', 'ben')}\n{fleet.logs()}")
        wait_until(lambda: len(sent(fleet, "ben", "ada")) >= QUOTA, PATIENCE_S, lambda: f"{sent(fleet, 'ben', 'ada')}\n{fleet.logs()}")
    questions, answers = sent(fleet, "ada", "ben"), sent(fleet, "ben", "ada")
    assert sum(each.state != "deferred" for each in questions) == QUOTA
    assert all(str(each.content["body"]).strip() for each in (*questions, *answers))
    assert all(each.in_reply_to for each in answers)
    turns = fleet.read(spending.turns)
    assert turns.spent >= 3
    assert fleet.read(spending.money).spent > 0


def sent(fleet: RunningFleet, sender: str, receiver: str) -> list[Message]:
    """What one wrote to the other in their own thread, in order."""
    return [each for each in fleet.read(mail.thread, "dm:ada:ben").items if (each.from_, each.receiver) == (sender, receiver)]
