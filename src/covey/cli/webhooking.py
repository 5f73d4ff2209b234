"""Webhooks on the command line: how they fare, a try of one, and a next try at once. They are configured in covey.toml."""

from __future__ import annotations

import time
from typing import Any

import click

from covey.base.errors import Failed, NotFound
from covey.base.settings import WebhookSettings
from covey.cli.options import Named, here, nearest, reaching
from covey.cli.output import ago, coloured, print_json, safe, table
from covey.cli.reach import Reach
from covey.client.request import part


@click.group(cls=Named)
def webhook_command() -> None:
    """Programs elsewhere that are told of events, by signed requests: [webhooks.NAME] in covey.toml."""


@webhook_command.command("list", epilog="Example: covey webhook list")
@reaching
def webhook_list(reach: Reach) -> None:
    """The webhooks, and how each fares."""
    found = reach.get("/api/v1/webhooks")
    if reach.as_json:
        print_json(found)
        return
    now = time.time()
    rows = [
        [each["name"], each["at"], coloured(each["state"]), str(each["sent"]), ago(each["sentAt"], now), _trouble(each)]
        for each in found["items"]
    ]
    table(["NAME", "AT", "STATE", "SENT", "LAST", "TROUBLE"], rows, empty="there are no webhooks; covey.toml names them: [webhooks.NAME].")


def _trouble(each: dict[str, Any]) -> str:
    tries = f"{each['tries']} tries in vain: " if each["tries"] else ""
    given_up = f" ({each['givenUp']} events given up)" if each["givenUp"] else ""
    return safe(f"{tries}{each['said']}{given_up}")


@webhook_command.command("retry", epilog="Example: covey webhook retry crm")
@click.argument("name")
@reaching
def webhook_retry(reach: Reach, name: str) -> None:
    """Try a webhook that waits for its next try again at once."""
    found = reach.post(f"/api/v1/webhooks/{part(name)}/retry")
    reach.say(found, f"{name} is tried again at once.")


@webhook_command.command("test", epilog="Example: covey webhook test crm")
@click.argument("name")
@here
def webhook_test(reach: Reach, name: str) -> None:
    """Send one event of the kind webhook.test from here, and say what came of it. Nothing is noted of it."""
    from covey.store.events import START, Event  # noqa: PLC0415 - what sends is loaded by this command alone
    from covey.webhooks.sending import send  # noqa: PLC0415 - as above

    hook = _hook(reach, name)
    verdict = send(hook, Event(START, time.time(), "webhook.test", None, None, {"webhook": name}), time.time())
    if not verdict.taken:
        raise Failed(f"the webhook {name} could not be told: {verdict.said}.")
    reach.say({"name": name, "taken": True}, f"{name} took the event.")


def _hook(reach: Reach, name: str) -> WebhookSettings:
    hooks = {each.name: each for each in reach.settings.webhooks}
    if name not in hooks:
        raise NotFound(f"there is no webhook {name!r}; {nearest(name, list(hooks))}", field="name")
    return hooks[name]
