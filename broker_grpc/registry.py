"""What `algorithm: {name: ...}` of a broker may say, and the machine it makes of the broker.

A protocol says in an `Entry` what there is to know of it; nothing here names one. Those of this project are
found in the packages below `broker_grpc/protocols` that have a module `plug`, with a tuple of entries,
`PROTOCOLS`. Those of other packages are found through entry points of the group `pubsub_testbed.protocols`,
which lead to such a tuple or to a module that has one.

A package that is broken does not keep the others from running: what is wrong with it is told when its name is
asked for, and by `testbed doctor`.
"""

from __future__ import annotations

import importlib
import pkgutil
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, partial
from importlib import metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from broker_grpc.core.config import BrokerProcessConfig
from broker_grpc.errors import BrokerError
from broker_grpc.machine import Machine
from protos.bodies import register
from protos.body import Body, BodyType
from protos.records import PluginKind
from protos.registration import RegistrationError

if TYPE_CHECKING:
    from broker_grpc.client.machine import ClientMachine
    from broker_grpc.client.part import Part

GROUP = "pubsub_testbed.protocols"
HERE = "broker_grpc.protocols"
NAME = "name"  # of `algorithm`: all its other keys are parameters

Algorithm = Mapping[str, Any]
Overlay = Literal["tree", "any", "own"]


@dataclass(frozen=True)
class ClientSide:
    """What a protocol's clients do beyond what all do: the part that a client gets when the first of these
    messages comes to it. `build` imports the part when it is called."""

    takes: tuple[type[Body], ...]
    build: Callable[[ClientMachine], Part]


@dataclass(frozen=True)
class Entry:
    """A protocol: what it is called, what can be set, and how a broker of it is made.

    `settings` is a msgspec Struct that refuses unknown fields; its fields have types, limits, defaults, units
    and descriptions, and the check of a plan, the JSON schema and the docs are made of them. `build` imports
    its machine when it is called: what one protocol needs is no other's business.

    `overlay`: the links that a plan may give to such brokers. They form a `tree`, or `any` graph; `own` is a
    tree to begin with, and links that the brokers open and close by themselves: they get an address book.
    """

    name: str
    settings: type[msgspec.Struct]
    build: Callable[[BrokerProcessConfig, Any], Machine]
    overlay: Overlay
    summary: str
    default: bool = False  # what a broker without `algorithm` is; one of this project's
    bodies: tuple[BodyType, ...] = ()  # messages of its own: BODIES of its generated module
    instructions: tuple[str, ...] = ()  # what its brokers do when they are told to (`machine.Instructed`)
    kinds: tuple[PluginKind, ...] = ()  # kinds of log records of its own; `protos.kinds.register` made them
    client: tuple[ClientSide, ...] = ()


@dataclass(frozen=True)
class Plug:
    """A place where entries may be. `load` imports it."""

    name: str
    origin: str  # for people
    load: Callable[[], object]


@dataclass(frozen=True)
class Broken:
    """A plug that gives no entries."""

    name: str
    origin: str
    reason: str

    def __str__(self) -> str:
        return f"{self.origin} cannot be used: {self.reason}"


class UnknownProtocol(BrokerError):
    def __init__(self, name: str, known: Iterable[str], broken: Iterable[Broken]) -> None:
        self.name, self.known = name, sorted(known)
        near = [f"did you mean {one!r}?" for one in get_close_matches(name, self.known, n=1)]
        told = [
            f"there is no algorithm {name!r}",
            *near,
            f"known: {', '.join(self.known)}",
            *map(str, broken),
        ]
        super().__init__("; ".join(told))


class Registry:
    """All protocols of the given plugs, by name."""

    def __init__(self, plugs: Iterable[Plug]) -> None:
        self.broken: list[Broken] = []
        self.origins: dict[str, list[str]] = {}  # of each name; one that has two stands for nothing
        self.disputes: list[str] = []  # messages or kinds of log records that two packages want
        self._entries: dict[str, Entry] = {}
        self._taken: dict[type[Body], tuple[ClientSide, str]] = {}  # by clients, and for whom
        for plug in plugs:
            try:
                entries = checked(plug.load())
                for entry in entries:
                    register(*entry.bodies)
            except RegistrationError as error:
                self.disputes.append(f"{plug.origin} cannot be used: {error}")
                self.broken.append(Broken(plug.name, plug.origin, str(error)))
                continue
            except (Exception, SystemExit) as error:  # whatever a package does when it is imported
                self.broken.append(Broken(plug.name, plug.origin, told(error)))
                continue
            for entry in entries:
                self._add(entry, plug.origin)

    def _add(self, entry: Entry, origin: str) -> None:
        """A name of this project stays its own: whatever is installed beside it, its files mean the same."""
        known = self.origins.setdefault(entry.name, [])
        if known and known[0].startswith(HERE):
            self.broken.append(Broken(entry.name, origin, clash(entry.name, [*known, origin])))
            return
        disputed = self._disputed(entry)
        if disputed:
            self.broken.append(Broken(entry.name, origin, disputed))
            return
        known.append(origin)
        self._entries.setdefault(entry.name, entry)
        for side in entry.client:
            for kind in side.takes:
                self._taken.setdefault(kind, (side, entry.name))

    def _disputed(self, entry: Entry) -> str:
        """A message that clients take for another protocol in another way: it could mean either."""
        for side in entry.client:
            for kind in side.takes:
                other, name = self._taken.get(kind, (side, ""))
                if other is not side:
                    return f"clients take the message {kind.type!r} for {name!r} already"
        return ""

    def __iter__(self) -> Iterator[Entry]:
        """Those that can be used, this project's first."""
        return (entry for name, entry in self._entries.items() if len(self.origins[name]) == 1)

    def names(self) -> list[str]:
        return [entry.name for entry in self]

    def clashes(self) -> list[str]:
        """A sentence for each name that is registered twice."""
        return [clash(name, origins) for name, origins in self.origins.items() if len(origins) > 1]

    def entry(self, algorithm: Algorithm) -> Entry:
        """Raises BrokerError when there is no such protocol, or two, or it cannot be imported."""
        if not algorithm:
            return self.default()
        name = str(algorithm.get(NAME, ""))
        origins = self.origins.get(name, [])
        if len(origins) > 1:
            raise BrokerError(clash(name, origins))
        if not origins:
            named = [broken for broken in self.broken if broken.name == name]
            if named:
                raise BrokerError(f"algorithm {name!r}: {named[0]}")
            raise UnknownProtocol(name, self.names(), self.broken)
        if self.disputes and not origins[0].startswith(HERE):
            # Which of the two was found first must not decide what a number on the wire means.
            raise BrokerError(f"algorithm {name!r}: {'; '.join(self.disputes)}; remove one of the packages")
        return self._entries[name]

    def default(self) -> Entry:
        """What a broker without `algorithm` is."""
        for entry in self._entries.values():
            if entry.default:
                return self.entry({NAME: entry.name})
        raise UnknownProtocol("", self.names(), self.broken)

    def overlay(self, algorithm: Algorithm) -> Overlay:
        """Any for a protocol that nobody knows: what is wrong with it is told elsewhere, and nothing else."""
        try:
            return self.entry(algorithm).overlay
        except BrokerError:
            return "any"

    def instructions(self, algorithm: Algorithm) -> tuple[str, ...]:
        try:
            return self.entry(algorithm).instructions
        except BrokerError:
            return ()

    def settings(self, algorithm: Algorithm) -> Any:
        """The settings of that protocol. Raises BrokerError that names the field."""
        entry = self.entry(algorithm)
        try:
            return msgspec.convert(parameters(algorithm), entry.settings)
        except msgspec.ValidationError as error:
            raise BrokerError(f"algorithm {entry.name!r}: {error}") from None


def clash(name: str, origins: Iterable[str]) -> str:
    return f"the algorithm {name!r} is registered twice: by {' and by '.join(origins)}; remove one of them"


def told(error: BaseException) -> str:
    """An error of a package's code, and where in it."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = "" if last.filename == __file__ else f" ({last.filename}:{last.lineno})"
    return f"{type(error).__name__}: {error}{place}"


def parameters(algorithm: Algorithm) -> dict[str, Any]:
    return {key: value for key, value in algorithm.items() if key != NAME}


def checked(found: object) -> tuple[Entry, ...]:
    """The entries that a plug leads to; TypeError when it leads to something else."""
    entries = getattr(found, "PROTOCOLS", found)
    if not isinstance(entries, tuple) or not all(isinstance(entry, Entry) for entry in entries):
        raise TypeError(f"PROTOCOLS must be a tuple of {Entry.__module__}.Entry")
    for entry in entries:
        if entry.overlay not in get_args(Overlay):
            raise TypeError(f"{entry.name!r}: overlay {entry.overlay!r} is none of {get_args(Overlay)}")
        if not entry.settings.__struct_config__.forbid_unknown_fields:
            raise TypeError(f"{entry.name!r}: {entry.settings.__name__} needs forbid_unknown_fields=True")
        if NAME in entry.settings.__struct_encode_fields__:
            raise TypeError(f"{entry.name!r}: a parameter cannot be called {NAME!r}")
        with suppress(msgspec.ValidationError):  # of parameters that must be given
            msgspec.convert({}, entry.settings)  # TypeError for a struct that msgspec cannot read
    return entries


# ---------------------------------------------------------------- where entries are found


def own_plugs() -> Iterator[Plug]:
    """Of this project: every package with a module `plug`, in the order of their names."""
    packages = pkgutil.iter_modules(importlib.import_module(HERE).__path__)
    for name in sorted(found.name for found in packages if found.ispkg):
        module = f"{HERE}.{name}.plug"
        if find_spec(module) is not None:
            yield Plug(name, f"{HERE}.{name}", partial(importlib.import_module, module))


def plugs_of_others() -> Iterator[Plug]:
    """Of the packages that are installed beside this one, in the order of their names."""
    points = metadata.entry_points(group=GROUP)
    for point in sorted(points, key=lambda point: (point.dist.name if point.dist else "", point.name)):
        package = f"the package {point.dist.name}" if point.dist else "a package"
        yield Plug(point.name, f"{package} ({point.value})", point.load)


def find_protocols() -> Registry:
    """All that can be imported from where Python looks now."""
    return Registry([*own_plugs(), *plugs_of_others()])


@cache
def registry() -> Registry:
    """That of this process, which looks once."""
    return find_protocols()


def machine_of(config: BrokerProcessConfig) -> Machine:
    """The machine of a broker process; raises BrokerError for options or parameters it does not know."""
    known = registry()
    return known.entry(config.algorithm).build(config, known.settings(config.algorithm))
