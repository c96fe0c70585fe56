"""A TCP connection, packet by packet, for paths that lose packets, modelled on Linux 6.1.

Plain paths do not need it, and the simulator spends nothing on them. Modelled: cumulative and selective
acknowledgements; acknowledgements delayed in a dialogue; smoothed round trips and the time-out made of them;
tail loss probes; RACK; slow start after a time-out; small packets sent again as one; timers that fire on
ticks. Not modelled: windows of the receiver, undoing of needless retransmissions, reordering. Names of the
kernel's own functions are given where there is one (net/ipv4/tcp_output.c, _input.c, _timer.c, _recovery.c).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from testbed.simulation.agenda import Agenda, Call
from testbed.simulation.kerneltimer import TICK_US, fires_us, ticks

MSS = 1448
RTO_MIN_US = 200_000
RTO_MAX_TICKS = 12_000
ATO_MIN_TICKS = 4  # the delay of an acknowledgement
TIMEOUT_MIN_TICKS = 2
INITIAL_WINDOW = 10

Transmit = Callable[[int], int | None]  # payload bytes -> when the packet is there; None = lost
Sacks = frozenset[int]  # starts of segments received out of order


@dataclass(slots=True, eq=False)
class Segment:
    start: int
    end: int
    sent_us: int = 0
    again: bool = False  # sent more than once
    sacked: bool = False
    lost: bool = False


class RoundTrips:
    """tcp_rtt_estimator: in microseconds."""

    __slots__ = ("_mdev", "_mdev_max", "_until", "backoff", "least", "smoothed", "variation")

    def __init__(self, rtt_us: int) -> None:
        self.smoothed = float(rtt_us)
        self.least = rtt_us
        self.variation = RTO_MIN_US
        self.backoff = 0
        self._mdev = 2.0 * rtt_us
        self._mdev_max = float(RTO_MIN_US)
        self._until = 0  # of the sequence: the variation is adapted once a round trip

    def observe(self, rtt_us: int, acknowledged: int, sent: int) -> None:
        error = rtt_us - self.smoothed
        self.smoothed += error / 8
        self.least = min(self.least, rtt_us)
        change = abs(error) - self._mdev / 4
        self._mdev += change / 8 if error < 0 and change > 0 else change
        self._mdev_max = max(self._mdev_max, self._mdev)
        self.variation = max(self.variation, round(self._mdev_max))
        if acknowledged > self._until:
            if self._mdev_max < self.variation:
                self.variation -= round(self.variation - self._mdev_max) // 4
            self._until, self._mdev_max = sent, float(RTO_MIN_US)
        self.backoff = 0

    @property
    def timeout_ticks(self) -> int:
        # A real round trip takes some microseconds more than the path: never a whole number of ticks.
        first = ticks(round(self.smoothed) + self.variation + 1)
        return min(first << self.backoff, RTO_MAX_TICKS)


class End:
    """One end of a connection: what it sends, and what it has received."""

    def __init__(self, agenda: Agenda, transmit: Transmit, rtt_us: int) -> None:
        self._agenda = agenda
        self._transmit = transmit
        self.peer: End = self  # set by `connect`
        # sending
        self._written = self._sent = self._acknowledged = 0  # positions in the stream of bytes
        self._flight: deque[Segment] = deque()
        self._window, self._threshold = INITIAL_WINDOW, 1 << 30
        self._most_out = 0  # packets in flight at once since the last acknowledgement
        self._trips = RoundTrips(rtt_us)
        self._recovery = 0  # position up to which losses are being repaired, 0 = none
        self._probed = 0  # position of the tail loss probe that is out, 0 = none
        self._timer: tuple[str, int] | None = None  # what fires, and its number
        self._timers = 0
        # receiving
        self._received = 0
        self._early: dict[int, Segment] = {}
        self._due: deque[tuple[int, Call, object, object]] = deque()  # (position, what its arrival means)
        self._owed = 0  # packets not acknowledged yet
        self._dialogue = False  # answers carry the acknowledgements ("pingpong")
        self._heard_tick = -(1 << 30)
        self._echo_us = 0  # when the last packet received was sent
        self._delayed = 0  # number of the timer of the delayed acknowledgement

    # ------------------------------------------------------------ sending

    @property
    def idle(self) -> bool:
        """Everything written has been acknowledged."""
        return self._acknowledged == self._written

    def write(self, size: int, call: Call, a: object, b: object) -> None:
        """Bytes for the other end; the call is made there when the last of them has arrived."""
        self._written += size
        self.peer._due.append((self._written, call, a, b))
        self._push()

    def _outstanding(self) -> int:
        return sum(not (segment.sacked or segment.lost) for segment in self._flight)

    def _push(self) -> None:
        """Losses first, then what is new, as far as the window allows."""
        for segment in list(self._flight):
            if segment.lost and self._outstanding() < self._window:
                self._send(segment)
        new = False
        while self._sent < self._written and self._outstanding() < self._window:
            segment = Segment(self._sent, min(self._sent + MSS, self._written))
            self._sent = segment.end
            self._flight.append(segment)
            self._send(segment)
            new = True
        self._most_out = max(self._most_out, len(self._flight))
        if new and (self._timer is None or self._timer[0] == "probe"):
            self._arm_probe()

    def _send(self, segment: Segment) -> None:
        now = self._agenda.now_us
        segment.again = segment.again or segment.sent_us > 0
        segment.sent_us, segment.lost = now, False
        if now // TICK_US - self._heard_tick < ATO_MIN_TICKS:
            self._dialogue = True
        acknowledges = self._acknowledge()
        arrival = self._transmit(segment.end - segment.start)
        if arrival is not None:
            copy = Segment(segment.start, segment.end, now)
            self._agenda.at(arrival, self.peer._take, copy, acknowledges)

    # ------------------------------------------------------------ timers of the sender

    def _arm(self, what: str, wait_ticks: int) -> None:
        self._timers += 1
        self._timer = what, self._timers
        self._agenda.at(fires_us(self._agenda.now_us, max(1, wait_ticks)), self._fire, self._timers)

    def _disarm(self) -> None:
        self._timer = None

    def _fire(self, number: int, _: None) -> None:
        if self._timer is None or self._timer[1] != number:
            return
        what, self._timer = self._timer[0], None
        if what == "probe":
            self._probe()
        elif what == "reordered":
            self._detect_losses()
            self._push()
            if self._timer is None and self._flight:
                self._arm("timeout", self._trips.timeout_ticks)
        elif self._flight:
            self._time_out()

    def _timeout_left(self) -> int:
        """Ticks from now until the head of the flight is too old."""
        due = self._flight[0].sent_us + self._trips.timeout_ticks * TICK_US
        return ticks(max(1, due - self._agenda.now_us))

    def _arm_probe(self) -> None:
        """tcp_schedule_loss_probe: two round trips; the acknowledgement of a single packet may be delayed."""
        if self._recovery:
            self._arm("timeout", self._trips.timeout_ticks)
            return
        wait = round(2 * self._trips.smoothed) + (RTO_MIN_US if len(self._flight) == 1 else 0)
        due = ticks(wait) + (0 if len(self._flight) == 1 else TIMEOUT_MIN_TICKS)
        self._arm("probe", min(due, self._timeout_left()))

    def _probe(self) -> None:
        """tcp_send_loss_probe: something new, or the last packet again; one at a time."""
        if self._probed:
            self._arm("timeout", self._timeout_left())
            return
        self._probed = max(1, self._sent)
        if self._flight:
            self._send(self._flight[-1])
        self._arm("timeout", self._trips.timeout_ticks)

    def _time_out(self) -> None:
        """tcp_enter_loss, tcp_retransmit_timer."""
        if not self._recovery or self._trips.backoff == 0:
            self._threshold = max(2, self._window * 7 // 10)
        self._window, self._recovery, self._probed = 1, self._sent, 0
        for segment in self._flight:
            segment.lost = not segment.sacked
        self._collapse()
        self._send(self._flight[0])
        self._trips.backoff += 1
        self._arm("timeout", self._trips.timeout_ticks)

    def _collapse(self) -> None:
        """tcp_retrans_try_collapse: what follows the head and fits goes with it."""
        head = self._flight[0]
        while len(self._flight) > 1:
            following = self._flight[1]
            if following.sacked or following.end - head.start > MSS:
                return
            head.end, head.again = following.end, True
            del self._flight[1]

    # ------------------------------------------------------------ acknowledgements

    def _heard(self, acknowledges: tuple[int, Sacks, int]) -> None:
        """tcp_ack: up to where, what beyond, and when the packet was sent that it answers."""
        position, sacks, echo_us = acknowledges
        now, newest = self._agenda.now_us, -1
        first_us, again, count = -1, False, 0
        while self._flight and self._flight[0].end <= position:
            segment = self._flight.popleft()
            first_us = segment.sent_us if first_us < 0 else first_us
            again, newest, count = again or segment.again, max(newest, segment.sent_us), count + 1
        for segment in self._flight:
            if segment.start in sacks and not segment.sacked:
                segment.sacked, segment.lost = True, False
                newest = max(newest, segment.sent_us)
        if position > self._acknowledged:
            self._acknowledged = position
            self._trips.observe(now - (echo_us if again else first_us), position, self._sent)
            self._repaired(position, count)
        if newest >= 0:
            self._detect_losses(newest, now - newest)
        self._push()
        if not self._flight:
            self._disarm()
        elif count and (self._timer is None or self._timer[0] != "reordered"):
            self._arm_probe()

    def _repaired(self, position: int, count: int) -> None:
        """Slow start, as long as the window is what limits the sender."""
        if self._window < self._threshold and self._window < 2 * max(1, self._most_out):
            self._window += count
        self._most_out = len(self._flight)
        if self._recovery and position >= self._recovery:
            self._recovery = 0
        if self._probed and position >= self._probed:
            self._probed = 0

    def _detect_losses(self, newest_us: int = -1, trip_us: int = 0) -> None:
        """RACK: what was sent clearly before something that has arrived is lost."""
        now = self._agenda.now_us
        if newest_us < 0:
            newest_us = max((s.sent_us for s in self._flight if s.sacked), default=-1)
            trip_us = round(self._trips.smoothed)
        patience = 0 if self._recovery else self._trips.least // 4
        left = 0
        for segment in self._flight:
            if segment.sacked or segment.lost or segment.sent_us >= newest_us:
                continue
            remaining = segment.sent_us + trip_us + patience - now
            if remaining <= 0:
                segment.lost = True
            else:
                left = max(left, remaining)
        if any(segment.lost for segment in self._flight) and not self._recovery:
            self._threshold = self._window = max(2, self._window * 7 // 10)
            self._recovery = self._sent
        if left:
            self._arm("reordered", ticks(left) + TIMEOUT_MIN_TICKS)

    # ------------------------------------------------------------ receiving

    def _take(self, segment: Segment, acknowledges: tuple[int, Sacks, int]) -> None:
        """A packet with data, and what it acknowledges."""
        self._heard(acknowledges)
        self._heard_tick = self._agenda.now_us // TICK_US
        in_order = segment.start <= self._received < segment.end and not self._early
        if segment.start <= self._received:
            self._received = max(self._received, segment.end)
            while self._received in self._early:
                self._received = self._early.pop(self._received).end
            self._early = {s: e for s, e in self._early.items() if e.end > self._received}
        else:
            self._early[segment.start] = segment
        self._echo_us = segment.sent_us
        self._owed += 1
        # The kernel acknowledges before the process reads, and the process reads at once.
        if not in_order or not self._dialogue or self._owed > 1:
            self._answer()
        else:
            self._delayed += 1
            at = fires_us(self._agenda.now_us, ATO_MIN_TICKS)
            self._agenda.at(at, self._answer_late, self._delayed)
        while self._due and self._due[0][0] <= self._received:
            _, call, a, b = self._due.popleft()
            call(a, b)

    def _acknowledge(self) -> tuple[int, Sacks, int]:
        """What any packet that leaves now says."""
        self._owed = 0
        self._delayed += 1
        return self._received, frozenset(self._early), self._echo_us

    def _answer(self) -> None:
        acknowledges = self._acknowledge()
        arrival = self._transmit(0)
        if arrival is not None:
            self._agenda.at(arrival, self.peer._pure, acknowledges)

    def _pure(self, acknowledges: tuple[int, Sacks, int], _: None) -> None:
        self._heard(acknowledges)

    def _answer_late(self, number: int, _: None) -> None:
        """tcp_delack_timer: nothing was said in time, so this is no dialogue."""
        if number == self._delayed and self._owed:
            self._dialogue = False
            self._answer()


def connect(agenda: Agenda, transmit: Transmit, back: Transmit, rtt_us: int) -> tuple[End, End]:
    """The dialler's and the listener's end of an idle connection."""
    one, other = End(agenda, transmit, rtt_us), End(agenda, back, rtt_us)
    one.peer, other.peer = other, one
    return one, other
