"""The page of one run."""

from __future__ import annotations

from html import escape
from typing import Any

import pandas

from testbed.report import charts, clustered, exchanged, reconfigured, topic_trees
from testbed.report.charts import Drawn, natural
from testbed.report.fault_tables import expected_deliveries, fault_costs
from testbed.report.html_table import Outcome, Prose, html_table
from testbed.report.page_frame import (
    Section,
    badge,
    badges,
    card,
    command,
    facts,
    figure,
    frame,
    instant,
    notice,
    page,
    path_word,
)
from testbed.report.run_data import RunData
from testbed.report.svg import span
from testbed.report.topology_svg import network_picture, overlay_picture
from testbed.run.fidelity import told

DELAY_COLUMNS = {
    "group_by": "by", "group": "group", "count": "deliveries", "mean_us": "mean (ms)", "p50_us": "p50",
    "p90_us": "p90", "p95_us": "p95", "p99_us": "p99", "max_us": "max", "stretch_mean": "stretch",
}  # fmt: skip
OVERHEAD_COLUMNS = {
    "link": "link", "class": "class", "type": "type", "purpose": "purpose", "log_messages": "messages (log)",
    "wire_messages": "messages (wire)", "difference": "difference",
    "log_bytes": "bytes (log)", "wire_bytes": "bytes (wire)",
    "messages_per_delivery": "per delivery",
}  # fmt: skip
LINK_COLUMNS = {
    "link": "link", "source": "from", "target": "to", "pcap_bytes": "bytes (pcap)",
    "pcap_packets": "packets (pcap)", "counter_bytes": "bytes (controller)",
    "counter_packets": "packets (controller)", "counter_dropped": "dropped",
}  # fmt: skip
LINKS_SHOWN = 100
WITNESS_CHECK = "wire agrees with logs"
MICROSECONDS = ("mean_us", "p50_us", "p90_us", "p95_us", "p99_us", "max_us")
GROUPS = ("all", "class", "publisher", "window", "broker")  # the order of the delay table


def run_page(run: RunData) -> str:
    return page(f"{run.manifest.name} {run.manifest.run}", run_body(run))


def run_body(run: RunData, above: str = "") -> str:
    """All of the page; a part whose table is not there is left out."""
    manifest = run.manifest
    intro = "".join([above, lead(run), status(run), at_a_glance(run), unreadable(run), warnings(run)])
    sections = [
        Section("ran", "What ran", what_ran(run)),
        Section("delay", "Delay and hops", results(run)),
        Section("time", "Course of the run", course(run), "Timeline"),
        Section("faults", "What the faults cost", fault_costs(run), "Faults"),
        Section("exchanges", "Exchanges of overlay links", exchanges(run), "Exchanges"),
        Section("trees", "Topic trees", trees(run), "Trees"),
        Section("clusters", "Clusters of topics", clusters(run), "Clusters"),
        Section("places", "Places on the ring, and clients that moved", moved(run), "Places"),
        Section("overhead", "Overhead: the log and the wire", overhead(run), "Overhead"),
        Section("load", "Load of the brokers", load(run), "Load"),
        Section("links", "Links, ranked by bytes", links(run), "Links"),
        Section("checks", "Checks", checks(run)),
        Section("repeat", "Repeat it", repeat(run), "Repeat"),
    ]
    foot = f"testbed {escape(manifest.version)}. This page is one file: it needs no network and no server."
    return frame("Run", manifest.name, intro, sections, foot)


def provenance(run: RunData) -> str:
    """Every figure says where it comes from."""
    m = run.manifest
    return f"{m.engine}, {m.clock} time, seed {m.seed}, run {m.run}"


def shown(drawn: Drawn, run: RunData, wide: bool = False) -> str:
    """A chart with its words, its provenance, and its numbers for who cannot see it or wants them."""
    table = ""
    if drawn.numbers is not None:
        rows = html_table(drawn.numbers, drawn.title, drawn.headings)
        table = f"<details><summary>the numbers</summary>{rows}</details>"
    return figure(drawn.svg + table, drawn.title, drawn.text, provenance(run), wide)


def lead(run: RunData) -> str:
    about = run.about
    said = f'<p class="lead">{escape(about)}</p>' if about else ""
    began = instant(run.manifest.started)
    return said + f'<p class="soft">run {escape(run.manifest.run)}, {escape(began)}</p>'


def status(run: RunData) -> str:
    fidelity = run.fidelity
    outcome = {"done": "pass", "running": "unknown"}.get(run.manifest.status, "fail")
    parts = [badge(outcome, f"run {run.manifest.status}")]
    if fidelity is not None:
        parts.append(badge(fidelity.verdict, told(fidelity)))
    if run.checks:
        parts.append(checks_badge([c["verdict"] for c in run.checks]))
    reason = run.manifest.reason
    return badges(parts) + (notice(f"<p>{escape(reason)}</p>", "bad") if reason else "")


def checks_badge(outcomes: list[str]) -> str:
    worst, text = checks_outcome(outcomes)
    return badge(worst, text.replace(" pass", " checks pass"))


def checks_outcome(outcomes: list[str]) -> tuple[str, str]:
    """A check that could not be made is not counted as passed."""
    worst = next((o for o in ("fail", "unknown") if o in outcomes), "pass")
    return worst, f"{outcomes.count('pass')} of {len(outcomes)} pass"


def at_a_glance(run: RunData) -> str:
    """What one would ask first."""
    m, plan = run.manifest, run.plan
    seconds = max(0, m.last_us - m.first_us) / 1e6
    wall = f"in {m.wall_seconds:.0f} s of wall time" if m.wall_seconds else ""
    cards = [card("engine", m.engine, f"{m.clock} time, seed {m.seed}")]
    cards.append(card("brokers", f"{len(plan.brokers):,}", f"{len(plan.clients):,} clients"))
    cards.append(card("run time", f"{seconds:,.0f} s", wall))
    deliveries = run.table("deliveries")
    got = deliveries[deliveries.delay_us.notna()] if deliveries is not None else None
    if deliveries is not None and got is not None and len(got):
        cards.append(card("deliveries", f"{len(got):,}", arrived(run, len(deliveries) - len(got))))
        delays = got.delay_us / 1e3
        cards.append(
            card("median delay", span(delays.median()), f"99 % within {span(delays.quantile(0.99))}")
        )
    cost = _per_delivery(run.table("overhead"))
    cards += [card("broker messages", f"{cost:.2f}", "per delivery, all types")] if cost is not None else []
    return f'<div class="cards">{"".join(cards)}</div>'


def arrived(run: RunData, missing: int) -> str:
    """How the deliveries compare with those that were expected; known after the analysis."""
    if run.live is not None:
        return "so far" if run.manifest.status == "running" else ""
    every = expected_deliveries(run.table("fault_losses"))
    if every is None:
        return f"{missing:,} never arrived" if missing else ""
    if not every.lost:
        return f"all {every.expected:,} expected arrived"
    return f"{every.lost:,} of {every.expected:,} expected never arrived ({every.delivery_ratio:.2%} did)"


def _per_delivery(frame: pandas.DataFrame | None) -> float | None:
    if frame is None or "messages_per_delivery" not in frame.columns or "class" not in frame.columns:
        return None
    total = frame[(frame.link == "overlay") & (frame["class"] == "all") & (frame.type == "all")]
    value = total.messages_per_delivery.iloc[0] if len(total) else None
    return float(value) if value is not None and value == value else None


def unreadable(run: RunData) -> str:
    """Files that were there and could not be read are said, not passed over."""
    if not run.problems:
        return ""
    items = "".join(f"<li>{escape(p)}</li>" for p in run.problems)
    return notice(f"<h2>Could not be read</h2><ul>{items}</ul>", "bad")


def warnings(run: RunData) -> str:
    if not run.manifest.warnings:
        return ""
    items = "".join(f"<li>{escape(w)}</li>" for w in run.manifest.warnings)
    return notice(f"<h2>Warnings</h2><ul>{items}</ul>")


def what_ran(run: RunData) -> str:
    m = run.manifest
    commit = m.commit[:12] + (" with uncommitted changes" if m.dirty else "")
    pictures = shown(overlay_picture(run.plan), run) + shown(network_picture(run.plan), run)
    versions = ", ".join(f"{name} {value}" for name, value in sorted(m.versions.items()))
    listed = [
        ("engine and clock", f"{m.engine}, {m.clock} time"), ("seed", str(m.seed)),
        ("testbed", f"{m.version} {commit}".strip()), ("kernel", m.kernel), ("versions", versions),
        ("broker links", "encrypted (TLS)" if m.tls else ""),
    ]  # fmt: skip
    return f'<div class="figures">{pictures}</div>{facts(listed)}'


def results(run: RunData) -> str:
    deliveries, distribution = run.table("deliveries"), run.table("hop_distribution")
    got = deliveries[deliveries.delay_us.notna()] if deliveries is not None else None
    if got is None or not len(got):
        yet = "" if run.live is None else " yet"
        return f'<p class="empty">Nothing was delivered{yet}.</p>'
    figures = [shown(charts.delay_cdf(got), run)]
    if distribution is not None and (distribution.measure == "overlay").any():
        figures.append(shown(charts.hop_histogram(distribution), run))
    return f'<div class="figures">{"".join(figures)}</div>{delay_table(run.table("delay"))}'


def delay_table(frame: pandas.DataFrame | None) -> str:
    """Milliseconds; the whole first, then by class, publisher, time and broker."""
    if frame is None:
        return ""
    by_ms = {c: frame[c] / 1e3 for c in MICROSECONDS if c in frame.columns}
    order = frame.group_by.map({name: at for at, name in enumerate(GROUPS)}).fillna(len(GROUPS))
    ranks = {name: at for at, name in enumerate(sorted(frame.group.astype(str).unique(), key=natural))}
    rank = frame.group.astype(str).map(ranks)
    ordered = frame.assign(**by_ms, order=order, rank=rank).sort_values(["order", "rank"], kind="stable")
    return html_table(ordered, "Delay per group, milliseconds", DELAY_COLUMNS)


def course(run: RunData) -> str:
    deliveries = run.table("deliveries")
    if deliveries is None:
        return ""
    got = deliveries[deliveries.delay_us.notna()]
    if not len(got):
        return ""
    missing = deliveries[deliveries.delay_us.isna()]
    first = run.manifest.first_us
    parts = [shown(charts.timeline(got, missing, first, run.faults), run, wide=True)]
    parts.append(shown(charts.delay_course(got, first, run.faults), run, wide=True))
    return "".join(parts)


def exchanges(run: RunData) -> str:
    table = run.table("exchanges")
    if table is None:
        return ""
    pictures = "".join(shown(drawn, run) for drawn in exchanged.trees(run.plan, table))
    paid = run.table("costs")
    if paid is not None and len(paid):
        pictures += shown(exchanged.costs(paid), run, wide=True)
    in_time = html_table(exchanged.course(table), "Exchanges in order of time", exchanged.COLUMNS)
    return f'<div class="figures">{pictures}</div>{in_time}'


def trees(run: RunData) -> str:
    """Of each topic its tree and its ring, one of them open; below them what holds for all."""
    shapes, edges = run.table("trees"), run.table("tree_edges")
    if shapes is None or edges is None:
        return ""
    changes, distribution, sent = (
        run.table(name) for name in ("ring_changes", "hop_distribution", "purposes")
    )
    relays = topic_trees.relays(distribution) if distribution is not None else None
    kept = topic_trees.maintenance(sent) if sent is not None else None
    parts = [
        _topic(run, tree, changes, at == 0) for at, tree in enumerate(topic_trees.trees_of(shapes, edges))
    ]
    parts += [f'<div class="figures">{shown(relays, run)}</div>'] if relays is not None else []
    parts += [shown(kept, run, wide=True)] if kept is not None else []
    return "".join(parts)


def _topic(run: RunData, tree: topic_trees.Tree, changes: pandas.DataFrame | None, is_open: bool) -> str:
    pictures = shown(topic_trees.tree_picture(tree), run)
    ring = topic_trees.ring_of(changes, tree.plane) if changes is not None else {}
    pictures += shown(topic_trees.ring_picture(tree, ring), run) if ring else ""
    said = f"{escape(tree.name)}: {len(tree.brokers)} brokers, root {escape(tree.root)}"
    opened = " open" if is_open else ""
    summary = f"<summary>{said}</summary>"
    return f'<details name="topic"{opened}>{summary}<div class="figures">{pictures}</div></details>'


def clusters(run: RunData) -> str:
    table, purposes = run.table("clusters"), run.table("purposes")
    if table is None or not len(table) or purposes is None:
        return ""
    end_s = float(purposes.window_s.max() + 10)
    pictures = [clustered.number_over_time(table, end_s), clustered.cost_over_time(purposes)]
    drawn = "".join(shown(one, run, wide=True) for one in pictures)
    there = html_table(clustered.at_the_end(table), "Clusters, as last sampled", clustered.COLUMNS)
    done = html_table(
        clustered.operations(table), "Operations, estimate against threshold", clustered.COLUMNS
    )
    return f"{drawn}{there}{done}"


def moved(run: RunData) -> str:
    """What planned reconfigurations and handovers did; nothing where there were none."""
    table, handovers = run.table("reconfigurations"), run.table("handovers")
    parts = []
    if table is not None and len(table):
        places, edges = run.table("places"), run.table("tree_edges")
        if places is not None and edges is not None:
            pictures = "".join(shown(drawn, run) for drawn in reconfigured.rings(table, places, edges))
            parts.append(f'<div class="figures">{pictures}</div>')
        timeline = reconfigured.steps(table)
        parts.append(shown(timeline, run, wide=True) if timeline is not None else "")
        parts.append(
            html_table(reconfigured.course(table), "Decisions in order of time", reconfigured.COLUMNS)
        )
    drawn = reconfigured.moves(handovers) if handovers is not None else None
    return "".join([*parts, shown(drawn, run) if drawn is not None else ""])


def overhead(run: RunData) -> str:
    table = run.table("overhead")
    if table is None:
        return ""
    between = table[(table.link == "overlay") & (table.type != "all")]
    chart = shown(charts.witnesses(table), run) if len(between) else ""
    rows = html_table(table, "Messages and bytes by type", OVERHEAD_COLUMNS)
    return f"{agreement(table, run.checks, run.live is not None)}{chart}{rows}"


def agreement(frame: pandas.DataFrame, checks: list[dict[str, Any]], live: bool = False) -> str:
    """Whether both witnesses tell the same, and what the check makes of it (a killed broker may log less)."""
    both = frame[frame.wire_messages.notna() & (frame.type != "all")]
    if live:
        return notice("<p>What the brokers logged; the wire is read after the run.</p>")
    if not len(both):
        return notice("<p>No capture to compare with: this is what the brokers logged, and nothing else.</p>")
    differ = both[both.difference != 0]
    total = int(both.log_messages.sum())
    if not len(differ):
        said = f"Both witnesses agree: all {total:,} messages that brokers logged were seen on the wire."
        return notice(f"<p>{said}</p>", "good")
    listed = "; ".join(
        f"{r.type}: {r.log_messages:,.0f} logged, {r.wire_messages:,.0f} on the wire"
        for r in differ.itertuples()
    )
    check = next((c for c in checks if c["name"] == WITNESS_CHECK), None)
    judged = f" The check says {check['verdict']}: {check.get('reason', '')}." if check else ""
    kind = "bad" if check is None or check["verdict"] == "fail" else ""
    return notice(f"<p>The witnesses differ for {escape(listed)}.{escape(judged)}</p>", kind)


def load(run: RunData) -> str:
    table = run.table("load")
    return shown(charts.load_heat_map(table), run, wide=True) if table is not None else ""


def links(run: RunData) -> str:
    """Overlay links by what the brokers sent; network links by what the switches and captures counted."""
    return "".join([_overlay_links(run), _network_links(run)])


def _overlay_links(run: RunData) -> str:
    table = run.table("link_messages")
    if table is None or not table.log_bytes.sum():
        return ""
    sums = table.groupby(["source", "target"])[["log_messages", "log_bytes"]].sum().reset_index()
    ranked = sums.rename(columns={"log_bytes": "bytes"}).sort_values("bytes", ascending=False)
    headings = {"source": "from", "target": "to", "log_messages": "messages", "bytes": "bytes (log)"}
    chart = shown(charts.links_by_bytes(ranked, "Overlay links"), run)
    return chart + html_table(ranked.head(LINKS_SHOWN), _busiest("Overlay links", len(ranked)), headings)


def _network_links(run: RunData) -> str:
    frame = run.table("links")
    if frame is None:
        return ""
    counted = frame.assign(bytes=frame.counter_bytes.fillna(frame.pcap_bytes))
    ranked = counted[counted.bytes.notna()].sort_values("bytes", ascending=False)
    if not len(ranked):
        return '<p class="empty">No bytes of network links: there were no switches and no captures.</p>'
    chart = shown(charts.links_by_bytes(ranked, "Network links"), run)
    return chart + html_table(ranked.head(LINKS_SHOWN), _busiest("Network links", len(ranked)), LINK_COLUMNS)


def _busiest(what: str, total: int) -> str:
    return f"{what}: the {min(LINKS_SHOWN, total)} busiest of {total} directions"


def checks(run: RunData) -> str:
    if not run.checks:
        return ""
    order = {"fail": 0, "unknown": 1, "pass": 2}
    ordered = sorted(run.checks, key=lambda c: order.get(c["verdict"], 1))
    frame = pandas.DataFrame(
        [
            {"verdict": Outcome(c["verdict"]), "name": c["name"], "reason": Prose(c.get("reason", ""))}
            for c in ordered
        ]
    )
    return html_table(frame, "", {"verdict": "verdict", "name": "check", "reason": "why"})


def repeat(run: RunData) -> str:
    """The folder keeps the resolved plan, so the run can be repeated without the file it came from."""
    again = command(f"testbed rerun {path_word(run.folder.path)}")
    given = run.manifest.command
    return again + (f'<p class="soft">It was made by <code>{escape(given)}</code></p>' if given else "")
