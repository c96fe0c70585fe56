"""`--figure sensitivity`: the other choices of the readings, on the Average model; evidence, no verdicts.

Table `varied`: a row per choice and seed, with what each system saves against Scribe at the end and what
Tamara's overhead per M is.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from experiments.tamara.points import SCALES as PAPER
from experiments.tamara.points import SOURCES, Instance
from experiments.tamara.workload import TWO_MONTHS, Setting
from testbed.reproduction.collect import Groups
from testbed.reproduction.point import Point, computed
from testbed.reproduction.study import Ask, Part, Scale
from testbed.sweep.run import Effort

NAME = "sensitivity"
HELPERS = {"factor": 1.3}  # trees with three helpers for ten subscribers
VARIED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # choice: settings, workload
    "as read": ({}, {}),
    "cadence: every M": ({"cadence": 1}, {}),
    "cadence: every 240 M": ({"cadence": 240}, {}),
    "overlap: two per person asked": ({"paid_overlap": True}, {}),
    "overlap: two per person asked, every 240 M": ({"paid_overlap": True, "cadence": 240}, {}),
    "pairs: those subscribed to both": ({"pairs": "common"}, {}),
    "survey: 10 % margin": ({"margin": 0.1}, {}),
    "survey: everyone": ({"margin": 0.0}, {}),
    "phi: 0.9": ({"phi": 0.9}, {}),
    "law: two groups, 70 % inside": ({}, {"inside": 0.7}),
    "law: three groups, 90 % inside": ({}, {"taken": 3}),
    "arrival: each at its own time": ({}, {"arrival": "scattered"}),
    "costs: trees with helpers": ({"costs": {"disseminate": HELPERS, "maintain": HELPERS}}, {}),
    "costs: notifying a channel takes 4": ({"costs": {"notify": 4.0}}, {}),
}  # fmt: skip


def points(ask: Ask[Instance]) -> Groups:
    base = replace(ask.size.setting, days=TWO_MONTHS * ask.size.shortened)
    return {NAME: [point(choice, base, seed) for choice in VARIED for seed in ask.seeds]}


def point(choice: str, base: Setting, seed: int) -> Point:
    options, changed = VARIED[choice]
    arguments = {"setting": asdict(replace(base, **changed)), "options": options}
    name = "-".join("".join(c if c.isalnum() else " " for c in f"{choice} {seed}").split())
    labels: dict[str, str | int | float] = {"choice": choice, "seed": seed}
    return computed(
        NAME,
        name,
        "experiments.tamara.curve:vary",
        arguments,
        seed,
        labels,
        SOURCES,
        choice,
    )


PART = Part(
    {name: Scale(scale.size, seeds=min(3, scale.seeds)) for name, scale in PAPER.items()},
    (NAME,), points, lambda ask, found: [], name=NAME, by_default=False,
    extra=lambda ask: {"setting": asdict(ask.size.setting)}, effort=Effort(retries=0, timeout_s=3600),
)  # fmt: skip
