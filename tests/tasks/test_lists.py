"""Lists of tasks: the same whichever way they are found, newest first, without a gap from page to page."""

from __future__ import annotations

import pytest

from covey.agents.model import THE_OPERATOR
from covey.base.errors import Unknown
from covey.store import Statement, Store
from covey.tasks import adding, changing, reading, working
from covey.tasks.model import TaskDraft

LEFT = Statement("left", "UPDATE agents SET removed_at = 1 WHERE id = 'sales'")


async def every_state(store: Store) -> None:
    """Ten tasks: three wait, two are blocked, one runs, one is done, one has failed, two are cancelled."""
    for n in range(10):
        needs = ["t0"] if n in (1, 2) else []
        agent = "sales" if n == 3 else "coder"
        draft = TaskDraft(
            task_id=f"t{n}", description=f"task {n}", agent=agent, dependencies=needs, max_attempts=1, priority="urgent" if n > 6 else "low"
        )
        await store.write(adding.add, draft, THE_OPERATOR)
    for end in ("done", "failed"):
        claimed = await store.write(working.claim, "coder", f"run_{end}", lease_s=60.0)
        assert claimed is not None
        if end == "done":
            await store.write(working.finish, "coder", claimed[1], "fine")
        else:
            await store.write(working.fail, "coder", claimed[1], "broken")
    assert await store.write(working.claim, "coder", "run_3", lease_s=60.0) is not None
    for ident in ("t5", "t6"):
        await store.write(changing.cancel, ident, THE_OPERATOR)


@pytest.mark.parametrize("few", [0, 5_000], ids=["many open", "few open"])
async def test_a_list_is_the_same_whichever_way_it_is_found(fleet: Store, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "FEW_OPEN", few)
    await every_state(fleet)
    tasks = (await fleet.read(reading.listed)).items
    assert [task.task_id for task in tasks] == [f"t{n}" for n in range(9, -1, -1)]
    for state in ("open", "queued", "blocked", "running", "done", "failed", "cancelled"):
        for agent in (None, "coder", "sales"):
            wanted = [
                task.task_id
                for task in tasks
                if (task.state == state or (state == "open" and task.is_open)) and agent in (None, task.agent, task.holder)
            ]
            found: list[str] = []
            cursor = None
            while True:
                page = await fleet.read(reading.listed, state=state, agent=agent, before=cursor, limit=2)
                found += [task.task_id for task in page.items]
                cursor = page.cursor
                if cursor is None:
                    break
            assert found == wanted, (state, agent)


async def test_the_tasks_of_an_agent_that_never_was_are_an_error_and_those_of_one_that_left_are_not(fleet: Store) -> None:
    await every_state(fleet)
    with pytest.raises(Unknown, match="Did you mean coder"):
        await fleet.read(reading.listed, agent="codr")
    await fleet.write(changing.hand_over, "sales", "coder", THE_OPERATOR)
    await fleet.write(lambda tx: tx.run(LEFT))
    assert (await fleet.read(reading.listed, agent="sales")).items == []
