"""Types of parameters that have a unit: it is said once, here, and the docs and the JSON schema tell it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

Microseconds = Annotated[int, Meta(extra_json_schema={"unit": "µs"})]
Percent = Annotated[int, Meta(ge=0, le=100, extra_json_schema={"unit": "%"})]
