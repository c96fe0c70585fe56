"""Who of a tree is alive: heartbeats that are due, and neighbours that are silent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from broker_grpc.protocols.rendezvous.settings import RendezvousSettings
from broker_grpc.protocols.rendezvous.table import Topic
from protos.rendezvous_messages import TreeHeartbeat

Edge = tuple[str, str]  # topic, neighbour


class Liveness:
    """Every publication is a heartbeat of its tree, for who sends it and who gets it."""

    def __init__(self, settings: RendezvousSettings, plane: int) -> None:
        self._settings = settings
        self._plane = plane
        self._heard_us: dict[Edge, int] = {}
        self._published_us: dict[str, int] = {}  # topic -> when it last went down from here
        self._down_us: dict[str, int] = {}  # broker without a link -> since when

    # ------------------------------------------------------------ what is heard

    def heard(self, topic: str, peer: str, now_us: int) -> None:
        self._heard_us[topic, peer] = now_us

    def published(self, topic: str, now_us: int) -> None:
        self._published_us[topic] = now_us

    def link_up(self, peer: str) -> None:
        self._down_us.pop(peer, None)

    def link_down(self, peer: str, now_us: int) -> None:
        self._down_us[peer] = now_us

    def forget(self, topic: str, peers: Iterable[str]) -> None:
        for peer in peers:
            self._heard_us.pop((topic, peer), None)

    # ------------------------------------------------------------ heartbeats

    def due(self, topics: Iterable[Topic], now_us: int) -> Iterator[tuple[str, TreeHeartbeat]]:
        """To whom which heartbeats go now."""
        down: dict[str, list[str]] = defaultdict(list)
        up: dict[str, list[str]] = defaultdict(list)
        since = now_us - self._settings.heartbeat_interval_us
        for topic in topics:
            if self._settings.heartbeats != "up" and self._published_us.get(topic.name, -1) <= since:
                for child in topic.children:
                    down[child].append(topic.name)
            if self._settings.heartbeats != "down" and topic.parent:
                up[topic.parent].append(topic.name)
        for is_up, beats in ((False, down), (True, up)):
            for peer in sorted(beats):
                for names in self._batches(beats[peer]):
                    yield peer, TreeHeartbeat(self._plane, names, is_up)

    def _batches(self, names: list[str]) -> Iterator[tuple[str, ...]]:
        if self._settings.batch_heartbeats:
            yield tuple(names)
        else:
            yield from ((name,) for name in names)

    # ------------------------------------------------------------ silence

    def next_lost_us(self) -> int | None:
        """When the first neighbour has been without a link for too long."""
        grace = self._settings.ring.suspect_us
        return min((since + grace for since in self._down_us.values()), default=None)

    def cut_off(self, now_us: int) -> list[str]:
        """Neighbours without a link for too long; each is told once."""
        grace = self._settings.ring.suspect_us
        lost = sorted(peer for peer, since in self._down_us.items() if since + grace <= now_us)
        for peer in lost:
            del self._down_us[peer]
        return lost

    def is_silent(self, topic: Topic, peer: str, is_parent: bool, now_us: int) -> bool:
        """Of a neighbour that should send heartbeats. One that is new has its time from now on."""
        if self._settings.heartbeats not in ("both", "down" if is_parent else "up"):
            return False
        heard = self._heard_us.setdefault((topic.name, peer), now_us)
        return now_us - heard >= self._settings.silence_us
