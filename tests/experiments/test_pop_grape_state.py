"""The bytes that a broker's own state holds: counted object by object, each once."""

from __future__ import annotations

import sys
from collections import deque
from types import SimpleNamespace

import msgspec
import pandas
import pytest

from experiments.pop_grape import state
from experiments.pop_grape.held import held
from experiments.pop_grape.points import SMOKE, settings
from experiments.pop_grape.systems import SYSTEMS
from testbed.reproduction.claim import judge
from testbed.reproduction.collect import Found


class Row(msgspec.Struct):
    name: str
    values: list[int]


class Slotted:
    __slots__ = ("shared",)


def test_an_object_holds_itself_and_all_that_it_reaches_once() -> None:
    text = "x" * 1000
    alone = held(text, set())
    assert alone == sys.getsizeof(text)
    slotted = Slotted()
    slotted.shared = text
    both = {"a": Row(text, [10**30]), "b": slotted, "c": deque([text])}
    found = held(both, set())
    assert alone < found < 2 * alone + 1500  # the text once, whatever way leads to it
    both["d"] = "y" * 1000
    assert held(both, set()) >= found + 1000


def test_what_is_not_ones_own_is_not_counted() -> None:
    host = SimpleNamespace(much="x" * 100_000)
    assert held(SimpleNamespace(host=host), {id(host)}) < 5_000


def found_of(**most: tuple[float, float]) -> Found:
    """system=(tables, profiles) in bytes, at one minute."""
    rows = [
        {"system": s, "seed": 1, "minute": 1, "tables_bytes": a, "profile_bytes": b}
        for s, (a, b) in most.items()
    ]
    found = Found((), ())
    object.__setattr__(found, "tables", {"state": pandas.DataFrame(rows)})
    return found


@pytest.mark.parametrize(
    ("pop", "grape", "outcome"),
    [
        (10_000, 20_000, ("pass", "pass", "pass", "pass", "fail")),
        (20_000, 10_000, ("pass", "pass", "fail", "fail", "fail")),
        (40_000, 70_000, ("fail", "fail", "pass", "pass", "fail")),
    ],
)
def test_state_is_judged_against_the_baselines(pop: float, grape: float, outcome: tuple[str, ...]) -> None:
    found = found_of(baseline=(1e5, 0), POP=(1e5, pop), load100=(1e5, grape), delay100=(1e5, grape))
    verdicts = {v.claim: v.outcome for v in judge(state.CLAIMS, found, "")}
    names = ("G8", "G9", "F5e", "F5e-profiles", "G21")
    assert tuple(verdicts[n] for n in names) == outcome


@pytest.mark.slow
def test_a_layer_is_the_difference_between_two_runs_of_one_process() -> None:
    """Tables are there without a layer; profiles with one only, and GRAPE's go when a session is over."""
    found = {}
    for system in ("baseline", "load100"):
        chosen = settings(SMOKE, "cluster", SYSTEMS[system], "clustered", 8)
        chosen |= {"duration": "3min", "clients.sub.per_publisher": 4}
        found[system] = state.measure(lambda line: None, chosen, 1)["state"]
    assert (found["baseline"].profile_bytes == 0).all()
    assert (found["load100"].profile_bytes > 0).all()
    assert found["load100"].profile_bytes.max() < found["load100"].tables_bytes.min()
    assert (found["baseline"].tables_bytes > 1000).all()
