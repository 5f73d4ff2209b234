"""Small pieces of pages that cells are made of. Pure."""

from __future__ import annotations

from urllib.parse import quote

from markupsafe import Markup

from covey.console.shown import plain, said

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
