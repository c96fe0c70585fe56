"""The frame of every page: style for screen, phone, print, light and dark; sorting and filtering."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path

ASSETS = Path(__file__).parent / "assets"


@dataclass(frozen=True)
class Section:
    """A part of a page with a heading; the navigation at the top leads to it."""

    id: str
    title: str
    content: str  # empty: the section is left out
    short: str = ""  # for the navigation

    def html(self) -> str:
        return f'<section id="{self.id}"><h2>{escape(self.title)}</h2>{self.content}</section>'


def page(title: str, body: str) -> str:
    style = (ASSETS / "page.css").read_text(encoding="utf-8")
    script = (ASSETS / "page.js").read_text(encoding="utf-8")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<link rel="icon" href="data:,">'  # else a browser asks the live server for one
        f"<title>{escape(title)}</title><style>{style}</style></head><body>{body}"
        f"<script>{script}</script></body></html>\n"
    )


def frame(kicker: str, title: str, intro: str, sections: Iterable[Section], footer: str = "") -> str:
    """Head, navigation, sections and foot: the body of a page."""
    shown = [section for section in sections if section.content]
    links = "".join(f'<a href="#{s.id}">{escape(s.short or s.title)}</a>' for s in shown)
    nav = f'<nav class="toc" aria-label="Sections"><div>{links}</div></nav>' if len(shown) > 1 else ""
    foot = f"<footer>{footer}</footer>" if footer else ""
    return (
        '<a class="skip" href="#content">skip to the content</a>'
        f'<header><p class="kicker">{escape(kicker)}</p><h1>{escape(title)}</h1>{intro}</header>{nav}'
        f'<main id="content">{"".join(s.html() for s in shown)}</main>{foot}'
    )


def figure(content: str, title: str, caption: str = "", provenance: str = "", wide: bool = False) -> str:
    """`caption` says in words what the picture shows; `provenance` where it comes from."""
    kind = ' class="wide"' if wide else ""
    heading = f"<h3>{escape(title)}</h3>" if title else ""
    said = f"<p>{escape(caption)}</p>" if caption else ""
    source = f'<span class="from">{escape(provenance)}</span>' if provenance else ""
    return (
        f'<figure{kind}>{heading}<div class="chartbox">{content}</div>'
        f"<figcaption>{said}{source}</figcaption></figure>"
    )


def badge(outcome: str, text: str = "") -> str:
    return f'<span class="badge {escape(outcome)}">{escape(text or outcome)}</span>'


def badges(marks: Iterable[str]) -> str:
    return f'<p class="badges">{" ".join(marks)}</p>'


def card(name: str, value: str, note: str = "") -> str:
    small = f"<small>{escape(note)}</small>" if note else ""
    return f'<div class="card"><span class="soft">{escape(name)}</span><b>{escape(value)}</b>{small}</div>'


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in pairs if value)
    return f'<dl class="facts">{rows}</dl>'


def command(text: str) -> str:
    return f'<p class="command"><code>{escape(text)}</code><button type="button">copy</button></p>'


def instant(iso: str) -> str:
    """2026-11-16T23:26:08+00:00, as people write it; what is none is left as it is."""
    try:
        at = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC") if at.tzinfo else iso


def path_word(path: Path) -> str:
    """As one would type it: from here when it lies below, else in full."""
    whole, here = path.resolve(), Path.cwd()
    return shlex.quote(str(whole.relative_to(here) if whole.is_relative_to(here) else whole))


def notice(content: str, kind: str = "") -> str:
    return f'<div class="notice{" " + kind if kind else ""}">{content}</div>'


def verdict_bar(counts: dict[str, int]) -> str:
    """The shares of pass, fail and unknown as one bar; its numbers stand beside it as badges."""
    parts = "".join(f'<i class="{k}" style="flex:{n}"></i>' for k, n in counts.items() if n)
    return f'<div class="bar" aria-hidden="true">{parts}</div>'
