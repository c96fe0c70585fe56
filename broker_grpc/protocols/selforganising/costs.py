"""What a broker knows of costs: c_ij, given or measured, and its own p_i (sections 3.1 and 4.3.1)."""

from __future__ import annotations

from broker_grpc.core.options import BrokerOptions
from broker_grpc.protocols.selforganising.settings import SelfOrganisingSettings


class Costs:
    """Of one broker. Measured ones are None until the first answer has come."""

    __slots__ = ("_asked_us", "_measured", "_options", "_settings", "_told")

    def __init__(self, settings: SelfOrganisingSettings, options: BrokerOptions) -> None:
        self._settings, self._options = settings, options
        self._measured: dict[str, float] = {}
        self._asked_us: dict[str, int] = {}
        self._told: dict[str, float] = {}  # what the log has

    def link(self, broker: str) -> float | None:
        """c_ij of a link to this broker, whether there is one or not."""
        settings = self._settings
        if settings.measured:
            return self._measured.get(broker)
        return settings.link_costs.get(broker, settings.other_links)

    @property
    def processing(self) -> float:
        given = self._settings.processing_cost
        return self._options.matching_us / self._settings.cost_unit_us if given is None else given

    def wants(self, broker: str, now_us: int) -> bool:
        """Is it time to measure the trip to it (again)? It counts as asked then."""
        asked = self._asked_us.get(broker)
        if not self._settings.measured:
            return False
        if asked is not None and now_us < asked + self._settings.measure_every_us:
            return False
        self._asked_us[broker] = now_us
        return True

    def measured(self, broker: str, rtt_us: int) -> None:
        self._measured[broker] = rtt_us / self._settings.link_unit_us

    def news(self, broker: str = "") -> float | None:
        """The cost of a link to it, or its own (\"\"), if it is another one than at the last call."""
        cost = self.link(broker) if broker else self.processing
        if cost is None or self._told.get(broker) == cost:
            return None
        self._told[broker] = cost
        return cost
