"""Reading YAML: positions, and what is refused before anything is built."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from testbed.topology.file.document import MAX_BYTES, parse_document, read_document, write_yaml
from testbed.topology.file.problems import InvalidTopology
from tests.topology.texts import only_problem, problems_of


def refusal(text: str | bytes) -> str:
    with pytest.raises(InvalidTopology) as caught:
        parse_document(text, "test.yaml")
    return str(caught.value)


def test_every_value_has_a_place() -> None:
    document = parse_document("a: 1\nb:\n  - x\n  - {c: 2}\n")
    assert document.data == {"a": 1, "b": ["x", {"c": 2}]}
    assert document.place(("b", 1, "c")) == (4, 9)
    assert document.place(("b", 1, "c"), key=True) == (4, 6)
    assert document.place(("b", "no such", 1, "c")) == (4, 9)


def test_words_are_words_and_only_true_and_false_are_booleans() -> None:
    data = parse_document("{a: on, b: no, c: 12:30, d: true, e: 0x10, f: 1e3, g: 010, h: ~}").data
    assert data == {
        "a": "on",
        "b": "no",
        "c": "12:30",
        "d": True,
        "e": "0x10",
        "f": 1000.0,
        "g": 10.0,
        "h": None,
    }


@pytest.mark.parametrize(
    "value",
    ["on", "no", "true", "1e3", "010", "12", "~", "", "null", "a: b", "#x", "é", "two\nlines\n", "<<"],
)
def test_what_is_written_is_read_back(value: str) -> None:
    data = {"name": value, "list": [value], "map": {value or "k": value}}
    assert parse_document(write_yaml(data, "a comment\n\nof lines")).data == data


def test_merge_keys_fill_in_what_the_mapping_does_not_say() -> None:
    data = parse_document("base: &b {x: 1, y: 2}\nmine:\n  <<: *b\n  y: 3\n").data
    assert data["mine"] == {"x": 1, "y": 3}


def test_not_yaml_tells_line_and_column() -> None:
    assert refusal("name: x\nnetwork: [1, 2\nbrokers: {}\n").startswith("test.yaml:3:")
    assert "not YAML" in refusal("name: 'x\n")
    assert "tab" in refusal("a:\n\tb: 1\n")


@pytest.mark.parametrize("text", ["", "just words", "- a\n- b\n", "3"])
def test_a_file_that_is_no_mapping_is_refused(text: str) -> None:
    assert "not a mapping" in refusal(text)


def test_duplicate_keys_are_refused_with_both_lines() -> None:
    assert refusal("name: x\nbrokers: {}\nname: y\n") == (
        "test.yaml:3:1: duplicate key 'name', first in line 1; keep one of the two; ids and keys are unique"
    )


def test_all_duplicates_are_told_at_once() -> None:
    assert len(refusal("a: 1\na: 2\nb: {c: 1, c: 2}\n").splitlines()) == 2


def test_an_alias_bomb_is_refused_quickly() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    started = time.process_time()
    assert "expands to more than" in refusal("\n".join(lines))
    assert time.process_time() - started < 1


def test_an_alias_of_itself_is_refused() -> None:
    assert "expands to more than" in refusal("a: &a [*a]")


def test_a_long_chain_of_aliases_is_refused() -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 600))]
    assert "nested too deep" in refusal("\n".join(lines))


def test_a_huge_file_is_refused_without_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(InvalidTopology, match="has 8000001 bytes"):
        read_document(path)


def test_deep_nesting_is_refused() -> None:
    assert "nested too deep" in refusal("[" * 100_000)


def test_a_file_that_is_not_text_is_refused() -> None:
    assert "not UTF-8" in refusal(b"name: \xff\xfe")
    assert "not YAML" in refusal("name: \x00")


def test_a_missing_file_is_a_problem_and_no_exception(tmp_path: Path) -> None:
    with pytest.raises(InvalidTopology, match="there is no such file"):
        read_document(tmp_path / "absent.yaml")


def test_tags_and_complex_keys_are_refused() -> None:
    assert "tag" in refusal("a: !!python/object:os.system x")
    assert "key must be a word" in refusal("? [a, b]\n: 1")


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    assert "40 digits" in refusal("a: " + "9" * 5000)


def test_problems_come_in_file_order() -> None:
    found = problems_of("zzz: 1\nname: x\nyyy: 2\nnetwork: {generator: chain, nodes: 2}\nbrokers: {B: {}}\n")
    assert [problem.split(":")[1] for problem in found] == ["1", "3"]


def test_one_problem_is_one_line() -> None:
    assert "\n" not in only_problem(
        "name: x\nnetwork: {generator: chain, nodes: 2}\nbrokers: {B: {}}\nnmae: 1\n"
    )
