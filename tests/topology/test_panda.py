"""PANDA files: read into topology files, and written from them."""

# ruff: noqa: E501  (files and lines of theirs)

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.topology.file.problems import InvalidTopology
from testbed.topology.load import load_plan_text
from testbed.topology.panda.commands import parse_commands
from testbed.topology.panda.exporter import export_panda
from testbed.topology.panda.importer import import_panda
from testbed.topology.plan import Event, Plan

# The example of the PADRES user guide, section 6.
GUIDE = """\
# Phase 1
0.0  ADD BrokerA 10.0.1.1 bin/startbroker -uri socket://10.0.1.1:10000/BrokerA
0.0  add BrokerB 10.0.1.2 bin/startbroker -uri socket://10.0.1.2:10001/BrokerB -n socket://10.0.1.1:10000/BrokerA

0.0  ADD BrokerC 10.0.1.3 bin/startbroker -uri rmi://10.0.1.3:10002/BrokerC -n socket://10.0.1.2:10001/BrokerB
# Phase 2
1.01 ADD ClientX 10.0.1.4 demo/bin/stockquote/startSQpublisher.sh -i ClientX -s ANTP -r 60 -d 0 -b socket://10.0.1.1:10000/BrokerA
10   ADD ClientY 10.0.1.5 demo/bin/stockquote/startSQsubscriber.sh -i ClientY -s "[class,eq,STOCK],[volume,>,0]" -b socket://10.0.1.3:10002/BrokerC
"""
BROKER = "0 ADD A 10.0.0.1 bin/startbroker -uri socket://10.0.0.1:10000/A\n"
TO_A = "-b socket://10.0.0.1:10000/A"


def imported(text: str) -> Plan:
    return load_plan_text(
        import_panda(parse_commands(text, "old.txt"), "old", file="old.txt").text("old.txt")
    )


def refused(text: str) -> str:
    with pytest.raises(InvalidTopology) as caught:
        imported(text)
    return str(caught.value)


def test_the_example_of_the_user_guide() -> None:
    plan = imported(GUIDE)
    assert [(b.id, b.address, b.port) for b in plan.brokers] == [
        ("BrokerA", "10.0.1.1", 10000),
        ("BrokerB", "10.0.1.2", 10001),
        ("BrokerC", "10.0.1.3", 10002),
    ]
    assert [(link.a, link.b) for link in plan.overlay] == [("BrokerB", "BrokerA"), ("BrokerC", "BrokerB")]
    publisher, subscriber = plan.clients
    assert publisher.publications is not None
    assert publisher.publications.parameters == {"symbol": "ANTP"}
    assert (publisher.publications.period_us, publisher.publications.first_us) == (1_000_000, 1_000_000)
    assert subscriber.subscriptions[0].filter == "[class,eq,STOCK],[volume,>,0]"
    assert (publisher.broker, subscriber.broker) == ("BrokerA", "BrokerC")


def test_phase_one_is_ready_when_all_links_are_up_and_phase_two_counts_from_there() -> None:
    plan = imported(GUIDE)
    assert plan.phases[0].start == ["BrokerA", "BrokerB", "BrokerC"]
    assert plan.phases[0].gate.links_up
    assert plan.events == [
        Event("run", 1_010_000, "join", "ClientX"),
        Event("run", 10_000_000, "join", "ClientY"),
    ]
    assert plan.phases[1].run_for_us == 70_000_000


def test_phase_two_is_sorted_by_time_whatever_the_order_of_lines() -> None:
    text = BROKER + f"9 ADD late 10.0.0.2 startSQsubscriber.sh -i late -s [class,eq,X] {TO_A}\n"
    text += f"3 ADD soon 10.0.0.2 startSQsubscriber.sh -i soon -s [class,eq,X] {TO_A}\n"
    assert [event.target for event in imported(text).events] == ["soon", "late"]


def test_several_symbols_with_their_rates_are_several_clients() -> None:
    text = BROKER + f"1 ADD P 10.0.0.2 startSQpublisher.sh -i P -s X/Y/Z -r 60/30/0 -d 5 {TO_A}\n"
    result = import_panda(parse_commands(text), "old")
    plan = load_plan_text(result.text("old"))
    found = {c.id: c.publications for c in plan.clients}
    assert {id: (p.period_us, p.first_us) for id, p in found.items() if p} == {
        "P-X": (1_000_000, 6_000_000),
        "P-Y": (2_000_000, 7_000_000),
    }
    assert result.notes == ["P publishes Z at rate 0: left out"]


def test_several_filters_in_one_argument() -> None:
    text = (
        BROKER
        + f'1 ADD S 10.0.0.2 startSQsubscriber.sh -i S -s "[class,eq,A/B]/[class,eq,C],[x,<,1]" {TO_A}\n'
    )
    filters = [s.filter for s in imported(text).clients[0].subscriptions]
    assert filters == ["[class,eq,A/B]", "[class,eq,C],[x,<,1]"]


def test_remove_is_a_stop() -> None:
    text = (
        BROKER
        + "0 ADD C 10.0.0.2 bin/startbroker -uri socket://x:10001/C -n socket://x:1/A\n7.5 REMOVE C 10.0.0.2\n"
    )
    assert imported(text).events == [Event("run", 7_500_000, "stop", "C")]


def test_any_other_script_is_a_program_without_a_shell() -> None:
    plan = imported(BROKER + "2 ADD T 10.0.0.3 bin/tool -x \"a b\" 'c;d $(e)'\n")
    assert plan.programs[0].argv == ["bin/tool", "-x", "a b", "c;d $(e)"]


def test_addresses_outside_ours_and_placeholders_become_hosts() -> None:
    plan = imported(
        BROKER.replace("10.0.0.1 ", "<A_0> ")
        + BROKER.replace(" A ", " B ").replace("10.0.0.1 ", "142.1.2.3 ")
    )
    assert [broker.node for broker in plan.brokers] == ["n1", "n2"]
    assert all(broker.address.startswith("10.") for broker in plan.brokers)


def test_links_are_those_of_the_file_even_when_there_are_none_or_too_many() -> None:
    names = ("A", "B", "C")
    alone = "".join(
        f"0 ADD {name} 10.0.0.1 startbroker -uri socket://x:1000{k}/{name}\n" for k, name in enumerate(names)
    )
    assert imported(alone).overlay == []
    ring = "".join(
        f"{line} -n socket://x:1/{other}\n"
        for line, other in zip(alone.splitlines(), ("B", "C", "A"), strict=True)
    )
    assert [(link.a, link.b) for link in imported(ring).overlay] == [("A", "B"), ("B", "C"), ("C", "A")]


def test_arguments_without_a_counterpart_are_named() -> None:
    result = import_panda(parse_commands(BROKER.rstrip() + " -Xmx 512 -hostname h\n"), "old")
    assert result.notes == ["arguments -Xmx 512 -hostname h of A"]
    assert "# Not carried over: arguments -Xmx 512 -hostname h of A" in result.text("old")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "old.txt:1:1: the file has no commands"),
        ("0 ADD A\n", "old.txt:1:1: 3 fields, but four are needed; write: TIME ADD"),
        ("0 STOP A 10.0.0.1\n", "'STOP' is no command"),
        ("soon ADD A 10.0.0.1 x\n", "'soon' is no time in seconds"),
        ("-1 ADD A 10.0.0.1 x\n", "-1 is no time in seconds, 0 or more"),
        ("nan ADD A 10.0.0.1 x\n", "nan is no time"),
        ("0 ADD A 10.0.0.1\n", "ADD without a start script"),
        ('0 ADD A 10.0.0.1 x "open\n', "No closing quotation"),
        (BROKER + BROKER, "old.txt:2:1: duplicate id 'A'"),
        (BROKER + "3 REMOVE B 10.0.0.1\n", "REMOVE of 'B', which nothing added before"),
        (BROKER + "3 ADD S 10.0.0.1 startSQsubscriber.sh -s [class,eq,X]\n", "names no broker"),
        (BROKER + f"3 ADD S 10.0.0.1 startSQpublisher.sh -s A/B -r 1/2/3 {TO_A}\n", "2 symbols and 3 rates"),
        (BROKER + "1 ADD a;b 10.0.0.1 x\n", "'a;b' cannot be an id"),
        ("1 ADD T 10.0.0.1 bin/tool\n", "the file starts no broker"),
    ],
)
def test_malformed_lines_are_told_with_their_number(text: str, expected: str) -> None:
    assert expected in refused(text)


def test_all_malformed_lines_are_told_at_once() -> None:
    assert len(refused("x\ny\nz\n").splitlines()) == 3


def test_export_and_import_give_the_same_experiment() -> None:
    first = imported(GUIDE + "20 REMOVE ClientX 10.0.1.4\n")
    exported = export_panda(first)
    assert exported.notes == []
    again = imported(exported.text)
    assert again.brokers == first.brokers
    assert (again.overlay, again.clients, again.events) == (first.overlay, first.clients, first.events)


def test_export_names_what_panda_cannot_say() -> None:
    plan = load_plan_text(
        """\
name: x
network: {generator: chain, nodes: 3}
brokers: {B: {count: 3}}
clients:
  t: {broker: B1, publish: {source: topic, parameters: {topic: news}}}
  p: {broker: B1, publish: {parameters: {symbol: IBM}}, subscribe: ["[class,eq,'it''s']"]}
events: [{at: 1s, kill: B2}, {at: 2s, leave: p}]
"""
    )
    exported = export_panda(plan)
    assert len(exported.notes) == 3
    lines = [line for line in exported.text.splitlines() if not line.startswith("#")]
    assert len(lines) == 3 + 2 + 1
    assert lines[-1] == "12 REMOVE p 10.0.0.1"
    commands = parse_commands(exported.text)
    assert commands[4].arguments[3] == "[class,eq,'it''s']"


# As PADRES' console help and its topology generator write it.
CONSOLE = """\
0 ADD A 10.0.0.1 bin/startbroker -i A -p 10000
0 ADD B 10.0.0.2 bin/startbroker -i BrokerB -p 10001 -n 10.0.0.1:10000
0 ADD C 10.0.0.3 bin/startbroker -i C -p 10001 -n 10.0.0.2:10001,10.0.0.1:10000
1 ADD P 10.0.0.4 startSQpublisher.sh -i P -s IBM -r 60 -b 10.0.0.2:10001
2 ADD S 10.0.0.5 startSQsubscriber.sh -i S -s [class,eq,STOCK] -b socket://10.0.0.3:10001
"""


def test_brokers_by_port_and_neighbours_by_address() -> None:
    plan = imported(CONSOLE.replace(",10.0.0.1:10000", ""))
    assert [(b.id, b.address, b.port) for b in plan.brokers] == [
        ("A", "10.0.0.1", 10000),
        ("B", "10.0.0.2", 10001),
        ("C", "10.0.0.3", 10001),
    ]
    assert [(link.a, link.b) for link in plan.overlay] == [("B", "A"), ("C", "B")]
    assert [client.broker for client in plan.clients] == ["B", "C"]


def test_the_sample_of_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "panda.md").read_text("utf-8")
    plan = imported(page.partition("```panda\n")[2].partition("```")[0])
    assert [(link.a, link.b) for link in plan.overlay] == [("B", "A"), ("C", "B")]
    assert [(client.id, client.broker) for client in plan.clients] == [("pub", "A"), ("sub", "C")]


def test_a_name_given_with_i_stands_for_the_broker_of_the_line() -> None:
    text = CONSOLE.replace("10.0.0.2:10001,10.0.0.1:10000", "socket://10.0.0.2:10001/BrokerB")
    assert [(link.a, link.b) for link in imported(text).overlay] == [("B", "A"), ("C", "B")]


def test_a_broker_may_be_named_before_it_is_added() -> None:
    first, second, *rest = CONSOLE.replace(",10.0.0.1:10000", "").splitlines(keepends=True)
    assert [(link.a, link.b) for link in imported("".join([second, first, *rest])).overlay] == [
        ("B", "A"),
        ("C", "B"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("-n 10.0.0.1:10000", "-n 10.0.0.9:10000", "old.txt:2:1: no broker of the file is '10.0.0.9:10000'"),
        (
            "-b 10.0.0.2:10001",
            "-b 10.0.0.2:1",
            "old.txt:4:1: no broker of the file is '10.0.0.2:1'; known: A at",
        ),
        ("-b 10.0.0.2:10001", "-b socket://10.0.0.2:10001/Z", "no broker of the file is"),
        ("-b 10.0.0.2:10001", "-b a:b:c", "'a:b:c' is neither a URI nor host:port"),
        ("-p 10000", "-p many", "'many' is no port"),
        ("-p 10000", "-p 70000", "'70000' is no port"),
        (
            "10.0.0.3 bin/startbroker -i C",
            "10.0.0.2 bin/startbroker -i C",
            "C and B are both at 10.0.0.2:10001",
        ),
        ("-r 60", "-r often", "'often' is no number of 0 or more"),
        ("-s [class,eq,STOCK]", "-s [class,eq", "old.txt:5:1: filter '[class,eq': column"),
        ("-s [class,eq,STOCK]", "", "add -s"),
    ],
)
def test_what_cannot_be_mapped_is_an_error_and_never_a_file_that_is_refused(
    old: str, new: str, expected: str
) -> None:
    assert old in CONSOLE
    with pytest.raises(InvalidTopology) as caught:
        import_panda(parse_commands(CONSOLE.replace(old, new), "old.txt"), "old", file="old.txt")
    assert expected in str(caught.value)
