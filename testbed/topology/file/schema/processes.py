"""`brokers`, `clients`, `programs`, `workload`, `defaults`: what runs and where."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from testbed.topology.file.quantities import Duration, Fraction, Rate, Size, given
from testbed.topology.file.schema.base import Count, Id, Section, Whole

OnCrash = Literal["abort", "continue", "restart"]
Values = list[str | int | float]
ForEach = dict[str, Values] | list[dict[str, str | int | float]]
Place = Literal["one_per_node", "round_robin", "random"]


class Group(Section):
    """One process, or many: `count` makes n of them, `for_each` one per value (or combination of values)."""

    count: Count | None = Field(default=None, description="how many; {i} counts from 1")
    for_each: ForEach | None = Field(
        default=None,
        description="one per value: {symbol: [YHOO, IBM]} (combined when several), or a list of mappings; "
        "{symbol} stands for the value in every text of the group",
    )
    id: str = Field(
        default="", description="id pattern; default the group's name with the number or the values appended"
    )
    start_at: str = Field(
        default="", description="start on its own, e.g. publishers+5s, instead of in a phase's start list"
    )
    stop_at: str = Field(default="", description="stop gracefully then, e.g. publishers+20s")
    on_crash: OnCrash | None = Field(default=None, description="when the process dies unasked")


class BrokerItem(Section):
    """What differs for one broker of a group."""

    node: str = Field(default="", description="where it runs")
    port: Annotated[int, Field(ge=1024, le=65535)] | None = Field(default=None, description="listens there")
    neighbours: list[Id] = Field(default=[], description="further brokers that this one dials")
    options: dict[str, Any] = Field(default={}, description="merged over the group's")
    algorithm: dict[str, Any] | None = Field(default=None, description="in place of the group's")
    start_at: str = Field(default="", description="as for groups")
    stop_at: str = Field(default="", description="as for groups")
    on_crash: OnCrash | None = Field(default=None, description="when the process dies unasked")


class BrokerGroup(Group):
    """A broker, or a group of them."""

    node: str = Field(
        default="",
        description="where it runs: a host, a router (gets a host), or another broker (its host)",
    )
    place: Place | None = Field(
        default=None,
        description="for groups: one_per_node (default), round_robin, or random (each used once if enough)",
    )
    nodes: list[str] = Field(default=[], description="the nodes to place on: ids, domains or patterns with *")
    port: Annotated[int, Field(ge=1024, le=65535)] | None = Field(default=None, description="listens there")
    neighbours: list[Id] = Field(default=[], description="brokers that this one dials")
    options: dict[str, Any] = Field(
        default={}, description="broker options by name; merged default < group < item"
    )
    algorithm: dict[str, Any] | None = Field(default=None, description="in place of the file's `algorithm`")
    items: dict[str, BrokerItem] = Field(default={}, description="broker id: what differs for that one")


class Publications(Section):
    """A seeded source of publications."""

    source: str = Field(default="stock", description="stock, topic, fixed, trace: see the workload page")
    rate: Rate = Field(default=given("60/min"), gt=0, description="mean publications per unit of time")
    arrival: Literal["periodic", "poisson"] = Field(default="periodic", description="spacing of publications")
    first: Duration | None = Field(
        default=None, description="first one so long after the start; default the `lead` plus a seeded offset"
    )
    count: Whole = Field(default=0, description="stop after so many; 0 is never")
    payload: Size = Field(default=0, description="extra bytes carried by each")
    parameters: dict[str, Any] = Field(default={}, description="of the source, e.g. {symbol: YHOO}")


class TimedSubscription(Section):
    """A subscription with a time of its own."""

    filter: str = Field(min_length=1, description="PADRES text form: [class,eq,'STOCK'],[price,>,10]")
    at: Duration = Field(default=given("0s"), description="after the client's start")
    until: Duration = Field(default=given("0s"), description="unsubscribe then; 0 is never")
    group: str = Field(default="", description="a label for tables")


class ClientSettings(Section):
    """What can be said of a client, in `defaults`, a group or an item."""

    broker: str = Field(default="", description="a broker id, or random, round_robin, least_used")
    node: str = Field(
        default="", description="where it runs: broker (its broker's host), publisher, or a node"
    )
    advertise: list[str] | None = Field(default=None, description="advertisements; default by the source")
    subscribe: list[str | TimedSubscription] | None = Field(default=None, description="subscriptions")
    publish: Publications | str | None = Field(
        default=None, description="publications, or the name of an entry of `workload`"
    )
    on_crash: OnCrash | None = Field(default=None, description="when the process dies unasked")


class TopicInterests(Section):
    """Interests in topics, drawn by popularity: each topic is a subscription [class,eq,'t7']."""

    topics: Count = Field(description="number of topics, t0, t1, ...")
    per_client: Count = Field(default=5, description="distinct topics of each client")
    law: str = Field(default="uniform", description="popularity: uniform, zipf, exponential, multimodal")
    parameters: dict[str, float | int] = Field(default={}, description="of the law, e.g. {exponent: 1.0}")


class StockTemplates(Section):
    """Subscriptions to stock quotes, drawn from templates by probability as PANDA's generator does."""

    per_client: Count = Field(default=1, description="subscriptions of each client")
    shares: dict[str, Fraction] | None = Field(
        default=None,
        description="template: its probability; {symbol}, {high}, {volume} ... stand for a publisher's "
        "symbol and the values of one of its quotes; default PANDA's six: of a symbol 10 % high, 10 % low, "
        "20 % volume, 39 % all; of any symbol 20 % volume, 1 % all",
    )
    idle: Fraction = Field(
        default=0.0, description="share of subscriptions to a symbol that nobody publishes: no traffic"
    )


class ClientItem(ClientSettings):
    """What differs for one client of a group."""

    start_at: str = Field(default="", description="as for groups")
    stop_at: str = Field(default="", description="as for groups")


class ClientGroup(Group, ClientSettings):
    """A client, or a group of them; `workload` makes the subscribers of a group of publishers."""

    kind: Literal["publisher", "subscriber", "client"] | None = Field(
        default=None, description="checked against what the client does; default by that"
    )
    workload: Literal["random", "clustered"] | None = Field(
        default=None, description="subscribers as in the POP/GRAPE report, section 5.1"
    )
    of: str = Field(
        default="",
        description="the group of publishers that `workload` and `templates` are about; default all",
    )
    per_publisher: Count = Field(default=20, description="subscribers per publisher")
    spread: Count = Field(default=16, description="X: brokers that hold a publisher's subscribers")
    shares: dict[Literal["low", "medium", "high"], Fraction] | None = Field(
        default=None, description="shares of subscriber kinds; default 70/25/5 % random, 95/0/5 % clustered"
    )
    topics: TopicInterests | None = Field(
        default=None, description="subscriptions to topics, for each client"
    )
    templates: StockTemplates | None = Field(
        default=None, description="subscriptions drawn from templates, for each client; {} is PANDA's six"
    )
    items: dict[str, ClientItem] = Field(default={}, description="client id: what differs for that one")


class ProgramGroup(Group):
    """Any other program, started without a shell."""

    node: str = Field(min_length=1, description="a node, or a broker's id for that broker's host")
    command: list[str] = Field(min_length=1, description="the program and its arguments, one by one")
    env: dict[str, str] = Field(default={}, description="environment variables")


class BrokerDefaults(Section):
    """Defaults of all brokers."""

    options: dict[str, Any] = Field(default={}, description="broker options by name")
    place: Place = Field(default="one_per_node", description="placement of groups that say nothing")
    on_crash: OnCrash = Field(default="abort", description="when a broker dies unasked")
    port: Annotated[int, Field(ge=1024, le=65000)] = Field(
        default=5000, description="port of the first broker of a host; the next ones count up"
    )


class ClientDefaults(Section):
    """Defaults of all clients."""

    broker: str = Field(default="random", description="as in client groups")
    node: str = Field(default="broker", description="as in client groups")
    lead: Duration = Field(
        default=given("10s"),
        description="publishers advertise, and publish so much later, when subscriptions have reached them",
    )
    on_crash: OnCrash = Field(default="abort", description="when a client dies unasked")


class Defaults(Section):
    """Defaults of all processes; groups and items override them."""

    broker: BrokerDefaults = Field(default=BrokerDefaults(), description="of brokers")
    client: ClientDefaults = Field(default=ClientDefaults(), description="of clients")
