"""`covey`: the command line. A command decodes its words, calls one path of the API or one function of the app, and prints."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

_WHERE = {
    "running": ("up", "down", "ps", "status", "stop", "resume", "restart", "pause", "agent", "controller", "console", "logs"),
    "mailing": ("send", "ask", "inbox", "thread", "search", "dead", "read"),
    "tasking": ("task", "approve", "refuse", "why", "events"),
    "settling": ("init", "config", "project", "token"),
    "keeping": ("doctor", "db", "backup", "restore", "import", "export", "uninstall", "version", "completion", "install-service"),
}
"""Module → its commands; a module is imported only when one of its commands is called."""


class Commands(click.Group):
    """The commands, each module loaded when needed: `covey send` does not pay for `covey up`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the table."""
        return [name for names in _WHERE.values() for name in names]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of this name."""
        for module, names in _WHERE.items():
            if name in names:
                found: click.Command = getattr(import_module(f"covey.cli.{module}"), f"{name.replace('-', '_')}_command")
                return found
        return None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's, naming what comes near a wrong name."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            # difflib costs 4 ms that only a wrong word pays
            from difflib import get_close_matches

            near = get_close_matches(args[0], self.list_commands(ctx), n=3)
            if near:
                raise click.UsageError(f"there is no command {args[0]!r}. Did you mean {' or '.join(near)}?", ctx=ctx) from error
            raise


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="covey", message="covey %(version)s")
def cli() -> None:
    """A fleet of AI agents on one server: durable mail, tasks under leases, self-healing.

    `covey up` starts it, `covey ask devops "how is the system?"` talks to it, `covey why ID` explains it.
    """


def main(args: list[str] | None = None) -> Any:
    """Run a command; exit codes: 0 ok, 1 failed, 2 usage, 3 refused by a rule, 4 not found, 5 the fleet can't be reached."""
    return cli.main(args=args, prog_name="covey")
