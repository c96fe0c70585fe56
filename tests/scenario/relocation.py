"""The stage of POP and GRAPE: a tree of brokers, publishers that are moved, subscribers that count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import groupby

from broker_grpc.content.language import parse_filter
from broker_grpc.protocols.contentbased.layer import Layer
from broker_grpc.protocols.relocation.grape import Grape
from broker_grpc.protocols.relocation.pop import Pop
from broker_grpc.protocols.relocation.settings import GrapeSettings, PopSettings
from tests.relocation.scene import Scene
from tests.scenario.script import Mistake
from tests.scenario.stage import Stage, settings_of

ALL = "[class,eq,'STOCK'],[symbol,eq,'YHOO']"
SELDOM = ALL + ",[n,=,0]"  # one publication in ten
QUOTE: dict[str, str | int | float] = {"class": "STOCK", "symbol": "YHOO"}


class RelocationStage(Stage):
    setting_up = frozenset({"pop", "grape", "overlay", "subscribers", "seldom", "publisher", "latency"})

    def __init__(self) -> None:
        super().__init__()
        self._layer: Callable[[], Layer] | None = None
        self._scene: Scene | None = None

    @property
    def scene(self) -> Scene:
        if self._scene is None:
            raise Mistake("there is no overlay yet")
        return self._scene

    def do_pop(self, *words: str) -> None:
        settings = PopSettings(**settings_of(words))  # type: ignore[arg-type]
        self._layer = lambda: Pop(settings)

    def do_grape(self, *words: str) -> None:
        settings = GrapeSettings(**settings_of(words))  # type: ignore[arg-type]
        self._layer = lambda: Grape(settings)

    def do_overlay(self, *links: str) -> None:
        """overlay B1-B2 B2-B3 ..."""
        if self._layer is None:
            raise Mistake("say `pop` or `grape` first")
        pairs = [(a, b) for a, _, b in (link.partition("-") for link in links)]
        self._scene = Scene(pairs, self._layer, net=self.net)

    def do_subscribers(self, *counts: str) -> None:
        """subscribers B1=2 ...: B1.1 and B1.2, who want all that is published."""
        self._subscribe(counts, ALL)

    def do_seldom(self, *counts: str) -> None:
        """seldom B1=2 ...: the same, for those who want the first of every ten publications."""
        self._subscribe(counts, SELDOM)

    def _subscribe(self, counts: tuple[str, ...], interest: str) -> None:
        for broker, count in settings_of(counts).items():
            there = sum(name.startswith(f"{broker}.") for name in self.scene.interests)
            for number in range(there + 1, there + int(count) + 1):
                self.scene.subscriber(f"{broker}.{number}", broker, interest)

    def do_publisher(self, name: str, at: str, broker: str) -> None:
        """publisher P at B1"""
        self.scene.publisher(name, broker, ALL)

    def do_publish(self, name: str, count: str = "1") -> None:
        """Hand so many over; `settle` or `deliver` let them go on."""
        for _ in range(int(count)):
            self.scene.publish(name, **QUOTE, n=len(self.scene.published) % 10)

    def do_where(self, name: str) -> list[str]:
        return [f"{name} is at {' and '.join(self.net.peers_of(name))}"]

    def do_deliveries(self) -> list[str]:
        """Of every publication: how many of those that want it, and whose broker lives, got it once."""
        alive = {n: parse_filter(t) for n, t in self.scene.interests.items() if self.net.peers_of(n)}
        got = {name: Counter(self.net.plain(name).publications()) for name in alive}
        said: list[tuple[str, str]] = []
        for id_, attributes in self.scene.published:
            wanted = {name: f.matches(attributes) for name, f in alive.items()}  # type: ignore[arg-type]
            wrong = [f"{name}: {got[name][id_]}" for name in alive if got[name][id_] != wanted[name]]
            once = sum(got[name][id_] == 1 for name, wants in wanted.items() if wants)
            line = f"once at {once} of {sum(wanted.values())} that want it"
            said.append((id_, f"{line}; but {', '.join(wrong)}" if wrong else line))
        return [_together([id_ for id_, _ in group], line) for line, group in groupby(said, lambda s: s[1])]


def _together(ids: list[str], line: str) -> str:
    return f"{ids[0]} to {ids[-1]} {line}" if len(ids) > 1 else f"{ids[0]} {line}"
