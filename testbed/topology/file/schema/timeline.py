"""`phases` and `events`: when things happen."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from testbed.topology.file.quantities import Bandwidth, Duration, Fraction, Latency, Rate, given
from testbed.topology.file.schema.base import Count, Id, Section, Whole


class GateSpec(Section):
    """When a phase is ready: all conditions hold together."""

    links_up: bool = Field(
        default=False, description="every overlay link of started brokers, both directions"
    )
    subscriptions_settled: bool = Field(
        default=False,
        description="every (un)subscription and (un)advertisement has reached every broker it must",
    )
    after: Duration = Field(default=given("0s"), description="at least so long after the phase's start")
    check: list[str] = Field(default=[], description="a program and its arguments; exit code 0 is ready")
    check_node: str = Field(
        default="", description="the node or broker where the check runs; default the harness"
    )
    every: Duration = Field(default=given("500ms"), gt=0, description="between two looks")
    timeout: Duration = Field(default=given("60s"), gt=0, description="give up then")
    retries: Annotated[int, Field(ge=0, le=10_000)] = Field(
        default=0, description="wait for the timeout so many times more before giving up"
    )
    on_timeout: Literal["abort", "continue", "wait"] = Field(default="abort", description="what happens then")


class PhaseSpec(Section):
    """A step of the run: start processes, wait until ready, stay a while."""

    name: Id = Field(description="for events and tables")
    start: list[str] = Field(
        default=[],
        description="brokers, clients, publishers, subscribers, programs, groups, ids, or patterns with *",
    )
    ready: GateSpec = Field(default=GateSpec(), description="the gate")
    run_for: Duration = Field(
        default=given("0s"), description="after the ready instant, before the next phase"
    )


class Reshape(Section):
    """New qualities of a link, or new round trips of all pairs at once; what is not named stays."""

    link: Id | None = Field(default=None, description="the link")
    matrix: str = Field(
        default="",
        description="instead of a link: a file of round trips as of `generator: rtt_matrix`, relative to "
        "this one; as many sites as such a network, or planetlab, has",
    )
    latency: Latency | None = Field(default=None, description="one-way latency")
    jitter: Latency | None = Field(
        default=None, description="largest deviation from the latency, drawn uniformly"
    )
    loss: Fraction | None = Field(default=None, description="share of packets lost")
    bandwidth: Bandwidth | None = Field(default=None, description="capacity; 0 is unlimited")


class Flap(Section):
    """A link that goes down and up again and again."""

    link: Id = Field(description="the link")
    times: Count = Field(default=3, description="how often it goes down")
    down_for: Duration = Field(default=given("1s"), gt=0, description="each time")
    up_for: Duration = Field(default=given("1s"), gt=0, description="between two times")


class Churn(Section):
    """Processes that leave and come back, at random instants."""

    of: list[str] = Field(min_length=1, description="brokers, clients, group names, ids, or patterns with *")
    rate: Rate = Field(gt=0, description="departures per unit of time, all members together (Poisson)")
    lasts: Duration = Field(gt=0, description="no departure later than this after `at`")
    away: Duration = Field(
        default=given("10s"), gt=0, description="mean time until a member comes back (exponential)"
    )
    comes_back: bool = Field(default=True, description="false: who left stays away")
    crash: bool = Field(default=False, description="kill instead of a graceful leave")
    keep: Whole = Field(default=1, description="never fewer present than this")


class Exchange(Section):
    """A new overlay link in place of another one of the cycle that it closes, while publications flow."""

    add: Annotated[list[Id], Field(min_length=2, max_length=2)] = Field(
        description="two brokers; the first orders the exchange and dials"
    )
    remove: Annotated[list[Id], Field(min_length=2, max_length=2)] = Field(
        description="two neighbours on the way between them"
    )


class SetOptions(Section):
    """Other options of brokers from now on."""

    broker: str | list[str] = Field(description="brokers, group names, ids, or patterns with *")
    options: dict[str, Any] = Field(
        min_length=1, description="by name; broker options say whether they may change during a run"
    )


Targets = Id | list[str]


class EventSpec(Section):
    """One thing that happens, at an instant of the timeline: exactly one action key."""

    at: str = Field(
        min_length=1, description="PHASE+DURATION from its ready instant; a bare duration: last phase"
    )
    kill: Targets | None = Field(default=None, description="crash these processes (no clean-up)")
    stop: Targets | None = Field(default=None, description="stop these gracefully")
    start: Targets | None = Field(default=None, description="start these again after kill or stop")
    restart: Targets | None = Field(default=None, description="stop and start these")
    join: Targets | None = Field(default=None, description="start these, which no phase starts")
    leave: Targets | None = Field(default=None, description="these unsubscribe, disconnect and end")
    link_down: Targets | None = Field(default=None, description="cut these links")
    link_up: Targets | None = Field(default=None, description="mend these links")
    flap: Flap | None = Field(default=None, description="a link down and up, several times")
    reshape: Reshape | None = Field(default=None, description="change a link's qualities, or all round trips")
    partition: list[str] | None = Field(
        default=None, min_length=1, description="nodes or brokers on one side"
    )
    heal: bool | None = Field(default=None, description="true: end the partition")
    exchange: Exchange | None = Field(default=None, description="one overlay link for another")
    set: SetOptions | None = Field(default=None, description="change options of brokers")
    churn: Churn | None = Field(default=None, description="leave and come back at a rate")
