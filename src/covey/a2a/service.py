"""What A2A asks for, done by our verbs: the one handler behind JSON-RPC, HTTP+JSON and gRPC, in 1.0 and 0.3. Decodes, calls, encodes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from a2a.server.context import ServerCallContext
from a2a.server.events.event_queue import Event
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
)
from a2a.utils.errors import (
    ExtendedAgentCardNotConfiguredError,
    ExtensionSupportRequiredError,
    InvalidParamsError,
    PushNotificationNotSupportedError,
    UnsupportedOperationError,
)
from a2a.utils.proto_utils import validate_proto_required_fields
from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message as Proto

from covey.a2a import encoding, following
from covey.a2a.decoding import PHASES, given_of, history_of, page_size_of, push_of, refuse
from covey.a2a.faults import telling, telling_on
from covey.a2a.visiting import Visit, visit_of
from covey.agents import roster
from covey.agents.model import Caller
from covey.base.errors import Forbidden, Invalid, NotRunning
from covey.base.outward import Allowed, addresses
from covey.base.target import target_of
from covey.doors.door import FleetDoor
from covey.exchanges import giving, pushing, reading
from covey.exchanges.model import MOST, PAGE, Exchange, Given
from covey.exchanges.pushing import Push
from covey.reports.cards import card
from covey.store import Transaction


class Service(RequestHandler):
    """The handler of all agents; each call's visit says whose it is.

    `pushed` is called when there is a new place to push to. `once`: the id of a message names one message of its sender, so that
    the same one sent again begins nothing new (T3).
    """

    def __init__(self, door: FleetDoor, pushed: Callable[[], None], *, once: bool = True) -> None:
        self._door = door
        self._pushed = pushed
        self._once = once

    # tasks

    @telling
    async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> Task | None:
        """One task."""
        visit = self._admitted(params, context)
        found = await self._door.store.read(reading.show, visit.agent, params.id, visit.caller, history=history_of(params))
        return encoding.task_of(found)

    @telling
    async def on_list_tasks(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        """The caller's tasks, the latest change first."""
        visit = self._admitted(params, context)
        size = page_size_of(params, PAGE, MOST)
        if params.status and params.status not in PHASES:
            return ListTasksResponse(page_size=size)
        found = await self._door.store.read(
            reading.page,
            visit.agent,
            visit.caller,
            thread_id=params.context_id or None,
            phase=PHASES.get(params.status),
            since=params.status_timestamp_after.ToMicroseconds() / 1e6 if params.HasField("status_timestamp_after") else 0.0,
            cursor=params.page_token,
            limit=size,
            history=history_of(params) or 0,
        )
        tasks = [encoding.task_of(each) for each in found.items]
        for task in tasks if not params.include_artifacts else ():
            task.ClearField("artifacts")
        return ListTasksResponse(tasks=tasks, next_page_token=found.cursor, page_size=size, total_size=found.total)

    @telling
    async def on_cancel_task(self, params: CancelTaskRequest, context: ServerCallContext) -> Task | None:
        """The task, cancelled; its brain, if one is at work, is ended within the grace."""
        visit = self._admitted(params, context)
        return encoding.task_of(await self._door.store.write(giving.cancel, visit.agent, params.id, visit.caller))

    # messages

    @telling
    async def on_message_send(self, params: SendMessageRequest, context: ServerCallContext) -> Task | Message:
        """What the message comes to: the task once it has ended or asks something; at once if the caller does not wait."""
        visit = self._admitted(params, context)
        history = history_of(params.configuration)
        found = await self._given(params, visit, history)
        if not params.configuration.return_immediately:
            found = await following.settled(self._door, found, visit.caller, history=history)
        return encoding.answer_of(found)

    @telling_on
    async def on_message_send_stream(self, params: SendMessageRequest, context: ServerCallContext) -> AsyncGenerator[Event, None]:
        """The task, then its steps until it ends or asks something."""
        visit = self._admitted(params, context, streams=True)
        found = await self._given(params, visit, history_of(params.configuration))
        async with aclosing(self._told(found, visit.caller, pause_ends=True)) as told:
            async for each in told:
                yield each

    @telling_on
    async def on_subscribe_to_task(self, params: SubscribeToTaskRequest, context: ServerCallContext) -> AsyncGenerator[Event, None]:
        """The task as it stands, then its steps until it ends."""
        visit = self._admitted(params, context, streams=True)
        found = await self._door.store.read(reading.show, visit.agent, params.id, visit.caller)
        if not found.is_open:
            raise UnsupportedOperationError(f"the task {params.id} is {found.phase}; nothing more happens to it. Get it instead.")
        async with aclosing(self._told(found, visit.caller, pause_ends=False)) as told:
            async for each in told:
                yield each

    async def _told(self, found: Exchange, by: Caller, *, pause_ends: bool) -> AsyncGenerator[Event, None]:
        yield encoding.task_of(found)
        if not found.is_open:
            return
        async for step in following.steps(self._door, found, by, pause_ends=pause_ends):
            for each in encoding.steps_of(step, found.task.task_id, found.thread_id):
                yield each

    async def _given(self, params: SendMessageRequest, visit: Visit, history: int | None) -> Exchange:
        """Give the message to the agent, with the place to push to that came with it."""
        given = given_of(params.message)
        given.traceparent = visit.traceparent
        push = None
        if params.configuration.HasField("task_push_notification_config"):
            config = params.configuration.task_push_notification_config
            push = push_of(config, given.task_id or "", visit.version, "default")
            await self._check_push(push)
        found = await self._door.store.write(give, visit.agent, given, visit.caller, push, once=self._once, history=history)
        if push is not None:
            self._pushed()
        return found

    # places to push to

    @telling
    async def on_create_task_push_notification_config(
        self, params: TaskPushNotificationConfig, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        """The place to push to, kept; also of a task that has ended."""
        visit = self._admitted(params, context, pushes=True)
        push = push_of(params, params.task_id, visit.version, "default")
        await self._door.store.read(reading.seek, visit.agent, params.task_id, visit.caller)
        await self._check_push(push)
        kept = await self._door.store.write(pushing.put, visit.agent, push, visit.caller)
        self._pushed()
        return encoding.config_of(kept)

    @telling
    async def on_get_task_push_notification_config(
        self, params: GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        """One place to push to."""
        visit = self._admitted(params, context, pushes=True)
        ident = params.id or "default"
        return encoding.config_of(await self._door.store.read(pushing.show, visit.agent, params.task_id, ident, visit.caller))

    @telling
    async def on_list_task_push_notification_configs(
        self, params: ListTaskPushNotificationConfigsRequest, context: ServerCallContext
    ) -> ListTaskPushNotificationConfigsResponse:
        """The places that a task's news is pushed to, in the order of their ids."""
        visit = self._admitted(params, context, pushes=True)
        size = page_size_of(params, pushing.MOST)
        found = await self._door.store.read(
            pushing.listed, visit.agent, params.task_id, visit.caller, after=params.page_token, limit=size + 1
        )
        return ListTaskPushNotificationConfigsResponse(
            configs=[encoding.config_of(each) for each in found[:size]], next_page_token=found[size - 1].id if len(found) > size else ""
        )

    @telling
    async def on_delete_task_push_notification_config(
        self, params: DeleteTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> None:
        """Nothing more is pushed there; again is no error."""
        visit = self._admitted(params, context, pushes=True)
        await self._door.store.write(pushing.remove, visit.agent, params.task_id, params.id or "default", visit.caller)

    async def _check_push(self, push: Push) -> None:
        """Refuse what must not be called. It is judged again at each push, so that a name that nobody knows yet may be given."""
        if not self._door.settings.a2a.push:
            raise PushNotificationNotSupportedError
        pushing.check(push)
        try:
            target = target_of(push.url)
            await asyncio.to_thread(addresses, target.host, target.port, Allowed(self._door.settings.a2a.allow_private))
        except NotRunning:
            return
        except Forbidden as error:
            raise Invalid(error.message, field="url") from error

    # the card

    @telling
    async def on_get_extended_agent_card(self, params: GetExtendedAgentCardRequest, context: ServerCallContext) -> AgentCard:
        """The card for those who have shown a token."""
        visit = self._admitted(params, context)
        if not self._door.settings.a2a.extended_card:
            raise ExtendedAgentCardNotConfiguredError
        agent = await self._door.store.read(roster.find, visit.agent)
        shown = AgentCard()
        ParseDict(card(agent, self._door.settings, visit.host, extended=True), shown)
        return shown

    # what all have in common

    def _admitted(self, params: Proto, context: ServerCallContext, *, streams: bool = False, pushes: bool = False) -> Visit:
        """The visit of a call that may be made.

        Raises:
            A2AError: The card does not offer it, the caller lacks an extension that it asks for, or a field is missing.
        """
        offered = self._door.settings.a2a
        if streams and not offered.streaming:
            raise UnsupportedOperationError("this agent does not stream, as its card says; send without streaming, or get the task.")
        if pushes and not offered.push:
            raise PushNotificationNotSupportedError("this agent does not push, as its card says; subscribe to the task, or get it.")
        lacking = sorted(set(offered.required_extensions) - context.requested_extensions)
        if lacking:
            raise ExtensionSupportRequiredError(f"this agent asks for the extension {lacking[0]}; name it in the header A2A-Extensions.")
        _check_required(params)
        return visit_of(context)


def _check_required(params: Proto) -> None:
    try:
        validate_proto_required_fields(params)
    except InvalidParamsError as error:
        first: dict[str, Any] = ((error.data or {}).get("errors") or [{}])[0]
        raise refuse(str(first.get("field", "")), f"is not right: {first.get('message', error.message)}") from error


def give(tx: Transaction, agent: str, given: Given, by: Caller, push: Push | None, *, once: bool, history: int | None) -> Exchange:
    """As `giving.give`, with the place to push to in the same transaction, so that it misses nothing."""
    found = giving.give(tx, agent, given, by, once=once, history=history)
    if push is not None:
        pushing.put(tx, agent, push._replace(task_id=found.task.task_id), by, from_start=given.task_id is None)
    return found
