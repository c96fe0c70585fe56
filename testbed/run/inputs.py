"""The files that a plan names: copied into the run folder, so that a guest sees them and `rerun` finds them.

A copy is named after its content, so that two plans are equal when what their files say is. In `plan.json`
of a run folder these names are relative to it; programs and checks of gates run there anyway.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from testbed.run.folder import RunFolder
from testbed.topology.plan import Client, Gate, Phase, Plan, Program

FOLDER = "inputs"
OF_MACHINES = (
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib64",
    "/nix",
    "/opt",
    "/proc",
    "/sbin",
    "/sys",
    "/usr",
)
DIGITS = 12  # of the hash in a copy's name
Rename = Callable[[str], str]


def keep(plan: Plan, run: Path) -> Plan:
    """Copy the files and return the plan that names the copies."""
    copies: dict[str, str] = {}

    def copied(path: str) -> str:
        if path not in copies:
            copies[path] = name = name_of(Path(path))
            (run / FOLDER).mkdir(exist_ok=True)
            shutil.copy(path, run / name)  # with its mode: a script stays one
        return copies[path]

    return _renamed(plan, copied)


def named(plan: Plan) -> Plan:
    """As `keep` would name the copies, without making any."""
    return _renamed(plan, lambda path: name_of(Path(path)))


def files(plan: Plan) -> list[Path]:
    """What `keep` would copy."""
    found: dict[str, None] = {}

    def noted(path: str) -> str:
        found[path] = None
        return path

    _renamed(plan, noted)
    return [Path(path) for path in found]


def runnable(folder: RunFolder) -> Plan:
    """The plan of a run folder for those who read the files, wherever they stand."""
    return placed(folder.read_plan(), folder.path)


def placed(plan: Plan, run: Path) -> Plan:
    home = run.resolve()

    def full(word: str) -> str:
        return str(home / word) if word.startswith(f"{FOLDER}/") and (home / word).is_file() else word

    return _each_word(plan, lambda word, first: full(word))


def name_of(path: Path) -> str:
    """The same for a copy as for the file that was copied."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:DIGITS]
    return f"{FOLDER}/{digest}-{path.name.removeprefix(f'{digest}-')}"


# ---------------------------------------------------------------- where a plan names files


def _renamed(plan: Plan, rename: Rename) -> Plan:
    def renamed(word: str, first: bool) -> str:
        return rename(word) if _is_input(word, first) else word

    return _each_word(plan, renamed)


def _is_input(word: str, first: bool) -> bool:
    """A file that is somebody's own; of a command's first word only scripts, as a program of the machine may
    need what lies beside it."""
    path = Path(word)
    if not path.is_absolute() or word.startswith(tuple(f"{folder}/" for folder in OF_MACHINES)):
        return False
    try:
        return path.is_file() and (not first or _is_script(path))
    except (OSError, ValueError):  # too long for a name: no file
        return False


def _is_script(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"#!"


def _each_word(plan: Plan, change: Callable[[str, bool], str]) -> Plan:
    """The plan with every word that may name a file changed; the same object where nothing is."""
    clients = [_client(client, change) for client in plan.clients]
    programs = [_program(program, change) for program in plan.programs]
    phases = [_phase(phase, change) for phase in plan.phases]
    if (clients, programs, phases) == (plan.clients, plan.programs, plan.phases):
        return plan
    return replace(plan, clients=clients, programs=programs, phases=phases)


def _client(client: Client, change: Callable[[str, bool], str]) -> Client:
    source = client.publications
    if source is None or "file" not in source.parameters:
        return client
    parameters: dict[str, Any] = {**source.parameters, "file": change(str(source.parameters["file"]), False)}
    return replace(client, publications=replace(source, parameters=parameters))


def _program(program: Program, change: Callable[[str, bool], str]) -> Program:
    env = {name: change(value, False) for name, value in program.env.items()}
    return replace(program, argv=_command(program.argv, change), env=env)


def _phase(phase: Phase, change: Callable[[str, bool], str]) -> Phase:
    gate: Gate = phase.gate
    return replace(phase, gate=replace(gate, check=_command(gate.check, change))) if gate.check else phase


def _command(argv: list[str], change: Callable[[str, bool], str]) -> list[str]:
    return [_word(word, number == 0, change) for number, word in enumerate(argv)]


def _word(word: str, first: bool, change: Callable[[str, bool], str]) -> str:
    """The value of `--option=value` is a word as well."""
    option, equals, value = word.partition("=")
    return f"{option}={change(value, False)}" if equals and option.startswith("-") else change(word, first)
