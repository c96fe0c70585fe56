"""Spark schemas from protobuf descriptors: the .proto files alone say which fields there are."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from pyspark.sql import types as t

Descriptor = Any  # two implementations exist, in Python and in C
_TYPES: dict[int, t.DataType] = {
    FieldDescriptor.TYPE_INT64: t.LongType(),
    FieldDescriptor.TYPE_UINT64: t.LongType(),
    FieldDescriptor.TYPE_INT32: t.LongType(),
    FieldDescriptor.TYPE_UINT32: t.LongType(),
    FieldDescriptor.TYPE_DOUBLE: t.DoubleType(),
    FieldDescriptor.TYPE_BOOL: t.BooleanType(),
    FieldDescriptor.TYPE_STRING: t.StringType(),
    FieldDescriptor.TYPE_ENUM: t.StringType(),  # by name, as in the JSON
}
_DEFAULTS = {"bigint": 0, "double": 0.0, "boolean": False, "string": ""}


def schema_of(descriptor: Descriptor) -> t.StructType:
    """One nullable column per field, in the order of the file."""
    return t.StructType([t.StructField(f.name, _TYPES[f.type]) for f in descriptor.fields])


def defaults_of(schema: t.StructType) -> dict[str, object]:
    """What a field that is left out stands for."""
    return {field.name: _DEFAULTS[field.dataType.simpleString()] for field in schema.fields}
