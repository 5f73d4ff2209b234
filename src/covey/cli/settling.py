"""What a fleet is configured to be: init, config, project. Changes go into covey.toml, and from there into the fleet."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import click

from covey.base.config import edit
from covey.base.config.show import describe, to_toml
from covey.base.config.template import TEMPLATE
from covey.base.errors import Conflict, CoveyError, Failed, NotFound
from covey.base.settings import Settings
from covey.cli.applying import Plan, apply, flags_of, plan, stand, told
from covey.cli.options import Named, here, listed, nearest, reaching
from covey.cli.output import print_json, table
from covey.cli.reach import Reach
from covey.planning import templates

Edit = Callable[[str], str]


@click.command(epilog="Example: covey init my-fleet")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite a covey.toml that is there.")
@here
def init_command(reach: Reach, folder: Path, force: bool) -> None:
    """Write a commented covey.toml, the default fleet of eight with every option explained."""
    file = (Path(str(reach.flags["dir"] or ".")) / folder / "covey.toml").absolute()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w" if force else "x", encoding="utf-8") as out:
            out.write(TEMPLATE)
    except FileExistsError:
        raise Conflict(f"{file} is there already; nothing was changed. --force overwrites it.", field="dir") from None
    except OSError as error:
        raise Failed(f"{file} can't be written: {error.strerror}.", field="dir") from error
    reach.say({"file": str(file)}, f"{os.path.relpath(file)} is written; `covey up` starts the fleet in it")


@click.group(cls=Named)
def config_command() -> None:
    """Check covey.toml, show the settings, compare them with the fleet's, apply them to it."""


@config_command.command("check", epilog="Example: covey config check")
@here
def config_check(reach: Reach) -> None:
    """Tell every fault of covey.toml. Each with its line; exit code 2 if there is one."""
    settings = reach.settings
    faults = templates.check(settings.planning).faults
    there = reach.file if reach.file.exists() else None
    if reach.as_json:
        shown = {"ok": True, "file": str(there) if there else None, "agents": len(settings.agents)}
        print_json(shown | ({"templateFaults": list(faults)} if faults else {}))
        return
    named = f"{os.path.relpath(there)} is in order" if there else "there is no covey.toml, so the default fleet runs"
    click.echo(f"{named}: {len(settings.agents)} agents, {len(settings.projects)} projects, {len(settings.schedules)} schedules")
    for fault in faults:
        place = f"line {fault['line']}: " if fault["line"] else ""
        click.echo(f"left out of {settings.planning.templates}: {place}{fault['path']} {fault['message']}", err=True)


@config_command.command("show", epilog="Example: covey config show --json")
@here
def config_show(reach: Reach) -> None:
    """Print the settings as they are read. Defaults are included, secrets masked; as TOML, or as JSON."""
    if reach.as_json:
        print_json(describe(reach.settings))
    else:
        click.echo(to_toml(reach.settings), nl=False)


@config_command.command("diff", epilog="Example: covey config diff")
@here
def config_diff(reach: Reach) -> None:
    """Tell what `config apply` would change. And which processes would start anew."""
    before = stand(reach.settings)
    made = plan(before.settings or reach.settings, _wanted(reach), running=before.running)
    if reach.as_json:
        print_json(told(made))
    else:
        _print_plan(made, done=False)


@config_command.command("apply", epilog="Example: covey config apply --tasks-to ops")
@click.option("--tasks-to", "heir", metavar="AGENT", help="Who takes over what removed agents leave undone.")
@here
def config_apply(reach: Reach, heir: str | None) -> None:
    """Take covey.toml over into the fleet. It goes on running: only what must start anew does, and no mail or work is lost."""
    _apply(reach, heir)


@config_command.command("remove-agent", epilog="Example: covey config remove-agent intel --tasks-to chief")
@click.argument("agent")
@click.option("--tasks-to", "heir", metavar="AGENT", help="Who takes over its open tasks and unread mail.")
@here
def config_remove_agent(reach: Reach, agent: str, heir: str | None) -> None:
    """Take an agent out of the fleet. Its section of covey.toml goes, and nothing names it any more."""
    names = [each.id for each in reach.settings.agents]
    for name in (agent, heir):
        if name is not None and name not in names:
            raise NotFound(f"there is no agent {name!r}; {nearest(name, names)}", field="agent" if name == agent else "--tasks-to")
    _edit_and_apply(reach, lambda text: edit.remove_agent(text or TEMPLATE, agent, heir or ""), heir)


def _wanted(reach: Reach) -> Settings:
    """The settings as covey.toml has them now, in the light of what the fleet was started with."""
    settings = reach.load(flags_of(reach))
    templates.check(settings.planning)
    return settings


def _apply(reach: Reach, heir: str | None) -> None:
    _print_applied(reach, heir, *_applied(reach, heir))


def _applied(reach: Reach, heir: str | None) -> tuple[Plan, dict[str, int]]:
    return reach.run(apply(_wanted(reach), stand(reach.settings), heir))


def _print_applied(reach: Reach, heir: str | None, made: Plan, moved: dict[str, int]) -> None:
    if reach.as_json:
        print_json(told(made) | {"handedOver": moved})
        return
    _print_plan(made, done=True)
    if any(moved.values()):
        click.echo(f"{heir} takes over {moved['tasks']} tasks and {moved['messages']} messages")


def _edit_and_apply(reach: Reach, change: Edit, heir: str | None = None) -> None:
    """Change covey.toml, apply it, and print what that took."""
    _print_applied(reach, heir, *edit_and_apply(reach, change, heir))


def edit_and_apply(reach: Reach, change: Edit, heir: str | None = None) -> tuple[Plan, dict[str, int]]:
    """Change covey.toml and apply it; what that took. If the fleet refuses it, the file is put back as it was."""
    file = reach.file
    before = file.read_bytes() if file.exists() else None
    flags = {name: value for name, value in flags_of(reach).items() if name != "dir"}
    edit.rewrite(file, change, environ=os.environ, flags=flags)
    try:
        return _applied(reach, heir)
    except CoveyError:
        _put_back(file, before)
        raise


def _put_back(file: Path, before: bytes | None) -> None:
    if before is None:
        file.unlink(missing_ok=True)
    else:
        edit.rewrite(file, lambda _: before.decode("utf-8-sig"))


def _print_plan(made: Plan, *, done: bool) -> None:
    """The changes, a line each, and what they take."""
    if not made.changes:
        click.echo("nothing differs" + ("" if made.running else "; the fleet does not run here"))
        return
    rows = [[each.how, each.section, each.name or "-", ", ".join(each.fields)] for each in made.changes]
    table(["HOW", "WHAT", "NAME", "KEYS"], rows, empty="")
    if not made.running:
        click.echo("the fleet does not run here; it starts so with the next `covey up`")
    words = ("starts", "is ended", "starts anew") if done else ("would start", "would be ended", "would start anew")
    for word, names in zip(words, (made.starts, made.ends, made.restarts), strict=True):
        if names:
            click.echo(f"{word}: {', '.join(names)}")
    if made.at_next_start:
        click.echo(f"only after `covey down` and `covey up`: {', '.join(made.at_next_start)}")


@click.group(cls=Named)
def project_command() -> None:
    """Projects: a folder, and who works on it."""


@project_command.command("list", epilog="Example: covey project list")
@reaching
def project_list(reach: Reach) -> None:
    """All projects of the fleet."""
    page = reach.get("/api/v1/projects")
    if reach.as_json:
        print_json(page)
        return
    rows = [[each["name"], ", ".join(each["agents"]) or "-", each["path"]] for each in page["items"]]
    table(["NAME", "AGENTS", "PATH"], rows, empty="there are no projects; `covey project add NAME PATH` adds one.")


@project_command.command("add", epilog="Example: covey project add website ../website --agents coder,comms")
@click.argument("name")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--agents", metavar="A,B", help="Who works on it.")
@here
def project_add(reach: Reach, name: str, path: Path, agents: str | None) -> None:
    """Add a project, or change the one of that name. It is written into covey.toml, comments kept, and applied."""
    if not path.is_dir():
        click.echo(f"covey: {path} is no folder yet; a task's brain will need it there.", err=True)
    written = _relative(path.absolute(), reach.file.parent)
    _edit_and_apply(reach, lambda text: edit.add_project(text or TEMPLATE, name, written, listed(agents)))


def _relative(path: Path, folder: Path) -> str:
    """The path as covey.toml has it: from its own folder if it lies below, else absolute."""
    path = Path(os.path.normpath(path))
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


@project_command.command("remove", epilog="Example: covey project remove website")
@click.argument("name")
@here
def project_remove(reach: Reach, name: str) -> None:
    """Take a project out of covey.toml. Its folder is not touched."""
    names = [each.name for each in reach.settings.projects]
    if name not in names:
        raise NotFound(f"there is no project {name!r}; {nearest(name, names)}", field="name")
    _edit_and_apply(reach, lambda text: edit.remove_project(text, name))
