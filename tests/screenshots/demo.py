"""A day of a small company's fleet, told by the runner's own verbs on a store whose time runs fast and ends now."""

from __future__ import annotations

import random
import time
from typing import Any

import msgspec

from covey.agents import breaking, configuring
from covey.agents.model import THE_OPERATOR, as_agent
from covey.base.clock import SystemClock
from covey.base.settings import Settings
from covey.brains.model import Cost, Outcome, Passed
from covey.buddies import checking
from covey.buddies.checking import Found
from covey.buddies.model import Answer, Silence
from covey.contexts import entries
from covey.figures.recording import Recorder
from covey.healing import incidents
from covey.links.model import LinkChange
from covey.messages import relinking, sending
from covey.messages.model import draft
from covey.nodes import records
from covey.runner.taking import take
from covey.runner.work import Lane, Work
from covey.store import Store, Transaction
from covey.tasks import adding
from covey.tasks.model import TaskDraft
from covey.teams.handoffs import offering
from covey.teams.handoffs.model import HandoffDraft
from covey.teams.runs.model import Part
from covey.teams.votes import casting, opening
from covey.teams.votes.model import VoteDraft
from covey.version import __version__
from tests.teams.crew import LIMITS, NAMES, Crew, of_python

DAY_S = 86_400.0
ROUND_S = 900.0
LANES: tuple[Lane, ...] = ("mail", "task")
WORDS: dict[str, tuple[str, ...]] = {
    "chief": ("Order the week's priorities", "Settle which release comes first", "Review the plan for the quarter"),
    "coder": ("Add paging to the invoices endpoint", "Fix the rounding of totals", "Review the change to the importer"),
    "sales": ("Qualify the leads of the fair", "Answer the request for 40 seats", "Update the list of trials that end this week"),
    "finance": ("Reconcile last week's invoices", "Forecast cash for the next month", "Check the receipts of the trip"),
    "intel": ("Compare the prices of four rivals", "Summarise the new rules for invoices", "Look for public tenders"),
    "devops": ("Renew the certificates", "Find out why the night's backup took longer", "Roll out 2.4.1 to staging"),
    "comms": ("Draft the notes of the release", "Write the answer to the question on exports", "Plan the newsletter"),
    "ops": ("Check the runbook for restores", "Order the open tickets", "Prepare the stand-up"),
}
ASKED: tuple[tuple[str, str, str], ...] = (
    ("coder", "devops", "Is staging free for the importer this afternoon?"),
    ("devops", "coder", "2.4.1 is on staging; please look at the importer's log."),
    ("sales", "comms", "Which of the release notes may I send to the trial customers?"),
    ("finance", "intel", "What do the new rules say about invoices under 250?"),
    ("chief", "ops", "What holds up the export?"),
    ("ops", "chief", "The export waits for the numbers of finance."),
    ("comms", "sales", "The notes are ready: exports, paging, and faster imports."),
    ("intel", "finance", "Under 250 the short form is enough; the rules name four fields."),
)

ASK = frozenset({"coder", "chief", "finance", "sales"})
"""Their messages want an answer; those of the others tell something."""


class Past:
    """A clock behind the machine's that can be moved on; in the end it is the machine's."""

    def __init__(self, behind: float) -> None:
        self._real = SystemClock()
        self.behind = behind

    @property
    def at(self) -> float:
        return -self.behind

    @at.setter
    def at(self, value: float) -> None:
        self.behind = max(0.0, -value)

    def wall(self) -> float:
        return self._real.wall() - self.behind

    def boot(self) -> float:
        return self._real.boot() - self.behind

    def boot_id(self) -> str:
        return self._real.boot_id()

    async def sleep(self, seconds: float) -> None:
        await self._real.sleep(seconds)


class Day:
    """The fleet's day, written round by round."""

    def __init__(self, store: Store, clock: Past) -> None:
        self.store = store
        self.clock = clock
        self.crew = Crew(store, clock)  # type: ignore[arg-type]
        self.crew.settings = msgspec.structs.replace(of_python(), limits="on")
        self._dice = random.Random(7)

    @property
    def settings(self) -> Settings:
        return self.crew.settings

    async def later(self, seconds: float) -> None:
        self.clock.at += seconds

    async def begin(self) -> None:
        """The fleet stands, its node leads."""
        await self.store.write(configuring.configure, self.settings)
        await self.store.write(records.register, "office", host="office", pid=4100, start_ticks=1, boot_id="a-boot", version=__version__)
        await self.store.write(records.beat, "office")
        await self.crew.arrive()
        for one, other, messages in (("sales", "comms", 4), ("finance", "intel", 40), ("coder", "devops", 60), ("chief", "ops", 60)):
            change = LinkChange(messages_per_window=messages, debounce_s=0.0)
            await self.store.write(relinking.change, one, other, change, THE_OPERATOR)

    async def work(self, agent: str) -> None:
        """The agent does all that it has to do, each in its own time, now and then not well."""
        while (work := await self.next_of(agent)) is not None:
            await self.later(1.0 + self._dice.expovariate(1 / 6))
            usd, tokens = round(self._dice.uniform(0.002, 0.024), 4), self._dice.randrange(900, 9000)
            cost = Cost(usd=usd, tokens_in=tokens, tokens_out=tokens // 8)
            if self._dice.random() < 0.06:
                await self.crew.settle(work, Outcome(kind="failed", error="the ledger did not answer within 30 s", cost=cost))
                return
            await self.crew.settle(work, Outcome(summary=self._dice.choice(RESULTS), cost=cost))

    async def next_of(self, agent: str) -> Work | None:
        """Its mail before its tasks."""
        for lane in LANES:
            work = await self.store.write(take, agent, lane, "office", 1000 + NAMES.index(agent), LIMITS)
            if work is not None:
                return work
        return None

    async def one_round(self, n: int) -> None:
        """A quarter of an hour: a task for some, mail between some, checks of buddies each hour."""
        start = self.clock.at
        for agent in self._dice.sample(NAMES, self._dice.choice((1, 2, 2, 3))):
            words = self._dice.choice(WORDS[agent])
            await self.store.write(adding.add, TaskDraft(description=words, agent=agent), THE_OPERATOR)
        sender, to, words = self._dice.choice(ASKED)
        await self.say(sender, to, words, requires_response=sender in ASK)
        await self.later(self._dice.uniform(0.5, 9.0))
        for agent in (*NAMES, *NAMES):  # twice: what one sends another may be answered in the same round
            await self.work(agent)
        if n % 4 == 0:
            await self.check()
        if n % 23 == 9:
            await self.stall(self._dice.choice(NAMES))
        self.clock.at = min(start + ROUND_S, 0.0) if self.clock.at < start + ROUND_S else self.clock.at
        await self.crew.beat()
        await self.store.write(records.beat, "office")

    async def say(self, sender: str, to: str, words: str, **more: Any) -> str:
        """The id of a message of one to another."""
        found = await self.store.write(sending.send, draft(to, words, **more), as_agent(sender), wait_s=3600.0)
        return found.message_id

    async def check(self) -> None:
        """Each looks after its buddy; one in thirty does not answer."""
        for due in await self.store.read(checking.dues):
            missed = self._dice.random() < 0.02
            await self.store.write(self._checked, due, missed)

    def _checked(self, tx: Transaction, due: checking.Due, missed: bool) -> None:
        silence = Silence("no answer", f"{due.place.name} did not answer within 5 s")
        answer = Answer(
            agent_id=due.place.name, status="idle", last_heartbeat=tx.now, queue_length=0, context_size=900, max_context_size=8192,
            covering=[], timestamp=tx.now,
        )  # fmt: skip
        checking.record(tx, due, Found(silence if missed else answer, tx.new_id("check"), due.checker))

    async def stall(self, agent: str) -> None:
        """Its heart is silent for a while; its buddy finds out and it is restarted."""
        cause = f"The heartbeat of {agent} is 94 s old."
        ident = await self.store.write(incidents.open_incident, agent, "heartbeat_stale", cause)
        for seconds, action, said in (
            (0.4, "pinged", f"{agent} did not answer its health ping within 3 s."),
            (1.1, "killed", "Its process was ended; what it held is free."),
            (0.9, "restarted", f"{agent} was started again."),
        ):
            await self.later(seconds)
            await self.store.write(incidents.step, ident, action, said)
        await self.later(0.6)
        await self.store.write(incidents.end_incident, ident, "restarted", f"{agent} beats again.")

    async def present(self) -> None:
        """What stands on the pages when somebody looks: work in hand, mail that waits, a vote, a handoff, a team run, an incident."""
        await self.store.write(entries.remember, "coder", "decision", "Totals are rounded at the end, never line by line.")
        await self.team()
        await self.vote()
        for n in range(6):
            await self.say("sales", "comms", f"Lead {n + 1} of the fair asks about exports.", subject="Exports")
        handed = TaskDraft(description="Compare the hosting offers and name the two best", agent="coder", priority="high")
        task = await self.store.write(adding.add, handed, THE_OPERATOR)
        passed = [Passed(text="Offers over 400 a month are out.", kind="decision")]
        offer = HandoffDraft(task_id=task.task_id, to="intel", reason="Prices are yours; I have the list.", progress=0.4, context=passed)
        await self.store.write(offering.offer, offer, as_agent("coder"))
        need = TaskDraft(description="Send the invoices of November", agent="finance", approval=True, priority="high")
        await self.store.write(adding.add, need, THE_OPERATOR)
        await self.say("chief", "ops", "Which of the two releases is ready for Thursday?", requires_response=True)
        for n in range(5):
            await self.store.write(breaking.failed, "devops", f"task_{n}", "the deploy host refused the key")
        await self.store.write(
            incidents.open_incident,
            "devops",
            "breaker_open",
            "The brain of devops failed 5 times in a row: the deploy host refused the key.",
        )
        for agent in ("finance", "coder"):
            await self.store.write(adding.add, TaskDraft(description=WORDS[agent][0], agent=agent), THE_OPERATOR)
            await self.crew.take(agent)

    async def team(self) -> None:
        """A release, cut into parts of which some are done."""
        parts = [
            Part(description="List what has changed since 2.3", worker="coder"),
            Part(description="Try the upgrade on a copy of staging", worker="ops"),
            Part(description="Draft the notes of the release", worker="comms", needs=[1]),
            Part(description="Tell the trial customers", worker="sales", needs=[2, 3]),
        ]
        run = await self.crew.start(
            "Bring out release 2.4", team_id="release-2-4", parts=parts, strict=False, workers=["coder", "ops", "comms", "sales"]
        )
        first = run.results[0].worker
        assert first is not None
        await self.later(8.0)
        await self.crew.do(first, "Paging of invoices, exports as CSV, imports twice as fast; 31 changes in all.")
        await self.crew.sweep()

    async def vote(self) -> None:
        """One vote that is closed, and one that is open."""
        rooms = VoteDraft(
            vote_id="release-day", topic="On which day does 2.4 come out?", voters=["coder", "devops", "comms", "ops"],
            options=["Tuesday", "Thursday"], deadline_s=3600.0,
        )  # fmt: skip
        await self.store.write(opening.open_vote, rooms, THE_OPERATOR)
        for voter, choice, sure, why in (
            ("coder", "Thursday", 0.9, "The importer needs two more days."),
            ("devops", "Thursday", 0.7, "The certificates are renewed on Wednesday."),
            ("comms", "Tuesday", 0.6, "The newsletter goes out on Tuesday."),
            ("ops", "Thursday", 0.8, "There is room for a way back on Friday."),
        ):
            await self.store.write(casting.cast, "release-day", as_agent(voter), choice, sure, why)
        pick = VoteDraft(
            topic="Which tracker do we take?", voters=["chief", "ops", "finance"], options=["keep ours", "change"], deadline_s=7200.0
        )
        opened = await self.store.write(opening.open_vote, pick, THE_OPERATOR)
        await self.store.write(casting.cast, opened.vote_id, as_agent("ops"), "keep ours", 0.8, "A change costs a week.")


RESULTS = (
    "Done: three findings, each with its source.",
    "Done; the two open points are in the thread.",
    "Checked and merged.",
    "The list is in the shared folder, newest first.",
    "Nothing unusual; the next look is on Monday.",
)


async def seed(store: Store, clock: Past) -> Settings:
    """The settings of a fleet that has worked for a day until now."""
    day = Day(store, clock)
    began = time.monotonic()
    await day.begin()
    n = 0
    while clock.behind > 2 * ROUND_S:
        await day.one_round(n)
        n += 1
        assert time.monotonic() - began < 120
    for behind in (1_500.0, 700.0, 300.0):
        clock.behind = min(clock.behind, behind)
        await day.crew.beat()
        for sender, to, words in ASKED:
            await day.say(sender, to, f"{words} ({behind / 60:.0f})", requires_response=sender in ASK)
        for agent in (*NAMES, *NAMES):
            await day.work(agent)
    clock.behind = 60.0
    await day.crew.beat()
    await day.present()
    clock.behind = 0.0
    await day.crew.beat()
    await store.write(records.beat, "office")
    recorder = Recorder(store)
    for _ in range(3):
        await recorder.one_round()
    return day.settings
