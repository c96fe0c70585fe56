"""The page and the JSON schema say what the models say."""

from __future__ import annotations

import json
import typing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from broker_grpc.registry import Entry, Registry, own_plugs
from testbed.topology.file.docs import PAGE, SCHEMA, main, models_in_order, page_text, schema_text
from testbed.topology.file.schema import TopologyFile


def test_committed_page_and_schema_are_current() -> None:
    assert page_text() == PAGE.read_text("utf-8"), "run: python -m testbed.topology.file.docs"
    assert schema_text() == SCHEMA.read_text("utf-8"), "run: python -m testbed.topology.file.docs"
    assert main(["--check"]) == 0


def test_every_value_has_a_meaning() -> None:
    for model in models_in_order(TopologyFile):
        assert model.__doc__
        for name, info in model.model_fields.items():
            fixed = typing.get_origin(info.annotation) is typing.Literal and info.is_required()
            assert info.description or fixed, f"{model.__name__}.{name}"


def test_every_section_is_on_the_page() -> None:
    page = page_text()
    for model in models_in_order(TopologyFile):
        for name in model.model_fields:
            assert f"| `{name}` |" in page


def test_links_of_the_page_lead_somewhere() -> None:
    page = page_text()
    headings = {line[3:].lower() for line in page.splitlines() if line.startswith("## ")}
    anchors = {"".join(c for c in h.replace(" ", "-") if c.isalnum() or c in "-_") for h in headings}
    targets = {part.partition(")")[0] for part in page.split("](#")[1:]}
    assert targets <= anchors


def test_the_schema_knows_sections_and_refuses_unknown_keys() -> None:
    schema = json.loads(schema_text())
    assert set(schema["properties"]) == set(TopologyFile.model_fields)
    assert schema["additionalProperties"] is False
    assert "transit_stub" in schema_text()


def test_the_smallest_file_of_the_page_is_good(tmp_path: Path) -> None:
    from testbed.topology.load import load_plan_text

    text = page_text().partition("```yaml\n")[2].partition("```")[0]
    assert len(load_plan_text(text).brokers) == 2


# ---------------------------------------------------------------- protocols

PROTOCOLS = Registry(own_plugs())


def offered_behind(name: str) -> dict[str, Any]:
    """What an editor offers when the name is there: the properties of the branches whose `if` holds."""
    definitions = json.loads(schema_text())["$defs"]
    offered: dict[str, Any] = {}
    for branch in definitions["Algorithm"]["allOf"]:
        if branch["if"].get("properties") == {"name": {"const": name}}:
            offered |= definitions[branch["then"]["$ref"].removeprefix("#/$defs/")]["properties"]
    return offered


@pytest.mark.parametrize("entry", [*PROTOCOLS], ids=PROTOCOLS.names())
def test_an_editor_completes_the_parameters_of_a_protocol(entry: Entry) -> None:
    offered = offered_behind(entry.name)
    assert offered["name"] == {"const": entry.name}
    assert set(offered) == {"name", *entry.settings.__struct_fields__}
    defaults = msgspec.to_builtins(entry.settings())
    for name, value in defaults.items():
        field = offered[name]
        assert field["default"] == value, name
        assert field["description"], name
        assert {"type", "$ref", "anyOf"} & {*field} or value in field["enum"], name
        assert field.get("unit") == "µs" or not name.endswith("_us"), name


def test_every_algorithm_of_the_schema_is_one_of_the_protocols_or_of_another_package() -> None:
    schema = json.loads(schema_text())
    group, item = schema["$defs"]["BrokerGroup"], schema["$defs"]["BrokerItem"]
    assert schema["properties"]["algorithm"]["$ref"] == "#/$defs/Algorithm"
    for section in (group, item):
        assert {"$ref": "#/$defs/Algorithm"} in section["properties"]["algorithm"]["anyOf"]
    names = schema["$defs"]["Algorithm"]["properties"]["name"]["anyOf"]
    assert [one["const"] for one in names[:-1]] == PROTOCOLS.names()
    assert names[-1]["type"] == "string"


def test_every_parameter_is_on_the_page() -> None:
    sections = page_text().partition("## Algorithms")[2].split("\n### ")[1:]
    assert [section.partition("\n")[0] for section in sections] == PROTOCOLS.names()
    for section, entry in zip(sections, PROTOCOLS, strict=True):
        for name in entry.settings.__struct_fields__:
            assert f"| `{name}` |" in section


def test_the_columns_that_checks_may_name_are_those_of_the_tables() -> None:
    from testbed.analysis.tables.docs import column_names
    from testbed.topology.check_expressions import COLUMNS

    assert column_names() == COLUMNS.read_text("utf-8"), "run: python -m testbed.analysis.tables.docs"
