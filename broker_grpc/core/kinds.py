"""Kinds of log records that every broker machine writes, beside those of eventlog.proto."""

from __future__ import annotations

from protos.kinds import register

# The broker was told to change options during the run; `content` which, as JSON.
OPTIONS_SET = register(500, "OPTIONS_SET", "core", own=True)
