"""What the timeline is told, and what it answers."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from protos.records import LogEvent

# ---------------------------------------------------------------- what a look at the processes shows


class LinkLook(msgspec.Struct):
    """One end of an overlay link, as its broker reports it (broker.proto LinkStatus)."""

    peer: str
    up: bool = False
    synced: bool = False
    queued: int = 0
    dropped: int = 0


class BrokerLook(msgspec.Struct):
    """A broker's own account (broker.proto StatusAnswer)."""

    broker: str = ""
    incarnation: int = 0
    links: list[LinkLook] = []
    clients: int = 0
    advertisements: int = 0
    subscriptions: int = 0
    control_sent: int = 0
    control_received: int = 0
    publications: int = 0
    deliveries: int = 0
    dropped: int = 0
    draining: bool = False
    settled: bool = False


class ClientLook(msgspec.Struct):
    connected: bool = False
    subscribed: int = 0
    wanted: int = 0
    published: int = 0
    delivered: int = 0


class Look(msgspec.Struct):
    """The answers of every live broker and client to one round of status requests."""

    brokers: dict[str, BrokerLook] = {}
    clients: dict[str, ClientLook] = {}


# ---------------------------------------------------------------- stimuli


class Begin(msgspec.Struct):
    """The network is up; nothing runs on it yet."""


class ProcessReady(msgspec.Struct):
    """A broker listens, a client has its time-zero requests acknowledged, a program was started."""

    id: str


class ProcessEnded(msgspec.Struct):
    """It is gone, wanted or not. `code` is negative for a signal, as in `subprocess`."""

    id: str
    code: int
    detail: str = ""  # the last lines of its log


class Looked(msgspec.Struct):
    look: Look


class Checked(msgspec.Struct):
    """The custom check of the gate ended."""

    met: bool
    detail: str = ""


class StopRequested(msgspec.Struct):
    """Somebody wants the run to end now, or it cannot go on (`failed`); what was collected is kept."""

    reason: str
    failed: bool = False


class DeadlineReached(msgspec.Struct):
    """The clock is at or after `next_deadline_us()`."""


class OverlayChanged(msgspec.Struct):
    """Brokers exchanged links; several may say the same (`broker_grpc.machine.OverlayChanged`)."""

    change: str
    added: tuple[str, str]
    removed: tuple[str, str]


Stimulus = (
    Begin | ProcessReady | ProcessEnded | Looked | Checked | OverlayChanged | StopRequested | DeadlineReached
)  # fmt: skip

# ---------------------------------------------------------------- effects


class Start(msgspec.Struct):
    ids: list[str]


class Stop(msgspec.Struct):
    """Gracefully: clients unsubscribe and disconnect, brokers drain."""

    ids: list[str]


class Kill(msgspec.Struct):
    ids: list[str]


class Quiet(msgspec.Struct):
    """Publishers publish no more; everything else goes on, so that what is under way arrives."""


class TakeLook(msgspec.Struct):
    """Ask every live broker and client for its status, and answer with Looked."""


class RunCheck(msgspec.Struct):
    argv: list[str]
    node: str


class ChangeNetwork(msgspec.Struct):
    action: Literal["link_down", "link_up", "reshape", "partition", "heal"]
    target: str
    arguments: dict[str, Any]


class Instruct(msgspec.Struct):
    """Tell a broker to do something; it knows where these others are."""

    id: str
    name: str  # set, or what its protocol knows
    arguments: dict[str, Any]
    acquaint: list[str] = []  # brokers that are to know each other


class Record(msgspec.Struct):
    """A line of events/harness.jsonl; the conductor fills `n` and `node`."""

    event: LogEvent


class Tell(msgspec.Struct):
    """For people: the state of the run changed. `phase` may be empty."""

    state: str
    phase: str = ""
    detail: str = ""


class Warn(msgspec.Struct):
    """Goes into the manifest: check before trusting the result."""

    text: str


class Finish(msgspec.Struct):
    status: Literal["done", "failed", "aborted"]
    reason: str = ""


Process = Start | Stop | Kill | Quiet | Instruct
Effect = Process | TakeLook | RunCheck | ChangeNetwork | Record | Tell | Warn | Finish
Effects = list[Effect]
