"""When does a weighted vote beat a majority? Votes on questions whose right answer is known, counted by `covey.teams.counting` (Q4).

`python -m benchmarks.planted_truth` prints the figures and draws docs/weighted-votes.svg. Seeded: the same figures each time.

Seven voters choose among three options, one of which is right. Two of them are experts, five are not; on average over all seven a
voter is right half the time. How sure a voter is differs from question to question, and so does how often it is right when it says so.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from covey.teams.counting import Ballot, count

OPTIONS = ("right", "wrong", "rumour")
EXPERTS, CROWD = 2, 5
VOTERS = [f"expert{n}" for n in range(EXPERTS)] + [f"crowd{n}" for n in range(CROWD)]
MEAN = 0.5
GAPS = [step * 0.07 for step in range(9)]
"""How much more often an expert is right than one of the crowd."""
SHARED = [step / 10 for step in range(11)]
"""How often the crowd has heard the same rumour, which is wrong, and believes it."""
RECORD = 30
"""So many earlier votes, whose truth came out, each voter's expertise is estimated from."""
TRIALS = 2000
SEED = 4
PICTURE = Path(__file__).parents[1] / "docs" / "weighted-votes.svg"


class Voter(NamedTuple):
    """How often it is right, and how sure it says it is, given how sure it may be."""

    name: str
    skill: float
    boasts: bool
    expertise: float


class Heard(NamedTuple):
    """One voter's answer to one question."""

    ballot: Ballot
    expertise: float


Count = Callable[[Sequence[Heard]], float]
"""The share of the right answer in what a way of counting decides: 1 or 0, of a tie its part."""


def expertise_of(skill: float, chance: random.Random) -> float:
    """The weight that a record of earlier votes gives: the log-odds of being right against a guess, 0 for who is no better. Of who
    is right with a share p among k options ln((k - 1) p / (1 - p)) is the best weight; p is estimated from the record."""
    right = sum(chance.random() < skill for _ in range(RECORD))
    share = (right + 1) / (RECORD + len(OPTIONS))
    return max(0.0, math.log((len(OPTIONS) - 1) * share / (1 - share)))


def voters(gap: float, chance: random.Random, *, boasts: bool = False) -> list[Voter]:
    """Seven voters whose mean skill is the same whatever the gap. With `boasts` the crowd always says that it is quite sure."""
    skills = [MEAN + gap * CROWD / len(VOTERS)] * EXPERTS + [MEAN - gap * EXPERTS / len(VOTERS)] * CROWD
    return [
        Voter(name, skill, boasts and name.startswith("crowd"), expertise_of(skill, chance))
        for name, skill in zip(VOTERS, skills, strict=True)
    ]


def answer(voter: Voter, chance: random.Random, *, rumour: bool) -> Heard:
    """What a voter says to one question: on an easy one it is right more often than its skill, on a hard one less, and it knows which."""
    sure = min(0.98, max(0.02, voter.skill + chance.uniform(-0.25, 0.25)))
    believes = rumour and voter.name.startswith("crowd")
    own = "right" if chance.random() < sure else chance.choice(OPTIONS[1:])
    chosen = "rumour" if believes else own
    return Heard(Ballot(voter.name, chosen, 0.95 if voter.boasts else sure), voter.expertise)


def decided(ballots: Sequence[Ballot], expertise: dict[str, float]) -> float:
    """How right the count is."""
    tally = count(ballots, expertise)
    if tally.status == "tie":
        return 1 / len(tally.tied) if "right" in tally.tied else 0.0
    return float(tally.winner == "right")


def majority(heard: Sequence[Heard]) -> float:
    """One voter, one vote."""
    return decided([each.ballot._replace(confidence=1.0) for each in heard], {})


def by_confidence(heard: Sequence[Heard]) -> float:
    """Weighted by how sure each says it is."""
    return decided([each.ballot for each in heard], {})


def by_both(heard: Sequence[Heard]) -> float:
    """Weighted by confidence and by the expertise that the record shows."""
    return decided([each.ballot for each in heard], {each.ballot.voter: each.expertise for each in heard})


def share_right(gap: float, way: Count, *, boasts: bool = False, shared: float = 0.0, trials: int = TRIALS, seed: int = SEED) -> float:
    """How often a way of counting is right, over so many questions; a new record each ten."""
    chance = random.Random(f"{seed} {gap:.3f} {boasts} {shared:.2f}")
    total = 0.0
    team: list[Voter] = []
    for number in range(trials):
        if number % 10 == 0:
            team = voters(gap, chance, boasts=boasts)
        rumour = chance.random() < shared
        total += way([answer(each, chance, rumour=rumour) for each in team])
    return total / trials


class Line(NamedTuple):
    """One line of a picture."""

    words: str
    colour: str
    dashed: bool
    points: list[tuple[float, float]]


def by_gap(trials: int = TRIALS) -> list[Line]:
    """How right each way of counting is, from equals to experts among a crowd that guesses."""

    def line(words: str, colour: str, way: Count, *, boasts: bool = False) -> Line:
        return Line(words, colour, boasts, [(gap, share_right(gap, way, boasts=boasts, trials=trials)) for gap in GAPS])

    return [
        line("majority", "#555555", majority),
        line("by confidence", "#1f77b4", by_confidence),
        line("by confidence × expertise", "#2ca02c", by_both),
        line("by confidence, the crowd boasts", "#1f77b4", by_confidence, boasts=True),
        line("by confidence × expertise, the crowd boasts", "#2ca02c", by_both, boasts=True),
    ]


def by_rumour(trials: int = TRIALS) -> list[Line]:
    """How right each way is when the crowd errs together; an expert is right 0.35 more often."""

    def line(words: str, colour: str, way: Count) -> Line:
        return Line(words, colour, dashed=False, points=[(share, share_right(0.35, way, shared=share, trials=trials)) for share in SHARED])

    return [
        line("majority", "#555555", majority),
        line("by confidence", "#1f77b4", by_confidence),
        line("by confidence × expertise", "#2ca02c", by_both),
    ]


# the picture, by hand

WIDTH, HEIGHT, LEFT, TOP, FOOT, BETWEEN = 380, 260, 52, 40, 44, 40


def panel(lines: Sequence[Line], x0: int, title: str, below: str) -> list[str]:
    """One set of axes with its lines, as SVG elements."""
    most = max(x for line in lines for x, _ in line.points)

    def place(x: float, y: float) -> tuple[float, float]:
        return x0 + x / most * WIDTH, TOP + (1 - y) * HEIGHT

    found = [f'<text x="{x0 + WIDTH / 2:.0f}" y="{TOP - 14}" text-anchor="middle" font-weight="bold">{title}</text>']
    for step in range(0, 11, 2):
        _, y = place(0, step / 10)
        found.append(f'<line x1="{x0}" y1="{y:.1f}" x2="{x0 + WIDTH}" y2="{y:.1f}" stroke="#dddddd"/>')
        found.append(f'<text x="{x0 - 8}" y="{y + 4:.1f}" text-anchor="end">{step / 10:.1f}</text>')
    for step in range(5):
        x, y = place(most * step / 4, 0)
        found.append(f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">{most * step / 4:.2f}</text>')
    found.append(f'<text x="{x0 + WIDTH / 2:.0f}" y="{TOP + HEIGHT + 38}" text-anchor="middle">{below}</text>')
    for line in lines:
        spots = " ".join("{:.1f},{:.1f}".format(*place(x, y)) for x, y in line.points)
        dashes = ' stroke-dasharray="6 4"' if line.dashed else ""
        found.append(f'<polyline points="{spots}" fill="none" stroke="{line.colour}" stroke-width="2.2"{dashes}/>')
    return found


def legend(lines: Sequence[Line], y0: int) -> list[str]:
    """What each line is."""
    found = []
    for place, line in enumerate(lines):
        x, y = LEFT + (place % 3) * 290, y0 + (place // 3) * 20
        dashes = ' stroke-dasharray="6 4"' if line.dashed else ""
        found.append(f'<line x1="{x}" y1="{y - 4}" x2="{x + 28}" y2="{y - 4}" stroke="{line.colour}" stroke-width="2.2"{dashes}/>')
        found.append(f'<text x="{x + 34}" y="{y}">{line.words}</text>')
    return found


def picture(left: Sequence[Line], right: Sequence[Line]) -> str:
    """Both panels as one SVG."""
    width, foot = LEFT + 2 * WIDTH + BETWEEN + LEFT + 10, TOP + HEIGHT + FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {foot + 56}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{foot + 56}" fill="white"/>',
        *panel(left, LEFT, "Share of right decisions", "how much more often an expert is right than one of the crowd"),
        *panel(right, LEFT + WIDTH + BETWEEN + 10, "The crowd errs together", "how often the crowd believes the same rumour"),
        *legend(left, foot + 24),
        "</svg>\n",
    ]
    return "\n".join(parts)


def table(head: str, lines: Sequence[Line]) -> str:
    """The figures in lines of text."""
    rows = [f"{head:44}" + "".join(f"{x:7.2f}" for x, _ in lines[0].points)]
    rows += [f"{line.words:44}" + "".join(f"{y:7.2f}" for _, y in line.points) for line in lines]
    return "\n".join(rows)


def main() -> None:
    """Print the figures, draw the picture."""
    left, right = by_gap(), by_rumour()
    print(table("an expert is right more often by", left), table("the crowd believes the rumour", right), sep="\n\n")
    PICTURE.write_text(picture(left, right), encoding="utf-8")


if __name__ == "__main__":
    main()
