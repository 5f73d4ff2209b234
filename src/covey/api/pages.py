"""A plain page of what a port can do. Whole in itself: no script, nothing from elsewhere. Pure."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from html import escape
from typing import Any

from covey.doors.answer import Headers

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
    "h2{margin:2rem 0 .2rem;font-size:1.05rem}code,h2{font-family:ui-monospace,monospace}p{margin:.2rem 0}"
    "table{border-collapse:collapse;width:100%}"
    "th,td{text-align:left;padding:.3rem .8rem .3rem 0;border-bottom:1px solid #8884;vertical-align:top}"
)
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
POLICY: Headers = (
    (
        b"content-security-policy",
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'".encode(),
    ),
    (b"referrer-policy", b"no-referrer"),
)


def _page(title: str, body: str) -> str:
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body><h1>{escape(title)}</h1>{body}</body></html>\n'


def docs(document: Mapping[str, Any]) -> str:
    """Every operation of a port, from its OpenAPI document."""
    parts = ['<p>The same for programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>']
    for path, methods in document["paths"].items():
        parts += [_operation(document, path, method, found) for method, found in methods.items()]
    return _page(document["info"]["title"], "".join(parts))


def _operation(document: Mapping[str, Any], path: str, method: str, found: Mapping[str, Any]) -> str:
    lines = [f"<h2>{method.upper()} {escape(path)}</h2><p>{escape(found['summary'])} {escape(found['description'])}</p>"]
    parameters = [each for each in found["parameters"] if each.get("in") == "query"]
    if parameters:
        names = ", ".join(f"<code>{escape(each['name'])}</code>" for each in parameters)
        lines.append(f"<p>Query: {names}</p>")
    body = found.get("requestBody")
    if body is not None:
        lines.append(f"<p>Body: {_fields(document, body['content']['application/json']['schema'])}</p>")
    return "".join(lines)


def _fields(document: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """The fields of a named schema; those that are needed stand out."""
    name = schema.get("$ref", "").rpartition("/")[2]
    found = document["components"]["schemas"].get(name, schema)
    needed = found.get("required", ())
    words = [
        f"<strong><code>{escape(field)}</code></strong>" if field in needed else f"<code>{escape(field)}</code>"
        for field in found.get("properties", ())
    ]
    return ", ".join(words) or "any JSON"
