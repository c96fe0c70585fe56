"""Questions to single brokers that have not been answered yet, and how long answers took."""

from __future__ import annotations

from collections import OrderedDict

MOST = 128  # probes at once: whoever names more brokers than that is not believed at once
MEASURED = 1024  # brokers whose round trip is remembered


class Probes:
    def __init__(self, patience_us: int) -> None:
        self._patience_us = patience_us
        self._round = 0
        self._out: dict[str, tuple[int, int, bool]] = {}  # broker -> (round, sent, a stranger)
        self._questions: dict[int, tuple[str, int]] = {}  # number -> (broker, asked)
        self.rtts: OrderedDict[str, int] = OrderedDict()

    @property
    def of_strangers(self) -> int:
        return sum(stranger for _, _, stranger in self._out.values())

    def begin(self, now_us: int, broker: str, stranger: bool) -> int:
        """The round of a new probe; 0 = none shall be sent."""
        if broker in self._out or len(self._out) >= MOST:
            return 0
        self._round = self._round + 1 & 0xFFFFFFFF or 1
        self._out[broker] = self._round, now_us, stranger
        return self._round

    def answered(self, now_us: int, broker: str, round_: int) -> bool:
        """Whether it was the first answer of a broker that was asked as a stranger."""
        found = self._out.get(broker)
        if found is None or found[0] != round_:
            return False
        del self._out[broker]
        if found[2]:
            return broker not in self.rtts
        self.rtts[broker] = now_us - found[1]
        self.rtts.move_to_end(broker)
        if len(self.rtts) > MEASURED:
            self.rtts.popitem(last=False)
        return False

    def ask(self, now_us: int, broker: str, number: int) -> None:
        """A question that this broker answers itself, or passes on."""
        self._questions[number] = broker, now_us

    def question_answered(self, number: int) -> None:
        self._questions.pop(number, None)

    def end(self, broker: str) -> None:
        self._out.pop(broker, None)

    def late(self, now_us: int) -> list[str]:
        """Brokers that have not answered in time, each once."""
        until = now_us - self._patience_us
        late = [broker for broker, (_, sent, _) in self._out.items() if sent <= until]
        for broker in late:
            del self._out[broker]
        for number in [number for number, (_, asked) in self._questions.items() if asked <= until]:
            broker, _ = self._questions.pop(number)
            if broker not in late:
                late.append(broker)
        return late

    def next_us(self) -> int | None:
        """The oldest are first in both: all wait equally long."""
        sent = next(iter(self._out.values()), None)
        asked = next(iter(self._questions.values()), None)
        at = min((one[1] for one in (sent, asked) if one is not None), default=None)
        return None if at is None else at + self._patience_us

    def clear(self) -> None:
        self._out.clear()
        self._questions.clear()
