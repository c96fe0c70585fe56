"""What each process of the plan needs to be born: its host, and its configuration in the run folder."""

from __future__ import annotations

from collections import Counter

import msgspec

from testbed.emulation.runner.child import Birth
from testbed.run import configs
from testbed.run.folder import RunFolder
from testbed.run.stimuli import OverlayChanged
from testbed.topology.plan import Plan

Tls = dict[str, dict[str, str]]  # by process id


class Births:
    """Makes births whose key and log are left to whoever forks. A broker born again is a new incarnation."""

    def __init__(self, plan: Plan, folder: RunFolder, offset_us: int, tls: Tls) -> None:
        self._plan, self._folder, self._offset_us, self._tls = plan, folder, offset_us, tls
        self._brokers = {broker.id: broker for broker in plan.brokers}
        self._programs = {program.id: program for program in plan.programs}
        self._incarnations: Counter[str] = Counter()
        self._broker_configs = configs.BrokerConfigs(plan)
        self._configs = folder.path / "processes"
        self._configs.mkdir(exist_ok=True)
        secret = folder.control_secret
        self._secret = str(secret) if secret.exists() else ""

    def broker(self, id: str) -> Birth:
        broker = self._brokers[id]
        self._incarnations[id] += 1
        events = str(self._folder.events / f"{id}.jsonl")
        config = self._broker_configs.broker_config(
            id, self._incarnations[id], events, self._offset_us, self._tls.get(id), self._secret
        )
        return Birth(0, id, "broker", broker.node, "", self._write(id, config))

    def addresses_of(self, brokers: list[str]) -> dict[str, str]:
        return self._broker_configs.addresses_of(brokers)

    def overlay_changed(self, changed: OverlayChanged) -> None:
        self._broker_configs.overlay_changed(changed.change, changed.added, changed.removed)

    def driver(self, node: str) -> Birth:
        """Of the process that plays all clients of a host."""
        id = configs.driver_id(node)
        config = configs.driver_config(
            self._plan, node, self._folder.events, self._offset_us, self._tls.get(id)
        )
        return Birth(0, id, "driver", node, "", self._write(id, config))

    def program(self, id: str) -> Birth:
        program = self._programs[id]
        folder = str(self._folder.path)
        return Birth(0, id, "program", program.node, "", argv=program.argv, env=program.env, folder=folder)

    def gate_check(self, argv: list[str], node: str) -> Birth:
        return Birth(0, "gate-check", "program", node, "", argv=argv, folder=str(self._folder.path))

    def _write(self, id: str, config: object) -> str:
        path = self._configs / f"{id}.json"
        path.write_bytes(msgspec.json.format(msgspec.json.encode(config), indent=1))
        return str(path)
