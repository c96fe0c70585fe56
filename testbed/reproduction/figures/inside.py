"""What a drawing shows, in words and numbers, inside the drawing: a figure is one file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, unescape

OPEN, CLOSE = '<metadata id="figure">', "</metadata>"
FOUND = re.compile(re.escape(OPEN) + r"(.*?)" + re.escape(CLOSE) + r"\n?", re.DOTALL)


def write_inside(path: Path, told: dict[str, Any]) -> None:
    """Before the end of the drawing."""
    drawing = path.read_text(encoding="utf-8")
    body, end, rest = drawing.rpartition("</svg>")
    text = escape(json.dumps(told, indent=1, ensure_ascii=False))
    path.write_text(f"{body}{OPEN}\n{text}\n{CLOSE}\n{end}{rest}", encoding="utf-8")


def read_inside(path: Path) -> dict[str, Any]:
    """{} for a drawing without."""
    found = FOUND.search(path.read_text(encoding="utf-8", errors="replace"))
    try:
        told = json.loads(unescape(found.group(1))) if found else {}
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def without_inside(drawing: str) -> str:
    return FOUND.sub("", drawing)
