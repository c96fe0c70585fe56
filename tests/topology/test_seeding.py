"""Random streams are fixed for ever: these numbers must not change between machines or Python versions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from testbed.topology.seeding import Draw, seed_for

GOLDEN_SEED = 216536312007325
GOLDEN_UNITS = [0.954025134573, 0.143669058431, 0.647305418865]
GOLDEN_SHUFFLE = list("adcghfeb")
GOLDEN_NORMAL = 0.990438381


def test_golden_numbers() -> None:
    draw = Draw(1, "golden")
    assert seed_for(1, "golden") == GOLDEN_SEED
    assert [round(draw.unit(), 12) for _ in range(3)] == GOLDEN_UNITS
    assert draw.shuffled("abcdefgh") == GOLDEN_SHUFFLE
    assert round(draw.normal(), 9) == GOLDEN_NORMAL


def test_purposes_are_independent() -> None:
    assert seed_for(1, "a") != seed_for(1, "b")
    assert seed_for(1, "a", "b") != seed_for(1, "ab")
    assert seed_for(1, "2") != seed_for(12, "")


@given(st.integers(0, 2**40), st.integers(1, 50), st.integers(0, 60))
def test_a_sample_has_distinct_items(seed: int, n: int, k: int) -> None:
    sample = Draw(seed, "x").sample(range(n), k)
    assert len(set(sample)) == len(sample) == min(n, k)
    assert set(sample) <= set(range(n))


@given(st.integers(0, 2**40), st.integers(-5, 5), st.integers(0, 5))
def test_between_includes_both_ends(seed: int, low: int, width: int) -> None:
    draw = Draw(seed, "x")
    found = {draw.between(low, low + width) for _ in range(200)}
    assert found == set(range(low, low + width + 1))


def test_a_plan_does_not_depend_on_string_hashing(repository: Path) -> None:
    script = (
        "import sys, hashlib; from testbed.topology.load import load_plan_file; "
        "from testbed.topology.plan import dump; "
        "print(hashlib.sha256(dump(load_plan_file(sys.argv[1]))).hexdigest())"
    )
    found = set()
    for hash_seed in ("0", "1"):
        command = [sys.executable, "-c", script, str(repository / "topologies" / "transit-stub-100.yaml")]
        environment = {"PYTHONHASHSEED": hash_seed, "PATH": ""}
        answer = subprocess.run(
            command, cwd=repository, env=environment, capture_output=True, text=True, check=True
        )
        found.add(answer.stdout)
    assert len(found) == 1
