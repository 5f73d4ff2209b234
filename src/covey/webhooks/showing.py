"""The webhooks of the settings, and how each fares. Read only; no secret is shown."""

from __future__ import annotations

from collections.abc import Sequence

from covey.base.errors import NotFound
from covey.base.settings import WebhookSettings
from covey.base.target import target_of
from covey.store import Transaction
from covey.webhooks import marking
from covey.webhooks.model import WebhookShown, state_of


def shown(tx: Transaction, hooks: Sequence[WebhookSettings]) -> list[WebhookShown]:
    """All of them, in the order of the settings."""
    return [_shown(tx, hook) for hook in hooks]


def retry(tx: Transaction, hooks: Sequence[WebhookSettings], name: str) -> WebhookShown:
    """One of them, once its next try is due at once.

    Raises:
        NotFound: The settings have none of this name.
    """
    for hook in hooks:
        if hook.name == name:
            marking.retry(tx, name)
            return _shown(tx, hook)
    raise NotFound(f"there is no webhook {name!r}; the settings have: {', '.join(hook.name for hook in hooks) or 'none'}.", field="id")


def _shown(tx: Transaction, hook: WebhookSettings) -> WebhookShown:
    now = marking.health(tx, hook.name)
    return WebhookShown(
        at=target_of(hook.url).authority,
        kinds=list(hook.kinds),
        state=state_of(now, begun=marking.is_begun(tx, hook.name)),
        **now._asdict(),
    )
