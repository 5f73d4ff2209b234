"""`python -m covey` is `covey`. An assistant's hook goes past the command line, whose imports it would have to wait for."""

from __future__ import annotations

import sys
from typing import NoReturn

HOOK = "hook"


def main() -> NoReturn:
    """Be the command that the words name."""
    words = sys.argv[1:]
    if len(words) > 1 and words[0] == HOOK and not words[1].startswith("-"):
        from covey.seats.hook import main as hook  # noqa: PLC0415 - 40 ms of click, which each step of an assistant would wait for

        sys.exit(hook(words[1:]))
    from covey.cli import main as command_line  # noqa: PLC0415 - as above

    command_line()


if __name__ == "__main__":
    main()
