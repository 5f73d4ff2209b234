"""Reports of an agent's own initiative: budgets, repeated attempts, week against week, the operator's digest and reminder.

The last two also go to the operator as mail; a newer one stands for the unread older one (P3a).
"""

from __future__ import annotations

from typing import Any

from covey.agents.model import OPERATOR
from covey.brains.rules.desk import Desk, Findings, Tell, bullets, lines
from covey.reports import history, open_work, spending
from covey.reports.phrases import count, listed, percent, when

WEEK = 7


async def budgets(desk: Desk) -> Findings:
    """What is left of the day's budgets, and who has used most of its own."""
    found = await desk.read(spending.overview)
    turns, usd = found["turns"], found["usd"]
    used = sorted((each for each in found["agents"] if each["spent"]), key=lambda each: -each["spent"])
    spent = [each["agentId"] for each in found["agents"] if each["spent"] >= each["limit"]]
    return Findings(
        lines(
            f"In the last 24 hours {turns['spent']:,.0f} of {turns['limit']:,.0f} turns of paid brains were used, and ${usd['spent']:.2f}"
            f" of ${usd['limit']:.2f}.",
            _again("The turns", turns, desk.now),
            _again("The money", usd, desk.now),
            f"No generated task is left for {listed(spent, most=10)}." if spent else "Every agent has generated tasks left.",
            bullets([f"{each['agentId']}: {each['spent']:,} of {each['limit']:,.0f} generated tasks" for each in used]) if used else None,
        ),
        found,
    )


def _again(what: str, budget: dict[str, Any], now: float) -> str | None:
    return f"{what} are spent; there is something again {when(budget['renewsAt'], now)}." if budget["renewsAt"] is not None else None


async def retries(desk: Desk) -> Findings:
    """Which tasks took more than one attempt in seven days, and what went wrong."""
    found = await desk.read(history.tried_again)
    output = (await desk.read(history.productivity))["total"]
    ended = output["done"] + output["failed"]
    if not found:
        return Findings(f"Of {count(ended, 'task')} that ran to an end in the last 7 days, each took one attempt.", {"tasks": []})
    said = [
        f"{each['taskId']} ({each['agent'] or 'nobody'}, {each['state']} {when(each['at'], desk.now)}): {each['attempts']} attempts;"
        f" {each['error'] or 'no reason is recorded'}"
        for each in found
    ]
    at_least = "at least " if len(found) >= history.SHOWN else ""
    share = f" ({percent(len(found) / ended)})" if ended else ""
    head = f"Of {count(ended, 'task')} that ran to an end in the last 7 days, {at_least}{len(found)}{share} took more than one attempt:"
    return Findings(lines(head, bullets(said)), {"tasks": found, "ended": ended})


async def comparison(desk: Desk) -> Findings:
    """The work of the last seven days beside that of the seven before."""
    days = (await desk.read(history.productivity, 2 * WEEK))["days"]
    before, now = _sum(days[:WEEK]), _sum(days[WEEK:])
    data = {"before": before, "now": now}
    if not any((*before.values(), *now.values())):
        return Findings("No task ended in the last 14 days, so there is nothing to compare.", data)
    said = [f"{word}: {now[word]:,} in the last 7 days, {before[word]:,} in the 7 before{_change(before[word], now[word])}" for word in now]
    busiest = max(days, key=lambda day: int(day["done"]))
    best = f"The day with most done was {busiest['day']}: {busiest['done']:,}." if busiest["done"] else None
    return Findings(lines("Week against week, by UTC days, today included:", bullets(said), best), data)


def _sum(days: list[dict[str, Any]]) -> dict[str, int]:
    return {word: sum(int(day[word]) for day in days) for word in ("done", "failed", "cancelled")}


def _change(before: int, now: int) -> str:
    return f" ({(now - before) / before:+.0%})" if before else ""


async def daily_digest(desk: Desk) -> Findings:
    """What happened in a day and what waits for the operator, as mail to it."""
    story, output = await desk.read(history.happened), await desk.read(history.productivity, 1)
    mail, waiting = await desk.read(history.traffic), await _waiting(desk)
    failed = await desk.read(history.failures, 1)
    busiest = sorted(output["agents"].items(), key=lambda pair: -pair[1]["done"])
    today = output["total"]
    done = [f"{name} {each['done']}" for name, each in busiest if each["done"]]
    said = [
        f"Today (UTC) {count(today['done'], 'task')} done, {today['failed']} failed, {today['cancelled']} cancelled.",
        f"By agent: {listed(done, most=10)}." if done else "Nobody has finished a task today.",
        f"{count(mail['copies'], 'message')} in 24 hours, {mail['handled']} of them handled.",
        *(f"Failed: {each['taskId']} ({each['agent']}): {each['error'] or 'no reason is recorded'}" for each in failed[:5]),
        *(f"Waits for you: {each}" for each in waiting[:10]),
    ]
    text = lines("The fleet in the last 24 hours:", bullets(said, 30))
    data = {
        "today": today,
        "agents": output["agents"],
        "traffic": mail,
        "events": story["kinds"],
        "waiting": waiting,
        "failed": failed[:20],
    }
    return Findings(text, data, tell=(Tell(OPERATOR, "Daily digest"),))


async def reminder(desk: Desk) -> Findings:
    """What waits for the operator, as mail to it; no mail if nothing does."""
    waiting = await _waiting(desk)
    if not waiting:
        return Findings("Nothing waits for the operator: no approval, no answer, no dead letter.", {"waiting": []})
    head = f"{count(len(waiting), 'thing')} {'waits' if len(waiting) == 1 else 'wait'} for the operator:"
    return Findings(lines(head, bullets(waiting, 30)), {"waiting": waiting}, tell=(Tell(OPERATOR, f"Reminder: {head[:-1]}"),))


async def _waiting(desk: Desk) -> list[str]:
    """What only the operator can move on, the oldest first."""
    tasks, _ = await desk.read(open_work.read)
    questions = [each for each in await desk.read(history.open_questions, OPERATOR) if each["to"] == OPERATOR]
    letters = (await desk.read(history.dead_letters))["letters"]
    return [
        *(
            f"{each.id} wants approval since {when(each.created_at, desk.now)}: `covey approve {each.id}`"
            for each in tasks
            if each.approval == "wanted"
        ),
        *(f"{each['from']} waits for an answer to {each['messageId']}, until {when(each['until'], desk.now)}" for each in questions),
        *([f"{count(letters, 'dead letter')}: `covey dead` lists them"] if letters else []),
    ]
