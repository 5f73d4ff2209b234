"""The two directions that every adapter has: ask an agent of the fleet, and answer as one of its agents."""

import asyncio
from collections.abc import Awaitable, Callable

import covey

LEASE_S = 60.0


async def ask(client: covey.AsyncClient, to: str, question: str, wait_s: float = 120.0) -> str:
    """What an agent answers; if there is no answer, a sentence that says why, for whoever asked to act on."""
    answered = await client.ask(to, question, wait_s=wait_s)
    if answered.replies:
        return answered.replies[-1].body
    outcome = answered.receipt.outcomes.get(to)
    return f"{to} did not answer: {outcome.sentence if outcome is not None and not outcome.stored else 'it takes longer; ask again later.'}"


async def answer(client: covey.AsyncClient, agent: str, think: Callable[[str], Awaitable[str]], times: int | None = None) -> None:
    """Be the brain of an external agent: take its mail and tasks, have `think` answer them, for ever or so many times.

    What `think` gets is fenced and names its sender; what it answers is the reply, or the result of the task. While it thinks the
    lease is renewed, so that nobody else takes the work; if this process dies, the work comes again.
    """
    done = 0
    while times is None or done < times:
        work = await client.claim(agent, lease_s=LEASE_S, wait_s=30)
        if work.token is None:
            continue
        if is_own_answer(work):
            await client.finish(agent, work.token)
            continue
        renewing = asyncio.create_task(_renew(client, agent, work.token))
        try:
            said = await think(_given(work))
        except Exception as error:  # noqa: BLE001 - a door to the code of others
            await client.fail(agent, work.token, f"{type(error).__name__}: {error}")
        else:
            await client.finish(agent, work.token, said)
        finally:
            renewing.cancel()
        done += 1


def is_own_answer(work) -> bool:
    """Whether this is the reply to something that the agent asked: whoever waits in `ask` has it already."""
    return work.task is None and work.message is not None and bool(work.message.message.in_reply_to)


async def _renew(client: covey.AsyncClient, agent: str, token: str) -> None:
    while True:
        await asyncio.sleep(LEASE_S / 3)
        await client.renew(agent, token, lease_s=LEASE_S)


def _given(work) -> str:
    """The work as a model may read it: mail in its envelope, a task by its description."""
    parts = [work.message.enveloped] if work.message is not None else []
    parts += [f"A task from {work.task.created_by}:\n{work.task.description}"] if work.task is not None else []
    return "\n\n".join([*parts, *(each.enveloped for each in work.also)])
