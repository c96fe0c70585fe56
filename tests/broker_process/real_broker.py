"""The real broker process, as a harness starts it: real_broker.py CONFIG.json CONTROL_FD"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from broker_grpc.config import BrokerProcessConfig
from broker_grpc.process import serve

if __name__ == "__main__":
    config = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=BrokerProcessConfig)
    serve(config, int(sys.argv[2]))
