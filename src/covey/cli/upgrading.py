"""`covey upgrade`: the fleet on the version that is installed now, a backup first. Mail and work wait meanwhile and go on after it."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec

from covey.app import outer
from covey.app.node_spec import node_spec
from covey.app.opening import engine_of, open_store, want_store
from covey.app.starting import down, running_node, wait_ready
from covey.base.errors import Failed
from covey.base.settings import Settings
from covey.cli import archiving
from covey.cli.options import here
from covey.cli.output import Progress, print_json
from covey.cli.reach import Reach
from covey.cli.starting import made_ready
from covey.nodes import records
from covey.nodes.spawner import ExecSpawner
from covey.version import __version__


class Upgraded(msgspec.Struct, rename="camel"):
    """What an upgrade did."""

    version: str
    before: str | None
    """The version that ran until now; None if nothing ran."""
    backup: str
    migrated: list[str]
    restarted: bool


@click.command(epilog="Example: covey upgrade")
@here
def upgrade_command(reach: Reach) -> None:
    """Bring the fleet to the version that is installed: a backup, the store's new schema, and a running fleet started anew.

    Run it after the new version was installed. Mail and tasks wait meanwhile; running work goes back to its queue first.
    """
    want_store(reach.settings)
    reach.flag(**{name: value for name, value in outer.given(reach.settings).items() if reach.flags.get(name) is None})
    with Progress(as_json=reach.as_json) as progress:
        made = _upgrade(reach, reach.settings, progress)
    if reach.as_json:
        print_json(made)
    else:
        click.echo("\n".join(_told(made)))


def _upgrade(reach: Reach, settings: Settings, progress: Progress) -> Upgraded:
    """Do it. The backup is of the store as the version before left it; the new schema is safe beside a fleet of that version."""
    progress.say("making a backup")
    file = _backup_file(settings)
    reach.run(archiving.backup(settings, reach.file, file, progress.part))
    progress.say("migrating the store")
    migrated = _migrate(settings)
    node = running_node(settings)
    before = reach.run(_version_of(settings, node.pid)) if node is not None else None
    restart = node is not None and before != __version__
    if restart:
        _start_anew(reach, settings, progress)
    return Upgraded(__version__, before, str(file), migrated, restart)


def _backup_file(settings: Settings) -> Path:
    folder = Path(settings.data_dir) / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / f"before-{__version__}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.tar.gz"


def _migrate(settings: Settings) -> list[str]:
    engine = engine_of(settings)
    try:
        return engine.migrate(time.time)
    finally:
        engine.close()


async def _version_of(settings: Settings, pid: int) -> str | None:
    """The version of the node that is this process."""
    store = open_store(settings)
    try:
        return next((row.version for row in await store.read(records.nodes) if row.pid == pid and row.stopped_at is None), None)
    finally:
        await store.close()


def _start_anew(reach: Reach, settings: Settings, progress: Progress) -> None:
    left = reach.run(down(settings, progress.say))
    if left:
        raise Failed(f"these could not be ended: {', '.join(left)}. End them, then run `covey up --detach`; the store is upgraded.")
    progress.say("starting the fleet")
    made_ready(settings)
    outer.remember(settings, reach.flags, os.environ, reach.file)
    node = reach.run(ExecSpawner().spawn(node_spec(settings)))
    reach.run(wait_ready(settings, node, progress.part))


def _told(made: Upgraded) -> list[str]:
    schema = f"migrated: {', '.join(made.migrated)}" if made.migrated else "the schema was up to date"
    if made.restarted:
        runs = f"the fleet was {made.before} and runs {made.version} now"
    elif made.before:
        runs = f"the fleet runs {made.version} already"
    else:
        runs = f"the fleet is down; `covey up` starts it with {made.version}"
    return [runs, schema, f"backup: {os.path.relpath(made.backup)}; `covey restore` brings it back, with the version before"]
