"""Every scenario file says what the machines say; a wrong one fails, and the flag rewrites it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.scenario.dynatops import DynatopsStage
from tests.scenario.exchange import ExchangeStage
from tests.scenario.relocation import RelocationStage
from tests.scenario.script import Mistake, check
from tests.scenario.stage import Stage
from tests.scenario.topicconnected import TopicConnectedStage

HERE = Path(__file__).parent
STAGES: dict[str, Callable[[], Stage]] = {
    "pop": RelocationStage,
    "grape": RelocationStage,
    "topicconnected_repair": TopicConnectedStage,
    "exchange": ExchangeStage,
    "dynatops": DynatopsStage,
}
FILES = sorted(HERE.glob("*/*.txt"))


def test_there_are_scenarios_of_every_stage() -> None:
    assert {path.parent.name for path in FILES} == set(STAGES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_scenario(path: Path, rewrite: bool) -> None:
    check(path, STAGES[path.parent.name]().play, rewrite)


@pytest.fixture
def story(tmp_path: Path) -> Path:
    """One of the files, where it may be spoilt."""
    copy = tmp_path / "story.txt"
    copy.write_text((HERE / "pop" / "migration.txt").read_text())
    return copy


def test_a_wrong_expectation_fails_and_stays(story: Path) -> None:
    wrong = story.read_text().replace("SELECTED peer=B6", "SELECTED peer=B5")
    assert wrong != story.read_text()
    story.write_text(wrong)
    with pytest.raises(AssertionError, match="--rewrite"):
        check(story, RelocationStage().play, rewrite=False)
    assert story.read_text() == wrong


def test_the_flag_writes_what_was_said_and_keeps_the_rest(story: Path) -> None:
    right = story.read_text()
    story.write_text(right.replace("SELECTED peer=B6", "SELECTED peer=B5"))
    check(story, RelocationStage().play, rewrite=True)
    assert story.read_text() == right


def test_a_new_file_is_filled_in(tmp_path: Path) -> None:
    story = tmp_path / "new.txt"
    story.write_text("# A remark.\n\n# Another.\npop\noverlay B1-B2\n----\n")
    check(story, RelocationStage().play, rewrite=True)
    assert story.read_text() == "# A remark.\n\n# Another.\npop\noverlay B1-B2\n----\nok\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pop\nmove P\n----\n", "new.txt:2: no command 'move'"),
        ("pop\n", "new.txt:1: commands without '----'"),
        ("pop\noverlay B1-B2\n----\nok\n\nadvance soon\n----\n", "new.txt:6: 'soon' is no time"),
        ("pop\noverlay B1-B2\ndeliver until probe\n----\n", "new.txt:3: all is quiet, and no probe was sent"),
    ],
)
def test_a_file_that_cannot_be_played_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    story = tmp_path / "new.txt"
    story.write_text(text)
    with pytest.raises(Mistake, match=said):
        check(story, RelocationStage().play, rewrite=True)
    assert story.read_text() == text
