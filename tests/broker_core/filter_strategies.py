"""Random predicates over small domains, so that brute force can decide every relation."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

from broker_grpc.content.filters import Filter
from protos.content_messages import Operator, Predicate

NUMBERS = [-1, 0, 0.5, 1, 1.0, 2, 2.5, 3]
# Between and beyond the operands, so that an open interval has a witness in the domain.
NUMBER_DOMAIN = [-2, -1, -0.75, -0.5, 0, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.25, 2.5, 2.75, 3, 4]
WORDS = ["", "a", "ab", "b", "ba", "aba"]
WORD_DOMAIN = ["".join(word) for length in range(4) for word in itertools.product("ab", repeat=length)]

_NUMERIC = [
    Operator.EQ, Operator.NEQ, Operator.LT, Operator.LE, Operator.GT, Operator.GE, Operator.IS_PRESENT,
]  # fmt: skip
_TEXTUAL = [*_NUMERIC, Operator.STR_PREFIX, Operator.STR_POSTFIX, Operator.STR_CONTAINS]

numeric = st.builds(Predicate, st.sampled_from("xy"), st.sampled_from(_NUMERIC), st.sampled_from(NUMBERS))
textual = st.builds(Predicate, st.sampled_from("st"), st.sampled_from(_TEXTUAL), st.sampled_from(WORDS))
# The same attribute may be asked for as a number and as a string: such filters match nothing.
confused = st.builds(Predicate, st.just("x"), st.sampled_from(_TEXTUAL), st.sampled_from(WORDS))
topic = st.builds(Predicate, st.just("class"), st.just(Operator.EQ), st.sampled_from(["A", "B"]))


def filters(kinds: st.SearchStrategy[Predicate] | None = None, most: int = 4) -> st.SearchStrategy[Filter]:
    kinds = st.one_of(numeric, textual) if kinds is None else kinds
    return st.builds(
        lambda first, rest: Filter.checked([first, *rest]), topic, st.lists(kinds, max_size=most)
    )


publications = st.fixed_dictionaries(
    {"class": st.sampled_from(["A", "B", "C"])},
    optional={
        "x": st.sampled_from([*NUMBER_DOMAIN, "a", "ab"]),
        "y": st.sampled_from(NUMBER_DOMAIN),
        "s": st.sampled_from([*WORDS, "abb", 1]),
        "t": st.sampled_from([*WORDS, "bab"]),
        "z": st.just(7),
    },
)
