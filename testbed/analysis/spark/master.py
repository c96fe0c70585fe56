"""Spark's master: whether it is one at all, and whether a cluster answers, before Java is started for it."""

from __future__ import annotations

import re
import socket
import time

from testbed.errors import InputError, TestbedError

PATIENCE_S = 10.0  # for a cluster that is just starting; Spark's own is a minute and a half
FORMS = (
    "local, local[4], local[*], local-cluster[2,1,1024], spark://HOST:PORT, yarn or k8s://https://HOST:PORT"
)
_COUNT = r"([1-9][0-9]*|\*)"
_ADDRESS = r"[^,/\s]+:[0-9]{1,5}"
_FORM = re.compile(
    rf"local|local\[{_COUNT}(\s*,\s*[0-9]+)?\]|local-cluster\[\s*[0-9]+\s*,\s*[0-9]+\s*,\s*[0-9]+\s*\]"
    rf"|spark://{_ADDRESS}(,{_ADDRESS})*|yarn|k8s://\S+"
)


def check_master(master: str, patience_s: float = PATIENCE_S) -> None:
    """Raises InputError for what Spark does not understand, TestbedError for a cluster that is silent."""
    if not _FORM.fullmatch(master):
        raise InputError(f"{master!r} is no Spark master", hint=f"--master is one of {FORMS}")
    if master.startswith("spark://"):
        _wait_for_one(master, patience_s)


def _wait_for_one(master: str, patience_s: float) -> None:
    """Of several masters one is enough: the others stand by."""
    addresses = master.removeprefix("spark://").split(",")
    limit = time.monotonic() + patience_s
    while True:
        problems = [problem for address in addresses if (problem := _refusal(address))]
        if len(problems) < len(addresses):
            return
        if time.monotonic() > limit:
            break
        time.sleep(0.5)
    hint = "start it, or give --master the URL that its page shows; local[*] needs no cluster"
    raise TestbedError(f"no Spark cluster answers at {master}: {'; '.join(problems)}", hint=hint)


def _refusal(address: str) -> str:
    """Why nobody answers there; empty if somebody does."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE_S):
            return ""
    except (OSError, OverflowError) as error:  # a port beyond 65535 is an OverflowError
        return getattr(error, "strerror", None) or str(error)
