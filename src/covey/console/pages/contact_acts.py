"""What a person does with links: link two, other limits, disable, enable, unlink. What was changed meanwhile is told, and left (L15)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from covey.agents.model import THE_OPERATOR
from covey.console.asking import Field, confirm, tell
from covey.console.pages.contacts import STANDING, address
from covey.console.routes import Form, Operations, act, done, page
from covey.doors.answer import Answer
from covey.doors.call import Call
from covey.doors.operations import Nothing
from covey.links import reading
from covey.links.model import DEBOUNCE_S, ENDPOINTS, HOURS, MESSAGES, MOST_DEBOUNCE_S, MOST_HOURS, MOST_MESSAGES, Endpoint, LinkChange
from covey.links.reading import LinkShown
from covey.messages import relinking


class Version(Form):
    """Which version of the link was looked at when it was decided."""

    version: int


class LimitsForm(Version, rename="camel"):
    """A link's limits as a person fills them in."""

    messages_per_window: int
    window_hours: int
    debounce_s: float
    limits: Literal["on", "off", ""] = ""
    """Empty: as it is."""
    feature_flag: str = ""
    own_endpoint: Endpoint = "http"
    peer_endpoint: Endpoint = "http"


def change_of(form: LimitsForm, name: str, peer: str) -> LinkChange:
    """What is to be different about the link. Pure."""
    return LinkChange(
        messages_per_window=form.messages_per_window,
        window_hours=form.window_hours,
        debounce_s=form.debounce_s,
        limits=form.limits or None,
        feature_flag=form.feature_flag.strip() or None,
        endpoints={name: form.own_endpoint, peer: form.peer_endpoint},
    )


class Shown(NamedTuple):
    """What the fields of a link's limits say at first."""

    messages: int = MESSAGES
    hours: int = HOURS
    debounce_s: float = DEBOUNCE_S
    limits: str = "on"
    flag: str = ""
    own: str = "http"
    peer: str = "http"


def shown_of(link: LinkShown, name: str, peer: str) -> Shown:
    """The limits that a link has. Pure."""
    return Shown(
        link.messages_per_window,
        link.window_hours,
        link.debounce_s,
        link.limits,
        link.feature_flag or "",
        link.endpoints[name],
        link.endpoints[peer],
    )


def fields_of(shown: Shown, name: str, peer: str, *, limited: bool) -> list[Field]:
    """The fields of a link's limits. Where the whole fleet's are off, the link's own switch is left as it is. Pure."""
    found = [
        Field(
            "messagesPerWindow", "Messages each way", str(shown.messages), "number", needed=True, bounds={"min": 1, "max": MOST_MESSAGES}
        ),
        Field("windowHours", "in so many hours", str(shown.hours), "number", needed=True, bounds={"min": 1, "max": MOST_HOURS}),
        Field(
            "debounceS",
            "Seconds between two messages",
            f"{shown.debounce_s:g}",
            "number",
            needed=True,
            bounds={"min": 0, "max": int(MOST_DEBOUNCE_S), "step": "any"},
        ),
        Field("limits", "Limits", shown.limits, options=("on", "off"), help="off lifts quota and debounce on this link."),
        Field("featureFlag", "Feature flag", shown.flag, help="A word; empty: behind none.", bounds={"maxlength": 100}),
        Field("ownEndpoint", f"{name} is best woken by", shown.own, options=ENDPOINTS),
        Field("peerEndpoint", f"{peer} is best woken by", shown.peer, options=ENDPOINTS),
    ]
    return found if limited else [each for each in found if each.name != "limits"]


def standing(link: LinkShown) -> str:
    """How a link stands after something was done, in a sentence. Pure."""
    one, other = link.agents
    if link.limits == "off":
        return f"{one} and {other} are {link.status}, without limits."
    left = " and ".join(f"{name} has {way.credits_remaining} left" for name, way in link.directions.items())
    limit = f"{link.messages_per_window} messages in {link.window_hours} h each way, {link.debounce_s:g} s apart"
    return f"{one} and {other} are {link.status}: {limit}; {left}."


class Deed(NamedTuple):
    """Something that is done with a link as a whole."""

    name: str
    title: str
    explain: str
    verb: Callable[..., LinkShown]
    grave: bool = False


DEEDS = (
    Deed("disable", "Disable", "No mail goes either way until it is enabled. What waits for credit goes on waiting.", relinking.disable),
    Deed("enable", "Enable", "Mail goes both ways again; what became due meanwhile is delivered now.", relinking.enable),
    Deed(
        "remove",
        "Unlink",
        "They can't write to each other until somebody links them again; no mesh does. Mail that waits for credit is closed and its "
        "senders are told. What is used of the quota is kept.",
        relinking.remove,
        grave=True,
    ),
)


def _operations(deed: Deed) -> Operations:
    async def ask(call: Call[Nothing, Nothing]) -> Answer:
        link = await call.door.store.read(reading.show, call.named("name"), call.named("peer"), THE_OPERATOR)
        one, other = link.agents
        if link.status not in STANDING:
            return tell(call, "Nothing to do", f"{one} and {other} are not linked any more.")
        return confirm(
            call,
            title=f"{deed.title} {one} and {other}?",
            lines=[deed.explain],
            action=f"{address(one, other)}/{deed.name}",
            hidden={"version": link.version},
            go=deed.title,
            grave=deed.grave,
        )

    async def do(call: Call[Nothing, Version]) -> Answer:
        name, peer = call.named("name"), call.named("peer")
        return done(call, standing(await call.door.store.write(deed.verb, name, peer, call.by, if_version=call.body.version)))

    path = f"/contacts/{{name}}/{{peer}}/{deed.name}"
    return (page(path, ask, f"Ask before: {deed.title.lower()}."), act(path, do, f"{deed.title} two agents.", takes=Version))


async def ask_limits(call: Call[Nothing, Nothing]) -> Answer:
    """The form of a link's limits."""
    name, peer = call.named("name"), call.named("peer")
    link = await call.door.store.read(reading.show, name, peer, THE_OPERATOR)
    policy = await call.door.store.read(reading.policy)
    lines = ["Raised, the difference is added at once and mail that waits goes; lowered, what is left is cut. Each way has its own quota."]
    if policy.limits == "off":
        lines.append("This fleet's limits are off (limits in covey.toml), so these count only once they are on.")
    return confirm(
        call,
        title=f"Limits of {name} and {peer}",
        lines=lines,
        action=f"{address(name, peer)}/limits",
        hidden={"version": link.version},
        fields=fields_of(shown_of(link, name, peer), name, peer, limited=policy.limits == "on"),
        go="Set these limits",
    )


async def set_limits(call: Call[Nothing, LimitsForm]) -> Answer:
    """Other limits for a link; what fits into them is delivered now (L7)."""
    name, peer, form = call.named("name"), call.named("peer"), call.body
    wanted = change_of(form, name, peer)
    return done(call, standing(await call.door.store.write(relinking.change, name, peer, wanted, call.by, if_version=form.version)))


async def ask_link(call: Call[Nothing, Nothing]) -> Answer:
    """The form of a new link."""
    name, peer = call.named("name"), call.named("peer")
    found = await call.door.store.read(reading.candidate, name, peer)
    policy = await call.door.store.read(reading.policy)
    if found.refusal is not None:
        return tell(call, "They can't be linked", found.refusal)
    return confirm(
        call,
        title=f"Link {name} and {peer}?",
        lines=["They may write to each other, so much each way. A pair that was linked before keeps what is left of its quota."],
        action=f"{address(name, peer)}/link",
        hidden={"version": found.version},
        fields=fields_of(Shown(), name, peer, limited=policy.limits == "on"),
        go="Link them",
    )


async def link(call: Call[Nothing, LimitsForm]) -> Answer:
    """Link two agents of one owner or organisation (L1)."""
    name, peer, form = call.named("name"), call.named("peer"), call.body
    wanted = change_of(form, name, peer)
    return done(call, standing(await call.door.store.write(relinking.add, name, peer, wanted, call.by, if_version=form.version)))


OPERATIONS: Operations = (
    *(each for deed in DEEDS for each in _operations(deed)),
    page("/contacts/{name}/{peer}/limits", ask_limits, "The form of a link's limits."),
    act("/contacts/{name}/{peer}/limits", set_limits, "Set a link's limits.", takes=LimitsForm),
    page("/contacts/{name}/{peer}/link", ask_link, "The form of a new link."),
    act("/contacts/{name}/{peer}/link", link, "Link two agents.", takes=LimitsForm),
)
