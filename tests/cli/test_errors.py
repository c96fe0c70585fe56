"""The error root: its fields make its text, and unknown names get a suggestion."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import InputError, RunFailed, TestbedError, did_you_mean


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "broken"),
        ({"file": "a.yaml"}, "a.yaml: broken"),
        ({"file": Path("a.yaml"), "line": 3}, "a.yaml:3: broken"),
        ({"file": "a.yaml", "line": 3, "column": 7}, "a.yaml:3:7: broken"),
        ({"line": 3}, "broken"),
    ],
)
def test_the_text_names_the_place_as_far_as_it_is_known(fields: dict[str, object], text: str) -> None:
    assert str(TestbedError("broken", **fields)) == text  # type: ignore[arg-type]


def test_bad_input_and_failed_runs_differ_in_their_exit_code() -> None:
    assert (InputError("x").exit_code, RunFailed("x").exit_code, TestbedError("x").exit_code) == (2, 1, 1)


def test_a_near_name_is_suggested_and_all_are_listed() -> None:
    assert did_you_mean("guset", ["host", "guest"]) == "did you mean 'guest'? (known: guest, host)"


def test_a_far_name_only_gets_the_list() -> None:
    assert did_you_mean("zzz", ["host", "guest"]) == "known: guest, host"
    assert did_you_mean("zzz", []) == "none are known"
