"""Bad files: each mistake is told with its place and what would be right, and nothing is started."""

# ruff: noqa: E501  (one case, one line)

from __future__ import annotations

from pathlib import Path

import pytest

from tests.topology.texts import BASE, only_problem, plan_of, problems_of

EXPLICIT = """\
name: test
network:
  nodes: {s1: {kind: switch}, h1: {}, h2: {}}
  links:
    - {between: [s1, h1]}
    - {between: [s1, h2]}
brokers:
  A: {node: h1}
  B: {node: h2}
"""


def test_the_base_files_are_good() -> None:
    assert len(plan_of(BASE).brokers) == 3
    assert len(plan_of(EXPLICIT).brokers) == 2


CASES = {
    "unknown key": ("nmae: x", "test.yaml:4:1: unknown key 'nmae'; did you mean 'name'?"),
    "unknown key, nothing near": ("zzzz: 1", "known keys: algorithm, brokers"),
    "unknown inner key": ("overlay: {fan_out: 2}", "4:11: unknown key 'fan_out'; did you mean 'fanout'?"),
    "wrong type": ("seed: many", "4:7: seed must be a whole number, not a text"),
    "boolean for a number": ("seed: true", "seed must be a whole number, not true/false"),
    "mapping for a list": ("events: {}", "4:9: events must be a list, not a mapping"),
    "list for a mapping": ("clients: []", "clients must be a mapping, not a list"),
    "wrong word": ("overlay: {generator: tre}", "generator cannot be 'tre'; did you mean 'tree'?"),
    "number out of range": (
        "overlay: {fanout: 0}",
        "4:19: fanout must be at least 1; not 0",
    ),
    "unknown unit": ("duration: 5 parsec", "4:11: duration: unknown unit 'parsec' of a duration; known: us"),
    "negative duration": ("duration: -1s", "duration: a duration cannot be negative (-1s); write 0 or more"),
    "unknown broker of a client": (
        "clients: {c: {broker: B9, subscribe: ['[class,eq,X]']}}",
        "4:23: there is no broker 'B9'; known: B1, B2, B3",
    ),
    "bad filter": ("clients: {c: {subscribe: ['class=X']}}", "4:27: no filter"),
    "client that does nothing": ("clients: {c: {broker: B1}}", "client 'c' neither publishes nor subscribes"),
    "publisher without publications": (
        "clients: {c: {kind: publisher, subscribe: ['[class,eq,X]']}}",
        "publisher 'c' publishes nothing; add `publish:`",
    ),
    "unknown source": (
        "clients: {c: {publish: {source: stok}}}",
        "no source is called 'stok'; did you mean 'stock'?",
    ),
    "source without its parameter": (
        "clients: {c: {publish: {source: stock}}}",
        "needs the parameter 'symbol'",
    ),
    "unknown workload": ("clients: {c: {publish: quotes}}", "there is no workload 'quotes'"),
    "zero rate": ("workload: {w: {rate: 0/s}}", "rate must be more than 0"),
    "unknown broker option": (
        "defaults: {broker: {options: {matchng_us: 5}}}",
        "4:31: unknown broker option 'matchng_us'; did you mean 'matching_us'?",
    ),
    "bad broker option": (
        "defaults: {broker: {options: {matching_us: fast}}}",
        "4:44: broker option matching_us must be a whole number, not a text; it is: matching time per publication",
    ),
    "negative broker option": (
        "defaults: {broker: {options: {input_queue: -1}}}",
        "broker option input_queue must be at least 0, not -1; it is: envelopes waiting",
    ),
    "broker option without such a choice": (
        "defaults: {broker: {options: {subscription_covering: lasy}}}",
        "broker option subscription_covering cannot be 'lasy'; it is: off, lazy or active",
    ),
    "unknown algorithm": (
        "algorithm: {name: grap}",
        "4:19: there is no algorithm 'grap'; did you mean 'grape'?",
    ),
    "unknown parameter of an algorithm": (
        "algorithm: {name: grape, wieght: 5}",
        "4:26: algorithm grape has no parameter 'wieght'; did you mean 'weight'?",
    ),
    "bad parameter of an algorithm": (
        "algorithm: {name: pop, threshold: 0}",
        "algorithm pop, parameter threshold must be at least 1, not 0; whole number",
    ),
    "overlay link to nobody": ("overlay: {links: [[B1, B2], [B2, B7]]}", "4:34: there is no broker 'B7'"),
    "overlay link to itself": ("overlay: {links: [[B1, B1]], connected: false}", "from 'B1' to itself"),
    "cycle where a tree is needed": (
        "overlay: {links: [[B1, B2], [B2, B3], [B3, B1]]}",
        "4:11: the overlay has a cycle: B1 - B2 - B3 - B1; remove one of these links, or `cycles: allow`",
    ),
    "generated cycle": ("overlay: {generator: ring}", "the overlay has a cycle"),
    "overlay in parts": ("overlay: {links: [[B1, B2]]}", "the overlay is in 2 parts; B3 cannot reach B1"),
    "event without action": (
        "events: [{at: publishers}]",
        "4:10: an event with no action; exactly one of kill",
    ),
    "event with two actions": (
        "events: [{at: publishers, kill: B1, stop: B2}]",
        "an event with 2 actions (kill, stop)",
    ),
    "event on nobody": ("events: [{at: publishers, kill: B9}]", "4:33: there is no process or group 'B9'"),
    "event on no link": (
        "events: [{at: publishers, link_down: r1-r9}]",
        "there is no link 'r1-r9'; did you mean 'r1-r2'?",
    ),
    "event on a link by its other name": (
        "events: [{at: publishers, link_down: r2-r1}]",
        "there is no link 'r2-r1'; its name is 'r1-r2'",
    ),
    "event in no phase": ("events: [{at: later+5s, kill: B1}]", "4:15: there is no phase 'later'"),
    "event at no instant": ("events: [{at: publishers+soon, kill: B1}]", "'soon' is no duration"),
    "event at a bad instant": (
        "events: [{at: publishers-5s, kill: B1}]",
        "4:15: there is no phase 'publishers-5s'; did you mean 'publishers'?",
    ),
    "heal without a partition": (
        "events: [{at: 1s, heal: true}]",
        "4:25: heal without a partition; let a partition come first",
    ),
    "heal before its partition": (
        "events: [{at: 5s, partition: [B1]}, {at: 2s, heal: true}]",
        "4:52: heal comes before its partition",
    ),
    "heal after the end": (
        "duration: 10s\nevents: [{at: 2s, partition: [B1]}, {at: 12s, heal: true}]",
        "5:53: heal at publishers+12s is after the end of the run; at the latest publishers+10s",
    ),
    "heal that heals nothing": ("events: [{at: 1s, partition: [B1]}, {at: 2s, heal: false}]", "does nothing"),
    "link_up of a link that is up": (
        "events: [{at: 1s, link_up: r1-r2}]",
        "link_up r1-r2 without a link_down",
    ),
    "event after the last phase": (
        "duration: 10s\nevents: [{at: publishers+11s, kill: B1}]",
        "5:37: kill B1 at publishers+11s is after the end of the run",
    ),
    "flap beyond the end": (
        "duration: 4s\nevents: [{at: 1s, flap: {link: r1-r2, times: 3}}]",
        "5:25: link_down r1-r2 at publishers+5s is after the end of the run",
    ),
    "churn beyond the end": (
        "duration: 10s\nevents: [{at: 11s, churn: {of: [B2, B3], rate: 2/s, lasts: 60s}}]",
        "churn at publishers+11s is after the end of the run",
    ),
    "start after the end": (
        "duration: 10s\nclients: {c: {subscribe: ['[class,eq,X]'], start_at: publishers+20s}}",
        "join c at publishers+20s is after the end of the run",
    ),
    "event after every gate has timed out": (
        "phases: [{name: p, start: [brokers], run_for: 5s}, {name: q, run_for: 5s, ready: {timeout: 20s}}]\n"
        "events: [{at: p+31s, kill: B1}]",
        "kill B1 at p+31s is after the end of the run; at the latest p+30s",
    ),
    "empty reshape": ("events: [{at: 1s, reshape: {link: r1-r2}}]", "reshape changes nothing"),
    "partition of nobody": ("events: [{at: 1s, partition: [h9]}]", "there is no node or broker 'h9'"),
    "partition of everybody": ("events: [{at: 1s, partition: [B1, B2, B3]}]", "every host on one side"),
    "join of one who is there": (
        "events: [{at: 1s, join: B1}]\nphases: [{name: p, start: [B1, B2, B3]}]",
        "join",
    ),
    "churn of nobody": (
        "events: [{at: 1s, churn: {of: [x], rate: 1/s, lasts: 5s}}]",
        "no process or group 'x'",
    ),
    "phase that starts nobody known": ("phases: [{name: p, start: [bokers]}]", "did you mean 'brokers'?"),
    "duplicate phase": (
        "phases: [{name: p, start: [brokers]}, {name: p}]",
        "4:46: duplicate phase 'p'; name it otherwise",
    ),
    "after beyond all retries": (
        "phases: [{name: p, start: [brokers], ready: {after: 2min, timeout: 20s, retries: 5}}]",
        "the gate can never be met: `after` is not before `timeout`",
    ),
    "negative retries": ("phases: [{name: p, start: [brokers], ready: {retries: -1}}]", "retries"),
    "somebody nothing starts": ("phases: [{name: p, start: [B1, B2]}]", "nothing ever starts B3"),
    "links_up before any broker": (
        "phases: [{name: p, ready: {links_up: true}}, {name: q, start: [brokers]}]",
        "4:38: links_up can never be met: no broker has been started",
    ),
    "settled before any broker": (
        "phases: [{name: p, ready: {subscriptions_settled: true}}, {name: q, start: [brokers]}]",
        "subscriptions_settled can never be met",
    ),
    "after beyond the timeout": (
        "phases: [{name: p, start: [brokers], ready: {after: 2min, timeout: 60s}}]",
        "4:53: the gate can never be met: `after` is not before `timeout`",
    ),
    "check on no node": (
        "phases: [{name: p, start: [brokers], ready: {check: ['true'], check_node: h9}}]",
        "there is no node or broker 'h9'",
    ),
    "capture on no node": ("capture: {nodes: [h9]}", "4:19: there is no node or broker 'h9'"),
    "capture on a router": (
        "capture: {nodes: [r1]}",
        "4:19: 'r1' is a router: it has no processes and no captures; name a host: hr1, hr2, hr3, B1",
    ),
    "probe of a router": ("probes: {pairs: [[B1, r4]]}", "'r4' is a router"),
    "check on no column": (
        "checks: {quick: delay.p98_us < 5}",
        "4:17: check 'quick': `delay` has no column 'p98_us'; did you mean 'p99_us'?",
    ),
    "check on no column of a query": (
        "checks: {whole: '(select count(*) from deliveries where outcom = 5) = 0'}",
        "`deliveries` has no column 'outcom'; did you mean 'outcome'?",
    ),
    "check on no table": (
        "checks: {whole: '(select count(*) from delivries) = 0'}",
        "there is no table 'delivries'; did you mean 'deliveries'?",
    ),
    "check on nothing": ("checks: {quick: p99_us < 5}", "'p99_us' names no table"),
    "check that is no expression": ("checks: {quick: delay.p99_us <}", "is no expression over the tables"),
    "probe of no node": ("probes: {pairs: [[B1, h9]]}", "there is no node or broker 'h9'"),
    "program on no node": ("programs: {p: {node: x, command: [ls]}}", "4:22: there is no node or broker 'x'"),
    "program without command": ("programs: {p: {node: B1, command: []}}", "command"),
    "program as a shell line": (
        "programs: {p: {node: B1, command: 'rm -rf /'}}",
        "command must be a list, not a text",
    ),
    "stop before start": (
        "clients: {c: {subscribe: ['[class,eq,X]'], start_at: publishers+5s, stop_at: publishers+1s}}",
        "'c' stops before it starts",
    ),
    "id of two processes": ("clients: {B1: {subscribe: ['[class,eq,X]']}}", "4:11: duplicate id 'B1'"),
    "id that would break a shell": (
        "clients: {'a;b': {subscribe: ['[class,eq,X]']}}",
        "'a;b' cannot be an id",
    ),
    "id with a template left": ("clients: {c: {count: 2, id: 'c{j}', subscribe: ['[class,eq,X]']}}", "c{j}"),
    "duplicate ids by a pattern": (
        "clients: {c: {count: 2, id: same, subscribe: ['[class,eq,X]']}}",
        "duplicate id 'same'",
    ),
    "item that is no member": (
        "clients: {c: {subscribe: ['[class,eq,X]'], items: {d: {broker: B1}}}}",
        "'d'",
    ),
    "bad broker of an item": (
        "clients: {c: {broker: B1, subscribe: ['[class,eq,X]'], items: {c: {broker: B9}}}}",
        "4:76: there is no broker 'B9'",
    ),
    "bad filter of an item": (
        "clients: {c: {subscribe: ['[class,eq,X]'], items: {c: {subscribe: ['class=X']}}}}",
        "4:68: no filter",
    ),
    "template that becomes a wrong value": (
        "clients: {c: {for_each: {r: [1/s, x]}, publish: {rate: '{r}', parameters: {symbol: A}}}}",
        "'x' is no rate",
    ),
    "too many processes": (
        "programs: {p: {node: B1, command: [ls], count: 99999, for_each: {a: [1, 2]}}}",
        "199998",
    ),
    "workload of nobody": (
        "clients: {s: {workload: random}}",
        "no publisher of stock quotes to subscribe to",
    ),
    "bad shares": (
        "clients: {p: {publish: {parameters: {symbol: A}}}, "
        "s: {workload: random, shares: {low: 50%, medium: 0%, high: 0%}}}",
        "shares of rate classes must add up to 1",
    ),
    "templates of nobody": ("clients: {s: {templates: {}}}", "no publisher of stock quotes to subscribe to"),
    "bad template": (
        "clients: {p: {publish: {parameters: {symbol: A}}}, s: {templates: {shares: {'[class,eq': 100%}}}}",
        "no filter: ",
    ),
    "unknown place in a template": (
        "clients: {p: {publish: {parameters: {symbol: A}}}, "
        "s: {templates: {shares: {'[class,eq,STOCK],[high,>,{hihg}]': 100%}}}}",
        "a quote has no 'hihg'; did you mean 'high'?",
    ),
    "bad shares of templates": (
        "clients: {p: {publish: {parameters: {symbol: A}}}, "
        "s: {templates: {shares: {'[class,eq,STOCK]': 50%}}}}",
        "shares of templates must add up to 1, not 0.5",
    ),
    "idle without symbol": (
        "clients: {p: {publish: {parameters: {symbol: A}}}, "
        "s: {templates: {idle: 5%, shares: {'[class,eq,STOCK]': 100%}}}}",
        "`idle` needs a template with {symbol}",
    ),
    "too many topics": ("clients: {c: {topics: {topics: 2, per_client: 3}}}", "cannot have 3 of 2 topics"),
}


@pytest.mark.parametrize("case", CASES)
def test_mistakes_are_told(case: str) -> None:
    text, expected = CASES[case]
    found = problems_of(BASE + text)
    assert any(expected in problem for problem in found), found


@pytest.mark.parametrize(
    "text",
    [
        "events: [{at: 1s, partition: [B1]}, {at: 2s, heal: true}, {at: 3s, partition: [B2]}, {at: 4s, heal: true}]",
        # The gates in between may take no time at all, or two minutes.
        "events: [{at: subscribers+1s, partition: [B1]}, {at: overlay+100s, heal: true}]",
        "duration: 5s\nevents: [{at: overlay+100s, kill: B1}]",
        "duration: 5s\nevents: [{at: 5s, kill: B1}]",
        "checks: {a: delay.p99_us < 5, b: '(select max(n) from (select outcome, count(*) as n from deliveries "
        'group by outcome)) < 5\', c: "(with few as (select * from losses) select count(*) from few) = 0"}',
    ],
)
def test_what_may_be_right_is_not_refused(text: str) -> None:
    plan_of(BASE + text)


def test_a_duplicate_id_is_told_once() -> None:
    text = BASE.replace("nodes: 4", "nodes: 9").replace(
        "{B: {count: 3}}", "{B: {count: 3}, A: {count: 4, id: B1}}"
    )
    assert only_problem(text).endswith(
        "duplicate id 'B1'; the group 'B' of `brokers` has it already; change an id pattern"
    )


def test_a_duplicate_id_closes_no_cycle() -> None:
    text = BASE.replace("nodes: 4", "nodes: 9").replace("{B: {count: 3}}", "{B1: {}, B: {count: 3}}")
    assert "duplicate id 'B1'" in only_problem(text)


def test_no_name_is_listed_twice() -> None:
    """A single client's group has its name."""
    told = only_problem(BASE + "clients: {c: {subscribe: ['[class,eq,X]']}}\nevents: [{at: 1s, kill: zz}]")
    names = told.partition("known: ")[2].split(", ")
    assert len(names) == len(set(names)) > 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("probes: {pairs: [[a]]}", "4:18: pairs has 1 entry; write at least 2"),
        ("probes: {pairs: x}", "4:17: pairs must be a whole number, not a text; write a whole number"),
        ("clients: {c: {publish: {arrival: x}}}", "4:34: arrival cannot be 'x'; one of periodic, poisson"),
        ("events: [{at: '', kill: B1}]", "4:15: at is empty; write a text"),
    ],
)
def test_of_alternatives_the_one_that_was_meant_is_told(text: str, expected: str) -> None:
    assert only_problem(BASE + text) == f"test.yaml:{expected}"


def test_a_loss_of_everything_is_refused() -> None:
    text = EXPLICIT.replace("[s1, h1]}", "[s1, h1], loss: 100%}")
    assert "no packet passes between B and A: the loss is 100 % on s1-h1" in only_problem(text)
    plan_of(text + "events: [{at: 1s, reshape: {link: s1-h1, loss: 5%}}]")


NETWORKS = {
    "negative latency": (
        "{nodes: {s: {kind: switch}, h: {}}, links: [{between: [s, h], latency: -5ms}]}",
        "2:81: latency: a latency cannot be negative (-5ms); write 0 or more",
    ),
    "unknown node": (
        "{nodes: {s1: {kind: switch}, h: {}}, links: [{between: [s2, h]}, {between: [s1, h]}]}",
        "2:66: there is no node 's2'; known: h, s1",
    ),
    "disconnected": (
        "{nodes: {s: {kind: switch}, h: {}, t: {kind: switch}}, links: [{between: [s, h]}]}",
        "2:45: the network is in 2 parts; t cannot reach s; link one of them to s",
    ),
    "link to itself": (
        "{nodes: {s: {kind: switch}}, links: [{between: [s, s]}]}",
        "a link from 's' to itself",
    ),
    "link with three ends": ("{nodes: {s: {kind: switch}}, links: [{between: [s, s, s]}]}", "between"),
    "second link": (
        "{nodes: {s: {kind: switch}, h: {}}, links: [{between: [s, h]}, {between: [h, s]}]}",
        "a second link between h and s",
    ),
    "two hosts linked": (
        "{nodes: {g: {}, h: {}}, links: [{between: [g, h]}]}",
        "g and h are both hosts; put a node of `kind: switch` between them",
    ),
    "long id": ("{nodes: {abcdefghijk: {}}}", "2:19: the node id 'abcdefghijk' has 11 characters"),
    "id for a shell": ("{nodes: {'$(reboot)': {}}}", "'$(reboot)' cannot be a node id"),
    "id that starts with a dash": ("{nodes: {-h: {}}}", "'-h' cannot be a node id"),
    "duplicate node": ("{nodes: {h: {}, h: {}}}", "duplicate key 'h'"),
    "bad address": ("{nodes: {h: {address: 192.168.0.1}}}", "'192.168.0.1' is no address of 10.0.0.0/8"),
    "unknown generator": (
        "{generator: treee, nodes: 3}",
        "generator cannot be 'treee'; did you mean 'tree'?",
    ),
    "missing parameter": ("{generator: chain}", "2:10: 'nodes' is missing; add it"),
    "upside-down range": (
        "{generator: chain, nodes: 2, link: {latency: [5ms, 1ms]}}",
        "2:55: latency: the range 5ms to 1ms is upside down",
    ),
    "no matrix": ("{generator: rtt_matrix}", "needs a matrix or a file"),
    "ragged matrix": ("{generator: rtt_matrix, matrix: '0 1\n\n1'}", "it must be square"),
    "negative round trip": ("{generator: rtt_matrix, matrix: '0 -1\n\n-1 0'}", "is no round trip between 0"),
    "absent matrix file": ("{generator: rtt_matrix, file: nowhere.txt}", "2:40: no matrix of round trips"),
    "no such class": ("{mininet: 'nowhere:Topo'}", "cannot make nowhere:Topo: ModuleNotFoundError"),
    "not a network": ("5", "network must be a mapping, not a number"),
}


@pytest.mark.parametrize("case", NETWORKS)
def test_mistakes_in_networks_are_told(case: str, tmp_path: Path) -> None:
    text, expected = NETWORKS[case]
    found = problems_of(f"name: x\nnetwork: {text}\nbrokers: {{B: {{}}}}\n", tmp_path)
    assert any(expected in problem for problem in found), found


def test_too_few_nodes_for_one_broker_each() -> None:
    text = BASE.replace("count: 3", "count: 9")
    assert only_problem(text) == (
        "test.yaml:3:11: 9 brokers, but only 4 free nodes to place them on; "
        "use a larger network, or `place: round_robin`"
    )


def test_an_interface_name_too_long_for_its_number_of_ports() -> None:
    nodes = ", ".join(f"h{n}: {{}}" for n in range(12))
    links = ", ".join(f"{{between: [tenletters, h{n}]}}" for n in range(12))
    text = f"name: x\nnetwork: {{nodes: {{tenletters: {{kind: switch}}, {nodes}}}, links: [{links}]}}\nbrokers: {{B: {{}}}}"
    assert "'tenletters-eth12' of more than 15 characters" in only_problem(text)


def test_many_problems_are_told_at_once_in_order() -> None:
    found = problems_of(
        """\
        name: bad name
        seed: x
        network: {generator: tree, nodes: 7, link: {latncy: 1, bandwidth: 10 Mib}}
        broker: {}
        brokers: {B: {count: 3, plce: random}}
        events: [{at: foo, kil: B1}]
        """
    )
    assert [problem.split(":")[1] for problem in found] == ["1", "2", "3", "3", "4", "5", "6"]


def test_problems_of_several_steps_are_told_at_once() -> None:
    found = problems_of(
        BASE
        + """\
overlay: {links: [[B1, B9]], connected: false}
clients: {c: {broker: B8, subscribe: ['[class,eq,X]']}}
events: [{at: publishers, kill: B7}]
capture: {nodes: [h6]}
"""
    )
    assert len(found) >= 3


def test_two_brokers_on_one_port() -> None:
    text = EXPLICIT.replace("A: {node: h1}", "A: {node: h1, port: 6000}").replace(
        "B: {node: h2}", "B: {node: A, port: 6000}"
    )
    assert "B and A both listen on port 6000" in only_problem(text)


def test_wrong_values_do_not_hide_what_is_wrong_between_the_parts() -> None:
    found = problems_of(
        """\
        name: a; b
        seed: many
        network: {generator: chain, nodes: 4, link: {latency: -3ms, zzzz: 1}}
        brokers: {B: {count: 3}}
        clients: {c: {broker: B8, subscribe: ['[class,eq,X]']}}
        events: [{at: 5s, kill: B7}]
        """
    )
    assert [problem.split(":")[1] for problem in found] == ["1", "2", "3", "3", "5", "6"], found
    assert "'a; b' cannot be an id; use a letter" in found[0]


@pytest.mark.parametrize(
    "wrong",
    ["brokers: {B: {count: three}}", "brokers: {B: {cuont: 3}}", "brokers: {B: {count: 3}, 5: {}}"],
)
def test_values_that_others_depend_on_hide_them(wrong: str) -> None:
    """Else B1 to B3 would be told to be missing, which they are not meant to be."""
    rest = "name: x\nnetwork: {generator: chain, nodes: 4}\nevents: [{at: 5s, kill: B3}]\n"
    assert not [problem for problem in problems_of(rest + wrong) if "B3" in problem]


def test_a_required_value_that_is_wrong_is_told_once() -> None:
    found = problems_of(BASE + "events: [{churn: {rate: x}}]\n")
    assert not [problem for problem in found if "missing" in problem and "rate" in problem], found
