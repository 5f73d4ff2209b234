"""The brain that an agent's settings ask for. Each kind is imported when it is made, so that an agent's process holds only its own."""

from __future__ import annotations

from collections.abc import Callable

from covey.base.errors import Failed, Misconfigured
from covey.base.settings import AgentSettings
from covey.brains.launching import Site
from covey.brains.model import Brain, Hands, Outcome, Turn, failure

Maker = Callable[[AgentSettings, Site], Brain]


def make(settings: AgentSettings, site: Site | None = None) -> Brain:
    """The agent's brain, not yet started: programs and modules are looked for at its first turn.

    Raises:
        Misconfigured: Its extra is not installed, or `user` or an option can't be had.
    """
    return _MAKERS[settings.brain.kind](settings, site or Site())


def _rules(settings: AgentSettings, site: Site) -> Brain:
    from covey.brains.rules import RulesBrain  # noqa: PLC0415 - see above

    return RulesBrain(settings, site.data_dir)


def _command(settings: AgentSettings, site: Site) -> Brain:
    if settings.brain.preset:
        from covey.brains.assistant import AssistantBrain  # noqa: PLC0415 - see above

        return AssistantBrain(settings, site)
    from covey.brains.command import CommandBrain  # noqa: PLC0415 - see above

    return CommandBrain(settings, site)


def _python(settings: AgentSettings, site: Site) -> Brain:
    from covey.brains import python  # noqa: PLC0415 - see above

    if settings.brain.options:
        raise Misconfigured(f"agent {settings.id}: a python brain has no options; keep them in its own code or in `env`.")
    return python.PythonProcessBrain(settings, site) if python.wants_process(settings) else python.PythonBrain(settings, site)


def _model(settings: AgentSettings, site: Site) -> Brain:
    from covey.brains.models.brain import ModelBrain  # noqa: PLC0415 - see above

    return ModelBrain(settings, site)


def _a2a(settings: AgentSettings, site: Site) -> Brain:
    try:
        from covey.brains.remote.brain import A2aBrain  # noqa: PLC0415 - see above
    except ImportError as error:
        raise Misconfigured(f"agent {settings.id}: an a2a brain needs covey[a2a] ({error}); pip install 'covey[a2a]'.") from error
    return A2aBrain(settings, site)


def _external(settings: AgentSettings, _: Site) -> Brain:
    return ExternalBrain(settings)


_MAKERS: dict[str, Maker] = {
    "rules": _rules,
    "command": _command,
    "python": _python,
    "model": _model,
    "a2a": _a2a,
    "external": _external,
}


class NoBrain:
    """In the place of a brain that can't be had: it says why, and does nothing. Its agent serves, and stands in error."""

    kind = "none"
    lanes = 1

    def __init__(self, why: str) -> None:
        self.why = why

    async def think(self, turn: Turn, hands: Hands) -> Outcome:  # noqa: ARG002 - the contract's
        """A failure that says why."""
        return failure(self.why, permanent=True, not_started=True)

    def can(self, description: str) -> bool:  # noqa: ARG002 - the contract's
        """Nothing."""
        return False

    async def close(self) -> None:
        """It holds nothing."""


class ExternalBrain:
    """The brain of an agent whose thinking is done outside: a session that fetches its mail and work by itself (A5b)."""

    kind = "external"
    lanes = 0

    def __init__(self, settings: AgentSettings) -> None:
        self._name = settings.id

    async def think(self, turn: Turn, hands: Hands) -> Outcome:  # noqa: ARG002 - the contract's
        """Nothing.

        Raises:
            Failed: Always.
        """
        raise Failed(f"{self._name} is external: its own session fetches its mail and tasks; nothing here can think for it.")

    def can(self, description: str) -> bool:  # noqa: ARG002 - the contract's
        """Whoever is behind it may be able to do anything."""
        return True

    async def close(self) -> None:
        """It holds nothing."""
