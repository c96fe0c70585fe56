"""Life of a process of the plan, seen from the harness: legal changes as a table."""

from __future__ import annotations

from enum import StrEnum

from testbed.topology.plan import Broker, Client, Plan, Program


class State(StrEnum):
    PLANNED = "planned"  # not started yet
    STARTING = "starting"
    UP = "up"
    STOPPING = "stopping"  # its end is wanted
    DOWN = "down"
    WAITING = "waiting"  # crashed, to be started again in a moment


CHANGES: dict[State, frozenset[State]] = {
    State.PLANNED: frozenset({State.STARTING}),
    State.STARTING: frozenset({State.UP, State.STOPPING, State.DOWN, State.WAITING}),
    State.UP: frozenset({State.STOPPING, State.DOWN, State.WAITING}),
    State.STOPPING: frozenset({State.DOWN, State.STARTING}),
    State.DOWN: frozenset({State.STARTING}),
    State.WAITING: frozenset({State.STARTING, State.DOWN}),
}


class Roster:
    """Who is in which state, and what the plan says about each."""

    def __init__(self, plan: Plan) -> None:
        self.brokers = [broker.id for broker in plan.brokers]
        self.clients = [client.id for client in plan.clients]
        self.programs = [program.id for program in plan.programs]
        processes: list[Broker | Client | Program] = [*plan.brokers, *plan.clients, *plan.programs]
        self.on_crash: dict[str, str] = {process.id: process.on_crash for process in processes}
        self.states = dict.fromkeys(self.on_crash, State.PLANNED)
        self._brokers = frozenset(self.brokers)
        self._programs = frozenset(self.programs)

    def is_broker(self, process: str) -> bool:
        return process in self._brokers

    def is_program(self, process: str) -> bool:
        return process in self._programs

    def state(self, process: str) -> State:
        return self.states[process]

    def change(self, process: str, state: State) -> None:
        before = self.states[process]
        assert state in CHANGES[before], f"{process}: {before} -> {state}"
        self.states[process] = state

    def up(self, kind: list[str]) -> list[str]:
        return [process for process in kind if self.states[process] is State.UP]

    def running(self, process: str) -> bool:
        return self.states[process] in (State.STARTING, State.UP)


def how_it_ended(code: int) -> str:
    return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
