"""A ring that keeps itself: join, leave, stabilise, fix fingers, notify, rectify.

Whoever is in the tables was met: it has sent a message itself. Who is only heard of, and would belong there,
is asked first (a probe: RingNotify, answered by RingState). So nobody dead comes back through the lists of
others, and a broker's id is the one it says itself.

- Neighbours: every `stabilise_us` the successor (and the predecessor, every `check_us`) is told that one is
  there, and answers with its own neighbours when they changed or when they are wanted.
- Slots (`tables`): within `fix_us` the first member of each is asked for: its entry directly, which knows
  whether somebody stands before it, or by a question that goes clockwise and so never in a circle.
- The dead: who has lost its link or does not answer is suspected, passed over, probed once more, and after
  `suspect_us` removed. It is tried again later, ever more seldom: two halves of a network find each other.
- Who joins is a member when those that will be its neighbours have answered, or were given up: what it says
  of a key before would be wrong. When no seed ever answers, the first by name begins a ring (then the second,
  ..): after all of them were restarted at once, nobody is a member whom the others could ask.
- Two brokers with one id: who has it says so to the other (RingTaken), who takes another.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from broker_grpc.errors import ProtocolError
from broker_grpc.protocols.ring.absent import Lost
from broker_grpc.protocols.ring.fitting import Fitting, remove
from broker_grpc.protocols.ring.floods import Floods
from broker_grpc.protocols.ring.geometry import geometry_of
from broker_grpc.protocols.ring.identifiers import Member, clockwise, id_of
from broker_grpc.protocols.ring.messages import checked, checked_path, packed, unpacked
from broker_grpc.protocols.ring.probes import Probes
from broker_grpc.protocols.ring.record import changed
from broker_grpc.protocols.ring.settings import RingSettings
from broker_grpc.protocols.ring.substrate import RingHost, RingListener
from broker_grpc.protocols.ring.tables import Tables
from broker_grpc.protocols.ring.wishes import wishes
from protos.body import Body
from protos.records import LogEvent
from protos.ring_messages import (
    RingAnswer,
    RingLeave,
    RingMembers,
    RingNotify,
    RingQuery,
    RingState,
    RingTaken,
)

ATTEMPTS = 8  # to join, before the first by name begins a ring


class Ring:
    """`Substrate`. `tables`: those to begin with (`bootstrap: converged`)."""

    def __init__(
        self,
        host: RingHost,
        settings: RingSettings,
        plane: int = 0,
        id_: int | None = None,
        tables: Tables | None = None,
    ) -> None:
        self.plane = plane
        self.listeners: list[RingListener] = []
        self.joined = False
        self.geometry = geometry_of(settings)
        place = Member(id_of(host.id) if id_ is None else id_, host.id)
        self.tables = tables or Tables(place)
        self._host = host
        self._settings = settings
        self._fitting = Fitting(settings, self.geometry, self.rtt_us)
        self._probes = Probes(settings.suspect_us)
        self._floods = Floods()
        self._lost = Lost(settings.stabilise_us)
        self._suspects: dict[str, int] = {}  # in the tables, without a sign of life -> dead at
        self._met: dict[str, int] = {one.broker: one.id for one in self.tables.known()}
        self._seeds: list[str] = []
        self._in_vain = 0  # seeds in a row that did not answer
        self._attempt = 0  # ids of ours that were taken
        self._version = 1  # of our neighbours
        self._told: dict[str, int] = {}  # broker -> version that it knows
        self._their: dict[str, int] = {}  # broker -> our version when it last told its own
        self._number = 0
        self._to_ask: list[int] | None = None
        self._asked = 0  # position in that list
        self._join_at: int | None = None
        self._stabilise_at: int | None = None
        self._check_at: int | None = None
        self._fix_at: int | None = None
        self._demanded: dict[str, str] = {}
        self._moved = False
        self._gone: list[Member] = []
        self._actions: dict[type[Body], Callable[[int, str, Any], None]] = {
            RingNotify: self._notified,
            RingState: self._told_state,
            RingQuery: self._queried,
            RingAnswer: self._answered,
            RingLeave: self._left,
            RingTaken: self._taken,
        }

    # ------------------------------------------------------------ what the broker asks

    @property
    def me(self) -> Member:
        return self.tables.me

    @property
    def settled(self) -> bool:
        return self.joined and not self._suspects and not self._probes.of_strangers

    def next_hop(self, key: int) -> str | None:
        member = self.geometry.next_hop(self.tables, key, self._usable)
        return member.broker if member is not None else None

    def _usable(self, member: Member) -> bool:
        return member.broker not in self._suspects

    def wanted(self) -> dict[str, str]:
        return wishes(self.tables) if self.joined else {}

    def rtt_us(self, peer: str) -> int | None:
        measured = self._host.rtt_us(peer)
        return measured if measured is not None else self._probes.rtts.get(peer)

    # ------------------------------------------------------------ coming and going

    def join(self, now_us: int, seeds: Collection[str]) -> None:
        self._seeds = [seed for seed in seeds if seed != self._host.id]
        self._in_vain = 0
        if self._seeds and not self.tables.predecessors:
            self._ask_to_join(now_us)
        else:
            self._begin(now_us)
        self._flush()

    def _ask_to_join(self, now_us: int) -> None:
        """Through the next seed: the one before has not answered, or was not asked."""
        if self._in_vain >= ATTEMPTS * (1 + sum(seed < self._host.id for seed in self._seeds)):
            return self._begin_alone(now_us)
        self._in_vain += 1
        seed = self._seeds.pop(0)
        self._seeds.append(seed)
        self._number += 1
        self._join_at = now_us + self._settings.lookup_us
        self._host.send(seed, RingQuery(self.plane, self.me.id, self._number, (self.me.broker,), True))

    def _begin_alone(self, now_us: int) -> None:
        """The seeds are asked again, ever more seldom: should they have a ring, it becomes one with this."""
        for seed in self._seeds:
            self._lost.add(now_us, seed)
        self._begin(now_us)

    def _begin_when_met(self, now_us: int) -> None:
        joins = not self.joined and self._join_at is not None
        if joins and self.tables.predecessors and not self._probes.of_strangers:
            self._begin(now_us)

    def _begin(self, now_us: int) -> None:
        """A member from now on. Periods begin at random: a thousand brokers do not speak at once."""
        self.joined, self._join_at = True, None
        settings, draw = self._settings, self._host.random.randrange
        self._stabilise_at = now_us + draw(settings.stabilise_us)
        self._check_at = now_us + draw(settings.check_us)
        self._fix_at = now_us + draw(max(1, settings.fix_us // 8))
        self._log("", "joined")
        self._moved = True

    def leave(self, now_us: int) -> None:
        body = RingLeave(self.plane, self.me.id, packed(self.tables.neighbours()))
        for broker in sorted({one.broker for one in self.tables.known()}):
            self._host.send(broker, body)
        self._empty(self.me.id)
        self._log("", "left")
        self._flush()

    def _empty(self, id_: int) -> None:
        self.tables = Tables(Member(id_, self._host.id))
        self.joined, self._moved, self._to_ask = False, True, None
        self._join_at = self._stabilise_at = self._check_at = self._fix_at = None
        self._probes.clear()
        self._lost.clear()
        for kept in (self._suspects, self._met, self._told, self._their):
            kept.clear()

    def renumber(self, now_us: int, id_: int) -> None:
        seeds = [one.broker for one in self.tables.successors] or self._seeds
        if self.joined:
            self.leave(now_us)
        self._empty(id_)
        self.join(now_us, seeds)

    # ------------------------------------------------------------ messages

    def received(self, now_us: int, peer: str, body: Body) -> bool:
        act = self._actions.get(body.__class__)
        if act is None or body.plane != self.plane:  # type: ignore[attr-defined]
            return False
        self._floods.check(now_us, peer)
        act(now_us, peer, body)
        self._flush()
        return True

    def _notified(self, now_us: int, peer: str, body: RingNotify) -> None:
        heard = unpacked(body.known)
        if not self._meet(now_us, peer, body.place) or not self._takes_part():
            return
        self._hear(now_us, heard)
        known = None
        if body.wants or self._told.get(peer) != self._version:
            known = self._tell(peer)
        self._host.send(peer, RingState(self.plane, self.me.id, body.round, known))

    def _takes_part(self) -> bool:
        return self.joined or self._join_at is not None

    def _tell(self, peer: str) -> RingMembers:
        self._told[peer] = self._version
        return packed(self.tables.neighbours())

    def _told_state(self, now_us: int, peer: str, body: RingState) -> None:
        heard = unpacked(body.known)
        again = self._probes.answered(now_us, peer, body.round)
        if not self._meet(now_us, peer, body.place):
            return
        if body.known is not None:
            self._their[peer] = self._version
        self._hear(now_us, heard)
        self._begin_when_met(now_us)
        if again and self._settings.proximity:
            self._probe(now_us, peer)  # the first answer had to wait for its link: this one is measured

    def _queried(self, now_us: int, peer: str, body: RingQuery) -> None:
        checked_path(body.path, peer, self._settings.hop_limit)
        if not self.joined:
            return self._drop(body, peer, "not a member yet")
        if body.joining and body.key == self.me.id and body.path[0] != self.me.broker:
            return self._refuse_id(body.path[0], body.key, peer)
        onward = self._before(body.key)
        if onward is None or onward.broker in body.path:
            members = self._around(body.key, body.joining)
            answer = RingAnswer(self.plane, body.key, body.number, body.path, packed(members))
            return self._host.send(peer, answer)
        if len(body.path) >= self._settings.hop_limit:
            return self._drop(body, onward.broker, f"over {len(body.path)} brokers: the limit of hops")
        path = (*body.path, self.me.broker)
        self._host.send(onward.broker, RingQuery(self.plane, body.key, body.number, path, body.joining))

    def _before(self, key: int) -> Member | None:
        """Of those one knows, the last before the key; None when the answer is known here."""
        me = self.me.id
        distance = clockwise(me, key)
        behind, ahead = self.tables.predecessor.id, self.tables.successor.id
        if not distance or distance <= clockwise(me, ahead) or behind == me:
            return None
        if clockwise(behind, key) and clockwise(behind, key) <= clockwise(behind, me):
            return None
        known = (one for one in self.tables.known() if clockwise(me, one.id) < distance and self._usable(one))
        return max(known, key=lambda one: clockwise(me, one.id), default=None)

    def _around(self, key: int, joining: bool) -> list[Member]:
        """Who is near the key: who joins needs both sides, all others who follows."""
        near = sorted({self.me, *self.tables.neighbours()}, key=lambda one: clockwise(key, one.id))
        if joining:
            return near
        kept = max(self._settings.candidates if self._settings.proximity else 0, 1 + self._settings.backups)
        return near[:kept]

    def _answered(self, now_us: int, peer: str, body: RingAnswer) -> None:
        heard = unpacked(body.known)
        if len(body.path) > self._settings.hop_limit:
            raise ProtocolError(f"an answer over {len(body.path)} brokers")
        if not body.path or body.path[-1] != self.me.broker:
            raise ProtocolError("an answer for another broker")
        if len(body.path) > 1:
            return self._pass_back(body)
        self._probes.question_answered(body.number)
        if not self.joined and self._join_at is not None and body.key == self.me.id:
            self._first_meeting(now_us, heard)
        elif self.joined:
            self._hear(now_us, heard)

    def _pass_back(self, body: RingAnswer) -> None:
        path = body.path[:-1]
        self._host.send(path[-1], RingAnswer(self.plane, body.key, body.number, path, body.known))

    def _first_meeting(self, now_us: int, heard: list[Member]) -> None:
        """The seed's ring: whoever will be a neighbour is greeted; its answer makes us a member."""
        for member in heard:
            if member.id == self.me.id and member.broker != self.me.broker:
                return self._take_another_id(now_us, member.broker)
        self._in_vain = 0
        self._hear(now_us, heard)
        if not self._probes.of_strangers and not heard:
            self._join_at = now_us + self._settings.lookup_us

    def _left(self, now_us: int, peer: str, body: RingLeave) -> None:
        heard = unpacked(body.known)
        self._forget(now_us, peer, "left", come_back=False)
        self._hear(now_us, [one for one in heard if one.broker != peer])

    def _taken(self, now_us: int, peer: str, body: RingTaken) -> None:
        if body.place != self.me.id or body.holder == self.me.broker:
            raise ProtocolError("an id that is not in use here")
        if not self.joined or body.holder < self.me.broker:
            self._take_another_id(now_us, body.holder)

    def _take_another_id(self, now_us: int, holder: str) -> None:
        self._attempt += 1
        self._host.log(
            LogEvent(
                kind="REFUSED", peer=holder, detail=f"id {self.me.id:#018x} is {holder}'s; another is taken"
            )
        )
        self.renumber(now_us, id_of(self._host.id, self._attempt))

    def _refuse_id(self, broker: str, place: int, peer: str) -> None:
        detail = f"id {place:#018x} of {broker} is {self.me.broker}'s"
        self._host.log(LogEvent(kind="REFUSED", peer=broker, detail=detail))
        self._host.send(broker, RingTaken(self.plane, place, self.me.broker))

    def _drop(self, body: Body, peer: str, why: str) -> None:
        self._host.log(LogEvent(kind="DROPPED", type=body.type, peer=peer, detail=why))

    # ------------------------------------------------------------ who is met, who is heard of

    def _meet(self, now_us: int, broker: str, place: int) -> bool:
        """A sign of life from the broker itself. False: its id is ours, or another's."""
        member = checked(place, broker)
        if member.id == self.me.id:
            self._refuse_id(broker, place, broker)
            return False
        if self._met.get(broker, place) != place:
            self._forget(now_us, broker, "has another id", come_back=False)
        rival = next((one for one in self.tables.known() if one.id == place and one.broker != broker), None)
        if rival is not None:
            detail = f"id {place:#018x} of {broker} is {rival.broker}'s"
            self._host.log(LogEvent(kind="REFUSED", peer=broker, detail=detail))
            self._host.send(broker, RingTaken(self.plane, place, rival.broker))
            return False
        self._suspects.pop(broker, None)
        self._lost.found(broker)
        if self._takes_part():
            self._add(member)
        return True

    def _add(self, member: Member) -> None:
        is_neighbour = self._fitting.add_neighbour(self.tables, member)
        is_entry = self._fitting.add_entry(self.tables, member)
        if is_neighbour or is_entry:
            self._met[member.broker] = member.id
            self._moved = True
            self._log(member.broker, "neighbour in" if is_neighbour else "entry in")
        if is_neighbour:
            self._version += 1
            self._to_ask = None

    def _hear(self, now_us: int, members: Iterable[Member]) -> None:
        """Of those that others know: whoever would belong here is asked."""
        for member in members:
            broker = member.broker
            if broker == self.me.broker or broker in self._lost:
                continue
            if self._met.get(broker) == member.id:
                self._add(member)  # an entry that is a neighbour now, or the reverse
            elif broker not in self._met and self._belongs(member):
                self._probe(now_us, broker, stranger=True)

    def _belongs(self, member: Member) -> bool:
        fitting = self._fitting
        return fitting.is_neighbour(self.tables, member.id) or fitting.is_better(self.tables, member)

    def _probe(self, now_us: int, broker: str, stranger: bool = False) -> None:
        """Nobody is asked twice at once."""
        round_ = self._probes.begin(now_us, broker, stranger)
        if round_:
            wants = self._their.get(broker) != self._version
            told = self._told.get(broker) == self._version
            known = None if told else self._tell(broker)
            self._host.send(broker, RingNotify(self.plane, self.me.id, round_, known, wants))

    # ------------------------------------------------------------ the dead

    def peer_up(self, now_us: int, peer: str) -> None:
        self._told.pop(peer, None)
        if peer in self._suspects:
            self._probe(now_us, peer)

    def peer_down(self, now_us: int, peer: str) -> None:
        if peer in self._met:
            self._suspects.setdefault(peer, now_us + self._settings.suspect_us)

    def _unanswered(self, now_us: int, broker: str) -> None:
        if broker not in self._met:
            self._lost.add(now_us, broker)
        elif broker in self._suspects:
            self._forget(now_us, broker, "does not answer")
        else:
            self._suspects[broker] = now_us + self._settings.suspect_us
            self._probe(now_us, broker)

    def _forget(self, now_us: int, broker: str, why: str, come_back: bool = True) -> None:
        place = self._met.pop(broker, None)
        for kept in (self._suspects, self._told, self._their):
            kept.pop(broker, None)
        self._probes.end(broker)
        if come_back:
            self._lost.add(now_us, broker)
        if place is not None and remove(self.tables, broker):
            self._version += 1
            self._moved, self._to_ask = True, None
            for member in sorted(self.tables.known()):  # whoever had to make room for the dead one
                self._add(member)
            self._gone.append(Member(place, broker))
            self._log(broker, f"out: {why}")

    # ------------------------------------------------------------ time

    def next_deadline_us(self) -> int | None:
        due = (
            self._join_at, self._stabilise_at, self._check_at, self._fix_at, self._probes.next_us(),
            self._lost.next_us() if self.joined else None, min(self._suspects.values(), default=None),
        )  # fmt: skip
        return min((at for at in due if at is not None), default=None)

    def deadline(self, now_us: int) -> None:
        if self._join_at is not None and self._join_at <= now_us:
            self._ask_to_join(now_us)
        for broker in self._probes.late(now_us):
            self._unanswered(now_us, broker)
        self._begin_when_met(now_us)
        for broker in sorted(one for one, at in self._suspects.items() if at <= now_us):
            self._forget(now_us, broker, "its link is lost")
        if self.joined:
            self._upkeep(now_us)
        self._flush()

    def _upkeep(self, now_us: int) -> None:
        settings = self._settings
        if self._stabilise_at is not None and self._stabilise_at <= now_us:
            self._stabilise_at = now_us + settings.stabilise_us
            self._exchange(now_us, self.tables.successor)
        if self._check_at is not None and self._check_at <= now_us:
            self._check_at = now_us + settings.check_us
            self._exchange(now_us, self.tables.predecessor)
        if self._fix_at is not None and self._fix_at <= now_us:
            self._fix(now_us)
        for broker in self._lost.due(now_us):
            self._lost.add(now_us, broker)
            self._probe(now_us, broker)

    def _exchange(self, now_us: int, neighbour: Member) -> None:
        if neighbour != self.me:
            self._probe(now_us, neighbour.broker)

    def _fix(self, now_us: int) -> None:
        """One slot after the other, all of them within `fix_us`."""
        if self._to_ask is None:
            self._to_ask = self._fitting.to_ask(self.tables)
        self._fix_at = now_us + self._settings.fix_us // max(1, len(self._to_ask))
        if self._to_ask:
            self._asked = (self._asked + 1) % len(self._to_ask)
            self._ask(now_us, self._to_ask[self._asked])

    def _ask(self, now_us: int, number: int) -> None:
        start = self.geometry.slot(self.me.id, number).start
        entry = self.tables.entries.get(number, ())
        to = self._before(start)
        if entry and not self._settings.proximity:
            to = entry[0]
        if to is not None:
            self._number += 1
            if entry and to == entry[0]:
                self._probes.ask(now_us, to.broker, self._number)
            query = RingQuery(self.plane, start, self._number, (self.me.broker,))
            self._host.send(to.broker, query)

    # ------------------------------------------------------------ what others hear of it

    def _flush(self) -> None:
        """After the tables have changed: links, then listeners."""
        if not self._moved:
            return
        self._moved = False
        gone, self._gone = self._gone, []
        stale = [broker for broker in self._met if broker not in {one.broker for one in self.tables.known()}]
        for broker in stale:  # pushed out by nearer ones
            del self._met[broker]
            self._suspects.pop(broker, None)
        wanted = self.wanted()
        if wanted != self._demanded:
            self._demanded = wanted
            self._host.demand(self.plane, wanted)
        for listener in self.listeners:
            for member in gone:
                listener.replaced(member.broker, self._nearest(member.id))
            listener.responsibility_moved()

    def _nearest(self, id_: int) -> str | None:
        known = min(self.tables.known(), key=lambda one: clockwise(id_, one.id), default=None)
        return known.broker if known is not None else None

    def _log(self, broker: str, detail: str) -> None:
        self._host.log(changed(self.tables, self.plane, broker, detail))
