"""Topic-connected components: what a topic's subscribers look like on the overlay (section III)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from broker_grpc.protocols.topicconnected.overlay import Overlay, bits


def component_of(overlay: Overlay[Any, Any], start: int, members: int) -> int:
    """The nodes of `members` that reach `start` over links between members."""
    neighbours = overlay.neighbours
    seen = frontier = 1 << start
    while frontier:
        reached = 0
        while frontier:
            low = frontier & -frontier
            reached |= neighbours[low.bit_length() - 1]
            frontier ^= low
        frontier = reached & members & ~seen
        seen |= frontier
    return seen


def components(overlay: Overlay[Any, Any], topic: int) -> list[int]:
    """The components of a topic's subscribers, by their lowest node."""
    rest = overlay.subscribers[topic]
    found = []
    while rest:
        start = (rest & -rest).bit_length() - 1
        component = component_of(overlay, start, overlay.subscribers[topic])
        found.append(component)
        rest &= ~component
    return found


def is_topic_connected(overlay: Overlay[Any, Any], topics: int | None = None) -> bool:
    """For every topic (of the mask), at most one component."""
    return next(disconnected(overlay, topics), None) is None


def disconnected(overlay: Overlay[Any, Any], topics: int | None = None) -> Iterator[int]:
    """Those topics (of the mask) that have more than one component."""
    chosen = range(len(overlay.subscribers)) if topics is None else bits(topics)
    return (t for t in chosen if not _is_connected(overlay, t))


def _is_connected(overlay: Overlay[Any, Any], topic: int) -> bool:
    """By a plain walk: it shares nothing with what the repairs use, and must not."""
    unseen = set(np.flatnonzero(overlay.membership[topic]).tolist())
    frontier = [unseen.pop()] if unseen else []
    while frontier:
        reached = overlay.adjacent[frontier.pop()] & unseen
        unseen -= reached
        frontier.extend(reached)
    return not unseen
