"""A figure as files, and in words."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from testbed.reproduction.figures.describe import WHOLE_UP_TO, description, in_words
from testbed.reproduction.figures.inside import read_inside, without_inside
from testbed.reproduction.figures.page import Page, draw_page, page_description
from testbed.reproduction.figures.plot import Figure, Series, Stated, draw, footnote

BANDED = Series("POP", [1, 2, 4], [3.0, 5.0, 4.0], [2, 4, 3], [4, 6, 5])
LONG = Series("Naive", list(range(100)), [float(i % 7) for i in range(100)], style="steps")
CLOUD = Series("join", [1, 1, 2], [0.5, math.nan, 1.5], style="points")


def figure(*series: Series, stated: tuple[Stated, ...] = ()) -> Figure:
    return Figure("fig1", "Fig. 1: delay", "X", "delay (ms)", series, stated, "guest, virtual time; seed 1")


def test_the_same_data_gives_the_same_bytes(tmp_path: Path) -> None:
    drawn = figure(BANDED, LONG, CLOUD, stated=(Stated("5 s", 5.0, 2.0), Stated("4 s", 4.0)))
    one, two = draw(drawn, tmp_path / "a"), draw(drawn, tmp_path / "b")
    assert one.name == "fig1.svg"
    assert one.read_bytes() == two.read_bytes()


def test_a_drawing_has_its_words_and_numbers_inside(tmp_path: Path) -> None:
    odd = Figure("fig1", "a < b & </metadata>", "X", "delay (ms)", [BANDED])
    path = draw(odd, tmp_path)
    ElementTree.parse(path)  # still a drawing
    assert read_inside(path) == description(odd)
    bare = tmp_path / "bare.svg"
    bare.write_text(without_inside(path.read_text()))
    assert read_inside(bare) == {}
    assert len(path.read_text()) - len(bare.read_text()) > len(in_words(odd))


def test_words_say_where_a_line_goes_and_what_the_paper_states() -> None:
    text = in_words(figure(BANDED, stated=(Stated("5 s", 5.0, 2.0), Stated("at most 4 s", 4.0))))
    assert text == (
        "delay (ms) over X. POP: from 3 at 1 to 4 at 4 (between 3 and 5). "
        "The paper states: 5 s at 2, at most 4 s."
    )


def test_words_of_a_cloud_and_of_nothing() -> None:
    assert "join: 2 points from 0.5 to 1.5, mean 1." in in_words(figure(CLOUD))
    assert "none: no values." in in_words(figure(Series("none", [], [])))
    assert "none: no values." in in_words(figure(Series("none", [1], [math.nan])))


def test_few_points_are_given_whole_and_many_in_short() -> None:
    banded, long, cloud = description(figure(BANDED, LONG, CLOUD))["series"]
    assert banded["points"] == [[1, 3, 2, 4], [2, 5, 4, 6], [4, 4, 3, 5]]
    assert len(LONG.x) > WHOLE_UP_TO
    assert (long["n"], long["first"], long["last"], long["min"], long["max"]) == (100, 0, 1, 0, 6)
    assert "points" not in cloud
    assert (cloud["n"], cloud["mean"]) == (2, 1.0)


def test_numbers_of_numpy_can_be_written(tmp_path: Path) -> None:
    series = Series("ours", [1, 2], list(np.array([1, 2], dtype=np.int64)))
    path = draw(figure(series, stated=(Stated("2", np.int64(2), np.int64(1)),)), tmp_path)  # type: ignore[arg-type]
    assert read_inside(path)["stated"] == [{"label": "2", "x": 1.0, "y": 2.0}]


def test_a_value_that_is_none_is_null(tmp_path: Path) -> None:
    (series,) = description(figure(Series("ours", [1, 2], [math.nan, 2.0])))["series"]
    assert series["points"] == [[1, None], [2, 2]]


def test_the_footnote_explains_bands_only_where_there_are_some() -> None:
    assert footnote(figure(BANDED)) == "guest, virtual time; seed 1; band: 95 % interval"
    assert footnote(figure(LONG)) == "guest, virtual time; seed 1"


def test_a_page_has_the_numbers_of_all_its_panels_inside(tmp_path: Path) -> None:
    other = Figure("fig2", "Fig. 2: hops", "X", "hops", [BANDED], [Stated("4", 4.0)])
    page = Page("figpage", "Figures 1 to 3", [figure(BANDED), other, figure(LONG)], "guest")
    one, two = draw_page(page, tmp_path / "a"), draw_page(page, tmp_path / "b")
    assert one.read_bytes() == two.read_bytes()
    told = read_inside(one)
    assert told == page_description(page)
    assert [s["label"] for s in told["series"]] == ["1: POP", "2: POP", "1: Naive"]
    assert told["stated"][0] == {"label": "2: 4", "x": None, "y": 4.0}
    assert told["series"][0]["points"] == [[1, 3, 2, 4], [2, 5, 4, 6], [4, 4, 3, 5]]


def test_no_line_joins_categories(tmp_path: Path) -> None:
    """Marks stand beside each other at their category, with their intervals."""
    marks = [Series(s, [0, 1], [0.2, 0.4], [0.1, 0.3], [0.3, 0.5], style="marks") for s in ("POP", "GRAPE")]
    names = {0.0: "half a ping", 1.0: "a whole one"}
    drawn = draw(Figure("fig1", "Fig. 1", "reading", "share", marks, ticks=names), tmp_path).read_text()
    joined = draw(
        Figure("fig1", "Fig. 1", "reading", "share", [replace(m, style="line") for m in marks], ticks=names),
        tmp_path / "joined",
    ).read_text()
    assert joined.count('id="line2d') != drawn.count('id="line2d')
