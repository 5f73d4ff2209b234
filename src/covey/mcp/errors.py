"""The one place where an error becomes what an MCP client is told: a result that a model can act on, or a protocol error."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from typing import Any

from mcp import types
from mcp.shared.exceptions import MCPError

from covey.base.errors import CoveyError, Failed, NotFound

log = logging.getLogger("covey.mcp")


def refused(error: Exception, doing: str, names: Mapping[str, str]) -> types.CallToolResult:
    """A tool's result that says what is wrong and what to do. A fault of our own goes to the log, and only its reference to the client.

    `names`: what the tool calls a part of the input that the error may name otherwise.
    """
    known = _known(error, doing)
    problem = known.problem()
    if known.field is not None and known.field in names:
        name, begins = names[known.field], f"{known.field} "
        said = known.message
        problem |= {"field": name, "detail": f"{name} {said.removeprefix(begins)}" if said.startswith(begins) else said}
    text = problem["detail"] if known.field is None else f"{problem['detail']} (argument: {problem['field']})"
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=problem, is_error=True)


def raised(error: Exception, doing: str, **about: str) -> MCPError:
    """The same as a protocol error, for what is no tool: resources and prompts. What is not there is a wrong parameter."""
    known = _known(error, doing)
    code = types.INVALID_PARAMS if isinstance(known, NotFound) else known.face.rpc or types.INTERNAL_ERROR
    return MCPError(code, known.message, known.problem() | about)


def unknown(what: str, name: str, there: list[str]) -> MCPError:
    """Nothing has this name here; what there is."""
    return MCPError(types.INVALID_PARAMS, f"Unknown {what}: {name[:100]}. There are: {', '.join(there)}.", {"name": name[:100]})


def _known(error: Exception, doing: str) -> CoveyError:
    if isinstance(error, CoveyError) and not isinstance(error, Failed):
        return error
    reference = secrets.token_hex(4)
    log.error("%s failed (reference %s)", doing, reference, exc_info=error)
    return Failed(f"something failed inside Covey; the log has it under the reference {reference}.", reference=reference)


def problem_result(problem: dict[str, Any]) -> types.CallToolResult:
    """A refusal that is no error of ours: a message that no receiver got."""
    return types.CallToolResult(content=[types.TextContent(type="text", text=problem["detail"])], structured_content=problem, is_error=True)
