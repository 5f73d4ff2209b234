"""Finds what `module:function` or `module:Class` names, from the agent's own folder first, and how it wants to be called."""

from __future__ import annotations

import difflib
import importlib
import importlib.machinery
import inspect
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from covey.base.errors import Misconfigured
from covey.brains import answers
from covey.brains.agent import Agent
from covey.brains.model import Turn

Target = Callable[..., Any] | Agent
_IMPORTING = threading.Lock()


class Step(NamedTuple):
    """One call that a turn comes to: `call()` or, if it takes them, `call(hands)`."""

    call: Callable[..., Any]
    is_async: bool
    takes_hands: bool


def load(target: str, folder: str) -> Target:
    """The function, or an object of the class, that a target names. Imports it; blocks.

    Raises:
        Misconfigured: The module can't be imported, or has no such thing; the message names it and the reason.
    """
    name, _, path = target.partition(":")
    found: Any = _module(name, folder or str(Path.cwd()), target)
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            near = difflib.get_close_matches(part, [each for each in vars(found) if not each.startswith("_")], 3)
            hint = f"; it has {', '.join(near)}" if near else ""
            raise Misconfigured(f"the python brain {target}: {name} has no {part}{hint}.") from None
    return _usable(found, target)


def _usable(found: Any, target: str) -> Target:
    if not inspect.isclass(found):
        if not callable(found):
            raise Misconfigured(
                f"the python brain {target} is a {type(found).__name__}; a function, or a subclass of covey.Agent, is wanted."
            )
        return found  # type: ignore[no-any-return]
    if not issubclass(found, Agent):
        raise Misconfigured(f"the python brain {target} is a class, but no subclass of covey.Agent; make it one, or name a function.")
    try:
        return found()
    except BaseException as error:  # a door to foreign code, which may raise SystemExit too
        raise Misconfigured(f"the python brain {target} can't be made: {answers.from_error(error).error}") from error


def _module(name: str, folder: str, target: str) -> Any:
    with _IMPORTING:
        if folder not in sys.path:
            sys.path.insert(0, folder)
        _refuse_another(name.partition(".")[0], folder, target)
        importlib.invalidate_caches()
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name and (name == error.name or name.startswith(f"{error.name}.")):
                raise Misconfigured(
                    f"the python brain {target}: there is no module {error.name}, neither in {folder} nor installed."
                ) from error
            raise Misconfigured(f"the python brain {target}: {name} needs the module {error.name}, which is not installed.") from error
        except BaseException as error:  # a door to foreign code, which may raise SystemExit too
            raise Misconfigured(f"the python brain {target}: {name} can't be imported: {answers.from_error(error).error}") from error


def _refuse_another(top: str, folder: str, target: str) -> None:
    """Of two modules of one name only the first can be had in one process; refuse to take it for the other."""
    loaded = sys.modules.get(top)
    spec = importlib.machinery.PathFinder.find_spec(top, [folder]) if loaded is not None else None
    if loaded is None or spec is None or spec.origin is None:
        return
    theirs = getattr(loaded, "__file__", None)
    if theirs is None or Path(theirs).resolve() != Path(spec.origin).resolve():
        raise Misconfigured(
            f"the python brain {target}: {spec.origin} can't be imported, since another module of that name is in use"
            f" ({theirs or 'built in'}); rename it, or set process = true."
        )


def step_of(target: Target, turn: Turn) -> Step:
    """How the target takes this turn: a function with (turn) or (turn, hands), an Agent by its method for the kind."""
    if isinstance(target, Agent):
        method = getattr(target, Agent.ON[turn.kind])
        return Step(partial(method, _subject(turn), turn), _is_async(method), takes_hands=False)
    return Step(partial(target, turn), _is_async(target), _takes_hands(target))


def _subject(turn: Turn) -> Any:
    if turn.kind == "digest":
        return [asked.message for asked in turn.also]
    if turn.kind == "message":
        return turn.message.message if turn.message else None
    return turn.context if turn.kind == "summary" else turn.task


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004 - its type is asked


def _takes_hands(function: Any) -> bool:
    """Whether it has a second parameter that must be given, or is called hands."""
    try:
        given = [
            each
            for each in inspect.signature(function).parameters.values()
            if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        return False
    return len(given) > 1 and (given[1].default is inspect.Parameter.empty or given[1].name == "hands")
