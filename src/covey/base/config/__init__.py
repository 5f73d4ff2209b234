"""covey.toml: read, checked, explained, compared. What the settings are is `base.settings`; this package never touches a store.

`load` reads. `edit` changes the file, `changes` compares two fleets, `show` tells one, `template` is a file to begin with: each is
imported by who needs it.
"""

from covey.base.config.load import load, load_text
from covey.base.config.source import locate

__all__ = ["load", "load_text", "locate"]
