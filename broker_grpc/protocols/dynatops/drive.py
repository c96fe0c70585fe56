"""One reconfiguration as the manager drives it: a step begins when all have acknowledged the one before."""

from __future__ import annotations

from collections.abc import Iterable

from broker_grpc.protocols.dynatops.configuration import Configuration
from broker_grpc.protocols.dynatops.steps import Step
from protos.body import Body
from protos.dynatops_messages import RcfgAbort, RcfgFinish, RcfgInit, RcfgOverlay, RcfgPubsub, RcfgRetire


class Drive:
    def __init__(
        self, base: int, version: int, before: Configuration, after: Configuration, now_us: int, step: Step
    ) -> None:
        self.base = base
        self.version = version
        self.before = before
        self.after = after
        self.awaited = frozenset(after)
        self.begun_us = now_us
        self.ordered = 0  # messages of the manager
        self.messages: dict[str, int] = {}  # of each broker for this version, as it said last
        self.acknowledgements = 0
        self.why = ""  # it was given up
        self.begin(step, now_us)

    def begin(self, step: Step, now_us: int) -> None:
        self.step = step
        self.step_us = self.told_us = now_us
        self.done: set[str] = set()

    @property
    def is_final(self) -> bool:
        """It will be: some may route in the new version."""
        return self.step in (Step.FINISH, Step.RETIRE)

    def missing(self) -> frozenset[str]:
        return self.awaited - self.done

    def acknowledged(self, broker: str, messages: int) -> None:
        self.acknowledgements += 1
        self.done.add(broker)
        self.messages[broker] = max(messages, self.messages.get(broker, 0))

    def excuse(self, brokers: Iterable[str]) -> None:
        """They are not waited for any more."""
        self.awaited -= frozenset(brokers)

    def order(self) -> Body:
        """Of the step."""
        match self.step:
            case Step.INIT:
                return RcfgInit(self.version, self.base)
            case Step.OVERLAY:
                moved = [name for name, id_ in sorted(self.after.items()) if self.before.get(name) != id_]
                return RcfgOverlay(self.version, tuple(moved), tuple(self.after[name] for name in moved))
            case Step.RESTORE:
                return RcfgPubsub(self.version, 1)
            case Step.REPAIR:
                return RcfgPubsub(self.version, 2)
            case Step.FINISH:
                return RcfgFinish(self.version)
            case Step.RETIRE:
                return RcfgRetire(self.version)
            case _:
                return RcfgAbort(self.version)

    def to_tell_again(self) -> frozenset[str]:
        """A table of step 3.1 may have been lost on its way: who sent it has acknowledged."""
        if self.step == Step.RESTORE and self.missing():
            return self.awaited
        return self.missing()
