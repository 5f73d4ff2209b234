"""What the repository promises about itself: nothing of one machine in it, links that lead somewhere, one version."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import covey

ROOT = Path(__file__).parent.parent
# in pieces, so that this file does not hold what it looks for
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:work|root|home|Users)" + r"/[\w.]")
PUBLIC_REGISTRIES = {"pypi." + "org", "files.pythonhosted." + "org", "registry.npmjs." + "org", "proxy.golang." + "org"}
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)


@cache
def tracked() -> tuple[Path, ...]:
    """Every file that git knows and that is there."""
    git = ["git", "-c", "safe.directory=*", "-C", str(ROOT), "ls-files", "-z"]
    listed = subprocess.run(git, capture_output=True, text=True, timeout=30, check=False)
    if listed.returncode != 0:
        pytest.skip(f"not a git checkout: {listed.stderr.strip()}")
    return tuple(path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file())


def lines() -> Iterator[tuple[str, str]]:
    """Every line of every tracked text file, with its place."""
    for path in tracked():
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            yield f"{path.relative_to(ROOT)}:{number}", line


def registry_hosts() -> set[str]:
    """The hosts from which packages come, in the world and on this machine."""
    pip = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, timeout=30, check=False)
    settings = [value for name, value in os.environ.items() if re.search("INDEX|REGISTRY|PROXY", name, re.IGNORECASE)]
    hosts = re.findall(r"://(?:[^/@\s]*@)?([\w.-]+)", "\n".join([pip.stdout, *settings]))
    return PUBLIC_REGISTRIES | {host for host in hosts if "." in host and not host.startswith("127.")}


def anchors(page: Path) -> set[str]:
    """The names by which a page's headings can be reached."""
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in HEADING.findall(page.read_text())}


def shell_scripts() -> list[Path]:
    """Every tracked script for a shell."""
    return [path for path in tracked() if path.suffix == ".sh" or re.match(rb"#!.*\b(ba)?sh\b", path.read_bytes()[:60])]


def test_no_tracked_file_names_a_path_of_one_machine() -> None:
    assert [f"{place}: {line.strip()}" for place, line in lines() if MACHINE_PATH.search(line)] == []


def test_no_tracked_file_names_a_package_registry() -> None:
    hosts = registry_hosts()
    assert [f"{place}: {line.strip()}" for place, line in lines() if any(host in line for host in hosts)] == []


def test_every_link_in_the_pages_leads_to_a_file_and_heading() -> None:
    broken = []
    for page in (path for path in tracked() if path.suffix == ".md"):
        for link in LINK.findall(page.read_text()):
            target, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", link):
                continue
            goal = (page.parent / target).resolve() if target else page
            if not goal.exists() or (anchor and anchor not in anchors(goal)):
                broken.append(f"{page.relative_to(ROOT)}: {link}")
    assert broken == []


def test_every_shell_script_is_sound_and_can_be_run() -> None:
    scripts = shell_scripts()
    assert {ROOT / "scripts" / name for name in ("up", "test", "check", "lib.sh")} <= set(scripts)
    for script in scripts:
        checked = subprocess.run(["bash", "-n", script], capture_output=True, text=True, timeout=30, check=False)
        assert checked.returncode == 0, checked.stderr
        assert script.suffix == ".sh" or os.access(script, os.X_OK), f"{script} is not executable"


def test_the_versions_agree() -> None:
    top = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert top is not None
    assert top.group(1) == covey.__version__


def test_every_dependency_has_its_line() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *(each for extra in project["optional-dependencies"].values() for each in extra)]
    names = {name.group() for each in wanted if (name := re.match(r"[\w-]+", each))}
    page = (ROOT / "docs" / "dependencies.md").read_text()
    assert sorted(name for name in names if not re.search(rf"^\|.*\b{re.escape(name)}\b.*\|", page, re.MULTILINE)) == []
