"""Reports on what was done: output, failures, times, costs, mail, events. From the fleet's records alone."""

from __future__ import annotations

from typing import Any

from covey.brains.rules.desk import Desk, Findings, bullets, lines
from covey.reports import history, metrics
from covey.reports.phrases import count, listed, percent, span, when
from covey.reports.status import agent_state

FORECAST_DAYS = 30


def _average(found: dict[str, Any]) -> str:
    """The mean length of its tasks, if any was measured."""
    return f", {span(found['averageTime'])} each on average" if found["averageTime"] is not None else ""


def _ended(found: dict[str, Any], share: str = "") -> str:
    return f"finished {count(found['done'], 'task')}{share}{_average(found)}; {found['failed']} failed, {found['cancelled']} were cancelled"


async def productivity(desk: Desk) -> Findings:
    """Tasks done a day and by agent, over seven days."""
    found = await desk.read(history.productivity)
    total = found["total"]
    if not any((total["done"], total["failed"], total["cancelled"])):
        return Findings("No task has ended in the last 7 days, so there is no output to measure.", found)
    days = [f"{day['day']}: {day['done']} done, {day['failed']} failed, {day['cancelled']} cancelled" for day in found["days"]]
    ranked = sorted(found["agents"].items(), key=lambda pair: -pair[1]["done"])
    agents = [f"{name}: {each['done']} done{_average(each)}, {each['failed']} failed" for name, each in ranked]
    ended = total["done"] + total["failed"]
    share = f" ({percent(total['done'] / ended)} of those that ran to an end)" if ended else ""
    head = f"In the last 7 days the fleet {_ended(total, share)}."
    return Findings(lines(head, bullets(days), "By agent:", bullets(agents, 20)), found)


async def own_record(desk: Desk) -> Findings:
    """What one did oneself, over seven days."""
    found = await desk.read(history.productivity)
    state = await desk.read(agent_state, desk.agent)
    figures = await desk.read(metrics.of_agent, desk.agent)
    mine = found["agents"].get(desk.agent, {"done": 0, "failed": 0, "cancelled": 0, "averageTime": None})
    answered = figures["messages"]["responseTime"]
    head = f"In the last 7 days {desk.agent} {_ended(mine)}."
    response = f"Mail was handled after {span(answered['p50'])} at the median, of the last {answered['n']}." if answered["n"] else None
    return Findings(
        lines(
            head,
            response,
            f"Waiting now: {count(state['queueLength'], 'task')} and {count(state['unread'], 'message')}.",
        ),
        {"record": mine, "figures": figures},
    )


async def failures(desk: Desk) -> Findings:
    """What failed in seven days, and why."""
    found = await desk.read(history.failures)
    if not found:
        return Findings("No task has failed in the last 7 days.", {"failures": []})
    said = [
        f"{each['taskId']} ({each['agent']}, {when(each['at'], desk.now)}): {each['error'] or 'no reason is recorded'}" for each in found
    ]
    at_least = " (at least)" if len(found) >= history.SHOWN else ""
    head = f"{count(len(found), 'task').capitalize()} failed in the last 7 days{at_least}, the latest first:"
    return Findings(lines(head, bullets(said)), {"failures": found})


async def performance(desk: Desk) -> Findings:
    """How fast mail and tasks are handled."""
    found = await desk.read(metrics.of_fleet)
    replies, work = found["messages"]["responseTime"], found["tasks"]["time"]
    timed = [each for each in found["agents"] if each["messages"]["responseTime"]["n"]]
    slow = sorted(timed, key=lambda each: -each["messages"]["responseTime"]["p95"])
    said = [_response(each) for each in slow]
    rate = found["tasks"]["completionRate"]
    oldest = found["messages"]["oldestWaiting"]
    return Findings(
        lines(
            f"Mail: {_spread(replies, 'handled message')}.",
            f"Tasks: {_spread(work, 'finished task')}; {percent(rate)} of all ended attempts finished their task."
            if rate is not None
            else "No attempt at a task has ended yet.",
            f"The oldest unread message has waited {span(oldest)}." if oldest is not None else "No mail is unread.",
            f"Slowest at the 95th percentile:\n{bullets(said, 8)}" if said else None,
            "These are figures; I changed nothing.",
        ),
        {name: value for name, value in found.items() if name != "agents"} | {"slowest": slow[:10]},
    )


def _response(each: dict[str, Any]) -> str:
    times = each["messages"]["responseTime"]
    return f"{each['agentId']}: {span(times['p50'])} at the median, {span(times['p95'])} at the 95th percentile, of {times['n']}"


def _spread(times: dict[str, Any], noun: str) -> str:
    if not times["n"]:
        return f"no {noun} among the latest events, so nothing is measured"
    return f"{span(times['p50'])} at the median and {span(times['p95'])} at the 95th percentile, of the last {count(times['n'], noun)}"


async def costs(desk: Desk) -> Findings:
    """What runs cost in thirty days, as far as brains said so."""
    found = await desk.read(history.costs)
    total = found["total"]
    head = f"In the last {found['days']:g} days brains ran {total['runs']:,} times; {total['priced']:,} of these runs recorded a price."
    if not total["priced"] and not total["tokens"]:
        return Findings(
            lines(head, "No costs are recorded, so there are none to report. Other expenses are not in the fleet's records."), found
        )
    spent = sorted(found["agents"].items(), key=lambda pair: -pair[1]["usd"])
    said = [
        f"{name}: ${each['usd']:.4f}, {each['tokens']:,} tokens, {each['runs']:,} runs"
        for name, each in spent
        if each["usd"] or each["tokens"]
    ]
    whole = f"Recorded in all: ${total['usd']:.4f} and {total['tokens']:,} tokens."
    return Findings(lines(head, whole, bullets(said, 20), "Other expenses are not in the fleet's records."), found)


async def forecast(desk: Desk) -> Findings:
    """What the next thirty days cost if they go on like the recorded ones."""
    month, week = await desk.read(history.costs, FORECAST_DAYS), await desk.read(history.costs, 7)
    spent, lately = month["total"], week["total"]
    if not spent["priced"]:
        return Findings(
            "No run of the last 30 days recorded a price, so there is nothing to forecast from.", {"month": month, "week": week}
        )
    expected = lately["usd"] / 7 * FORECAST_DAYS
    return Findings(
        lines(
            f"Recorded: ${spent['usd']:.4f} in the last 30 days, ${lately['usd']:.4f} of it in the last 7.",
            f"If the next 30 days go on like the last 7, they cost ${expected:.2f}: the mean of a day, times 30, and no more than that.",
            f"{percent(spent['priced'] / spent['runs'])} of the runs recorded a price; what the others cost is not known.",
        ),
        {"month": month, "week": week, "expectedUsd": expected},
    )


async def traffic(desk: Desk) -> Findings:
    """Who wrote to whom in a day."""
    found = await desk.read(history.traffic)
    if not found["copies"]:
        return Findings("No message was sent in the last 24 hours.", found)
    pairs = [f"{each['from']} → {each['to']}: {each['copies']} ({each['handled']} handled)" for each in found["pairs"]]
    head = f"In the last 24 hours {count(found['copies'], 'message')} reached a mailbox, {found['handled']} of them are handled."
    asked = f"{count(found['questions'], 'message')} wanted an answer, {found['answered']} got one."
    most = [f"{name} ({number})" for name, number in found["sent"].items()]
    return Findings(lines(head, asked, f"Most was written by {listed(most)}.", bullets(pairs)), found)


async def open_questions(desk: Desk) -> Findings:
    """Who waits for whose answer; not what was asked, for mail is its sender's and receiver's alone."""
    found = [{name: each[name] for name in ("from", "to", "messageId", "until")} for each in await desk.read(history.open_questions)]
    mine = [each for each in found if desk.agent in (each["from"], each["to"])]
    if not found:
        return Findings("No question is open: nobody waits for an answer.", {"questions": []})
    said = [f"{each['from']} waits for {each['to']} to answer {each['messageId']}, until {when(each['until'], desk.now)}" for each in found]
    head = f"{count(len(found), 'question').capitalize()} {'is' if len(found) == 1 else 'are'} open, {len(mine)} of them {desk.agent}'s:"
    return Findings(lines(head, bullets(said)), {"questions": found, "mine": len(mine)})


async def dead_letters(desk: Desk) -> Findings:
    """What brains failed on too often."""
    found = await desk.read(history.dead_letters)
    if not found["letters"]:
        return Findings("There are no dead letters.", found)
    reasons = [f"{number} × {reason}" for reason, number in found["reasons"].items()]
    whose = listed([f"{name} ({number})" for name, number in found["receivers"].items()], most=10)
    latest = [
        f"{each['messageId']} from {each['from']} to {each['receiver']}: {each['reason'] or 'no reason is recorded'}"
        for each in found["latest"]
    ]
    head = f"{count(found['letters'], 'dead letter').capitalize()}: {whose}."
    hint = "`covey dead requeue ID` tries one again, `covey dead drop ID` drops it; that is the operator's to decide."
    return Findings(lines(head, bullets(reasons), "The latest:", bullets(latest, 10), hint), found)


async def digest(desk: Desk) -> Findings:
    """What happened in a day."""
    story, output, mail = await desk.read(history.happened), await desk.read(history.productivity, 1), await desk.read(history.traffic)
    kinds, today = story["kinds"], output["total"]
    if not kinds:
        return Findings("Nothing has happened in the last 24 hours: no event is recorded.", {"events": kinds})
    said = [
        f"Today (UTC) the fleet {_ended(today)}.",
        f"In 24 hours {count(mail['copies'], 'message')} reached a mailbox, {mail['handled']} of them are handled.",
        f"Most often: {listed([f'{kind} ({number:,})' for kind, number in kinds.items()], most=8)}.",
    ]
    return Findings(
        lines("What happened in the fleet in the last 24 hours:", bullets(said)), {"events": kinds, "today": today, "traffic": mail}
    )
