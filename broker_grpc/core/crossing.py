"""Two ends that dial each other: of two streams between the same two processes one stays.

- While an end dials and its id is the smaller one, it refuses the other's hello: its own dial is going to be
  taken. So of two dials that cross, the one by the smaller id stays, in whatever order their hellos arrive,
  and no machine hears of the other one. The end with the larger id takes the smaller one's stream, dialling
  or not.
- An end does not dial while a stream that the other dialled is up. Its wish stands: it dials again when that
  stream is lost.
- A hello tells the process's incarnation and the number of a dial: whoever dials tells that of this dial,
  whoever was dialled that of its last dial of this peer (0 = none). So a dial that is newer than the stream
  that is up was begun after its dialler had lost that stream, or by a restarted process: it takes over. One
  that is not newer crossed that stream, was given up since, or is a twin's: it is refused.
- An answer that is older than the stream that is up was overtaken by it, and its stream is given up.

Only the smaller end ever chooses between two dials, so the ends cannot choose differently. An end that cannot
reach the other refuses it only while it tries: in the pause between two dials it takes what comes.

Both drivers ask here; `tests/broker_core/test_crossing.py` has a model of two ends in any interleaving.
"""

from __future__ import annotations

from broker_grpc.core.links import hello_incarnation


class Crossing:
    """The dials of one process in one incarnation."""

    __slots__ = ("_dials", "_last", "_ours", "_process", "_under_way", "answering")

    def __init__(self, ours: str, incarnation: int) -> None:
        self._ours = ours
        self._process = incarnation
        self._dials = 0
        self._last: dict[str, int] = {}  # peer -> number of our last dial of it
        self._under_way: dict[str, int] = {}  # peer -> what the hello of this dial says
        self.answering: set[str] = set()  # peers to whom our hello is being written: not to be dialled now

    def begin(self, peer: str) -> int:
        """A dial begins; returns the incarnation that its hello tells."""
        self._dials += 1
        self._last[peer] = self._dials
        self._under_way[peer] = hello_incarnation(self._process, self._dials)
        return self._under_way[peer]

    def end(self, peer: str, greeting: int) -> None:
        """This dial was answered, has failed or was given up; a later one of the same peer is another."""
        if self._under_way.get(peer) == greeting:
            del self._under_way[peer]

    def answer_to(self, peer: str) -> int:
        """The incarnation that the hello tells to whoever has dialled us."""
        return hello_incarnation(self._process, self._last.get(peer, 0))

    def prevails(self, peer: str) -> bool:
        """Whether our dial of this peer is under way and is the one that will stay."""
        return peer in self._under_way and self._ours < peer

    def refusal(self, peer: str) -> str:
        return f"{self._ours!r} is dialling {peer!r} itself"


def takes_over(live: int, greeting: int) -> bool:
    """Whether a peer's hello on a new stream is newer than what it said on the stream that is up."""
    return greeting > live


def is_overtaken(live: int, answer: int) -> bool:
    """Whether a peer has said something newer, on a stream that is up, than this answer to our dial."""
    return answer < live


def taken(peer: str, live: int, greeting: int) -> str:
    return f"{peer!r} is already connected, as incarnation {live}; this is {greeting}"
