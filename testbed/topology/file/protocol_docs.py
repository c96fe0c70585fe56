"""Parameters of brokers for the page and the JSON schema, read from where they are declared.

In the schema an editor finds the names for `algorithm`, and with each name the parameters of that protocol. A
name that it does not know may be that of another package: the plan's check looks it up, the schema does not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from broker_grpc.registry import Entry

Schema = dict[str, Any]
REFERENCE = "#/$defs/"
ALGORITHM = "Algorithm"
OTHERS = "or that of a protocol of another package that is installed; `testbed validate` knows its parameters"
_WORDS = {"integer": "whole number", "number": "number", "string": "text", "boolean": "true or false"}


def struct_schemas(kinds: Iterable[type[msgspec.Struct]]) -> tuple[list[Schema], dict[str, Schema]]:
    """The JSON schema of each struct, with units told in the descriptions; and what these refer to."""
    references, parts = msgspec.json.schema_components(kinds, ref_template=REFERENCE + "{name}")
    names = [reference["$ref"].removeprefix(REFERENCE) for reference in references]
    for part in parts.values():
        for field in part.get("properties", {}).values():
            if "unit" in field:
                field["description"] = f"{field.get('description', '')}; in {field['unit']}".lstrip("; ")
    return [parts[name] for name in names], {name: parts[name] for name in parts if name not in names}


# ---------------------------------------------------------------- the page


def algorithms_text(entries: Iterable[Entry]) -> str:
    out = ["## Algorithms", "", "What `algorithm: {name: ...}` can say. Other packages can add names.", ""]
    for entry in entries:
        out += [f"### {entry.name}", "", f"{entry.summary[0].upper()}{entry.summary[1:]}.", ""]
        out += [*parameter_table(entry.settings), ""]
    return "\n".join(out)


def parameter_table(kind: type[msgspec.Struct]) -> list[str]:
    """Name, type, default and meaning of each field; a sentence when there is none."""
    (schema,), parts = struct_schemas([kind])
    if not schema["properties"]:
        return ["It has no parameters."]
    lines = ["| name | type | default | meaning |", "|---|---|---|---|"]
    for name, field in schema["properties"].items():
        lines.append(parameter_row(name, field))
        inner = parts.get(field.get("$ref", "").removeprefix(REFERENCE), {})
        lines += [parameter_row(f"{name}.{key}", one) for key, one in inner.get("properties", {}).items()]
    return lines


def parameter_row(name: str, field: Schema) -> str:
    default = f"`{json.dumps(field['default'])}`".replace('"', "") if "default" in field else "required"
    if "$ref" in field:
        default = "as below"
    meaning = field.get("description", "") + ("; `set` may change it" if field.get("may_change") else "")
    return f"| `{name}` | {type_words(field)} | {default} | {meaning} |"


def parameter_meanings(kind: type[msgspec.Struct]) -> dict[str, str]:
    """What each parameter is: its type, its meaning and its unit, for a hint."""
    (schema,), _ = struct_schemas([kind])
    return {
        name: "; ".join(word for word in (type_words(field), field.get("description", "")) if word)
        for name, field in schema["properties"].items()
    }


def type_words(field: Schema) -> str:
    if "enum" in field:
        return " \\| ".join(f"`{value}`" for value in field["enum"])
    if "$ref" in field:
        return "mapping"
    if field.get("type") == "array":
        return f"list of {type_words(field.get('items', {}))}"
    return _WORDS.get(field.get("type", ""), "any value")


# ---------------------------------------------------------------- the schema


def with_algorithms(schema: Schema, entries: Iterable[Entry]) -> Schema:
    """The file's schema in which every `algorithm` is one of these protocols."""
    definitions = {**schema["$defs"], **algorithm_definitions(list(entries))}
    reference = {"$ref": REFERENCE + ALGORITHM}
    for section in (schema, *definitions.values()):
        field = section.get("properties", {}).get("algorithm")
        if field is not None:
            kind = {"anyOf": [reference, {"type": "null"}]} if "anyOf" in field else reference
            told = {key: field[key] for key in ("default", "description")}
            section["properties"]["algorithm"] = {**kind, **told}
    return {**schema, "$defs": definitions}


def algorithm_definitions(entries: list[Entry]) -> dict[str, Schema]:
    schemas, parts = struct_schemas([entry.settings for entry in entries])
    definitions = {ALGORITHM: algorithm_schema(entries)}
    for entry, schema in zip(entries, schemas, strict=True):
        definitions[definition_of(entry)] = {
            **schema,
            "title": entry.name,
            "description": entry.summary,
            "properties": {"name": {"const": entry.name}, **schema["properties"]},
        }
    return definitions | parts


def definition_of(entry: Entry) -> str:
    return f"{ALGORITHM}.{entry.name}"


def algorithm_schema(entries: list[Entry]) -> Schema:
    names: list[Schema] = [{"const": entry.name, "description": entry.summary} for entry in entries]
    names.append({"type": "string", "description": OTHERS})
    parameters = [
        {
            "if": {"properties": {"name": {"const": entry.name}}, "required": ["name"]},
            "then": {"$ref": REFERENCE + definition_of(entry)},
        }
        for entry in entries
    ]
    named: Schema = {"if": {"minProperties": 1}, "then": {"required": ["name"]}}
    return {"type": "object", "properties": {"name": {"anyOf": names}}, "allOf": [named, *parameters]}
