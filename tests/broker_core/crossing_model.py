"""Two ends that may dial each other, and the streams between them: FIFO, and as slow as the test likes.

It does with `Crossing` what both drivers do, without clocks and sockets. What can happen next is a list of
actions; whoever plays chooses. The news that an end has left a stream may be lost, but whatever arrives on a
stream that its receiver has left is answered with its end, as kernels do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from broker_grpc.core.crossing import Crossing, is_overtaken, takes_over

Kind = Literal["hello", "answer", "refusal", "message", "end"]
Action = Callable[[], None]


class Item(NamedTuple):
    kind: Kind
    value: int = 0


@dataclass(eq=False)
class Stream:
    dialler: End
    listener: End
    greeting: int
    processes: dict[str, int]  # by end: the process that holds it
    answer: int = 0
    on_way: dict[str, deque[Item]] = field(default_factory=dict)  # by the end that it goes to

    def other(self, end: End) -> End:
        return self.listener if end is self.dialler else self.dialler

    def said_by(self, end: End) -> int:
        return self.greeting if end is self.dialler else self.answer


class End:
    def __init__(self, name: str) -> None:
        self.name = name
        self.process = 0
        self.ups = 0  # PeerUps that its machine saw, of any process
        self.sent: list[int] = []
        self.received: list[int] = []
        self.start()

    def start(self) -> None:
        self.process += 1
        self.crossing = Crossing(self.name, self.process)
        self.live: Stream | None = None
        self.dial: Stream | None = None  # under way

    def up(self, stream: Stream) -> None:
        """A stream that was up takes nothing more, and its other end is told."""
        if self.live is not None:
            self.hang_up(told=True)
        self.live = stream
        self.ups += 1

    def hang_up(self, told: bool) -> None:
        """`told`: the other end learns of it, behind what was sent."""
        stream, self.live = self.live, None
        if stream is not None and told:
            stream.on_way[stream.other(self).name].append(Item("end"))

    def say(self, number: int) -> None:
        if self.live is not None:
            self.sent.append(number)
            self.live.on_way[self.live.other(self).name].append(Item("message", number))


class Model:
    def __init__(self, one: str = "A", two: str = "B") -> None:
        self.ends = End(one), End(two)
        self.streams: list[Stream] = []
        self.refused: list[Stream] = []

    # ------------------------------------------------------------ what can happen

    def deliveries(self) -> list[Action]:
        return [
            lambda stream=stream, name=name: self.deliver(stream, name)  # type: ignore[misc]
            for stream in self.streams
            for name in sorted(stream.on_way)
            if stream.on_way[name]
        ]

    def idle(self) -> list[End]:
        """An end that is not linked and does not dial may do so: both wish it all the time."""
        return [end for end in self.ends if end.live is None and end.dial is None]

    def dials(self) -> list[Action]:
        return [lambda end=end: self.dial(end) for end in self.idle()]  # type: ignore[misc]

    def faults(self) -> list[Action]:
        out: list[Action] = []
        for end in self.ends:
            for told in (True, False):
                if end.live is not None:
                    out.append(lambda end=end, told=told: end.hang_up(told))  # type: ignore[misc]
                if end.dial is not None:
                    out.append(lambda end=end, told=told: self.give_up(end, told))  # type: ignore[misc]
                out.append(lambda end=end, told=told: self._restart(end, told))  # type: ignore[misc]
        return out

    # ------------------------------------------------------------ and how

    def dial(self, end: End) -> None:
        other = self.ends[0] if end is self.ends[1] else self.ends[1]
        greeting = end.crossing.begin(other.name)
        stream = end.dial = Stream(end, other, greeting, {end.name: end.process})
        stream.on_way = {end.name: deque(), other.name: deque([Item("hello", greeting)])}
        self.streams.append(stream)

    def give_up(self, end: End, told: bool) -> None:
        stream, end.dial = end.dial, None
        assert stream is not None
        end.crossing.end(stream.listener.name, stream.greeting)
        if told:
            stream.on_way[stream.listener.name].append(Item("end"))

    def _restart(self, end: End, told: bool) -> None:
        for stream in self.streams:
            if told and stream.processes.get(end.name) == end.process:
                stream.on_way[stream.other(end).name].append(Item("end"))
        end.start()

    def deliver(self, stream: Stream, name: str) -> None:
        end = next(end for end in self.ends if end.name == name)
        item = stream.on_way[name].popleft()
        here = stream.processes.setdefault(name, end.process) == end.process
        if here and item.kind == "hello":
            self._greeted(end, stream)
        elif here and end.dial is stream:
            self._answered(end, stream, item)
        elif here and end.live is stream:
            self._heard(end, item)
        elif item.kind != "end":  # nobody holds it any more: the kernel says so
            stream.on_way[stream.other(end).name].append(Item("end"))

    def _heard(self, end: End, item: Item) -> None:
        if item.kind == "message":
            end.received.append(item.value)
        else:
            end.live = None

    def _greeted(self, end: End, stream: Stream) -> None:
        peer, live = stream.dialler, end.live
        old = live is not None and not takes_over(live.said_by(peer), stream.greeting)
        if end.crossing.prevails(peer.name) or old:
            self.refused.append(stream)
            stream.on_way[peer.name].append(Item("refusal"))
            return
        stream.answer = end.crossing.answer_to(peer.name)
        stream.on_way[peer.name].append(Item("answer", stream.answer))
        end.up(stream)

    def _answered(self, end: End, stream: Stream, item: Item) -> None:
        peer, live = stream.listener, end.live
        overtaken = live is not None and is_overtaken(live.said_by(peer), item.value)
        self.give_up(end, told=item.kind == "answer" and overtaken)
        if item.kind == "answer" and not overtaken:
            end.up(stream)
