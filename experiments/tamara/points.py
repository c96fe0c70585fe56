"""Which computations there are at a scale. A point is one workload with one seed, through every system."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from experiments.tamara import workload
from experiments.tamara.workload import MODELS, Setting
from testbed.reproduction.collect import Groups
from testbed.reproduction.point import Point, computed
from testbed.reproduction.study import Ask, Scale

DECISIONS = ("adding", "costs", "draws", "merging", "settings", "subscribing", "surveys")
SOURCES = (
    *(f"broker_grpc.protocols.clustering.{name}" for name in DECISIONS),
    "testbed.flow.clustering",
    "testbed.workload.interests",
    "testbed.workload.packages",
    *(f"experiments.tamara.{name}" for name in ("systems", "workload")),
)
HOURS = (2, 12, 24)  # M of figure 9


@dataclass(frozen=True)
class Instance:
    """What of section 5 is computed; times of the paper are multiplied by `shortened`."""

    setting: Setting
    sizes: tuple[tuple[int, int], ...]  # other numbers of users and topics
    package_users: int = 1000
    packages: int = 3000
    year: float = 365.0  # days
    shortened: float = 1.0
    points: int = 60  # checkpoints of a curve
    largest_k: int = 40
    restarts: int = 20


SCALES = {
    "smoke": Scale(
        Instance(
            Setting(users=120, topics=36, each=12, group=6),
            ((60, 36), (120, 72)),
            60,
            150,
            60.0,
            0.05,
            20,
            8,
            3,
        ),
        seeds=2,
    ),
    "full": Scale(Instance(Setting(), ((300, 120), (10_000, 120), (3000, 60), (3000, 1000))), seeds=5),
}


# ---------------------------------------------------------------- the paper's points


def points(ask: Ask[Instance]) -> Groups:
    """Groups are what is compared: a figure's curves, tables 2 and 3."""
    found: dict[str, list[Point]] = {}
    for seed in ask.seeds:
        for group, made in of_seed(ask.size, seed).items():
            found.setdefault(group, []).extend(made)
    return found


def of_seed(size: Instance, seed: int) -> dict[str, list[Point]]:
    base = replace(size.setting, days=workload.TWO_MONTHS * size.shortened)
    weeks = replace(base, days=workload.TWO_WEEKS * size.shortened)
    day = replace(base, days=workload.ONE_DAY * min(1.0, 5 * size.shortened))
    unclear = replace(base, law="uniform")
    far = {"largest_k": size.largest_k, "restarts": size.restarts}

    def of(scenario: str, kind: str, setting: Setting, rivals: dict[str, int]) -> Point:
        return point(scenario, kind, setting, rivals, seed, size.points)

    return {
        "fresh": [of("fresh", "fresh", replace(base, model=m), far) for m in MODELS],
        "short": [of("two weeks", "fresh", weeks, {}), of("one day", "fresh", day, {})],
        "uniform": [of("uniform", "fresh", unclear, {})],
        "shift": [of("shift", "shift", replace(base, model=m), {"sc": 1, **far}) for m in MODELS],
        "uniform shift": [of("uniform shift", "shift", unclear, {"sc": 1})],
        "sizes": [
            of(f"{users} users, {topics} topics", "fresh", replace(weeks, users=users, topics=topics), {})
            for users, topics in size.sizes
        ],
        "packages": [package_point(size, hours, seed) for hours in HOURS],
    }


def point(
    scenario: str, kind: str, setting: Setting, rivals: dict[str, int], seed: int, points: int,
    options: dict[str, Any] | None = None,
) -> Point:  # fmt: skip
    arguments = {
        "kind": kind, "arguments": asdict(setting), "options": options or {}, "points": points,
        "rivals": rivals,
    }  # fmt: skip
    return _computed(scenario, setting.model, arguments, seed)


def package_point(size: Instance, hours: int, seed: int) -> Point:
    asked = {"users": size.package_users, "count": size.packages, "hours": hours, "days": size.year}
    arguments = {
        "kind": "packages", "arguments": asked, "options": {}, "points": size.points, "rivals": {},
    }  # fmt: skip
    return _computed("packages", f"M = {hours} h", arguments, seed)


def _computed(scenario: str, model: str, arguments: dict[str, Any], seed: int) -> Point:
    labels: dict[str, str | int | float] = {"scenario": scenario, "model": model, "seed": seed}
    name = "-".join(f"{scenario} {model} {seed}".replace(",", "").replace("=", "").split())
    title = f"{scenario}, {model}, seed {seed}"
    return computed("curves", name, "experiments.tamara.curve:curve", arguments, seed, labels, SOURCES, title)
