"""Keeping a fleet in order: doctor, db, backup, restore, import, export, uninstall."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from covey.app.opening import engine_of, has_store, open_store, prepare, want_store
from covey.base.errors import Conflict, Misconfigured
from covey.cli import archiving, removing
from covey.cli.examining import CHECKS
from covey.cli.findings import Finding, checked, of_config
from covey.cli.options import Named, here
from covey.cli.output import Ended, Progress, coloured, print_json, table
from covey.cli.probing import brains, isolation
from covey.cli.reach import Reach
from covey.files.exporting import export_tree
from covey.files.importing import import_tree
from covey.store import upkeep

_FILE = click.Path(dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)
_SHOWN = 20


@click.command(epilog="Example: covey doctor --json")
@here
def doctor_command(reach: Reach) -> None:
    """Look for what is wrong with this fleet and this machine, and say what to do; exit code 1 if something fails. It changes nothing."""
    with Progress(as_json=reach.as_json) as progress:
        found = list(_found(reach, progress))
    worst = max((("ok", "warn", "fail").index(each.level) for each in found), default=0)
    if reach.as_json:
        print_json({"ok": worst < 2, "findings": [each._asdict() for each in found]})
    else:
        _print_findings(found)
    if worst == 2:
        raise Ended("failed")


def _print_findings(found: list[Finding]) -> None:
    for each in found:
        click.echo(f"{coloured(each.level)}{' ' * (6 - len(each.level))}{each.about:<11}{each.text}")
        if each.todo:
            click.echo(f"{'':17}→ {each.todo}")


def _found(reach: Reach, progress: Progress) -> Iterator[Finding]:
    try:
        settings = reach.settings
    except Misconfigured as error:
        yield from of_config(error)
        return
    agents = len(settings.agents)
    yield Finding(
        "ok",
        "config",
        f"{reach.file} is in order: {agents} agents" if reach.file.exists() else f"no covey.toml: the default {agents} agents",
    )
    for about, check in (*CHECKS, ("brains", brains), ("isolation", isolation)):
        progress.say(f"looking at {about}")
        yield from checked(check, about, settings)


@click.group(cls=Named)
def db_command() -> None:
    """Look after the store."""


@db_command.command("migrate", epilog="Example: covey db migrate")
@here
def db_migrate(reach: Reach) -> None:
    """Bring the store's schema up to date. It is safe while a fleet of the version before runs."""
    engine = engine_of(reach.settings)
    try:
        done = engine.migrate(time.time)
    finally:
        engine.close()
    text = f"migrated: {', '.join(done)}" if done else "the schema is up to date"
    reach.say({"migrated": done}, text)


@db_command.command("check", epilog="Example: covey db check")
@here
def db_check(reach: Reach) -> None:
    """Read the whole store and see if it is sound. Exit code 1 if it is not."""
    want_store(reach.settings)
    with Progress(as_json=reach.as_json) as progress:
        progress.say("reading the store")
        upkeep.check(engine_of(reach.settings), progress.part)
    reach.say({"ok": True}, "the store is sound")


@db_command.command("backup", epilog="Example: covey db backup store.backup")
@click.argument("file", type=_FILE)
@here
def db_backup(reach: Reach, file: Path) -> None:
    """Write the store alone to FILE. The fleet may run; `covey backup` takes tokens and configuration too."""
    want_store(reach.settings)
    file = file.absolute()
    with Progress(as_json=reach.as_json) as progress:
        progress.say("copying the store")
        reach.run(upkeep.backup(engine_of(reach.settings), file, progress.part))
    size = file.stat().st_size
    reach.say({"file": str(file), "bytes": size}, f"{file} is written, {size:,} bytes")


@db_command.command("vacuum", epilog="Example: covey db vacuum")
@here
def db_vacuum(reach: Reach) -> None:
    """Give unused room back to the disk. The fleet may run."""
    want_store(reach.settings)
    with Progress(as_json=reach.as_json) as progress:
        progress.say("giving room back")
        upkeep.vacuum(engine_of(reach.settings), progress.part)
    reach.say({"ok": True}, "done")


@click.command(epilog="Example: covey backup fleet.tar.gz")
@click.argument("file", type=_FILE)
@here
def backup_command(reach: Reach, file: Path) -> None:
    """Write store, tokens, archive and covey.toml to one FILE, while the fleet runs. It holds secrets: it is readable by you alone."""
    want_store(reach.settings)
    with Progress(as_json=reach.as_json) as progress:
        progress.say("copying the store")
        made = reach.run(archiving.backup(reach.settings, reach.file, file.absolute(), progress.part))
    reach.say(made, f"{made['file']} is written, {made['bytes']:,} bytes: {', '.join(made['parts'])}")


@click.command(epilog="Example: covey restore fleet.tar.gz")
@click.argument("file", type=_FILE)
@here
def restore_command(reach: Reach, file: Path) -> None:
    """Put a backup in the place of what is there, while the fleet is down. What was there is kept beside it as ….replaced.

    Leases of the time of the backup are void: what was running then waits again.
    """
    with Progress(as_json=reach.as_json) as progress:
        progress.say("putting the backup in place")
        made = archiving.restore(file.absolute(), reach.file, lambda text: _settings_with(reach, text), progress.part)
    reach.say(made, f"{', '.join(made['parts'])} restored from {made['file']}; `covey up` goes on from there")


def _settings_with(reach: Reach, text: str | None) -> Any:
    """The settings as they will be with this covey.toml; None: as they are."""
    return reach.settings if text is None else reach.load_text(text)


@click.command(epilog="Example: covey import ./shared")
@click.argument("folder", metavar="DIR", type=_FOLDER)
@here
def import_command(reach: Reach, folder: Path) -> None:
    """Take in a tree of JSON files like the seeds', or an export. Each fault is told, the rest is taken; a second time nothing changes."""
    with Progress(as_json=reach.as_json) as progress:
        report = reach.run(_import(reach, folder.absolute(), progress))
    if reach.as_json:
        print_json(report)
        return
    kinds = sorted(report.taken.keys() | report.known.keys())
    rows = [[kind, str(report.taken.get(kind, 0)), str(report.known.get(kind, 0))] for kind in kinds]
    table(["WHAT", "TAKEN", "KNOWN"], rows, empty="there was nothing to take.")
    for fault in report.faults[:_SHOWN]:
        click.echo(f"  {fault.file} {fault.place}: {fault.what}")
    if report.fault_count:
        click.echo(f"{report.fault_count} faults{', the first of them above; --json has more' if report.fault_count > _SHOWN else ''}")


async def _import(reach: Reach, folder: Path, progress: Progress) -> Any:
    store = open_store(reach.settings)
    try:
        await prepare(store, reach.settings)
        return await import_tree(store, folder, progress.part)
    finally:
        await store.close()


@click.command(epilog="Example: covey export ./everything")
@click.argument("folder", metavar="DIR", type=_FOLDER)
@here
def export_command(reach: Reach, folder: Path) -> None:
    """Write all there is, with its history, into a new folder of JSON files; `covey import` takes it in again."""
    want_store(reach.settings)
    with Progress(as_json=reach.as_json) as progress:
        counts = reach.run(_export(reach, folder.absolute(), progress))
    if reach.as_json:
        print_json({"dir": str(folder.absolute()), "counts": counts})
    else:
        click.echo(f"{folder} holds {', '.join(f'{number:,} {what}' for what, number in counts.items())}")


async def _export(reach: Reach, folder: Path, progress: Progress) -> dict[str, int]:
    store = open_store(reach.settings)
    try:
        await prepare(store, reach.settings)
        return await export_tree(store, folder, progress.part, stale_s=reach.settings.stale_s)
    finally:
        await store.close()


@click.command(epilog="Example: covey uninstall --purge --yes")
@click.option("--purge", is_flag=True, help="Delete the fleet's data too: store, tokens, archive, shared files, logs.")
@click.option("--yes", is_flag=True, help="Don't ask.")
@here
def uninstall_command(reach: Reach, purge: bool, yes: bool) -> None:
    """Stop the fleet and remove what it needs to run; its data stays unless --purge. covey.toml, and what is not ours, is never touched."""
    settings = reach.settings
    data = Path(settings.data_dir)
    name = data.parent.name or data.name
    if purge and not yes and not _agreed(name):
        raise Conflict("that was not the folder's name; nothing was touched.")
    gone, left = removing.remove(reach, purge=purge)
    if reach.as_json:
        print_json({"removed": gone, "left": left})
        return
    text = f"removed {len(gone)} files and folders of the fleet in {data.parent}" if gone else "there was nothing to remove"
    click.echo(text + ("" if purge else "; the data is still there" * has_store(settings)))
    for path in left:
        click.echo(f"left, since it is not ours: {path}")


def _agreed(name: str) -> bool:
    """Whether a person has typed the folder's name."""
    if not sys.stdin.isatty():
        raise click.UsageError("--purge deletes all data of the fleet; without a terminal to ask at it needs --yes too.")
    typed: str = click.prompt(f"this deletes all data of the fleet; type the folder's name ({name}) to go on", err=True)
    return typed == name
