"""How a command ends when something went wrong: one sentence for people, a problem object for programs, an exit code by the one table.

Loaded by errors only. What is a fault of ours goes with its traceback into a file, never onto the screen, unless COVEY_DEBUG is set.
"""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import traceback
from pathlib import Path

import click

from covey.base.errors import CoveyError, Failed, Invalid
from covey.cli.output import Refused, print_json

_OUTSIDE = frozenset({errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.ELOOP})
"""What the machine refuses us, and no fault of ours."""


def tell(error: Exception, *, as_json: bool) -> int:
    """Say what went wrong; the exit code."""
    if debugging():
        traceback.print_exception(error)
    if isinstance(error, click.UsageError) and as_json:
        error = Refused.of(Invalid(_in_one_line(error), field=_field_of(error)))
    elif isinstance(error, CoveyError):
        error = Refused.of(error)
    elif not isinstance(error, click.ClickException):
        error = Refused.of(_fault(error))
    if isinstance(error, Refused) and as_json:
        print_json(error.problem)
    else:
        error.show()
    return error.exit_code


def debugging() -> bool:
    """Whether tracebacks are wanted on the screen."""
    return bool(os.environ.get("COVEY_DEBUG"))


def _in_one_line(error: click.UsageError) -> str:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return f"{error.ctx.command_path} needs a command; `{error.ctx.command_path} --help` lists them"
    return error.format_message()


def _field_of(error: click.UsageError) -> str | None:
    if isinstance(error, click.NoSuchOption):
        return error.option_name
    if not isinstance(error, click.BadParameter):
        return None
    param = error.param
    if param is None:
        return error.param_hint if isinstance(error.param_hint, str) else None
    return max(param.opts, key=len) if param.param_type_name == "option" else param.human_readable_name


def _fault(error: Exception) -> CoveyError:
    if isinstance(error, OSError) and error.errno in _OUTSIDE:
        todo = " Run this as the user whose fleet it is, or give this user the right." if error.errno in (errno.EACCES, errno.EPERM) else ""
        return Failed(f"{error.filename or 'a file'} can't be used: {error.strerror}.{todo}")
    path = write_trace("".join(traceback.format_exception(error)))
    return Failed(f"something failed inside Covey ({type(error).__name__}); {path} says where. Please report it.", log=str(path))


def write_trace(text: str) -> Path:
    """The new file that holds the text, for its owner only; the standard error if no file can be made."""
    try:
        handle, name = tempfile.mkstemp(prefix="covey-", suffix=".log")
        with os.fdopen(handle, "w", errors="replace") as file:
            file.write(text)
        return Path(name)
    except OSError:
        sys.stderr.write(text)
        return Path("/dev/stderr")
