"""The text form of PADRES (user guide section 9), with ranges."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_grpc.content.language import (
    MAX_LENGTH,
    OPERATORS,
    format_filter,
    format_publication,
    parse_filter,
    parse_publication,
    reread_filter,
    reread_publication,
)
from broker_grpc.content.predicates import check_attributes
from broker_grpc.errors import BrokerError, LanguageError, LimitExceeded
from protos.content_messages import Operator, Predicate
from tests.broker_core.filter_strategies import filters, publications


def test_filter():
    found = parse_filter("[class,eq,'STOCK'],[symbol,eq,'YHOO'],[price,>,10],[price,<=,20.5]")
    assert found.predicates == (
        Predicate("class", Operator.EQ, "STOCK"),
        Predicate("symbol", Operator.EQ, "YHOO"),
        Predicate("price", Operator.GT, 10),
        Predicate("price", Operator.LE, 20.5),
    )


def test_publication_of_the_paper():
    """POP/GRAPE 5.1, the typical publication."""
    found = parse_publication(
        "[class, 'STOCK'], [symbol, 'YHOO'], [open, 18.37], [high, 18.62], [low, 18.37],\n"
        "  [close, 18.37], [volume, 6200], [date, '5-Sep-96'], [openClose%Diff, 0.0],\n"
        "  [highLow%Diff, 0.014], [closeEqualsLow, 'true'], [closeEqualsHigh, 'false']"
    )
    assert found["openClose%Diff"] == 0.0
    assert found["volume"] == 6200
    assert type(found["volume"]) is int
    assert found["date"] == "5-Sep-96"
    assert len(found) == 12


def test_strings_need_no_quotes_if_they_are_words():
    assert parse_publication("[class,STOCK],[symbol,YHOO]") == {"class": "STOCK", "symbol": "YHOO"}


def test_a_quote_inside_a_string_is_doubled():
    assert parse_publication("[class,'it''s']") == {"class": "it's"}
    assert format_publication({"class": "it's"}) == "[class,'it''s']"


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_every_operator(name):
    operator, for_text = OPERATORS[name]
    value = "5" if for_text is False else "'x'"
    predicate = parse_filter(f"[class,eq,'A'],[attr,{name},{value}]").predicates[1]
    assert predicate.operator == operator


def test_a_number_is_integer_or_real_as_written():
    found = parse_publication("[class,A],[a,1],[b,1.0],[c,-2e3],[d,'1']")
    assert [type(found[name]) for name in "abcd"] == [int, float, float, str]


@pytest.mark.parametrize(
    ("text", "column", "word"),
    [
        ("", 1, "'['"),
        ("class,eq,'A'", 1, "'['"),
        ("[class,eq,'A'", 14, "']'"),
        ("[class,eq,'A]", 11, "never closed"),
        ("[class,eq,'A'] [x,>,1]", 16, "','"),
        ("[class,eq,'A'],", 16, "'['"),
        ("[class,eq,'A'],[x,>]", 16, "fields"),
        ("[class,eq,'A'],[x,like,1]", 19, "unknown operator 'like'"),
        ("[class,eq,'A'],[x,<,'a']", 21, "wants a number"),
        ("[class,eq,'A'],[x,str-lt,1]", 26, "wants a string"),
        ("[class,eq,'A'],[x,str-prefix,1]", 30, "wants a string"),
        ("[class,eq,'A'],[x,>,nan]", 21, "not a number"),
        ("[class,eq,'A'],[x,>,1e999]", 21, "too large"),
        ("[class,eq,'A'],[x,>,99999999999999999999]", 16, "64 bits"),
        ("[class,eq,'A'],[,>,1]", 17, "expected"),
        ("[class,eq,[x]]", 11, "expected"),
    ],
)
def test_errors_say_where_and_what(text, column, word):
    with pytest.raises(LanguageError) as caught:
        parse_filter(text)
    assert str(caught.value).startswith(f"column {column}: ")
    assert word in str(caught.value)


def test_an_unknown_operator_lists_the_known_ones():
    with pytest.raises(LanguageError, match="str-prefix"):
        parse_filter("[class,like,'A']")


@pytest.mark.parametrize("text", ["[x,>,1]", "[x,>,1],[y,=,2]", "[class,neq,'A']", "[class,=,1],[x,>,1]"])
def test_class_is_mandatory(text):
    with pytest.raises(LanguageError, match="class"):
        parse_filter(text)


def test_a_topic_is_one_equality_predicate():
    assert parse_filter("[topic,eq,'news']").matches(parse_publication("[topic,'news']"))
    with pytest.raises(LanguageError, match="class"):
        parse_publication("[topic,'news'],[x,1]")


def test_an_attribute_twice_in_a_publication():
    with pytest.raises(LanguageError, match="twice"):
        parse_publication("[class,A],[x,1],[x,2]")


def test_limits():
    with pytest.raises(LimitExceeded):
        parse_filter("[class,eq,A]" + ",[x,>,1]" * 64)
    with pytest.raises(LimitExceeded):
        parse_filter("[class,eq,'" + "a" * MAX_LENGTH + "']")
    with pytest.raises(LimitExceeded):
        parse_filter("[class,eq,'" + "a" * 5000 + "']")


@given(filters())
def test_filters_round_trip(filter_):
    again = parse_filter(format_filter(filter_.predicates))
    assert again.predicates == filter_.predicates
    assert [type(p.value) for p in again.predicates] == [type(p.value) for p in filter_.predicates]


@given(publications)
def test_publications_round_trip(attributes):
    assert parse_publication(format_publication(attributes)) == attributes


def test_a_name_that_is_no_word_is_written_in_quotes():
    text = "[class,eq,'STOCK'],['n m',>,1],['it''s [a], \"name\"',isPresent,'x']"
    assert format_filter(parse_filter(text).predicates) == text
    assert format_publication(parse_publication("['n m',1],[class,A]")) == "['n m',1],[class,'A']"


names = st.text(min_size=1, max_size=30)


@given(st.dictionaries(names, st.integers(-9, 9) | st.text(max_size=9), max_size=5))
def test_any_names_that_are_accepted_are_read_again(content):
    attributes = {**content, "class": "A"}
    assert reread_publication(format_publication(attributes)) == attributes
    predicates = [Predicate(name, Operator.EQ, value) for name, value in attributes.items()]
    assert reread_filter(format_filter(predicates)).predicates == tuple(predicates)


def test_what_was_accepted_is_read_again_beyond_the_limits_of_text():
    many = [Predicate("class", Operator.EQ, "A"), *(Predicate(f"a{i}", Operator.GT, i) for i in range(200))]
    assert reread_filter(format_filter(many)).predicates == tuple(many)
    long = {"class": "A"} | {f"a{i}": "x" * 4000 for i in range(100)}
    check_attributes(long)
    assert reread_publication(format_publication(long)) == long


@given(
    st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**63), 2**63 - 1), st.text(max_size=50)
)
def test_values_round_trip(real, integer, text):
    attributes = {"class": text, "r": real, "i": integer}
    again = parse_publication(format_publication(attributes))
    assert again == attributes
    assert [type(v) for v in again.values()] == [str, float, int]


@given(st.text(alphabet="[],'\"<>= \nax1.-e", max_size=40))
def test_any_text_gives_a_filter_or_a_broker_error(text):
    with contextlib.suppress(BrokerError):
        parse_filter(text)
