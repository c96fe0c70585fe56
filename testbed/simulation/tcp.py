"""A TCP connection, packet by packet, for paths that lose packets, modelled on Linux 7.2.

Plain paths do not need it, and the simulator spends nothing on them. Modelled: cumulative and selective
acknowledgements; acknowledgements delayed in a dialogue; smoothed round trips and the time-out made of them;
tail loss probes; RACK; slow start after a time-out, and F-RTO; small packets sent again as one; timers that
fire on ticks. Not modelled: windows of the receiver, undoing of needless retransmissions, reordering. Names
of the kernel's own functions are given where there is one (net/ipv4/tcp_output.c, _input.c, _timer.c,
_recovery.c).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from testbed.simulation.agenda import Agenda, Call
from testbed.simulation.kerneltimer import TICK_US, fires_us, ticks

MSS = 1448
RTO_MIN_US = 200_000
RTO_MAX_TICKS = 12_000
ATO_MIN_TICKS = 4  # the delay of an acknowledgement
TIMEOUT_MIN_US = 2_000
INITIAL_WINDOW = 10

Transmit = Callable[[int, Call, Any, Any], None]  # so many bytes; the call is made there, if they get there
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
    """tcp_rtt_estimator: in microseconds, in whole numbers like the kernel's, the smoothed one eightfold."""

    __slots__ = ("_mdev", "_mdev_max", "_smoothed8", "_until", "backoff", "least", "variation")

    def __init__(self, rtt_us: int) -> None:
        """The first one is measured while the connection is made."""
        self._smoothed8 = max(1, rtt_us << 3)
        self.least = rtt_us
        self._mdev = rtt_us << 1
        self.variation = self._mdev_max = max(self._mdev, RTO_MIN_US)
        self.backoff = 0
        self._until = 0  # of the sequence: the variation is adapted once a round trip

    @property
    def smoothed(self) -> int:
        return self._smoothed8 >> 3

    def observe(self, rtt_us: int, acknowledged: int, sent: int) -> None:
        error = rtt_us - (self._smoothed8 >> 3)
        self._smoothed8 = max(1, self._smoothed8 + error)
        self.least = min(self.least, rtt_us)
        change = abs(error) - (self._mdev >> 2)
        self._mdev += change >> 3 if error < 0 and change > 0 else change
        self._mdev_max = max(self._mdev_max, self._mdev)
        self.variation = max(self.variation, self._mdev_max)
        if acknowledged > self._until:
            self.variation -= (self.variation - self._mdev_max) >> 2
            self._until, self._mdev_max = sent, RTO_MIN_US
        self.backoff = 0

    @property
    def timeout_ticks(self) -> int:
        # A real round trip takes some microseconds more than the path: never a whole number of ticks.
        first = ticks(self.smoothed + self.variation + 1)
        return min(first << self.backoff, RTO_MAX_TICKS)

    def probe_ticks(self, packets: int) -> int:
        """tcp_schedule_loss_probe: two round trips; the acknowledgement of a single packet may be delayed."""
        return ticks((self._smoothed8 >> 2) + (RTO_MIN_US if packets == 1 else TIMEOUT_MIN_US) + 1)


class End:
    """One end of a connection: what it sends, and what it has received."""

    def __init__(self, agenda: Agenda, transmit: Transmit, rtt_us: int) -> None:
        """`transmit` is this end's way to the other."""
        self._agenda = agenda
        self._transmit = transmit
        self.peer: End = self  # set by `connect`
        # sending
        self._written = self._sent = self._acknowledged = 0  # positions in the stream of bytes
        self._flight: deque[Segment] = deque()
        self._window, self._threshold = INITIAL_WINDOW, 1 << 30
        self._most_out = 0  # packets in flight at once, of the window that ends at `_usage`
        self._usage = 0
        self._limited = False  # in that window, by the window
        self._last_sent_tick = -(1 << 30)
        self._trips = RoundTrips(rtt_us)
        self._recovery = 0  # position up to which losses are being repaired, 0 = none
        self._suspects = False  # F-RTO: the time-out may have been needless
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
        self._told = 0  # position that was last acknowledged
        self._echo_us = 0  # when the packet was sent to which the next acknowledgement answers
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

    def write_again(self, size: int, call: Call, a: object, b: object) -> None:
        """As `write`, for one packet that is already lost, sent before anybody followed the connection."""
        follows = self._sent == self._written and self._outstanding() < self._window
        self._written += size
        self.peer._due.append((self._written, call, a, b))
        if not follows:
            return self._push()
        self._flight.append(Segment(self._sent, self._written, self._agenda.now_us))
        self._sent = self._written
        self._last_sent_tick = self._agenda.now_us // TICK_US
        self._arm_for_new()

    def narrow(self) -> None:
        """tcp_init_transfer: a connection that was hard to make begins with one packet."""
        self._window = 1

    def _outstanding(self) -> int:
        return sum(not (segment.sacked or segment.lost) for segment in self._flight)

    def _push(self, new_first: bool = False) -> None:
        """Losses first, then what is new, as far as the window allows."""
        for segment in () if new_first else list(self._flight):
            if segment.lost and segment in self._flight and self._outstanding() < self._window:
                self._repair(segment)
        new = False
        self._restart_window()
        while self._sent < self._written and self._outstanding() < self._window:
            self._send_new()
            new = True
        limited = self._outstanding() >= self._window
        if new or limited:
            self._validate_window(limited)
        if new:
            self._arm_for_new()

    def _restart_window(self) -> None:
        """tcp_slow_start_after_idle_check, tcp_cwnd_restart."""
        idle = self._agenda.now_us // TICK_US - self._last_sent_tick - self._trips.timeout_ticks
        if self._flight or self._sent == self._written or idle <= 0:
            return
        least = min(INITIAL_WINDOW, self._window)
        while idle > 0 and self._window > least:
            self._window >>= 1
            idle -= self._trips.timeout_ticks
        self._window = max(self._window, least)

    def _validate_window(self, limited: bool) -> None:
        """tcp_cwnd_validate."""
        more = not self._limited and len(self._flight) > self._most_out
        if self._acknowledged >= self._usage or limited or more:
            self._limited, self._most_out, self._usage = limited, len(self._flight), self._sent

    def _send_new(self) -> None:
        segment = Segment(self._sent, min(self._sent + MSS, self._written))
        self._sent = segment.end
        self._flight.append(segment)
        self._send(segment)

    def _repair(self, segment: Segment) -> None:
        """tcp_xmit_retransmit_queue."""
        self._collapse(segment)
        self._send(segment)
        if segment is self._flight[0] and (self._timer is None or self._timer[0] != "reordered"):
            self._arm("timeout", self._trips.timeout_ticks)

    def _send(self, segment: Segment) -> None:
        now = self._agenda.now_us
        segment.again = segment.again or segment.sent_us > 0
        segment.sent_us, segment.lost = now, False
        self._last_sent_tick = now // TICK_US
        if now // TICK_US - self._heard_tick < ATO_MIN_TICKS:
            self._dialogue = True
        copy = Segment(segment.start, segment.end, now)
        self._transmit(segment.end - segment.start, self.peer._take, copy, self._acknowledge())

    @property
    def _open(self) -> bool:
        """Nothing hints at a loss (TCP_CA_Open)."""
        return not self._recovery and not any(segment.sacked for segment in self._flight)

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
        """tcp_rearm_rto: ticks from now until the head of the flight is too old."""
        return ticks(max(1, self._until_timeout_us()))

    def _until_timeout_us(self) -> int:
        """tcp_rto_delta_us."""
        return self._flight[0].sent_us + self._trips.timeout_ticks * TICK_US - self._agenda.now_us

    def _arm_for_new(self) -> None:
        """tcp_event_new_data_sent, tcp_write_xmit."""
        if self._open:
            wait, left = self._trips.probe_ticks(len(self._flight)), self._until_timeout_us()
            self._arm("probe", min(wait, ticks(left)) if left > 0 else wait)
        elif self._timer is None:
            self._arm("timeout", self._trips.timeout_ticks)
        elif self._timer[0] == "probe":
            self._arm("timeout", self._timeout_left())

    def _arm_for_rest(self) -> None:
        """tcp_set_xmit_timer: something was acknowledged, and something is still out."""
        if self._open:
            probe = self._trips.probe_ticks(len(self._flight))
            self._arm("probe", min(probe, self._trips.timeout_ticks))
        else:
            self._arm("timeout", self._trips.timeout_ticks)

    def _probe(self) -> None:
        """tcp_send_loss_probe: something new, or the last packet again; one at a time."""
        if self._probed or not self._flight:
            self._arm("timeout", self._timeout_left() if self._flight else self._trips.timeout_ticks)
            return
        if self._sent < self._written:
            self._send_new()
        else:
            self._send(self._flight[-1])
        self._probed = max(1, self._sent)
        self._arm("timeout", self._trips.timeout_ticks)

    def _time_out(self) -> None:
        """tcp_enter_loss, tcp_retransmit_timer."""
        if not self._recovery or self._trips.backoff == 0:
            self._threshold = max(2, self._window * 7 // 10)
        self._suspects = not self._recovery or self._trips.backoff > 0
        self._window, self._recovery, self._probed = 1, self._sent, 0
        for segment in self._flight:
            segment.lost = not segment.sacked
        self._collapse(self._flight[0])
        self._send(self._flight[0])
        self._trips.backoff += 1
        self._arm("timeout", self._trips.timeout_ticks)

    def _collapse(self, head: Segment) -> None:
        """tcp_retrans_try_collapse: what follows and fits goes with it."""
        at = self._flight.index(head) + 1
        while at < len(self._flight):
            following = self._flight[at]
            if following.sacked or following.end - head.start > MSS:
                return
            head.end, head.again = following.end, True
            del self._flight[at]

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
            trip_us = echoed_us(now, echo_us) if again else now - first_us
            self._trips.observe(trip_us, position, self._sent)
            self._repaired(position, count)
        if newest >= 0:
            self._detect_losses(newest, now - newest)
        if not self._flight:
            self._disarm()
        elif count and (self._timer is None or self._timer[0] != "reordered"):
            self._arm_for_rest()
        self._push(count > 0 and self._tries_new())

    def _tries_new(self) -> bool:
        """tcp_process_loss, step 2.b of F-RTO: was the time-out needless? What is new will tell."""
        if not (self._suspects and self._recovery):
            return False
        self._suspects = False
        self._recovery = self._sent
        return self._sent < self._written

    def _repaired(self, position: int, count: int) -> None:
        """Slow start, as long as the window is what limits the sender."""
        if self._window < self._threshold and (self._limited or self._window < 2 * self._most_out):
            self._window += count
        if self._recovery and position >= self._recovery:
            self._recovery = 0
        if self._probed and position >= self._probed:
            self._probed = 0

    def _detect_losses(self, newest_us: int = -1, trip_us: int = 0) -> None:
        """RACK: what was sent clearly before something that has arrived is lost."""
        now = self._agenda.now_us
        if newest_us < 0:
            newest_us = max((s.sent_us for s in self._flight if s.sacked), default=-1)
            trip_us = self._trips.smoothed
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
            self._arm("reordered", ticks(left + TIMEOUT_MIN_US))

    # ------------------------------------------------------------ receiving

    def _take(self, segment: Segment, acknowledges: tuple[int, Sacks, int]) -> None:
        """A packet with data, and what it acknowledges."""
        self._heard(acknowledges)
        self._heard_tick = self._agenda.now_us // TICK_US
        before = self._received
        in_order = segment.start <= self._received < segment.end and not self._early
        if segment.start <= self._received:
            self._received = max(self._received, segment.end)
            while self._received in self._early:
                self._received = self._early.pop(self._received).end
            self._early = {s: e for s, e in self._early.items() if e.end > self._received}
        else:
            self._early[segment.start] = segment
        if segment.start <= self._told:
            self._echo_us = segment.sent_us
        if segment.end <= before:  # once more: whoever sends it did not hear of it
            self._dialogue = False
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
        self._owed, self._told = 0, self._received
        self._delayed += 1
        return self._received, frozenset(self._early), self._echo_us

    def _answer(self) -> None:
        self._transmit(0, self.peer._pure, self._acknowledge(), None)

    def _pure(self, acknowledges: tuple[int, Sacks, int], _: None) -> None:
        self._heard(acknowledges)

    def _answer_late(self, number: int, _: None) -> None:
        """tcp_delack_timer: nothing was said in time, so this is no dialogue."""
        if number == self._delayed and self._owed:
            self._dialogue = False
            self._answer()


def echoed_us(now_us: int, echo_us: int) -> int:
    """tcp_rtt_tsopt_us: by the clock of the timestamps, which counts milliseconds."""
    return max(1, now_us // 1000 - echo_us // 1000) * 1000


def connect(agenda: Agenda, transmit: Transmit, back: Transmit, rtt_us: int) -> tuple[End, End]:
    """The dialler's and the listener's end of an idle connection."""
    one, other = End(agenda, transmit, rtt_us), End(agenda, back, rtt_us)
    one.peer, other.peer = other, one
    return one, other
