"""Floods on the tree: who is there (PANDA's phase-one check), and is it a tree at all.

A DiscoveryRequest crosses every link once; every broker answers with a BrokerInformation that goes
back the way the request came. A request whose id starts with `tree:` wants no answer: the broker with
the smaller id sends one over a link that came up, and if it returns by another link there is a cycle.
"""

from __future__ import annotations

from collections import OrderedDict

REMEMBERED = 1024
TREE = "tree:"


class Discovery:
    """Which floods went through here, and from where."""

    def __init__(self, broker: str) -> None:
        self._broker = broker
        self._source: OrderedDict[str, str] = OrderedDict()
        self._checks: dict[str, str] = {}  # id of the latest check of a link -> that link
        self._count = 0

    def first_seen(self, id_: str, source: str) -> bool:
        """Remember where a flood came from; False if it has been here."""
        if id_ in self._source:
            return False
        self._source[id_] = source
        if len(self._source) > REMEMBERED:
            self._source.popitem(last=False)
        return True

    def source(self, id_: str) -> str | None:
        return self._source.get(id_)

    def check_link(self, neighbour: str, incarnation: int) -> str:
        """Id of a new tree check to be sent over this link only."""
        self.forget(neighbour)
        self._count += 1
        id_ = f"{TREE}{self._broker}:{neighbour}:{incarnation}.{self._count}"
        self._checks[id_] = neighbour
        return id_

    def checked_link(self, id_: str) -> str | None:
        """The link over which we sent this check, if it is ours."""
        return self._checks.get(id_)

    def forget(self, neighbour: str) -> None:
        for id_ in [id_ for id_, link in self._checks.items() if link == neighbour]:
            del self._checks[id_]
