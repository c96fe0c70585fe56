"""The registry of kinds of log records. eventlog.proto has what several protocols share; a protocol adds its
own, that of another package with numbers from 1000 on, one of this project's (`own`) from 500 to 999:

RUMOUR_HEARD = register(1000, "RUMOUR_HEARD", "gossip")
... LogEvent(kind=RUMOUR_HEARD, peer=peer)
"""

from __future__ import annotations

from protos.records import KINDS as BUILTIN
from protos.records import PluginKind
from protos.registration import Claims

OWN, PLUGINS = range(1000), range(1000, 1 << 31)

KINDS: dict[str, int] = {}  # name -> number

_claims = Claims("record kind", OWN, PLUGINS, r"[A-Z][A-Z0-9_]*")
_holders: dict[tuple[int, str], str] = {}


def register(number: int, name: str, protocol: str, *, own: bool = False) -> PluginKind:
    """Raises RegistrationError for a number or name that is taken or not allowed. Twice the same is once."""
    if _holders.get((number, name)) != protocol:
        _add(number, name, protocol, builtin=own)
    return PluginKind(name)


def _add(number: int, name: str, protocol: str, builtin: bool) -> None:
    _claims.take(number, name, protocol, builtin)
    _holders[number, name] = protocol
    KINDS[name] = number


for _name, _number in BUILTIN.items():
    _add(_number, _name, "protos/eventlog.proto", builtin=True)
