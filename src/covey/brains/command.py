"""The brain that is any program: the turn goes in on stdin, the outcome comes out on stdout (K4a, K4c). It reads no store."""

from __future__ import annotations

import signal
from typing import Any

import msgspec

from covey.base import wire
from covey.base.brain_options import CommandOptions
from covey.base.errors import Misconfigured
from covey.base.settings import AgentSettings
from covey.brains import answers, assistants
from covey.brains.launching import Launch, NotStarted, Site, account_of, environment
from covey.brains.model import Hands, Outcome, Turn, failure
from covey.brains.prompting import as_text
from covey.brains.running import Ended, Read, run

PERMANENT = frozenset({64, 65, 77, 78, 126, 127})
"""Exit codes that say that another try is no use: wrong usage, wrong data, no right, wrong configuration (sysexits.h), and a
shell's not executable and not found. All others may pass, 75 (try again later) among them."""
NOT_STARTED = frozenset({78, 126, 127})
"""Those of them that say so of the program itself, whatever it was given."""
TAIL_CHARS = 2000


class CommandBrain:
    """An agent's program. `lanes`: it does one task at a time (K4a)."""

    kind = "command"
    lanes = 1

    def __init__(self, settings: AgentSettings, site: Site) -> None:
        self._settings = settings
        self._site = site
        self._account = account_of(settings.user)
        self._options = options_of(settings.brain.options)

    async def think(self, turn: Turn, hands: Hands) -> Outcome:
        """What the program made of the turn; a failed outcome if it could not be started, failed or took too long."""
        return await self.ran(self._settings.brain.command, self._input(turn), turn, hands)

    async def ran(self, command: tuple[str, ...], given: bytes, turn: Turn, hands: Hands, read: Read | None = None) -> Outcome:
        """What a program made of its input, as this agent's brain; `read` finds progress in its output."""
        settings = self._settings
        env = environment(settings, self._site, turn.run_id, self._account) | session_of(turn)
        launch = Launch(command, settings.cwd, env, self._account)
        limit = time_limit(turn, settings)
        try:
            ended = await run(launch, given, run_id=turn.run_id, timeout_s=limit, site=self._site, hands=hands, read=read)
        except NotStarted as error:
            return failure(error.message, permanent=error.permanent, not_started=error.permanent)
        return outcome_of(ended, limit)

    def _input(self, turn: Turn) -> bytes:
        return as_text(turn).encode() if self._options.input == "text" else input_of(turn)

    def can(self, description: str) -> bool:  # noqa: ARG002 - the contract's
        """Nobody can tell what a program is able to do, so it may try anything."""
        return True

    async def close(self) -> None:
        """It holds nothing between turns."""


def options_of(options: dict[str, Any]) -> CommandOptions:
    """The options of a command brain.

    Raises:
        Misconfigured: One that a command brain does not have.
    """
    try:
        return msgspec.convert(options, CommandOptions)
    except msgspec.ValidationError as error:
        raise Misconfigured(
            f"the options of a command brain are wrong: {error}; it has {', '.join(CommandOptions.__struct_fields__)}."
        ) from error


def session_of(turn: Turn) -> dict[str, str]:
    """The variables by which a program with sessions of its own knows in which to work, and whether to begin it (C5a)."""
    return {"COVEY_SESSION": turn.session, "COVEY_FRESH": "1" if turn.fresh else "0"}


def input_of(turn: Turn) -> bytes:
    """The turn as a program gets it: its JSON, and `prompt`, the same as text for a model."""
    return wire.encode(msgspec.to_builtins(turn) | {"prompt": as_text(turn)})


def time_limit(turn: Turn, settings: AgentSettings) -> float | None:
    """How long the turn may take: the shorter of its own bound and the brain's."""
    limits = [limit for limit in (turn.deadline_s, settings.brain.timeout_s) if limit is not None]
    return min(limits, default=None)


def outcome_of(ended: Ended, limit_s: float | None = None) -> Outcome:
    """The outcome of a run: what was printed where the exit code is 0, else a failure. Pure.

    Exit code and cost are kept, but for the code of one that was ended at its limit: that one says nothing.
    """
    reading = assistants.read(ended.out)
    said = _said(ended, reading)
    cost = said.cost or (reading.cost if reading else None)
    if ended.timed_out:
        said = failure(f"timed out: it did not end within {limit_s:g} s and was ended{_tail(ended)}")
    elif ended.code != 0:
        reason = (reading.error if reading else "") or (said.error if said.kind == "failed" else "")
        told = f": {reason}" if reason else _tail(ended)
        said = failure(
            f"the command {_how(ended.code)}{told}",
            permanent=ended.code in PERMANENT or said.permanent,
            not_started=ended.code in NOT_STARTED,
        )
    session = said.session or (reading.session if reading else "")
    return msgspec.structs.replace(said, session=session, cost=cost, exit_code=None if ended.timed_out else ended.code)


def _said(ended: Ended, reading: assistants.Reading | None) -> Outcome:
    if reading is None:
        return answers.from_text(ended.out)
    return failure(reading.error[:TAIL_CHARS]) if reading.error else answers.from_text(reading.text, marked=True)


def _how(code: int | None) -> str:
    if code is None:
        return "ended, and its exit code was taken by somebody else"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def _tail(ended: Ended) -> str:
    text = ended.err.strip() or ended.out.strip()
    return f": {text[-TAIL_CHARS:]}" if text else ", without a word"
