"""Short ways to a plan or to the problems of a text."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from testbed.topology.file.problems import InvalidTopology
from testbed.topology.load import load_plan_text
from testbed.topology.plan import Plan

BASE = "name: test\nnetwork: {generator: chain, nodes: 4}\nbrokers: {B: {count: 3}}\n"


def plan_of(text: str, folder: Path = Path()) -> Plan:
    return load_plan_text(dedent(text), "test.yaml", folder)


def problems_of(text: str, folder: Path = Path()) -> list[str]:
    """All problems as printed; fails when there are none."""
    try:
        load_plan_text(dedent(text), "test.yaml", folder)
    except InvalidTopology as error:
        return [str(problem) for problem in error.problems]
    raise AssertionError("the text is a good topology file")


def only_problem(text: str, folder: Path = Path()) -> str:
    found = problems_of(text, folder)
    assert len(found) == 1, found
    return found[0]
