"""Which of some topics a text is about, by its words. Pure: it prefers to recognise nothing over a wrong guess.

A topic is recognised when each group of one of its patterns has a word in the text, and nearly every other word of the text is one
that the topic knows or that says nothing (`the`, `please`, `weekly`). So `review team productivity` is, and
`review the productivity of our rivals in Spain` is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_AMERICAN = re.compile(r"(?<=[iy])z(?=e|ing|ation)")
_IDENT = re.compile(r"\b(?:task|msg|thread|run)_[0-9A-Za-z]+\b")


def root(word: str) -> str:
    """The word without the endings that don't matter here: `queues`, `queued` and `queue` are one. Only good for comparing."""
    word = word.casefold().replace("’", "'")
    if word.endswith("n't"):
        return "not"
    word = _AMERICAN.sub("s", word.split("'")[0])
    for ending, short in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith(("ss", "us", "is")):
            word = word.removesuffix(ending) + short
            break
    word = word.removesuffix("e") if len(word) > 3 else word
    return word.removesuffix("is") if len(word) > 5 else word


def roots(words: str) -> frozenset[str]:
    """The roots of the words of a text."""
    return frozenset(root(word) for word in words.split())


class Pattern(NamedTuple):
    """Groups of words of which each must have one in the text."""

    groups: tuple[frozenset[str], ...]

    def hits(self, words: frozenset[str]) -> int:
        """How many of its words the text has; 0 if a group has none."""
        found = [len(group & words) for group in self.groups]
        return sum(found) if all(found) else 0


def pattern(text: str) -> Pattern:
    """A pattern as `prioritise|order task|queue`: groups with spaces between them, words of a group with bars."""
    return Pattern(tuple(frozenset(root(word) for word in group.split("|")) for group in text.split()))


class Topic(NamedTuple):
    """Something that can be done or told: its name, how it is recognised, and which further words belong to it."""

    name: str
    patterns: tuple[Pattern, ...]
    knows: frozenset[str] = frozenset()

    @property
    def vocabulary(self) -> frozenset[str]:
        """Every word that it accounts for."""
        return self.knows.union(*(group for each in self.patterns for group in each.groups))


def topic(name: str, *patterns: str, knows: str = "") -> Topic:
    """A topic from plain words."""
    return Topic(name, tuple(pattern(each) for each in patterns), roots(knows))


FILLER = roots(
    """a an the this that these those of in on at by for from to with and or as per across over between among within into about than
    then also is are was were be been being am do does did done has have had will would can could should shall may might must
    plus whole entire overall i me my mine we us our ours you your yours it its they them their he she his her who whom whose
    what which when where how why if whether there here please kindly hi hello hey dear just now today currently current still
    yet again once already soon right away asap general day daily week weekly month monthly hour hourly minute night
    tonight morning evening yesterday recent recently last latest past previous since ago until so far all any each every both
    some more most many much few several other others another own one two three same only very well good bad new up down out go
    going thing things anything something total full short brief quick complete review check monitor report analyse analysis
    analysing assess assessment evaluate evaluation measure track tracking examine inspect investigate look see watch find identify compile
    prepare make produce create give get show tell list say let know want need like summarise summary describe explain update
    updates provide present overview figure figures metric metrics statistic statistics stats number numbers data detail details
    result results information info insight trend trends team fleet agent agents colleague colleagues everyone everybody anybody
    anyone somebody"""
)
"""Words that decide nothing."""

CHANGING = roots(
    """delete remove drop fix repair implement deploy install uninstall send forward email publish post tweet buy purchase pay sell
    call phone contact restart reboot kill terminate shutdown refactor rewrite merge commit push release upgrade downgrade
    migrate optimise improve raise increase reduce lower change modify edit rename move transfer hire fire book negotiate invite
    ban cancel approve refuse reject grant revoke reset rotate backup restore not never without except unless ignore stop start
    avoid disable enable code program script cannot"""
)
"""Words that ask for a change, or turn a request into its opposite: a topic that does not know them is not meant."""


class Heard(NamedTuple):
    """The words of a text that decide something."""

    words: frozenset[str]
    telling: frozenset[str]
    """Those that are no filler and no name that is known."""
    known: frozenset[str]


def hear(text: str, names: Iterable[str] = ()) -> Heard:
    """The words of a text. `names` are agents and projects, which are known to everybody; ids count as known, figures as nothing."""
    known = frozenset(root(name) for name in names)
    words = frozenset(root(word) for word in _WORD.findall(_IDENT.sub(" ", text[:20_000])))
    return Heard(words, words - FILLER - known, words & known)


def best(heard: Heard, topics: Sequence[Topic], *, lenient: bool = False) -> Topic | None:
    """The topic that a text is about, or None. A question may say more that nobody knows than a task may."""
    found: list[tuple[int, int, int, Topic]] = []
    for place, each in enumerate(topics):
        hits = max((one.hits(heard.words) for one in each.patterns), default=0)
        strange = heard.telling - each.vocabulary
        if hits and not strange & CHANGING and len(strange) <= _allowed(len(heard.telling), lenient=lenient):
            found.append((len(strange), -hits, place, each))
    return min(found)[3] if found else None


def _allowed(telling: int, *, lenient: bool) -> int:
    """How many words nobody knows are let pass."""
    return telling // (4 if lenient else 6)
