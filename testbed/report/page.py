"""The frame of every page: style for screen, phone, print, light and dark; sorting and filtering."""

from __future__ import annotations

from html import escape
from pathlib import Path

ASSETS = Path(__file__).parent / "assets"


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


def figure(content: str, caption: str) -> str:
    return f"<figure>{content}<figcaption>{escape(caption)}</figcaption></figure>"


def badge(outcome: str, text: str = "") -> str:
    return f'<span class="badge {escape(outcome)}">{escape(text or outcome)}</span>'


def card(name: str, value: str) -> str:
    return f'<div class="card"><span class="soft">{escape(name)}</span><b>{escape(value)}</b></div>'
