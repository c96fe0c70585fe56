"""The page and the JSON schema say what the models say."""

from __future__ import annotations

import json
import typing
from pathlib import Path

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
