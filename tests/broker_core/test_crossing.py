"""Two ends that dial each other: whatever comes first, one stream stays, and nobody hears of another."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_grpc.core.crossing import Crossing
from broker_grpc.core.links import hello_incarnation
from tests.broker_core.crossing_model import Model, Stream

Choose = Callable[[int], int]  # one of so many


class Script:
    """Choices made before, then always the first one."""

    def __init__(self, before: list[int]) -> None:
        self._before = before
        self.made: list[tuple[int, int]] = []  # the choice, of so many

    def __call__(self, of: int) -> int:
        number = len(self.made)
        self.made.append((self._before[number] if number < len(self._before) else 0, of))
        return self.made[-1][0]

    def next(self) -> list[int]:
        """The choices of the next interleaving; none after the last."""
        made = list(self.made)
        while made and made[-1][0] + 1 == made[-1][1]:
            made.pop()
        return [choice for choice, _ in made[:-1]] + [choice + 1 for choice, _ in made[-1:]]


def interleavings(play: Callable[[Choose], None]) -> int:
    """Plays all of them; returns how many."""
    choices: list[int] = []
    played = 0
    while choices or not played:
        script = Script(choices)
        play(script)
        played += 1
        choices = script.next()
    return played


def settle(model: Model, choose: Choose) -> Stream:
    """What is under way arrives, in any order, then whoever is not linked dials; until nothing is left."""
    for _ in range(200):
        actions = model.deliveries() or model.dials()
        if not actions:
            return the_stream(model)
        actions[choose(len(actions))]()
    raise AssertionError("it goes on for ever")


def the_stream(model: Model) -> Stream:
    one, two = model.ends
    assert one.live is not None
    assert one.live is two.live
    return one.live


@pytest.mark.parametrize("names", [("A", "B"), ("B", "A")])
def test_of_two_dials_at_once_the_smaller_ids_stays_in_every_interleaving(names: tuple[str, str]) -> None:
    def play(choose: Choose) -> None:
        model = Model(*names)
        for end in model.ends:
            model.dial(end)
        stream = settle(model, choose)
        assert stream.dialler.name == "A"
        assert [end.ups for end in model.ends] == [1, 1]
        assert {refused.dialler.name for refused in model.refused} == {"B"}

    assert interleavings(play) > 5


def test_dials_that_begin_at_any_time_make_one_stream_that_is_handed_over_once() -> None:
    """Nobody begins a dial that is not needed, and B's stays only where A had not begun before it was up."""
    stayed = set()

    def play(choose: Choose) -> None:
        model = Model()
        for _ in range(30):
            begun = [stream.dialler for stream in model.streams]
            deliveries = model.deliveries()
            # The first dial of an end may begin at any time, later ones when nothing is under way.
            ready = [end for end in model.idle() if not deliveries or end not in begun]
            moves = deliveries + [lambda end=end: model.dial(end) for end in ready]  # type: ignore[misc]
            if not moves:
                break
            moves[choose(len(moves))]()
        stream = the_stream(model)
        assert [end.ups for end in model.ends] == [1, 1]
        stayed.add((stream.dialler.name, model.ends[0] in [one.dialler for one in model.streams]))

    assert interleavings(play) > 10
    assert stayed == {("A", True), ("B", False)}


@given(st.data())
def test_after_any_faults_one_stream_is_up_at_both_ends(data: st.DataObject) -> None:
    """Streams lost at one end only, dials given up, processes restarted, heard of by the other or not."""
    model = Model()

    def choose(of: int) -> int:
        return data.draw(st.integers(0, of - 1))

    for _ in range(data.draw(st.integers(0, 12))):
        actions = model.deliveries() + model.dials() + model.faults()
        actions[choose(len(actions))]()
    stream = settle(model, choose)
    assert {name: stream.processes[name] for name in "AB"} == {end.name: end.process for end in model.ends}


@given(st.data())
def test_nothing_is_lost_where_no_stream_was_lost(data: st.DataObject) -> None:
    """Messages are under way all the time, from the first moment at which an end is up."""
    model = Model()
    for end in model.ends:
        model.dial(end)
    number = 0
    for _ in range(30):
        for end in model.ends:
            number += 1
            end.say(number)
        actions = model.deliveries()
        if actions:
            actions[data.draw(st.integers(0, len(actions) - 1))]()
    settle(model, lambda of: data.draw(st.integers(0, of - 1)))
    one, two = model.ends
    assert one.sent
    assert two.sent
    assert (one.received, two.received) == (two.sent, one.sent)


def test_an_answer_that_a_newer_dial_has_overtaken_is_not_taken() -> None:
    """A took B's stream, lost it and dials; its hello is there before its answer on the stream of before."""
    model = Model()
    one, two = model.ends
    model.dial(two)
    model.deliveries()[0]()
    one.hang_up(told=True)
    model.dial(one)
    old, new = model.streams
    model.deliver(new, "B")
    model.deliver(old, "B")
    assert two.live is new
    assert two.ups == 1
    assert settle(model, lambda of: 0) is new


def test_an_answer_given_after_a_dial_was_given_up_is_newer_than_that_dial() -> None:
    """A's hello is late: A has given up that dial and then taken B's."""
    model = Model()
    one, two = model.ends
    model.dial(one)
    model.give_up(one, told=False)
    model.dial(two)
    given_up, taken = model.streams
    model.deliver(given_up, "B")
    assert two.live is given_up
    model.deliver(taken, "A")
    model.deliver(taken, "B")
    assert two.live is taken
    assert settle(model, lambda of: 0) is taken


def test_a_link_that_one_end_dials_tells_what_it_always_told() -> None:
    """The number of the dial, of all its dials; whoever was dialled tells 0."""
    dialler, listener = Crossing("B", 3), Crossing("A", 2)
    assert dialler.begin("C") == hello_incarnation(3, 1)
    assert dialler.begin("A") == hello_incarnation(3, 2)
    assert not listener.prevails("B")
    assert listener.answer_to("B") == hello_incarnation(2, 0)


def test_a_dial_that_was_given_up_says_nothing_of_the_next() -> None:
    ours = Crossing("A", 1)
    first = ours.begin("B")
    second = ours.begin("B")
    ours.end("B", first)
    assert ours.prevails("B")
    ours.end("B", second)
    assert not ours.prevails("B")
