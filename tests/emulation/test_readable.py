"""Waiting for descriptors of any number."""

import os
import resource
import socket

import pytest

from testbed.emulation.readable import readable


@pytest.fixture
def high_pair():
    """Two ends of a line whose numbers `select` would refuse."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(4096, hard)), hard))
    ours, theirs = socket.socketpair()
    numbers = (ours.fileno(), 2000), (theirs.fileno(), 2001)
    high = [socket.socket(fileno=os.dup2(low, number)) for low, number in numbers]
    ours.close()
    theirs.close()
    yield high
    for end in high:
        end.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_descriptors_above_1023_are_waited_for(high_pair):
    ours, theirs = high_pair
    assert readable([ours], 0) == []
    theirs.send(b"x")
    assert readable([ours, theirs]) == [ours]
    assert readable([ours.fileno()], 0) == [2000]


def test_an_end_that_is_gone_is_readable(high_pair):
    ours, theirs = high_pair
    theirs.close()
    assert readable([ours], 60) == [ours]
