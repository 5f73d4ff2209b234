"""What looking after a buddy needs in a process of ours: the store, the settings, and tokens read from their file when they are needed."""

from __future__ import annotations

from pathlib import Path

from covey.base import token_file
from covey.base.settings import Settings
from covey.healing.buddying import Means
from covey.store import Store


def buddy_means(store: Store, settings: Settings) -> Means:
    """The means of a process with these settings."""
    folder = Path(settings.data_dir)
    return Means(store, settings, lambda name: token_file.read(folder).get(name, ""))
