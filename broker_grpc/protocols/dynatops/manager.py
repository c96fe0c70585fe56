"""The reconfiguration manager (section 5): once a period it asks, decides, and leads all brokers through it.

- Every T_free brokers report their publications and topics; publication rates go through an exponential
  filter. If the notification cost is high enough, and a configuration is worth more than it costs, the
  protocol begins. No period ends while one is under way.
- A step that not all acknowledge in time is given up, and everybody forgets the new version: as long as no
  broker was told to route in it. From then on it is finished, whatever happens.
- It keeps nothing on disk. Restarted, it asks all brokers in which step they are: when one of them routes in
  a new version, this is finished with all; else whatever is half made is forgotten.
- A broker that comes back knows nothing of versions: it is told which one to adopt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from broker_grpc.core.links import Peer
from broker_grpc.core.node import Node
from broker_grpc.core.options import BrokerOptions
from broker_grpc.core.timed import Timed
from broker_grpc.protocols.dynatops import configuration as who
from broker_grpc.protocols.dynatops.drive import Drive
from broker_grpc.protocols.dynatops.kinds import RECONFIGURATION_ENDED, RECONFIGURATION_PLANNED, STEP_DONE
from broker_grpc.protocols.dynatops.plan import Decision, Known, RoundTrip, decide
from broker_grpc.protocols.dynatops.planning import estimated_rates
from broker_grpc.protocols.dynatops.settings import ManagerSettings
from broker_grpc.protocols.dynatops.steps import Step
from protos.body import Body, Envelope
from protos.dynatops_messages import (
    PeriodReport,
    RcfgAbort,
    RcfgAdopt,
    RcfgDone,
    RcfgFinish,
    RcfgRetire,
    RcfgStatus,
    ReportRequest,
)
from protos.records import LogEvent


class Manager(Node):
    """`brokers`: all that there may be, without itself."""

    def __init__(
        self,
        id_: str,
        settings: ManagerSettings,
        options: BrokerOptions | None = None,
        brokers: Iterable[str] = (),
        incarnation: int = 1,
    ) -> None:
        super().__init__(id_, options, incarnation)
        self.settings = settings
        self.brokers = sorted(set(brokers) - {id_})
        self.version = 0
        self.configuration = who.by_themselves(self.brokers)
        self.drive: Drive | None = None
        self.rates: dict[str, float] = {}  # events per second, as estimated
        self._latest = 0
        self._begun = False
        self._gather_until: int | None = None
        self._statuses: dict[str, RcfgStatus] = {}
        self._period = 0
        self._period_us = 0  # when the next one ends
        self._counted_us = 0  # since when `_published` counts
        self._reporting_until: int | None = None
        self._reported: set[str] = set()
        self._published: Counter[str] = Counter()
        self._subscribed: dict[str, frozenset[str]] = {}
        self._rtts_us: dict[RoundTrip, int] = {}
        self._arrange(after=(*self._sampling(), Timed(self._next_us, self._run_due)))

    # ------------------------------------------------------------ messages

    def _act(self, peer: Peer, envelope: Envelope, body: Body) -> None:
        match body:
            case RcfgStatus():
                self._told(peer.name, body)
            case RcfgDone():
                self._acknowledged(peer.name, body)
            case PeriodReport():
                self._report(peer.name, body)
            case _:
                super()._act(peer, envelope, body)

    def _tell(self, broker: str, body: Body) -> None:
        """Who has no link says, when it has one again, what it knows."""
        if broker in self._brokers:
            if self.drive is not None:
                self.drive.ordered += 1
            self.send(broker, body)

    # ------------------------------------------------------------ who knows what

    def _told(self, broker: str, status: RcfgStatus) -> None:
        who.changed(who.by_themselves(self.brokers), status.brokers, status.ids)  # or it is refused
        self._statuses[broker] = status
        self._latest = max(self._latest, status.latest, status.version, status.next)
        if self._begun:
            self._heard(broker, status)
        elif self._statuses.keys() >= set(self.brokers):
            self._begin()

    def _begin(self) -> None:
        """The newest version that is in use is in use; what is half made is forgotten or finished."""
        self._begun, self._gather_until = True, None
        newest = max(self._statuses.values(), key=lambda status: status.version, default=RcfgStatus())
        self._use(newest)
        finishing = [one for one in self._statuses.values() if one.next == newest.version and one.next]
        if finishing:
            same = self.configuration
            self.drive = Drive(newest.version, newest.version, same, same, self.now_us, Step.FINISH)
        for version in sorted({one.next for one in self._statuses.values()} - {0, newest.version}):
            event = LogEvent(kind=RECONFIGURATION_ENDED, type="aborted", message=str(version))
            event.detail = "the manager was restarted before anybody routed in it"
            self.log(event)
        for broker, status in sorted(self._statuses.items()):
            self._heard(broker, status)
        self._period_us = self.now_us + self.settings.free_period_us
        self._counted_us = self.now_us

    def _use(self, status: RcfgStatus) -> None:
        self.version = status.version
        base = who.by_themselves(self.brokers)
        self.configuration = who.changed(base, status.brokers, status.ids)

    def _heard(self, broker: str, status: RcfgStatus) -> None:
        drive = self.drive
        if status.version > self.version and (drive is None or status.version != drive.version):
            return self._newer(status)
        if drive is not None and not drive.is_final:
            self._heard_while_making(drive, broker, status)
        elif status.version != self.version and status.next != self.version:
            self._tell(broker, RcfgAdopt(self.version, *who.told(self.configuration)))
        elif drive is not None:
            self._tell(broker, drive.order())
        elif status.next and status.next == self.version:  # late to finish, or to retire the old version
            self._tell(broker, RcfgFinish(self.version))
            self._tell(broker, RcfgRetire(self.version))
        elif status.next:
            self._tell(broker, RcfgAbort(status.next))

    def _heard_while_making(self, drive: Drive, broker: str, status: RcfgStatus) -> None:
        lost = status.version != drive.base or (status.next != drive.version and drive.step != Step.INIT)
        if drive.step == Step.ABORT:
            self._tell(broker, drive.order())
        elif lost:
            self._give_up(drive, f"{broker} has lost what it held")
        elif broker in drive.missing():
            self._tell(broker, drive.order())
        if status.version != self.version:
            self._tell(broker, RcfgAdopt(self.version, *who.told(self.configuration)))

    def _newer(self, status: RcfgStatus) -> None:
        """Somebody who was not there when it was asked routes in a newer version: so shall all."""
        if self.drive is not None:
            self._give_up(self.drive, f"version {status.version} is in use")
        self._use(status)
        for broker in self.brokers:
            self._tell(broker, RcfgAdopt(self.version, *who.told(self.configuration)))

    # ------------------------------------------------------------ periods

    def _ask(self, now_us: int) -> None:
        self._period += 1
        self._period_us = now_us + self.settings.free_period_us
        self._reporting_until = now_us + self.settings.report_us
        self._reported = set()
        for broker in self.brokers:
            self._tell(broker, ReportRequest(self._period))

    def _report(self, broker: str, report: PeriodReport) -> None:
        """A late one counts too: what it counts is told once."""
        for topic in report.published:
            self._published[topic.topic] += topic.published
        self._subscribed[broker] = frozenset(report.subscribed)
        for peer, rtt in zip(report.peers, report.rtts_us, strict=False):
            self._rtts_us[broker, peer] = rtt
        if report.period == self._period and self._reporting_until is not None:
            self._reported.add(broker)
            if self._reported >= set(self.brokers):
                self._evaluate()

    def _evaluate(self) -> None:
        self._reporting_until = None
        silent = sorted(set(self.brokers) - self._reported)
        if silent:
            event = LogEvent(kind=RECONFIGURATION_PLANNED, type="no_reports", detail=f"of {' '.join(silent)}")
            return self.log(event)
        self._estimate()
        events = {topic: rate * self.settings.free_period_us / 1e6 for topic, rate in self.rates.items()}
        decision = decide(Known(self.configuration, self._subscribed, events, self._rtts_us), self.settings)
        if decision.outcome == "planned":
            self._latest += 1
        self._log_decision(decision)
        if decision.outcome == "planned":
            self._start(decision)

    def _estimate(self) -> None:
        """(8). Before the first period nothing is known: it is taken as it is."""
        seconds = max(self.now_us - self._counted_us, 1) / 1e6
        observed = {topic: count / seconds for topic, count in self._published.items()}
        self.rates = estimated_rates(self.rates or observed, observed, self.settings.alpha)
        self._published.clear()
        self._counted_us = self.now_us

    def _log_decision(self, decision: Decision) -> None:
        content: dict[str, object] = {
            "brokers": decision.brokers, "topics": decision.topics, "moved": decision.moved,
            "cost": decision.cost, "after": decision.after, "benefit": decision.benefit,
            "price": decision.price, "period": self._period,
        }  # fmt: skip
        if decision.outcome == "planned":
            after = sorted(decision.configuration.items())
            content["places"] = {name: (self.configuration[name], id_) for name, id_ in after}
        event = LogEvent(kind=RECONFIGURATION_PLANNED, type=decision.outcome)
        event.message = str(self._latest) if decision.outcome == "planned" else ""
        event.content = msgspec.json.encode(content).decode()
        self.log(event)

    # ------------------------------------------------------------ a reconfiguration

    def _start(self, decision: Decision) -> None:
        after = decision.configuration
        self.drive = Drive(self.version, self._latest, self.configuration, after, self.now_us, Step.INIT)
        self._order_all(self.drive, self.brokers)

    def _order_all(self, drive: Drive, brokers: Iterable[str]) -> None:
        drive.told_us = self.now_us
        for broker in sorted(brokers):
            self._tell(broker, drive.order())

    def _acknowledged(self, broker: str, done: RcfgDone) -> None:
        drive = self.drive
        if drive is None or done.version != drive.version:
            return
        if done.error:
            return self._objected(drive, broker, done)
        if done.step == drive.step:
            drive.acknowledged(broker, done.messages)
            if not drive.missing():
                self._step_done(drive)

    def _objected(self, drive: Drive, broker: str, done: RcfgDone) -> None:
        if drive.is_final:
            self._tell(broker, RcfgAdopt(drive.version, *who.told(drive.after)))
        elif drive.step == Step.ABORT:
            drive.acknowledged(broker, 0)
            if not drive.missing():
                self._end(drive)
        elif done.step == drive.step:
            self._give_up(drive, f"{broker}: {done.error}")

    def _step_done(self, drive: Drive) -> None:
        took = self.now_us - drive.step_us
        event = LogEvent(kind=STEP_DONE, type=drive.step.name.lower(), message=str(drive.version))
        event.duration_us = took
        self.log(event)
        if drive.step in (Step.RETIRE, Step.ABORT):
            return self._end(drive)
        if drive.step == Step.REPAIR:
            self.version, self.configuration = drive.version, drive.after
        drive.begin(Step(drive.step + 1), self.now_us)
        self._order_all(drive, drive.awaited)

    def _give_up(self, drive: Drive, why: str) -> None:
        drive.why = why
        drive.begin(Step.ABORT, self.now_us)
        self._order_all(drive, drive.awaited)

    def _end(self, drive: Drive) -> None:
        self.drive = None
        event = LogEvent(kind=RECONFIGURATION_ENDED, type="aborted" if drive.why else "done")
        event.message, event.detail = str(drive.version), drive.why
        event.duration_us = self.now_us - drive.begun_us
        told = {"manager": drive.ordered, "acknowledgements": drive.acknowledgements}
        brokers: Mapping[str, int] = drive.messages
        event.content = msgspec.json.encode(told | {"brokers": sum(brokers.values())}).decode()
        self.log(event)

    # ------------------------------------------------------------ time

    def _up(self, peer: Peer) -> None:
        if not self._begun and self._gather_until is None and peer.kind == "broker":
            self._gather_until = self.now_us + self.settings.gather_us

    def _next_us(self) -> int | None:
        if not self._begun:
            return self._gather_until
        if self.drive is not None:
            return min(
                self.drive.told_us + self.settings.repeat_us, self.drive.step_us + self.settings.step_us
            )
        return self._period_us if self._reporting_until is None else self._reporting_until

    def _run_due(self, now_us: int) -> None:
        if not self._begun:
            self._begin()
        elif self.drive is not None:
            self._patience(self.drive, now_us)
        elif self._reporting_until is not None:
            self._evaluate()
        else:
            self._ask(now_us)

    def _patience(self, drive: Drive, now_us: int) -> None:
        if now_us - drive.step_us < self.settings.step_us:
            return self._order_all(drive, drive.to_tell_again())
        if drive.step < Step.FINISH:
            return self._give_up(drive, f"no {drive.step.name} of {' '.join(sorted(drive.missing()))}")
        drive.step_us = drive.told_us = now_us
        gone = drive.missing() if drive.step == Step.ABORT else drive.missing() - self._brokers.keys()
        drive.excuse(gone)
        if not drive.missing():
            self._step_done(drive)
        else:
            self._order_all(drive, drive.to_tell_again())

    # ------------------------------------------------------------ questions

    def _synced(self) -> dict[str, bool]:
        return {name: name in self._statuses for name in sorted(self._brokers)}

    @property
    def settled(self) -> bool:
        return self._begun and self.drive is None
