"""`tokens.toml`: the bearer tokens of the operator and of each agent, in clear, in a file that only its owner can read.

The one place that reads and writes it. The store knows only their hashes (`agents.tokens`). No token is ever logged.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from covey.base.errors import Misconfigured, NotFound
from covey.base.ids import new_secret

NAME = "tokens.toml"
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{16,512}")
"""What a bearer token may be: what an Authorization header carries, and too long to be guessed."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_HEAD = "# Bearer tokens of this fleet: `Authorization: Bearer TOKEN`. Keep them secret; `covey token rotate NAME` makes a new one.\n"


def read(folder: Path) -> dict[str, str]:
    """All tokens in the folder's file, by name; none if there is no file yet.

    Raises:
        Misconfigured: Others can read it, or it is not what it should be.
    """
    path = folder / NAME
    try:
        with path.open("rb") as file:
            _check_private(path, os.fstat(file.fileno()).st_mode)
            found = tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{path} is not TOML ({error}); mend it, or move it away and new tokens are made.") from error
    except OSError as error:
        raise Misconfigured(f"{path} can't be read ({error.strerror}); it must belong to the user that runs the fleet.") from error
    for name, token in found.items():
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise Misconfigured(f'the token of {name!r} in {path} is none: write `{name} = "…"`, 16 to 512 of A-Z a-z 0-9 . _ ~ + / = -')
    return found


def ensure(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """All tokens, after one was made for each of these names that had none; the others stay.

    Raises:
        Misconfigured: As `read`, or the file can't be written.
    """
    wanted = list(names)
    tokens = read(folder)
    if all(name in tokens for name in wanted):
        return tokens
    with _alone(folder):
        tokens = read(folder)
        tokens |= {name: new_secret() for name in wanted if name not in tokens}
        _write(folder / NAME, tokens)
    return tokens


def rotate(folder: Path, name: str) -> str:
    """A new token in place of the old one, which the store must be told of (`agents.tokens.put`).

    Raises:
        NotFound: Nobody of this name has a token.
        Misconfigured: As `ensure`.
    """
    with _alone(folder):
        tokens = read(folder)
        if name not in tokens:
            raise NotFound(f"{folder / NAME} has no token of {name!r}; it has: {', '.join(tokens) or 'none'}.", field="name")
        tokens[name] = new_secret()
        _write(folder / NAME, tokens)
    return tokens[name]


def _check_private(path: Path, mode: int) -> None:
    if stat.S_IMODE(mode) & 0o077:
        raise Misconfigured(
            f"{path} can be read by others (mode {stat.S_IMODE(mode):04o}): run `chmod 600 {path}`, then rotate the tokens."
        )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """No other process of ours changes it meanwhile: a lock on its folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise Misconfigured(f"{folder} can't be used ({error.strerror}); give this user write access, or choose another folder.") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
        os.fsync(lock)
    finally:
        os.close(lock)


def _key(name: str) -> str:
    """A name as a key of TOML: an owner's may hold any character, a control one as its code. Pure."""
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def _write(path: Path, tokens: Mapping[str, str]) -> None:
    """Write it whole or not at all: a temporary name, then a rename."""
    made = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    try:
        file = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(file, "w", encoding="utf-8") as out:
            out.write(_HEAD + "".join(f'{_key(name)} = "{token}"\n' for name, token in tokens.items()))
            out.flush()
            os.fsync(out.fileno())
        made.replace(path)
    except OSError as error:
        made.unlink(missing_ok=True)
        raise Misconfigured(f"{path} can't be written ({error.strerror}); give this user write access to {path.parent}.") from error
