"""Spark's work in a thread apart."""

from __future__ import annotations

import logging
import socketserver
from collections.abc import Iterator

import py4j.java_gateway
import pytest
from pyspark.accumulators import AccumulatorTCPServer, AccumulatorUnixServer

from testbed.analysis.spark.interruptible import interruptibly, silence


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger and that of PySpark's bridge as they were, afterwards."""
    found, bridge = logging.getLogger(), logging.getLogger("py4j")
    filters, level = list(found.filters), bridge.level
    yield found
    found.filters[:] = filters
    bridge.setLevel(level)


def test_calls_that_were_cut_are_not_told_and_other_messages_are(root: logging.Logger) -> None:
    """The bridge logs some of them by the root logger."""

    def told(path: str) -> bool:
        return bool(root.filter(root.makeRecord("root", logging.ERROR, path, 1, "cut", (), None)))

    assert told(py4j.java_gateway.__file__)
    silence()
    silence()
    assert not told(py4j.java_gateway.__file__)
    assert told(__file__)
    assert not logging.getLogger("py4j.clientserver").isEnabledFor(logging.ERROR)


@pytest.mark.parametrize("server", [AccumulatorTCPServer, AccumulatorUnixServer])
def test_a_connection_that_java_cut_is_not_told(
    root: logging.Logger,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    server: type[socketserver.BaseServer],
) -> None:
    for kind in (AccumulatorTCPServer, AccumulatorUnixServer):
        monkeypatch.setattr(kind, "handle_error", kind.handle_error)  # put back afterwards
    silence()
    made = server.__new__(server)
    try:
        raise EOFError
    except EOFError:
        made.handle_error(b"", None)
    assert capsys.readouterr() == ("", "")


def test_what_the_action_returns_or_raises_comes_back() -> None:
    ticks: list[int] = []
    assert interruptibly(lambda: 3, lambda: ticks.append(1)) == 3
    assert ticks
    with pytest.raises(ZeroDivisionError):
        interruptibly(lambda: 1 // 0)
