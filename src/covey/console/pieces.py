"""Small pieces of pages that cells are made of. Pure."""

from __future__ import annotations

from urllib.parse import quote

from markupsafe import Markup

from covey.console.shown import plain, said
from covey.links.reading import LinkShown

HIGH, FULL = 0.8, 0.95


def pill(*words: str, title: str = "") -> Markup:
    """States as words in pills; what explains them is said when pointed at."""
    one = Markup('<span class="state" data-state="{0}"{1}>{0}</span>')
    hint = Markup(' title="{}"').format(plain(title, 300)) if title else ""
    return Markup(" ").join(one.format(plain(word, 40), hint) for word in words)


def meter(value: float, most: float, label: str) -> Markup:
    """How much of a bound is used, as a bar and in numbers."""
    share = value / most if most else 0.0
    form = Markup(
        '<span class="meter">'
        '<meter min="0" max="{most}" low="{low}" high="{high}" optimum="0" value="{value}" aria-label="{label}"></meter> {share}'
        "</span>"
    )
    return form.format(
        most=most, low=most * HIGH, high=most * FULL, value=min(value, most), label=plain(label, 100), share=f"{share * 100:.0f} %"
    )


def bar(share: float, label: str, look: str = "") -> Markup:
    """A share of one as a bar; `label` says it in words."""
    form = Markup(
        '<svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label="{label}" data-look="{look}">'
        '<rect class="whole" width="100" height="4"/><rect class="part" width="{width}" height="4"/></svg>'
    )
    return form.format(label=plain(label, 200), look=look, width=f"{min(max(share, 0.0), 1.0) * 100:.1f}")


def leads(href: str, text: object) -> Markup:
    """A link to a page of the console. `href` is a path of ours whose parts are quoted."""
    return Markup('<a href="{}">{}</a>').format(href, said(text, 100))


def agent(name: str | None) -> Markup | str:
    """An agent's name, which leads to its page; nothing for nobody. The operator and the system have none."""
    if not name:
        return ""
    return leads(f"/agents/{quote(name, safe='')}", name) if name not in ("operator", "system") else name


def task(ident: str | None) -> Markup | str:
    """A task's id, which leads to its page."""
    return leads(f"/tasks/{quote(ident, safe='')}", ident) if ident else ""


def thread(ident: str | None) -> Markup | str:
    """A thread's id, which leads to its page."""
    return leads(f"/threads/{quote(ident, safe='')}", ident) if ident else ""


def ask(href: str, label: str) -> Markup:
    """A button that asks before something is done. `href` is a path of ours whose parts are quoted."""
    form = Markup('<button type="button" class="small outline" hx-get="{}" hx-target="#dialog-body" hx-swap="innerHTML">{}</button>')
    return form.format(href, label)


def quota(link: LinkShown, sender: str) -> Markup | str:
    """How much of its window's messages one end of a link has used, as a bar and in numbers."""
    left = link.directions[sender].credits_remaining
    if left is None:
        return "no limit"
    most, used = link.messages_per_window, link.messages_per_window - left
    form = Markup(
        '<span class="meter"><meter min="0" max="{most}" low="{low}" high="{high}" optimum="0" value="{used}" aria-label="{label}"></meter>'
        " {used} of {most}</span>"
    )
    return form.format(most=most, low=most * HIGH, high=most * FULL, used=used, label=plain(f"quota used by {sender}", 100))


def vote(ident: str | None) -> Markup | str:
    """A vote's id, which leads to its page."""
    return leads(f"/votes/{quote(ident, safe='')}", ident) if ident else ""


def handoff(ident: str | None) -> Markup | str:
    """A handoff's id, which leads to its page."""
    return leads(f"/handoffs/{quote(ident, safe='')}", ident) if ident else ""


def team(ident: str | None) -> Markup | str:
    """A team run's id, which leads to its page."""
    return leads(f"/teams/{quote(ident, safe='')}", ident) if ident else ""


def incident(ident: str | None) -> Markup | str:
    """An incident's id, which leads to its page."""
    return leads(f"/incidents/{quote(ident, safe='')}", ident) if ident else ""
