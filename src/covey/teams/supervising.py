"""A supervisor in one process (Q2): it cuts a task up, picks workers, collects what they did. Durable ones are the fleet's."""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from covey.base.errors import Invalid, Unknown
from covey.base.wire import check_json
from covey.teams.decomposing import SUCCESS_AT, aggregated, subtasks_of
from covey.teams.failing import AgentFailureHandler
from covey.teams.mail import AgentCommunication, AgentMessage, InboxFull, MessageType, said

Perform = Callable[[str, dict[str, Any]], dict[str, Any]]
"""What a worker does: its id and the sub-task in; a result with `success`, `summary` and whatever else it found out."""
TRIES = 3
"""So many workers are tried on one sub-task."""
WAIT_S = 60.0
"""So long a workflow waits for a worker that another thread's workflow keeps busy."""
_KEPT = 10_000


class UnknownWorker(Unknown, ValueError):
    """There is no such worker, or none that may be given the work; `nearest` names who there is."""


class SupervisorAgent:
    """Gives the parts of a task to workers and puts their results together. Safe to use from several threads.

    `perform` does a worker's part of the work; without it the work is taken as done, which serves demonstrations and tests. With
    `strict` a worker gets only what it is capable of; without, anybody free does what nobody can. `failures` keeps workers away
    that fail again and again.
    """

    def __init__(
        self,
        name: str,
        communication: AgentCommunication,
        *,
        perform: Perform | None = None,
        failures: AgentFailureHandler | None = None,
        strict: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.communication = communication
        self.workers: dict[str, dict[str, Any]] = {}
        self.task_queue: list[dict[str, Any]] = []
        self.completed_tasks: list[dict[str, Any]] = []
        self.current_state: dict[str, Any] = {}
        self.strict = strict
        self._perform = perform
        self._failures = failures
        self._now = now
        self._lock = threading.RLock()
        self._freed = threading.Condition(self._lock)
        self._held: dict[str, int] = {}
        """Who is at work in a workflow, and in which thread."""

    def register_worker(self, worker_id: str, capabilities: Sequence[str]) -> None:
        """Have a worker, with what it is capable of. One that is registered again keeps what it has done.

        Raises:
            Invalid: The capabilities are a text.
        """
        if isinstance(capabilities, str):
            raise Invalid("capabilities is a text; give a list of them.", field="capabilities")
        with self._lock:
            before = self.workers.get(worker_id)
            metrics = before["metrics"] if before else {"tasks_completed": 0, "avg_response_time": 0.0}
            self.workers[worker_id] = {"capabilities": list(capabilities), "status": "available", "current_task": None, "metrics": metrics}

    def decompose_task(self, task: dict[str, Any]) -> list[dict[str, Any]]:
        """The sub-tasks of a task, each with an id."""
        return subtasks_of(task, str(task.get("id") or uuid.uuid4()))

    def select_worker(self, subtask: dict[str, Any], *, without: Sequence[str] = ()) -> str:
        """The free worker with the capability that has done least; without `strict` any free one, if nobody has it.

        Raises:
            UnknownWorker: Nobody is free, or with `strict` nobody who is has the capability.
        """
        wanted = subtask.get("type", "general")
        with self._lock:
            free = [name for name, info in self.workers.items() if info["status"] == "available" and name not in without]
            able = [name for name in free if wanted in self.workers[name]["capabilities"]]
            found = self._first_available(able)
            if found is None and not self.strict:
                found = self._first_available([name for name in free if name not in able])
            if found is None:
                raise self._nobody(wanted, free)
            return found

    def _first_available(self, names: Sequence[str]) -> str | None:
        """Who has done least and is not kept away. Nobody behind it is asked, since a half-open breaker lets through whoever is."""
        ordered = sorted(names, key=lambda name: self.workers[name]["metrics"]["tasks_completed"])
        return next((name for name in ordered if self._failures is None or self._failures.is_available(name)), None)

    def _nobody(self, wanted: str, free: list[str]) -> UnknownWorker:
        if not self.workers:
            return UnknownWorker("No available workers: none is registered. Register one first.", field="worker")
        if not free:
            return UnknownWorker("No available workers: all are busy or kept away after failures. Try again later.", field="worker")
        known = sorted({each for name in free for each in self.workers[name]["capabilities"]})
        return UnknownWorker(
            f"No available workers with the capability {wanted!r}; those who are free have: {', '.join(known) or 'none'}.",
            field="type",
            nearest=known,
        )

    def assign_task(self, subtask: dict[str, Any], worker_id: str) -> None:
        """Give a sub-task to a worker: a request in its inbox.

        Raises:
            UnknownWorker: There is no such worker.
            InboxFull, Invalid: The request can't be sent; the worker is as it was.
        """
        request = AgentMessage(
            sender=self.name,
            receiver=worker_id,
            message_type=MessageType.REQUEST,
            content={"action": "execute_task", "task": subtask},
            requires_response=True,
            priority=subtask.get("priority", 0),
        )
        with self._lock:
            info = self._info(worker_id)
            self._send(request)
            info.update(status="busy", current_task=subtask.get("id"))

    def aggregate_results(self, subtask_results: list[dict[str, Any]]) -> dict[str, Any]:
        """What the results come to: `results`, `summary`, `quality_score`."""
        return aggregated(subtask_results)

    def run_workflow(self, task: dict[str, Any]) -> dict[str, Any]:
        """Do a whole task: `task`, `subtask_results`, `final_result`, and `success` from a quality of 0.8 on."""
        results = [self._done(subtask) for subtask in self.decompose_task(task)]
        final = self.aggregate_results(results)
        with self._lock:
            self.completed_tasks.append(task)
            del self.completed_tasks[:-_KEPT]
        return {"task": task, "subtask_results": results, "final_result": final, "success": final["quality_score"] >= SUCCESS_AT}

    def _done(self, subtask: dict[str, Any]) -> dict[str, Any]:
        """The result of a sub-task, given to the next worker if one fails at it."""
        tried: list[str] = []
        result: dict[str, Any] = {}
        while len(tried) < TRIES:
            try:
                worker = self._claim(subtask, tried)
            except UnknownWorker:
                if not tried:
                    raise
                break
            tried.append(worker)
            result = self._ask(worker, subtask)
            if result.get("success") or self._failures is None:
                break
        return result

    def _claim(self, subtask: dict[str, Any], tried: list[str]) -> str:
        """A worker that is this workflow's until its try is over; nobody else's workflow picks it meanwhile.

        Raises:
            UnknownWorker: As `select_worker`, and there is nobody to wait for either.
        """
        ends = time.monotonic() + WAIT_S
        with self._freed:
            while True:
                try:
                    worker = self.select_worker(subtask, without=tried)
                except UnknownWorker:
                    if tried or not self._others_hold(subtask) or not self._freed.wait(max(0.0, ends - time.monotonic())):
                        raise
                    continue
                self.workers[worker].update(status="busy", current_task=subtask.get("id"))
                self._held[worker] = threading.get_ident()
                return worker

    def _others_hold(self, subtask: dict[str, Any]) -> bool:
        """Whether somebody who could do it is at work in another thread's workflow; what this thread holds won't be freed by waiting."""
        wanted, here = subtask.get("type", "general"), threading.get_ident()
        return any(
            thread != here and (not self.strict or wanted in self.workers[name]["capabilities"]) for name, thread in self._held.items()
        )

    def _ask(self, worker: str, subtask: dict[str, Any]) -> dict[str, Any]:
        """One worker's try: its request, what it did, its response. Mail that others sent meanwhile stays where it is."""
        began = self._now()
        response: dict[str, Any] | None = None
        try:
            self.assign_task(subtask, worker)
            response = self._result(worker, subtask)
        except InboxFull as full:
            response = _failed(worker, subtask, full)
        finally:
            self._over(worker, self._now() - began, success=bool(response and response.get("success")))
        if self._failures is not None and not response.get("success"):
            self._failures.handle_failure(worker, str(subtask.get("id")), str(response.get("error") or "it reported no success"))
        self.communication.take(worker, lambda each: said(each, "task") is subtask)
        answer = AgentMessage(sender=worker, receiver=self.name, message_type=MessageType.RESPONSE, content=response)
        with contextlib.suppress(InboxFull):  # what others left unread there does not make the result undone
            self.communication.send(answer)
            self.communication.take(self.name, lambda each: each.message_id == answer.message_id)
        return response

    def _result(self, worker: str, subtask: dict[str, Any]) -> dict[str, Any]:
        """What a worker answers; whatever it fails with is its result, and so is an answer of the wrong form."""
        try:
            response: object = self._simulate_worker_response(worker, subtask)
            if not isinstance(response, dict):
                raise Invalid(f"the result is a {type(response).__name__}; give an object with success and summary.", field="result")
            if self.communication.strict:
                check_json(response, "result")
        except Exception as error:  # noqa: BLE001 - whatever a worker fails with is its result
            return _failed(worker, subtask, error)
        return response

    def _over(self, worker: str, seconds: float, *, success: bool) -> None:
        with self._lock:
            info = self._info(worker)
            info.update(status="available", current_task=None)
            self._held.pop(worker, None)
            self._freed.notify_all()
            if not success:
                return
            metrics = info["metrics"]
            done = metrics["tasks_completed"]
            metrics["avg_response_time"] = (metrics["avg_response_time"] * done + seconds) / (done + 1)
            metrics["tasks_completed"] = done + 1
        if self._failures is not None:
            self._failures.record_success(worker)

    def _simulate_worker_response(self, worker_id: str, subtask: dict[str, Any]) -> dict[str, Any]:
        """A worker's result; override it, or give `perform`."""
        if self._perform is not None:
            return self._perform(worker_id, subtask)
        what = subtask.get("description", subtask.get("type", "task"))
        return {"success": True, "summary": f"{worker_id} completed: {what}", "worker": worker_id, "subtask_type": subtask.get("type")}

    def _info(self, worker_id: str) -> dict[str, Any]:
        if worker_id not in self.workers:
            known = list(self.workers)
            there = ", ".join(known) or "none yet"
            raise UnknownWorker(f"Unknown worker: {worker_id}. There are: {there}.", field="worker_id", nearest=known)
        return self.workers[worker_id]

    def _send(self, message: AgentMessage) -> None:
        self.communication.send(message)


def _failed(worker: str, subtask: dict[str, Any], error: Exception) -> dict[str, Any]:
    what = f"{type(error).__name__}: {error}"
    return {"success": False, "error": what, "worker": worker, "subtask_type": subtask.get("type")}
