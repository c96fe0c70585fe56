"""`python -m testbed.emulation.controller CONFIG.json FD`: run the controller until told to stop.

FD is one end of a socket pair to the harness, JSON lines both ways: out come listening, ready, settled,
polled, stopped; in go {"do": "poll"} and {"do": "stop"}. End of file means stop.
"""

from __future__ import annotations

import contextlib
import json
import logging
import signal
import sys
from pathlib import Path
from typing import Any

import msgspec

from testbed.emulation.controller.config import ControllerConfig
from testbed.emulation.controller.platform import app_manager, cfg, eventlet, hub

from testbed.emulation.controller.ryu_app import ShortestPaths  # isort: skip

IDLE_SECONDS = 604_800.0


def main(config_file: str, descriptor: int) -> int:
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    config = msgspec.json.decode(Path(config_file).read_bytes(), type=ControllerConfig)
    line = eventlet.greenio.GreenSocket(eventlet.patcher.original("socket").socket(fileno=descriptor))
    report = _reporter(line)
    ShortestPaths.config = config
    ShortestPaths.report = staticmethod(report)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the harness decides when a Ctrl-C ends the controller
    app = _start(config)
    report({"event": "listening"})
    if config.poll_every_us:
        hub.spawn(_poll_regularly, app, config.poll_every_us / 1_000_000)
    _obey(line, app, report)
    app.poll()
    app.files.close()
    report({"event": "stopped"})
    return 0


def _start(config: ControllerConfig) -> ShortestPaths:
    host, port = config.listen.rsplit(":", 1)
    arguments = ["--ofp-listen-host", host, "--ofp-tcp-listen-port", port]
    cfg.CONF(args=arguments, project="ryu", version="4.34", default_config_files=[])
    # Nothing wakes up without a reason: an idle network costs nothing in virtual time.
    cfg.CONF.set_override("echo_request_interval", IDLE_SECONDS)
    cfg.CONF.set_override("socket_timeout", IDLE_SECONDS)
    manager = app_manager.AppManager.get_instance()
    manager.load_apps([f"{ShortestPaths.__module__}", "ryu.controller.ofp_handler"])
    contexts = manager.create_contexts()
    manager.instantiate_apps(**contexts)
    app = next(app for app in app_manager.SERVICE_BRICKS.values() if isinstance(app, ShortestPaths))
    hub.sleep(0)  # Ryu's own application listens from here on
    return app


def _reporter(line: Any) -> Any:
    def report(message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # the harness is gone; end of file tells us to stop
            line.sendall(json.dumps(message).encode() + b"\n")

    return report


def _poll_regularly(app: ShortestPaths, seconds: float) -> None:
    while True:
        hub.sleep(seconds)
        app.poll()


def _obey(line: Any, app: ShortestPaths, report: Any) -> None:
    """Do what the harness says until it says stop or is gone."""
    pending = b""
    while True:
        data = line.recv(4096)
        if not data:
            return
        pending += data
        *lines, pending = pending.split(b"\n")
        for text in lines:
            order = json.loads(text).get("do")
            if order == "stop":
                return
            if order == "poll":
                app.poll()
                report({"event": "polled"})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
