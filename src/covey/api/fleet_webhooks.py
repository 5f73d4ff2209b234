"""The fleet's port: how its webhooks fare; a next try at once. They are configured in covey.toml."""

from __future__ import annotations

from covey.api.shapes import Given
from covey.doors.answer import Answer, shown
from covey.doors.call import Call
from covey.doors.operations import Nothing, get, post
from covey.webhooks import showing
from covey.webhooks.model import WebhookShown


class Webhooks(Given):
    """The webhooks of the settings."""

    items: list[WebhookShown]


async def get_webhooks(call: Call[Nothing, Nothing]) -> Answer:
    """All webhooks, and how each fares."""
    return shown(Webhooks(items=await call.door.store.read(showing.shown, call.door.settings.webhooks)))


async def retry_webhook(call: Call[Nothing, Nothing]) -> Answer:
    """Try a webhook that waits again at once."""
    return await call.write(shown, showing.retry, call.door.settings.webhooks, call.named("id"))


OPERATIONS = (
    get("/api/v1/webhooks", get_webhooks, "operator", "How the webhooks fare.", gives=Webhooks, verb=showing.shown),
    post("/api/v1/webhooks/{id}/retry", retry_webhook, "operator", "Try a webhook again at once.", gives=WebhookShown, verb=showing.retry),
)
