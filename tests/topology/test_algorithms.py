"""`algorithm` of a file: every mistake at its own place, and no other complaint because of it."""

from __future__ import annotations

import pytest

from testbed.topology.file.problems import InvalidTopology
from testbed.topology.load import load_plan_text

FILE = """\
name: x
network: {{generator: ring, nodes: 3, link: {{latency: 1ms}}}}
brokers: {{B: {{count: 3}}}}
overlay: {{generator: {overlay}}}
algorithm: {algorithm}
"""


def problems(algorithm: str, overlay: str = "chain") -> list[str]:
    with pytest.raises(InvalidTopology) as caught:
        load_plan_text(FILE.format(algorithm=algorithm, overlay=overlay), "x.yaml")
    return str(caught.value).splitlines()


def test_every_wrong_parameter_is_told_at_its_place_with_its_meaning() -> None:
    told = problems("{name: grape, threshold: lots, weight: 400, strength: 1}")
    assert [line.partition(": ")[0] for line in told] == ["x.yaml:5:37", "x.yaml:5:51", "x.yaml:5:56"]
    assert "parameter threshold must be a whole number, not a text; whole number; G_threshold" in told[0]
    assert "parameter weight must be at most 100, not 400; whole number; P; in %" in told[1]
    assert "has no parameter 'strength'" in told[2]


def test_a_wrong_type_says_what_the_parameter_is() -> None:
    (told,) = problems("{name: pop, threshold: many}")
    assert "algorithm pop, parameter threshold must be a whole number, not a text" in told


def test_a_protocol_that_nobody_knows_is_the_only_complaint_about_a_ring() -> None:
    (told,) = problems("{name: rumour}", overlay="ring")
    assert "there is no algorithm 'rumour'" in told
