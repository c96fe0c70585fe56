"""The registry of messages: which types of body an Envelope can have.

The project's own are here from the start. Another package registers its own before it sends or reads one:

    from protos.bodies import register
    from gossip.gossip_messages import BODIES
    register(*BODIES)

The dictionaries below are looked up for every message; they grow by `register` alone.
"""

from __future__ import annotations

from protos.body import Body, BodyType, Sender
from protos.builtin import BODIES
from protos.registration import Claims

OWN, PLUGINS = range(8, 1024), range(1024, 2048)  # a tag has at most two bytes
# Tables use the other words for what is no known message, and for sums.
NAMES = r"(?!(all|compressed|malformed|unknown|body_\d+)$)[a-z][a-z0-9_]*"

BODY_TYPES: dict[type[Body], BodyType] = {}
BY_NUMBER: dict[int, BodyType] = {}
TYPE_OF: dict[type[Body], str] = {}  # the message's name
SENDER_OF: dict[type[Body], Sender] = {}  # who may send it

_claims = Claims("body", OWN, PLUGINS, NAMES)


def register(*types: BodyType) -> None:
    """All of them or none: raises RegistrationError for a number or name that is taken or not allowed. Twice
    the same is once."""
    new = [one for one in types if BODY_TYPES.get(one.kind) is not one]
    for one in new:
        _claims.check(one.number, one.name, one.place, builtin=False)
    for one in new:
        _add(one, builtin=False)


def _add(one: BodyType, builtin: bool) -> None:
    if BODY_TYPES.get(one.kind) is one:
        return
    _claims.take(one.number, one.name, one.place, builtin)
    BODY_TYPES[one.kind] = BY_NUMBER[one.number] = one
    TYPE_OF[one.kind] = one.name
    SENDER_OF[one.kind] = one.sender


for _one in BODIES:
    _add(_one, builtin=True)
