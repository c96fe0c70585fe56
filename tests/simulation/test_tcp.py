"""TCP packet by packet, held against what was captured in the guest (Linux 7.2, 100 ticks a second)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.simulation.agenda import Agenda, Call
from testbed.simulation.kerneltimer import fires_us
from testbed.simulation.tcp import End, Transmit, connect

WAY_US = 10_000  # one way
Lost = Callable[[int, int], bool]  # (time, number of the packet in its direction)


class Wire:
    """Two ends, and a note of every packet of data and every arrival."""

    def __init__(self, lost: Lost, lost_back: Lost = lambda at, number: False, way_us: int = WAY_US) -> None:
        self._way_us = way_us
        self.agenda = Agenda(0)
        self.packets: list[tuple[int, int]] = []  # (when, bytes) from the first end
        self.acknowledged: list[int] = []  # when the other end sent a packet
        self.arrived: list[tuple[int, int]] = []  # (when, message)
        self._numbers = [0, 0]
        self.end, self.other = connect(
            self.agenda, self._way(0, lost, self.packets), self._way(1, lost_back, None), 2 * way_us
        )

    def _way(self, direction: int, lost: Lost, notes: list[tuple[int, int]] | None) -> Transmit:
        def transmit(size: int, call: Call, a: Any, b: Any) -> None:
            now = self.agenda.now_us
            self._numbers[direction] += 1
            if notes is None:
                self.acknowledged.append(now)
            elif size:
                notes.append((now, size))
            if not lost(now, self._numbers[direction]):
                self.agenda.at(now + self._way_us, call, a, b)

        return transmit

    def say(self, at_us: int, message: int, size: int = 310, end: End | None = None) -> None:
        speaker = end or self.end
        self.agenda.at(at_us, lambda a, b: speaker.write(size, self._arrive, message, None))

    def _arrive(self, message: int, _: None) -> None:
        self.arrived.append((self.agenda.now_us, message))

    def run(self) -> None:
        while self.agenda.run(100_000):
            raise AssertionError("it never ends")


@pytest.mark.parametrize(
    ("now_us", "wait", "fires"),
    [
        (18_106_361, 23, 18_340_000),  # a tick more than asked for
        (18_580_000, 46, 19_050_000),
        (19_050_000, 92, 20_000_000),  # farther away: every eighth tick
        (20_000_000, 184, 21_920_000),
    ],
)
def test_timers_fire_as_captured(now_us: int, wait: int, fires: int) -> None:
    assert fires_us(now_us, wait) == fires


def test_a_cut_path_is_tried_as_captured() -> None:
    """link-failure of the parity suite: a message every 250 ms, no path from 18.068 s to 20.07 s."""
    wire = Wire(lambda at, number: 18_068_000 < at < 20_070_000)
    for number in range(33):
        wire.say(14_106_361 + 250_000 * number, number, 310)
    wire.run()
    later = [(at, size) for at, size in wire.packets if at >= 18_100_000]
    assert later[:6] == [
        (18_106_361, 310),
        (18_340_000, 310),  # the tail loss probe
        (18_356_361, 310),
        (18_580_000, 620),  # the time-out: both in one packet
        (19_050_000, 620),
        (20_000_000, 620),
    ]
    assert later[6] == (21_920_000, 620)
    assert later[7:9] == [(21_940_000, 1448), (21_940_000, 1448)]  # slow start: two packets after one
    assert later[9][0] == 21_960_000
    assert later[10] == (22_106_361, 310)


def test_pairs_into_a_cut_path_are_tried_as_captured() -> None:
    """cut-pairs of the parity suite: two messages 3 ms apart every 250 ms, no path from 7.43 s to 9.94 s.

    The second pair comes when the time-out of the first would be over already: it puts it off by a probe.
    """
    wire = Wire(lambda at, number: 7_429_000 < at < 9_929_000, way_us=11_653)
    wire.say(1_000_000, -1)
    wire.say(1_011_700, -2, end=wire.other)  # a dialogue: a pair is acknowledged as one
    for number in range(40):
        wire.say(3_440_199 + 250_000 * (number // 2) + 3_000 * (number % 2), number, 334)
    wire.run()
    later = [at for at, size in wire.packets if at >= 7_400_000]
    assert later[:9] == [
        7_440_199,
        7_443_199,
        7_510_000,  # the probe: two are out, so nobody delays an acknowledgement
        7_690_199,
        7_693_199,
        7_780_000,  # the time-out: a probe after the pair, and a tick
        8_250_000,
        9_200_000,
        11_120_000,
    ]


def test_a_time_out_waits_for_the_measured_round_trip() -> None:
    """Acknowledgements held back by the receiver make it longer than the path is."""
    short, long = (Wire(lambda at, number: at > 2_000_000) for _ in range(2))
    for number in range(9):
        short.say(100_000 + 200_000 * number, number)
        long.say(100_000 + 200_000 * number, number)
        long.say(140_000 + 200_000 * number, -number, end=long.other)  # acknowledges too
    for wire in (short, long):
        wire.say(2_100_000, 99)
        while (wire.agenda.next_us() or 3_000_000) < 3_000_000:
            wire.agenda.run(1)
    first = [next(at for at, _ in wire.packets if at > 2_100_000) for wire in (short, long)]
    assert first == [2_340_000, 2_350_000]  # 200 ms more than 20 ms and than the 40 ms measured


def test_the_window_grows_to_twice_what_was_used() -> None:
    """As captured behind a cut path: bursts of 4, 8 and 18; of the last one 16 leave at once."""
    wire = Wire(lambda at, number: False)
    for at, burst in ((1_000_000, 4), (1_070_000, 8), (1_095_000, 18)):
        for number in range(burst):
            wire.say(at, number, 332)
    wire.run()
    assert sum(at == 1_095_000 for at, _ in wire.packets) == 16


def test_what_was_lost_before_anybody_followed_is_sent_again_first() -> None:
    wire = Wire(lambda at, number: False)
    wire.agenda.at(5_000, lambda a, b: wire.end.write_again(100, wire._arrive, 1, None))
    wire.say(5_000, 2, 200)
    wire.run()
    assert wire.packets[0] == (5_000, 200)  # nobody knows yet
    assert [message for _, message in wire.arrived] == [1, 2]
    assert wire.end.idle


def test_a_packet_that_is_already_lost_costs_the_probes_time() -> None:
    wire = Wire(lambda at, number: False)
    wire.agenda.at(0, lambda a, b: wire.end.write_again(100, wire._arrive, 1, None))
    wire.run()
    assert wire.arrived == [(250_000, 1)]  # a probe, on the tick after a round trip and 200 ms


def test_a_single_loss_costs_the_probes_time() -> None:
    wire = Wire(lambda at, number: number == 3)
    for number in range(6):
        wire.say(106_361 + 250_000 * number, number)
    wire.run()
    delays = [at - (106_361 + 250_000 * message) for at, message in wire.arrived]
    assert delays == [10_000, 10_000, 840_000 + 10_000 - 606_361, 10_000, 10_000, 10_000]


def test_what_follows_soon_betrays_a_loss() -> None:
    """RACK: the acknowledgement of a later packet tells, long before any timer."""
    wire = Wire(lambda at, number: number == 2)
    for number in range(4):
        wire.say(100_000 * number + 5_000, number)
    wire.run()
    second = dict((message, at) for at, message in wire.arrived)[1]
    assert second == 205_000 + 3 * WAY_US


def test_in_a_dialogue_acknowledgements_wait_for_the_answer() -> None:
    """As captured: after an exchange a message is acknowledged by the timer, the next ones at once."""
    wire = Wire(lambda at, number: False)
    wire.say(1_074_030, 1)
    wire.say(1_104_030, 2, end=wire.other)
    wire.say(3_106_363, 3)
    wire.say(3_356_361, 4)
    wire.run()
    assert wire.acknowledged == [1_084_030, 1_104_030, 3_160_000, 3_366_361]


@given(
    st.lists(st.integers(1, 4000), min_size=1, max_size=20),
    st.integers(0, 400_000),
    st.sets(st.integers(1, 60), max_size=25),
    st.sets(st.integers(1, 60), max_size=25),
)
def test_everything_arrives_once_and_in_order(
    sizes: list[int], apart_us: int, lost: set[int], lost_back: set[int]
) -> None:
    wire = Wire(lambda at, number: number in lost, lambda at, number: number in lost_back)
    for number, size in enumerate(sizes):
        wire.say(apart_us * number, number, size)
    wire.run()
    assert [message for _, message in wire.arrived] == list(range(len(sizes)))
    assert wire.end.idle
