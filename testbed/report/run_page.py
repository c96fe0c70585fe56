"""The page of one run."""

from __future__ import annotations

from html import escape

import pandas

from testbed.report import charts
from testbed.report.html_table import html_table
from testbed.report.page import badge, card, figure, page
from testbed.report.run_data import RunData
from testbed.report.topology_svg import network_picture, overlay_picture

DELAY_COLUMNS = {
    "group_by": "by", "group": "group", "count": "deliveries", "mean_us": "mean (µs)", "p50_us": "p50",
    "p90_us": "p90", "p95_us": "p95", "p99_us": "p99", "max_us": "max", "stretch_mean": "stretch",
}  # fmt: skip
OVERHEAD_COLUMNS = {
    "link": "link", "class": "class", "type": "type", "log_messages": "messages (log)",
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


def run_page(run: RunData) -> str:
    return page(f"{run.manifest.name} {run.manifest.run}", run_body(run))


def run_body(run: RunData) -> str:
    """All of the page; a part whose table is not there is left out."""
    manifest = run.manifest
    parts = [
        f"<h1>{escape(manifest.name)}</h1>",
        f'<p class="soft">run {escape(manifest.run)}, {escape(manifest.started)}</p>',
        status(run), what_ran(run), warnings(run), pictures(run), results(run), overhead(run), load(run),
        links(run), checks(run), repeat(run),
    ]  # fmt: skip
    return "".join(parts)


def status(run: RunData) -> str:
    fidelity = run.fidelity
    outcome = {"done": "pass", "running": "unknown"}.get(run.manifest.status, "fail")
    parts = [badge(outcome, f"run {run.manifest.status}")]
    if fidelity is not None:
        worst = (
            f": p99 error {fidelity.error_p99_us:.0f} µs over {fidelity.probes} probes"
            if fidelity.probes
            else ""
        )
        parts.append(badge(fidelity.verdict, f"fidelity {fidelity.verdict}{worst}"))
    if run.checks:
        parts.append(checks_badge([c["verdict"] for c in run.checks]))
    reason = f"<p>{escape(run.manifest.reason)}</p>" if run.manifest.reason else ""
    return f"<p>{' '.join(parts)}</p>{reason}"


def checks_badge(outcomes: list[str]) -> str:
    """A check that could not be made is not counted as passed."""
    worst = next((o for o in ("fail", "unknown") if o in outcomes), "pass")
    return badge(worst, f"{outcomes.count('pass')} of {len(outcomes)} checks pass")


def what_ran(run: RunData) -> str:
    m, plan = run.manifest, run.plan
    seconds = max(0, m.last_us - m.first_us) / 1e6
    cards = [
        card("engine", f"{m.engine}, {m.clock} time"), card("seed", str(m.seed)),
        card("brokers", str(len(plan.brokers))), card("clients", str(len(plan.clients))),
        card("run time", f"{seconds:.0f} s in {m.wall_seconds:.0f} s"),
    ]  # fmt: skip
    versions = ", ".join(f"{name} {value}" for name, value in sorted(m.versions.items()))
    commit = m.commit[:12] + (" with changes" if m.dirty else "")
    details = escape(f"testbed {m.version} {commit}; {m.kernel}; {versions}")
    return f'<div class="cards">{"".join(cards)}</div><p class="soft">{details}</p>'


def warnings(run: RunData) -> str:
    if not run.manifest.warnings:
        return ""
    items = "".join(f"<li>{escape(w)}</li>" for w in run.manifest.warnings)
    return f'<h2>Warnings</h2><ul class="warnings">{items}</ul>'


def pictures(run: RunData) -> str:
    overlay = figure(overlay_picture(run.plan), "Overlay, with planned one-way latency per link")
    network = figure(network_picture(run.plan), "Network: hosts (round) and switches (square)")
    return f'<h2>What ran</h2><div class="figures">{overlay}{network}</div>'


def results(run: RunData) -> str:
    deliveries, distribution, delay = (
        run.table("deliveries"),
        run.table("hop_distribution"),
        run.table("delay"),
    )
    got = deliveries[deliveries.delay_us.notna()] if deliveries is not None else None
    if got is None or not len(got):
        return "<h2>Delay</h2><p>Nothing was delivered.</p>"
    figures = [figure(charts.delay_cdf(got), "Delivery delay, cumulative")]
    if distribution is not None:
        figures.append(figure(charts.hop_histogram(distribution), "Overlay hops per delivery"))
    caption = "Deliveries over time; shaded where a fault was active"
    figures.append(figure(charts.timeline(got, run.manifest.first_us, run.faults), caption))
    table = html_table(delay, "Delay per group, microseconds", DELAY_COLUMNS) if delay is not None else ""
    return f'<h2>Delay and hops</h2><div class="figures">{"".join(figures)}</div>{table}'


def overhead(run: RunData) -> str:
    frame = run.table("overhead")
    if frame is None:
        return ""
    between = frame[(frame.link == "overlay") & (frame.type != "all")]
    caption = "Messages between brokers by type: logged by them, and seen on the wire"
    chart = figure(charts.witnesses(frame), caption) if len(between) else ""
    table = html_table(frame, "Messages and bytes by type", OVERHEAD_COLUMNS)
    return f"<h2>Overhead: the log and the wire</h2><p>{agreement(frame)}</p>{chart}{table}"


def agreement(frame: pandas.DataFrame) -> str:
    both = frame[frame.wire_messages.notna() & (frame.type != "all")]
    if not len(both):
        return "No capture to compare with: the wire columns are empty."
    differ = both[both.difference != 0]
    total = int(both.log_messages.sum())
    if not len(differ):
        return f"Both witnesses agree: all {total:,} messages that brokers logged were seen on the wire."
    return f"The witnesses differ for {', '.join(sorted(set(differ.type)))}."


def load(run: RunData) -> str:
    frame = run.table("load")
    if frame is None:
        return ""
    heat = figure(charts.load_heat_map(frame), "Messages received per second, per broker and time")
    return f"<h2>Load</h2>{heat}"


def links(run: RunData) -> str:
    frame = run.table("links")
    if frame is None:
        return ""
    ranked = frame.assign(rank=frame.counter_bytes.fillna(frame.pcap_bytes)).sort_values(
        "rank", ascending=False
    )
    return "<h2>Network links</h2>" + html_table(
        ranked.head(LINKS_SHOWN),
        f"The {min(LINKS_SHOWN, len(frame))} busiest of {len(frame)} directions",
        LINK_COLUMNS,
    )


def checks(run: RunData) -> str:
    if not run.checks:
        return ""
    rows = "".join(
        f"<tr><td>{badge(c['verdict'])}</td><td>{escape(c['name'])}</td>"
        f'<td class="wrap">{escape(c["reason"])}</td></tr>'
        for c in run.checks
    )
    return f"<h2>Checks</h2><div class=scroll><table><tbody>{rows}</tbody></table></div>"


def repeat(run: RunData) -> str:
    """The folder keeps the resolved plan, so the run can be repeated without the file it came from."""
    again = escape(f"testbed rerun results/{run.manifest.name}/{run.manifest.run}")
    given = escape(run.manifest.command)
    made = f'<p class="soft">It was made by <code>{given}</code></p>' if given else ""
    return f"<h2>Repeat it</h2><p><code>{again}</code></p>{made}"
