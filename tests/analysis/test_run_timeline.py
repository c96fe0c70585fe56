"""When a delivery can be demanded: by the run's end, by faults, and by what they held up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from testbed.analysis.evidence.flight import MIN_FLIGHT_US, Motion, Second
from testbed.analysis.evidence.interests import FOREVER, Timeline
from testbed.analysis.evidence.runs import Run, load_runs
from testbed.analysis.evidence.times import timeline
from testbed.analysis.sample import run_folder as sample
from testbed.topology import plan as p

S = 1_000_000


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Two brokers 10 ms apart on links that lose nothing."""
    sample.make_run(tmp_path / "run", brokers=2, publications=1, capture=False)
    found = load_runs([tmp_path / "run"])[0]
    for link in found.plan.network.links:
        link.bandwidth_bps = 0
    return found


def event(at_s: float, kind: str, detail: str = "", type: str = "", node: str = "harness") -> dict[str, Any]:
    known = {"t_us": int(at_s * S), "kind": kind, "detail": detail, "type": type, "node": node}
    return {"message": "", "content": "", "group": "", "peer": "", **known}


def moved(last_s: float, *seconds: tuple[float, float], matching_us: int = 0, bytes: int = 0) -> Motion:
    """`seconds`: when something was published, and how long it took."""
    made = [Second(int(a * S), int(a * S), int((a + d) * S), int(d * S)) for a, d in seconds]
    longest = max((second.delay_us for second in made), default=0)
    return Motion(longest, int(last_s * S), matching_us, bytes, tuple(made))


def demanded(found: Timeline, *at_s: float) -> list[bool]:
    return [found.quiet("c2", int(at * S)) for at in at_s]


END = event(60, "RUN_ENDED")
CUT = [event(20, "FAULT_STARTED", "h1-s1", "link_down"), event(30, "FAULT_ENDED", "h1-s1", "link_down")]
KILL = [event(20, "FAULT_STARTED", "B2", "kill"), event(30, "FAULT_ENDED", "B2", "kill")]


def test_an_overloaded_run_is_decided_to_its_end_once_it_has_fallen_silent(run: Run) -> None:
    slow = moved(58, (10, 20), (30, 20))
    assert demanded(timeline(run, [END], slow), 10, 30, 45, 57.9) == [True] * 4
    going_on = moved(59.5, (10, 20), (30, 20))
    assert demanded(timeline(run, [END], going_on), 10, 19, 21, 57.9) == [True, True, False, False]


@pytest.mark.parametrize("steps", [{"matching_us": 2 * S}, {"bytes": 200_000}])
def test_silence_must_outlast_the_longest_step(run: Run, steps: dict[str, int]) -> None:
    run.plan.brokers[0].options = {"output_bandwidth": 100_000}
    assert not timeline(run, [END], moved(58, (10, 20), **steps)).drained
    assert timeline(run, [END], moved(54, (10, 20), **steps)).drained


@pytest.mark.parametrize(
    "spoil",
    [
        lambda plan: setattr(plan.network.links[0], "loss", 0.01),
        lambda plan: setattr(plan.network.links[0], "bandwidth_bps", 10**6),  # full queues drop
        lambda plan: plan.events.append(p.Event("settle", 0, "reshape", "h1-s1")),
        lambda plan: plan.brokers[1].options.update(control_us=5),
    ],
)
def test_where_packets_are_lost_silence_proves_nothing(run: Run, spoil: Any) -> None:
    run.plan.brokers[1].options = {}
    spoil(run.plan)
    found = timeline(run, [END], moved(50, (10, 4)))
    assert not found.drained
    assert demanded(found, 51, 53) == [True, False]  # twice the longest delay, as before


def test_a_fault_that_held_publications_up_says_nothing_about_the_others(run: Run) -> None:
    held = moved(58, (5, 0.1), (22, 20), (31, 11), (50, 0.1))
    found = timeline(run, [*KILL, END], held)
    assert found.flight_us == MIN_FLIGHT_US
    assert found.disturbed == ((20 * S, 43 * S),)  # until the last of them came, and a flight
    assert demanded(found, 5, 18.9, 19.1, 35, 42.9, 43.1, 57) == [True, True, False, False, False, True, True]


def test_long_delays_that_no_fault_explains_still_count(run: Run) -> None:
    found = timeline(run, [*KILL, END], moved(58, (2, 6), (22, 20)))
    assert found.flight_us == 12 * S
    assert demanded(found, 7, 9) == [True, False]


def test_what_a_cut_path_holds_may_come_as_late_as_the_cut_was_long(run: Run) -> None:
    """TCP doubles its waits: cut for 10 s, it may be silent for 10 s more."""
    assert timeline(run, [*CUT, END], moved(39, (5, 0.1), (50, 0.1))).disturbed == ((20 * S, 31 * S),)
    early = timeline(run, [*CUT, event(40, "RUN_ENDED")], moved(30, (5, 0.1)))
    assert early.disturbed == ((20 * S, FOREVER),)
    assert demanded(early, 5, 32) == [True, False]


def test_a_fault_that_never_ended_excuses_all_that_follows(run: Run) -> None:
    found = timeline(run, [KILL[0], END], moved(50))
    assert demanded(found, 18.9, 19.1, 50) == [True, False, False]


def test_processes_that_stop_when_the_run_has_ended_excuse_nothing(run: Run) -> None:
    after = [event(60.1, "STOPPED", node="c2"), event(60.2, "FAULT_STARTED", "B1", "stop")]
    assert demanded(timeline(run, [END, *after], moved(50)), 58.9, 59.5, 60.1) == [True, True, False]
    before = event(40, "STOPPED", node="c2")
    assert demanded(timeline(run, [before, END], moved(50)), 38, 39.5, 50) == [True, False, False]
