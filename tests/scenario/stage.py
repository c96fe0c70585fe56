"""Commands that every stage has: time passes, messages arrive, links and machines fail."""

from __future__ import annotations

from collections.abc import Callable

from tests.scenario.chronicle import Chronicle
from tests.scenario.ordered_network import OrderedNetwork
from tests.scenario.script import Mistake

UNITS = {"us": 1, "ms": 1_000, "s": 1_000_000}
MOST = 10_000


def time_us(text: str) -> int:
    number = text.rstrip("mus")
    unit = text[len(number) :]
    if not number.isdigit() or unit not in UNITS:
        raise Mistake(f"{text!r} is no time: 20ms, 3s")
    return int(number) * UNITS[unit]


def settings_of(words: tuple[str, ...]) -> dict[str, int | str]:
    """name=value ...; a number is one, and so is a time."""
    out: dict[str, int | str] = {}
    for word in words:
        name, is_, text = word.partition("=")
        if not is_:
            raise Mistake(f"{word!r} is no setting: name=value")
        out[name] = time_us(text) if name.endswith("_us") else int(text) if text.isdigit() else text
    return out


class Stage:
    """`play` carries a command out and gives what was said. Setting up is not told, nor what is done
    `quietly`."""

    untold: frozenset[str] = frozenset()  # types of messages
    setting_up: frozenset[str] = frozenset()  # commands

    def __init__(self) -> None:
        self.net = OrderedNetwork()
        self.chronicle = Chronicle(self.net, self.untold)

    def play(self, command: str) -> list[str]:
        word, *rest = command.split()
        quietly = rest[-1:] == ["quietly"]
        answer = self._named(word)(*(rest[:-1] if quietly else rest)) or []
        said = self.chronicle.take()
        return answer if quietly or word in self.setting_up else [*said, *answer]

    def _named(self, word: str) -> Callable[..., list[str] | None]:
        known = {name[3:]: getattr(self, name) for name in dir(self) if name.startswith("do_")}
        if word not in known:
            raise Mistake(f"no command {word!r}; there are {', '.join(sorted(known))}")
        found: Callable[..., list[str] | None] = known[word]
        return found

    def do_settle(self) -> None:
        """Until nothing is under way."""
        self.net.settle()

    def do_deliver(self, until: str, kind: str) -> None:
        """deliver until TYPE: until a message of this type has been sent; it is still under way."""
        assert until == "until"
        before = self.chronicle.sent.count(kind)
        for _ in range(MOST):
            if self.chronicle.sent.count(kind) > before:
                return
            if not self.net.step():
                raise Mistake(f"all is quiet, and no {kind} was sent")

    def do_advance(self, time: str) -> None:
        self.net.advance(time_us(time))

    def do_latency(self, a: str, b: str, time: str) -> None:
        self.net.latency_us[frozenset((a, b))] = time_us(time)

    def do_cut(self, a: str, b: str) -> None:
        self.net.disconnect(a, b)

    def do_kill(self, name: str) -> None:
        """With all that it knew, and without a word; who had a stream to it notices in time."""
        self.net.crash(name)
