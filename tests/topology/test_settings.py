"""Values of the command line go over the file's, and their mistakes are told with the option."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import InputError
from testbed.topology.load import load_plan_file
from testbed.topology.plan import Plan
from tests.topology.texts import BASE

FILE = (
    BASE
    + """\
clients: {c: {broker: B1, subscribe: ["[class,eq,'X']"], items: {c: {broker: B2}}}}
phases: [{name: up, start: [brokers]}, {name: run, start: [clients], run_for: 5s}]
"""
)


def plan_with(folder: Path, *settings: str) -> Plan:
    path = folder / "t.yaml"
    path.write_text(FILE)
    return load_plan_file(path, None, settings)


def refused(folder: Path, *settings: str) -> str:
    with pytest.raises(InputError) as caught:
        plan_with(folder, *settings)
    return f"{caught.value} {caught.value.hint or ''}"


def test_the_command_line_wins_over_file_group_and_item(tmp_path: Path) -> None:
    assert plan_with(tmp_path).clients[0].broker == "B2"
    assert plan_with(tmp_path, "clients.c.items.c.broker=B3").clients[0].broker == "B3"
    assert plan_with(tmp_path, "seed=1", "seed=77").seed == 77


def test_a_section_that_the_file_does_not_have_is_made(tmp_path: Path) -> None:
    assert [(link.a, link.b) for link in plan_with(tmp_path).overlay] == [("B2", "B1"), ("B3", "B1")]
    chain = plan_with(tmp_path, "overlay.generator=chain").overlay
    assert [(link.a, link.b) for link in chain] == [("B2", "B1"), ("B3", "B2")]


def test_numbers_count_through_lists_and_values_are_yaml(tmp_path: Path) -> None:
    plan = plan_with(tmp_path, "phases.1.run_for=9s", "brokers.B.items={B1: {options: {matching_us: 7}}}")
    assert plan.phases[1].run_for_us == 9_000_000
    assert plan.brokers[0].options["matching_us"] == 7


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("duration", "is no PLACE=VALUE"),
        ("=5", "is no PLACE=VALUE"),
        ("a..b=5", "is no PLACE=VALUE"),
        ("seed=many", "--set seed=many: seed must be a whole number, not a text"),
        ("name.deep=1", "there is no 'deep' in it"),
        ("phases.7.run_for=1s", "a list of 2, counted from 0"),
        ("overlay.fan=2", "--set overlay.fan=2: unknown key 'fan'; did you mean 'fanout'?"),
        ("overlay={fan: 2}", "--set overlay={fan: 2}: unknown key 'fan'"),
        ("nothing.here=2", "--set nothing.here=2: unknown key 'nothing'"),
        ("clients.c.items.c.broker=B9", "--set clients.c.items.c.broker=B9: there is no broker 'B9'"),
        ("duration=[1", "not YAML"),
    ],
)
def test_bad_settings_are_told(tmp_path: Path, setting: str, expected: str) -> None:
    assert expected in refused(tmp_path, setting)


def test_mistakes_of_several_settings_are_told_at_once(tmp_path: Path) -> None:
    text = refused(tmp_path, "seed=x", "tls=maybe")
    assert "--set seed=x" in text
    assert "--set tls=maybe" in text
