"""Whatever a file holds, loading it gives a plan or a list of problems, never another exception."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from testbed.topology.file.document import write_yaml
from testbed.topology.file.problems import InvalidTopology
from testbed.topology.load import load_plan_text
from testbed.topology.plan import Plan

GOOD: dict[str, Any] = {
    "name": "mutated",
    "seed": 3,
    "network": {
        "nodes": {"s1": {"kind": "switch"}, "h1": {}, "h2": {}, "h3": {"domain": "d"}},
        "links": [
            {"between": ["s1", "h1"], "latency": "5ms"},
            {"between": ["s1", "h2"], "loss": "1%", "id": "cable"},
            {"between": ["h3", "s1"], "bandwidth": "10 Mbit/s", "queue": 10},
        ],
    },
    "defaults": {"broker": {"options": {"matching_us": 5}}, "client": {"lead": "1s"}},
    "brokers": {
        "A": {"node": "h1"},
        "B": {"count": 2, "nodes": ["h2", "d"], "items": {"B2": {"options": {"max_hops": 4}}}},
    },
    "algorithm": {"name": "grape", "weight": 50, "prioritise": "delay"},
    "overlay": {"links": [["B1", "A"], ["B2", "A"]]},
    "workload": {"quotes": {"source": "stock", "rate": "60/min", "parameters": {"symbol": "IBM"}}},
    "clients": {
        "pub": {"publish": "quotes", "broker": "A"},
        "more": {"for_each": {"symbol": ["X", "Y"]}, "publish": {"rate": "1/s"}, "broker": "round_robin"},
        "sub": {"workload": "clustered", "of": "more", "per_publisher": 3, "spread": 2},
        "one": {"subscribe": ["[class,eq,'STOCK']", {"filter": "[class,eq,'T']", "at": "1s"}]},
        "fan": {"count": 2, "topics": {"topics": 5, "per_client": 2, "law": "zipf"}},
    },
    "programs": {"tool": {"node": "A", "command": ["true"]}},
    "phases": [
        {"name": "up", "start": ["brokers", "programs"], "ready": {"links_up": True}},
        {"name": "go", "start": ["clients"], "ready": {"after": "1s"}, "run_for": "10s"},
    ],
    "events": [
        {"at": "go+1s", "kill": "B1"},
        {"at": "go+2s", "flap": {"link": "cable", "times": 2}},
        {"at": "3s", "reshape": {"link": "s1-h1", "latency": "9ms"}},
        {"at": "go", "partition": ["A", "h2"]},
        {"at": "go+4s", "heal": True},
        {"at": "go+1s", "churn": {"of": ["sub"], "rate": "1/s", "lasts": "5s"}},
    ],
    "capture": {"nodes": ["A"]},
    "probes": {"pairs": [["A", "h2"]]},
    "checks": {"fast": "delay.p99_us < 1"},
}

WORDS = [
    "A",
    "B",
    "B1",
    "s1",
    "h1",
    "pub",
    "go",
    "5ms",
    "-5ms",
    "{i}",
    "{symbol}",
    "",
    "x y",
    "$(x)",
    "1e9s",
    "1/s",
]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 10),
    st.sampled_from([10**30, -1, 0.5, 1e300]),
    st.sampled_from(WORDS),
    st.text(max_size=5),
    st.lists(st.sampled_from(WORDS), max_size=3),
    st.dictionaries(
        st.sampled_from([*WORDS, "node", "count", "at", "link"]), st.sampled_from(WORDS), max_size=2
    ),
)


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else []
    for key, value in items:
        found += places(value, (*path, key))
    return found


PLACES = places(GOOD)


def changed(place: tuple[Any, ...], value: Any, how: str) -> dict[str, Any]:
    data = copy.deepcopy(GOOD)
    inner: Any = data
    for step in place[:-1]:
        inner = inner[step]
    if how == "remove":
        del inner[place[-1]]
    elif how == "rename" and isinstance(inner, dict):
        inner[str(value)] = inner.pop(place[-1])
    else:
        inner[place[-1]] = value
    return data


def outcome(text: str) -> Plan | InvalidTopology:
    try:
        return load_plan_text(text)
    except InvalidTopology as error:
        return error


def test_the_unchanged_file_is_good() -> None:
    assert isinstance(outcome(write_yaml(GOOD, "")), Plan)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(PLACES), VALUES, st.sampled_from(["set", "remove", "rename"]))
def test_a_changed_file_gives_a_plan_or_problems(place: tuple[Any, ...], value: Any, how: str) -> None:
    found = outcome(write_yaml(changed(place, value, how), ""))
    if isinstance(found, InvalidTopology):
        assert found.problems
        assert all(problem.line >= 1 and problem.message for problem in found.problems)


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=200))
def test_any_text_gives_a_plan_or_problems(text: str) -> None:
    assert isinstance(outcome(text), Plan | InvalidTopology)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2000), st.integers(0, 40))
def test_a_torn_file_gives_a_plan_or_problems(start: int, length: int) -> None:
    text = write_yaml(GOOD, "")
    assert isinstance(outcome(text[:start] + text[start + length :]), Plan | InvalidTopology)
