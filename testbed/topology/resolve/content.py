"""Filters, publication sources and broker options: checked with the very code that will read them."""

from __future__ import annotations

import itertools
import typing
from pathlib import Path
from typing import Any

import msgspec

from broker_grpc.content.language import parse_filter
from broker_grpc.core.options import BrokerOptions, broker_options
from broker_grpc.errors import BrokerError
from testbed.errors import InputError, did_you_mean
from testbed.topology.file.schema import TopologyFile
from testbed.topology.plan import Client, PublicationPlan
from testbed.topology.resolve.brokers import BrokerDraft
from testbed.topology.resolve.clients import ClientDraft
from testbed.topology.resolve.expand import Steps
from testbed.topology.resolve.report import Report, shortened
from testbed.topology.resolve.values import wrong_value
from testbed.workload import sources


def check_filters(client: Client, draft: ClientDraft, report: Report) -> None:
    """Every filter must be one that a broker accepts."""
    written = {"advertise": client.advertisements, "subscribe": [s.filter for s in client.subscriptions]}
    for key, texts in written.items():
        for k, text in enumerate(texts):
            try:
                parse_filter(text)
            except BrokerError as error:
                hint = "write it like [class,eq,'STOCK'],[price,>,10]"
                report.add((*draft.place(key), k), f"no filter: {error}", hint)


def complete_publications(client: Client, draft: ClientDraft, folder: Path, report: Report) -> None:
    """Check the source with its parameters, and fill in the advertisements that belong to it."""
    plan = client.publications
    if plan is None:
        return
    path: Steps = draft.place("publish")
    if "file" in plan.parameters:
        plan.parameters["file"] = str((folder / str(plan.parameters["file"])).resolve())
    try:
        first = list(itertools.islice(sources.publications(plan, client.seed), 1))
        if not first:
            report.add(path, f"the source {plan.source!r} publishes nothing", "give it something")
        elif draft.setting("advertise") is None:
            client.advertisements = advertisements(plan, client.seed)
    except InputError as error:
        report.add(path, str(error), shortened(error.hint or "see `publish` in docs/topology-file.md"))
    except (ValueError, TypeError) as error:
        report.add((*path, "parameters"), f"source {plan.source!r}: {error}", "see docs/topology-file.md")


def advertisements(plan: PublicationPlan, seed: int) -> list[str]:
    return sources.advertisements(plan, seed)


def check_options(file: TopologyFile, drafts: list[BrokerDraft], report: Report) -> None:
    """Options by layer, so that a mistake is told where it stands and once."""
    layers: dict[Steps, dict[str, Any]] = {("defaults", "broker", "options"): file.defaults.broker.options}
    for draft in drafts:
        layers[(*draft.path, "options")] = draft.spec.options
        if draft.item.options:
            layers[(*draft.path, "items", draft.id, "options")] = draft.item.options
    for path, options in layers.items():
        for name, value in options.items():
            _check_option(name, value, (*path, name), report)


def _meaning(name: str) -> str:
    hint = typing.get_type_hints(BrokerOptions, include_extras=True)[name]
    texts = [getattr(meta, "description", None) for meta in getattr(hint, "__metadata__", ())]
    return next((f"it is: {text}" for text in texts if text), "see docs/topology-file.md")


def _check_option(name: str, value: Any, path: Steps, report: Report) -> None:
    known = BrokerOptions.__struct_fields__
    if name not in known:
        report.add(path, f"unknown broker option {name!r}", shortened(did_you_mean(name, known)), key=True)
        return
    try:
        broker_options({name: value})
    except msgspec.ValidationError as error:
        report.add(path, f"broker option {name} {wrong_value(error, value)}", _meaning(name))
