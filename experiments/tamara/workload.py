"""Section 5's workloads as operations in time: fresh starts, shifting interests, packages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from testbed.flow.clustering.timeline import Operation
from testbed.topology.seeding import Draw
from testbed.workload import interests as laws
from testbed.workload.interests import Bin, Change, Interests
from testbed.workload.packages import Distribution, installed, updates_per_day

MODELS = {  # table 1: events per M of six minutes
    "average": (
        Bin(0.4, 0.6, 15), Bin(0.2, 0.4, 5), Bin(0.1, 0.2, 25), Bin(0.02, 0.1, 45), Bin(0.002, 0.02, 10),
    ),
    "frequent": (
        Bin(1, 3, 5), Bin(0.5, 1, 20), Bin(0.1, 0.5, 50), Bin(0.01, 0.1, 20), Bin(0.001, 0.01, 5),
    ),
    "infrequent": (Bin(0.1, 0.2, 10), Bin(0.01, 0.1, 40), Bin(0.001, 0.01, 50)),
}  # fmt: skip
INTERVALS_A_DAY = 240  # M of six minutes
TWO_MONTHS, TWO_WEEKS, ONE_DAY = 60.0, 14.0, 1.0


@dataclass(frozen=True)
class Setting:
    """Section 5.2; `days` is the whole period."""

    users: int = 3000
    topics: int = 120
    each: int = 25  # topics of a user
    group: int = 12  # topics of a natural cluster
    days: float = TWO_MONTHS
    model: str = "average"
    law: str = "clustered"  # or uniform
    taken: int = 2  # groups of a user
    inside: float = 0.9  # share of its topics from them
    arrival: str = "joining"  # or scattered

    @property
    def groups(self) -> int:
        return max(1, self.topics // self.group)

    @property
    def period(self) -> float:
        """In intervals M."""
        return self.days * INTERVALS_A_DAY


@dataclass(frozen=True)
class Workload:
    frequencies: list[float]  # events per M
    users: int
    period: float
    operations: list[Operation]
    final: Interests  # what each user wants in the end
    groups: Sequence[Sequence[int]] = ()  # clusters at the start
    before: Interests | None = None  # what each user wants at the start


def fresh(setting: Setting, seed: int) -> Workload:
    """From an empty state."""
    groups = laws.groups_of(setting.topics, setting.groups, Draw(seed, "groups"))
    wanted = wanted_of(setting, groups, Draw(seed, "interests"))
    arrive = laws.joining if setting.arrival == "joining" else laws.scattered
    changes = arrive(wanted, Draw(seed, "arrival"))
    return Workload(
        _frequencies(setting, seed), setting.users, setting.period, _timed(changes, setting), wanted
    )


def shifting(setting: Setting, seed: int) -> Workload:
    """From clusters that match perfectly to interests that divide the topics otherwise, or not at all."""
    old = laws.groups_of(setting.topics, setting.groups, Draw(seed, "groups"))
    new = laws.groups_of(setting.topics, setting.groups, Draw(seed, "new groups"))
    before = laws.whole_groups(setting.users, old, setting.taken, Draw(seed, "old interests"))
    wanted = wanted_of(setting, new, Draw(seed, "interests"))
    changes = laws.shifting(before, wanted, Draw(seed, "shift"))
    return Workload(
        _frequencies(setting, seed),
        setting.users,
        setting.period,
        _timed(changes, setting),
        wanted,
        old,
        before,
    )


def packages(users: int, count: int, hours: float, days: float, seed: int) -> Workload:
    """Section 5.3, with a maintenance interval of so many hours."""
    law = Distribution(packages=count)
    wanted = installed(law, users, Draw(seed, "installed"))
    per_day = updates_per_day(law, Draw(seed, "updates"))
    period = days * 24 / hours
    changes = laws.joining(wanted, Draw(seed, "arrival"))
    operations = [Operation(c.at * period, c.user, c.topic, c.wanted) for c in changes]
    return Workload([rate * hours / 24 for rate in per_day], users, period, operations, wanted)


def wanted_of(setting: Setting, groups: Sequence[Sequence[int]], draw: Draw) -> Interests:
    if setting.law == "uniform":
        return laws.uniform(setting.users, setting.topics, setting.each, draw)
    taken, inside = setting.taken, setting.inside
    return laws.clustered(setting.users, groups, setting.topics, setting.each, taken, inside, draw)


def _frequencies(setting: Setting, seed: int) -> list[float]:
    return laws.frequencies(MODELS[setting.model], setting.topics, Draw(seed, "frequencies"))


def _timed(changes: Sequence[Change], setting: Setting) -> list[Operation]:
    return [Operation(c.at * setting.period, c.user, c.topic, c.wanted) for c in changes]
