"""`covey`: the command line. A command decodes its words, calls one path of the API or one function of the app, and prints.

This module knows the commands' names and where they are; it imports nothing but click, so that help and wrong words cost nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from covey.cli.options import Named, shared
from covey.version import __version__

SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Run": {
        "up": ("starting", "Start the fleet; on a running one, print its addresses."),
        "down": ("starting", "Stop all processes of the fleet, cleanly."),
        "ps": ("running", "Agents, pids, states, queues, buddies."),
        "status": ("running", "One agent's state."),
        "stop": ("running", "Emergency stop, until `resume`."),
        "pause": ("running", "Let an agent take nothing new, until `resume`."),
        "resume": ("running", "Let an agent work again."),
        "restart": ("running", "Start an agent's process anew."),
        "buddy": ("buddying", "Who watches whom; a look after one agent."),
        "incident": ("caring", "What befell agents, what was done, how long it took."),
        "context": ("remembering", "What an agent remembers; its archive; compression by hand."),
        "node": ("machines", "The machines that run agents of this fleet."),
        "logs": ("logs", "What happened to an agent, or what its process printed."),
        "events": ("tasking", "What happened in the fleet, in order."),
        "agent": ("starting", "One agent alone, as containers run them."),
        "controller": ("starting", "The node without children, as containers run it."),
        "console": ("starting", "The API alone, as containers run it."),
        "gateway": ("starting", "MCP and A2A for all agents, as containers run it."),
        "mcp": ("assisting", "The fleet's tools for one assistant, over standard input and output."),
    },
    "Mail": {
        "send": ("mailing", "Send a message to agents."),
        "ask": ("mailing", "Send a question, wait for the reply, print it."),
        "inbox": ("mailing", "The mail of an agent or of the operator."),
        "read": ("mailing", "One message whole, with the state of each copy."),
        "thread": ("mailing", "A thread's messages in order."),
        "search": ("mailing", "Messages with these words."),
        "dead": ("mailing", "Dead letters: list, requeue, drop."),
        "link": ("linking", "Who may write to whom, and how much."),
        "deferred": ("linking", "Mail that waits for the next window of its link."),
        "threads": ("linking", "Paused threads: list, resume."),
    },
    "Tasks": {
        "task": ("tasking", "Add tasks, look at them, change them."),
        "handoff": ("handing", "Hand a task over to another agent."),
        "approve": ("tasking", "Approve a task that waits for it."),
        "refuse": ("tasking", "Refuse a task that waits for approval."),
        "budget": ("budgeting", "What may be used a day: generated tasks, paid turns, money."),
        "team": ("teaming", "Have several agents reach a goal together."),
        "vote": ("voting", "Votes among agents: open, cast, show, close."),
        "why": ("tasking", "Where a task, message, agent or incident stands."),
    },
    "Assistants": {
        "join": ("joining", "Give a coding assistant a seat in the fleet."),
        "leave": ("joining", "Take an assistant's seat away again."),
        "listen": ("joining", "Wait until something comes for an agent."),
        "hook": ("joining", "What an assistant runs after its steps."),
    },
    "Configure": {
        "init": ("settling", "Write a commented covey.toml."),
        "config": ("settling", "Check, show, compare and apply the settings."),
        "project": ("settling", "List, add and remove projects."),
        "webhook": ("webhooking", "Programs elsewhere that are told of events."),
        "token": ("granting", "Show and rotate bearer tokens."),
    },
    "Keep": {
        "doctor": ("keeping", "Look for what is wrong, and say what to do."),
        "db": ("keeping", "Look after the store: migrate, check, backup, vacuum."),
        "backup": ("keeping", "Store, tokens, archive and configuration in one file."),
        "restore": ("keeping", "Put a backup in the place of what is there."),
        "upgrade": ("upgrading", "Bring the fleet to the installed version, a backup first."),
        "import": ("keeping", "Take in a tree of JSON files, or an export."),
        "export": ("keeping", "Write all there is into a new folder."),
        "uninstall": ("keeping", "Stop the fleet and remove what it needs to run."),
        "install-service": ("about", "Write a systemd unit for this fleet."),
        "completion": ("about", "Print the completion script of a shell."),
        "version": ("about", "Print the version."),
    },
}
"""Section → command → the module that has it, and its one line of help. A module is imported only when one of its commands is called."""

_COMPLETING = "_COVEY_COMPLETE"
_ALL = {name: found for commands in SECTIONS.values() for name, found in commands.items()}


class Commands(Named):
    """The commands, each module loaded when needed: `covey send` does not pay for `covey up`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's names
        """All names, in the order of the table."""
        return list(_ALL)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """The command of this name."""
        if cmd_name not in _ALL:
            return None
        module, line = _ALL[cmd_name]
        found: click.Command = getattr(import_module(f"covey.cli.{module}"), f"{cmd_name.replace('-', '_')}_command")
        found.name, found.short_help = cmd_name, line
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """The commands by section, from the table alone."""
        for section, commands in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name, line) for name, (_, line) in commands.items()], col_max=16)


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    invoke_without_command=True,
    epilog='Example: covey ask devops "how is the system?"   `covey COMMAND --help` shows one for each.',
)
@click.version_option(__version__, message="covey %(version)s")
@shared(hidden=True)
@click.pass_context
def cli(context: click.Context) -> None:
    """A fleet of AI agents on one server: durable mail, tasks under leases, self-healing.

    Exit codes: 0 ok, 1 failed, 2 usage, 3 refused by a rule, 4 not found, 5 the fleet can't be reached.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def run(args: Sequence[str]) -> int:
    """Run a command; its exit code. What goes wrong comes out as one sentence, or with --json as a problem object; never a traceback."""
    try:
        code: Any = cli.main(args=list(args), prog_name="covey", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except (click.exceptions.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as end:  # click's own: a completion's, or since nobody reads on
        return int(end.code or 0) if _COMPLETING in os.environ else 0
    except Exception as error:  # noqa: BLE001 - the blanket except of a door
        from covey.cli.ending import tell  # noqa: PLC0415 - errors alone pay for what tells them

        before = args[: args.index("--")] if "--" in args else args
        return tell(error, as_json="--json" in before)


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Be the command line."""
    sys.exit(run(sys.argv[1:] if args is None else args))
