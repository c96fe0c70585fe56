"""python -m broker_grpc --config FILE.json: one broker, in the foreground, until Ctrl-C."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from broker_grpc.core.config import BrokerProcessConfig
from broker_grpc.process.process import run_to_exit_code


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m broker_grpc", description="Run one broker.")
    parser.add_argument("--config", required=True, type=Path, help="BrokerProcessConfig as JSON")
    path = parser.parse_args().config
    try:
        config = msgspec.json.decode(path.read_bytes(), type=BrokerProcessConfig)
    except OSError as error:
        print(f"error: {path}: {error.strerror}", file=sys.stderr)
        return 2
    except msgspec.DecodeError as error:
        print(f"error: {path}: {error}", file=sys.stderr)
        return 2
    return run_to_exit_code(config)


if __name__ == "__main__":
    sys.exit(main())
