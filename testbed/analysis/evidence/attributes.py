"""A publication's attributes from its text in the log.

A run logs the text of every publication, nearly always in the one form in which the brokers' language writes
it. That form is read with one regular expression, about five times as fast as by the language's own parser;
anything else, well-formed or not, is left to the parser.
"""

from __future__ import annotations

import re

from broker_grpc.content.language import reread_publication
from broker_grpc.errors import BrokerError
from protos.content_messages import Value

_NAME = r"[^\s,\[\]'\"]+"
_TEXT = r"[^']*(?:''[^']*)*"
_INTEGER = r"-?\d{1,18}"
_REAL = r"-?\d{1,20}\.\d{1,20}"
_PLAIN = re.compile(rf"\[({_NAME}),(?:'({_TEXT})'|({_INTEGER})|({_REAL}))\]")
_GROUP = rf"\[{_NAME},(?:'{_TEXT}'|{_INTEGER}|{_REAL})\]"
_WHOLE = re.compile(rf"{_GROUP}(?:,{_GROUP})*")
_SHORT = 4096  # beyond, the language's limits have to be looked at


def attributes_of(content: str) -> dict[str, Value] | None:
    """The publication's attributes; None when the text cannot be read."""
    plain = _plain(content)
    if plain is not None:
        return plain
    try:
        return reread_publication(content)
    except BrokerError:
        return None


def _plain(content: str) -> dict[str, Value] | None:
    """None when the text is not in the form that the language writes, or may break one of its rules."""
    if len(content) > _SHORT or not _WHOLE.fullmatch(content):
        return None
    found = _PLAIN.findall(content)
    attributes: dict[str, Value] = {
        name: int(integer) if integer else float(real) if real else text.replace("''", "'")
        for name, text, integer, real in found
    }
    if len(attributes) < len(found) or len(found) > 128:
        return None
    return attributes if len(found) == 1 or attributes.get("class").__class__ is str else None
