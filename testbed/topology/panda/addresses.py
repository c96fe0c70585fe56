"""Which broker is meant: PANDA's files name brokers by URI, PADRES' own scripts by address.

startbroker -uri socket://10.0.1.1:10000/BrokerA -n socket://10.0.1.2:10001/BrokerB      user guide
startbroker -i BrokerA -p 10000 -n 10.0.1.2:10001                                        console, generator
"""

from __future__ import annotations

import re

from testbed.topology.panda.commands import Command, option

DEFAULT_PORT = 1099  # PADRES' own
_URI = re.compile(r"(?:[a-z]+://)?(?P<host>[^:/\s]+|\[[^\]]*\])?(?::(?P<port>\d+))?(?:/(?P<id>[^/\s]*))?/?")


class BadAddress(ValueError):
    """The text says what is wrong with it."""


def is_broker(command: Command) -> bool:
    return command.verb == "ADD" and "startbroker" in command.script.rpartition("/")[2].lower()


def port_of(command: Command) -> int | None:
    """The port a broker is told to listen on, None when nothing says so. Raises BadAddress."""
    uri, port = option(command.arguments, "uri"), option(command.arguments, "p")
    if port is None and uri is not None:
        port = _parts(uri)["port"]
    if port is None:
        return None
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise BadAddress(f"{port!r} is no port")
    return int(port)


class Addresses:
    """Every broker of a file, by all the names its other lines may use."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self._places: dict[tuple[str, int], str] = {}

    def add(self, command: Command) -> None:
        """Raises BadAddress for a port that is none, or where another broker listens."""
        uri = option(command.arguments, "uri")
        said = option(command.arguments, "i") or (_parts(uri)["id"] if uri else None)
        self._ids.setdefault(said or command.id, command.id)
        self._ids[command.id] = command.id
        port = port_of(command) or DEFAULT_PORT
        self._place(command.node, port, command.id)
        if uri and (host := _parts(uri)["host"]):
            self._places.setdefault((host, port), command.id)

    def _place(self, host: str, port: int, id: str) -> None:
        known = self._places.setdefault((host, port), id)
        if known != id:
            raise BadAddress(f"{id} and {known} are both at {host}:{port}")

    def broker(self, reference: str) -> str:
        """The id of the broker that a URI, an address or a name means. Raises BadAddress."""
        parts = _parts(reference.strip())
        if parts["id"] in self._ids:
            return self._ids[parts["id"] or ""]
        place = parts["host"] or "", int(parts["port"] or DEFAULT_PORT)
        if not parts["id"] and place in self._places:
            return self._places[place]
        if not parts["port"] and parts["host"] in self._ids:  # a bare name
            return self._ids[parts["host"] or ""]
        raise BadAddress(f"no broker of the file is {reference.strip()!r}")

    def known(self) -> str:
        """For a hint."""
        return ", ".join(f"{id} at {host}:{port}" for (host, port), id in list(self._places.items())[:5])


def _parts(uri: str) -> dict[str, str | None]:
    found = _URI.fullmatch(uri)
    if found is None:
        raise BadAddress(f"{uri!r} is neither a URI nor host:port")
    return found.groupdict()
